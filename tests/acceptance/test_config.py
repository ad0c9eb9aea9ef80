"""Where values come from: flags, then TADORU_*, then LT_*, then a file, then defaults. Secrets are shown nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Tadoru
from tests.support.site import Site

SECRET = "hunter-two-is-a-secret"


def shown(tadoru: Tadoru, *arguments: str, **options: Any) -> dict[str, tuple[Any, str]]:
    """Option → (value, source) as `--show-config` has it."""
    done = tadoru("links", "--show-config", *arguments, **options)
    assert done.code == 0, done.err
    return {name: (found["value"], found["source"]) for name, found in done.result["links"].items()}


def test_each_source_wins_over_the_next(tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.yml").write_text("crawl: {concurrency: 2, depth: 2, delay: 2, timeout: 2}\n")
    env = {"LT_CONCURRENCY": "3", "LT_MAX_DEPTH": "3", "LT_REQUEST_DELAY": "3", "TADORU_DEPTH": "4", "TADORU_DELAY": "4s"}
    found = shown(tadoru, "--delay", "5", env=env)
    assert found["delay"] == (5.0, "flag")
    assert found["depth"] == (4, "TADORU_DEPTH")
    assert found["concurrency"] == (3, "LT_CONCURRENCY")
    assert found["timeout"] == (2.0, "tadoru.yml")
    assert found["limit"] == (1000, "default")


def test_a_flag_wins_also_where_it_means_the_default(tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.toml").write_text('[crawl]\nprocesses = 3\n[links]\nsubdomains = true\nformat = "json"\n')
    found = shown(tadoru, "--processes", "auto", "--scope", "host", "-f", "text")
    assert (found["processes"], found["subdomains"], found["format"]) == ((None, "flag"), (False, "default"), ("text", "flag"))


@pytest.mark.parametrize("name, text", [
    ("tadoru.yml", "crawl:\n  delay: 250ms\nlinks:\n  include: [/a, '/b{1,2}']\n  check: true\n"),
    ("tadoru.toml", "[crawl]\ndelay = '250ms'\n[links]\ninclude = ['/a', '/b{1,2}']\ncheck = true\n"),
    ("linktadoru.yml", "request_delay: 250ms\ninclude_patterns: [/a, '/b{1,2}']\nlog_level: info\nseed_urls: [x]\n"),
])  # fmt: skip
@pytest.mark.parametrize("given", [False, True], ids=["found", "--config"])
def test_each_kind_of_file_is_read(name: str, text: str, given: bool, tadoru: Tadoru) -> None:
    folder = tadoru.folder / "elsewhere" if given else tadoru.folder
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    found = shown(tadoru, *(["--config", f"elsewhere/{name}"] if given else []))
    assert found["delay"] == (0.25, name)
    assert found["include"] == (["/a", "/b{1,2}"], name)
    assert found["check"][0] is (name != "linktadoru.yml")


def test_flat_keys_are_understood_in_any_file_that_was_named(tadoru: Tadoru) -> None:
    text = "limit: 7\nrespect_robots: false\nheaders: {X-One: '1'}\nauth: {type: basic, basic: {username: ann, password: x}}\n"
    (tadoru.folder / "old.yml").write_text(text)
    found = shown(tadoru, "--config", "old.yml")
    assert (found["limit"][0], found["ignore_robots"][0], found["auth_type"][0]) == (7, True, "basic")
    assert (found["auth_username"][0], found["auth_password"][0], found["header"][0]) == ("ann", "***", "***")


def test_a_variable_holds_several_values_one_a_line(tadoru: Tadoru) -> None:
    found = shown(
        tadoru, env={"TADORU_EXCLUDE": "/a{1,2}\n/b\n", "LT_HEADER_X_ONE": "1", "TADORU_CHECK": "yes", "TADORU_DEPTH": ""}
    )
    assert found["exclude"] == (["/a{1,2}", "/b"], "TADORU_EXCLUDE")
    assert found["header"] == ("***", "LT_HEADER_*")
    assert found["check"] == (True, "TADORU_CHECK")
    assert found["depth"] == (3, "default")


BAD_FILES = {
    "an unknown key": ("tadoru.yml", "links: {dept: 3}", "unknown key “dept” in [links]; did you mean “depth”?"),
    "an unknown section": ("tadoru.yml", "lnks: {depth: 3}", "unknown section “lnks”; did you mean “links”?"),
    "an unknown key in TOML": (
        "tadoru.toml",
        "[crawl]\nuser-agnt = 'x'",
        "unknown key “user-agnt” in [crawl]; did you mean “user_agent”?",
    ),
    "an unknown flat key": ("linktadoru.yml", "concurency: 3", "unknown key “concurency”; did you mean “concurrency”?"),
    "a wrong type": ("tadoru.yml", "crawl: {depth: [1, 2]}", "crawl.depth must be a whole number"),
    "a word for a switch": ("tadoru.yml", "links: {check: perhaps}", "links.check must be true or false"),
    "a pattern that is none": ("tadoru.yml", "crawl: {include: [{a: b}]}", "crawl.include must be a regular expression"),
    "a section that is a list": ("tadoru.yml", "crawl: [1]", "the section “crawl” must contain keys and values"),
    "a file that is a list": ("tadoru.yml", "[1]", "must contain keys and values"),
    "broken YAML": ("tadoru.yml", f"crawl:\n  auth_password: '{SECRET}\n", "is not valid YAML. Fix line"),
    "broken TOML": ("tadoru.toml", f"[crawl]\nauth_password = '{SECRET}\n", "is not valid TOML"),
    "a secret of the wrong type": (
        "tadoru.yml",
        f"crawl: {{auth_password: [{SECRET}]}}",
        "crawl.auth_password must be non-empty text",
    ),
}


@pytest.mark.parametrize("name, text, words", BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_one_sentence_and_exit_2(name: str, text: str, words: str, tadoru: Tadoru) -> None:
    (tadoru.folder / name).write_text(text)
    done = tadoru("links", "example.com")
    assert (done.code, done.out) == (2, "")
    assert words in done.sentence
    assert name in done.sentence
    assert SECRET not in done.err


def test_a_bad_variable_is_one_sentence_and_a_strange_one_is_said(tadoru: Tadoru) -> None:
    done = tadoru("links", "example.com", env={"TADORU_DEPTH": "deep"})
    assert (done.code, done.sentence) == (2, "TADORU_DEPTH must be a whole number from 0 to 1,000,000,000.")
    done = tadoru("links", "--show-config", env={"TADORU_DEPHT": SECRET})
    assert (done.code, done.sentence) == (0, "Unknown variable TADORU_DEPHT; did you mean “TADORU_DEPTH”?")


def test_empty_files_and_sections_are_fine(tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.yml").write_text("crawl:\nlinks:\n  depth: 1\n")
    assert shown(tadoru)["depth"] == (1, "tadoru.yml")
    (tadoru.folder / "tadoru.yml").write_text("")
    assert shown(tadoru)["depth"] == (3, "default")


def everything_written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_secrets_are_used_and_never_written(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/a", "/gone"])
    site.redirect("/a", "http://127.0.0.1:1/")
    secrets = {"TADORU_AUTH_TYPE": "bearer", "TADORU_AUTH_TOKEN": SECRET, "TADORU_HEADER": f"X-Key: {SECRET}"}
    proxy = ("--proxy", f"http://ann:{SECRET}@127.0.0.1:{site.port}")
    said = [tadoru.links(site.url(), "--state", "crawl.db", "-vv", "-f", form, "-o", f"out.{form}", env=secrets)
            for form in ("json", "html")]  # fmt: skip
    said.append(tadoru.links("http://127.0.0.1:1/", "-vv", *proxy, "--log-format", "json", env=secrets))
    said.append(tadoru("links", "--show-config", *proxy, env=secrets))
    assert site.requests[1].headers["authorization"] == f"Bearer {SECRET}"
    assert site.requests[1].headers["x-key"] == SECRET
    assert [done.code for done in said][:2] == [0, 0]
    assert all(SECRET not in done.out + done.err for done in said)
    assert SECRET.encode() not in everything_written(tadoru.folder)
    assert {name: found["value"] for name, found in said[-1].result["links"].items() if found["value"] == "***"} == {
        "header": "***", "auth_token": "***", "proxy": "***",
    }  # fmt: skip
