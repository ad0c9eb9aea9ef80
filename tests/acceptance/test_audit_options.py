"""The options of an audit by their effect: LinkTadoru's names for them, seeds, credentials, memory, other hosts, gates."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tadoru.cli.main import run
from tests.acceptance.command import CommandResult, Tadoru
from tests.support.exchange import Exchange
from tests.support.site import Site

QUICK = ("-d", "crawl.db", "--delay", "0", "--processes", "1", "--sitemap", "off", "-q")


def audit(tadoru: Tadoru, *arguments: str, **options: Any) -> CommandResult:
    done = tadoru("audit", *arguments, *QUICK, **options)
    assert done.code == 0, done.err
    return done


def select(folder: Path, what: str, name: str = "crawl.db") -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / name)) as sql:
        return sql.execute(f"SELECT {what}").fetchall()


# -- LinkTadoru's names -------------------------------------------------------------------------------------------------

DemoOutput = Callable[..., dict[str, tuple[Any, str]]]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> DemoOutput:
    """The effective configuration: value and source by option."""
    monkeypatch.chdir(tmp_path)

    def config(*arguments: str, **variables: str) -> dict[str, tuple[Any, str]]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert run(["audit", "--show-config", *arguments]) == 0
        listing = json.loads(capfd.readouterr().out)["audit"]
        return {name: (entry["value"], entry["source"]) for name, entry in listing.items()}

    return config


LINKTADORU = {
    "concurrency": ("LT_CONCURRENCY", "7", 7),
    "delay": ("LT_REQUEST_DELAY", "0.5", 0.5),
    "timeout": ("LT_REQUEST_TIMEOUT", "12s", 12.0),
    "user_agent": ("LT_USER_AGENT", "Me/1", "Me/1"),
    "ignore_robots": ("LT_IGNORE_ROBOTS_TXT", "true", True),
    "follow_external_hosts": ("LT_FOLLOW_EXTERNAL_HOSTS", "true", True),
    "limit": ("LT_LIMIT", "9", 9),
    "depth": ("LT_MAX_DEPTH", "4", 4),
    "max_response_size": ("LT_MAX_RESPONSE_SIZE", "1000", 1000),
    "database": ("LT_DATABASE_PATH", "./lt.db", "./lt.db"),
    "include": ("LT_INCLUDE_PATTERNS", "/a\n/b", ["/a", "/b"]),
    "exclude": ("LT_EXCLUDE_PATTERNS", "/c", ["/c"]),
    "auth_type": ("LT_AUTH_TYPE", "bearer", "bearer"),
    "auth_username": ("LT_AUTH_BASIC_USERNAME", "ann", "ann"),
    "auth_password": ("LT_AUTH_BASIC_PASSWORD", "s3cret", "***"),
    "auth_token": ("LT_AUTH_BEARER_TOKEN", "s3cret", "***"),
    "auth_header": ("LT_AUTH_APIKEY_HEADER", "X-Key", "X-Key"),
    "auth_value": ("LT_AUTH_APIKEY_VALUE", "s3cret", "***"),
}


@pytest.mark.parametrize("option", LINKTADORU)
def test_linktadoru_s_variables_are_understood(option: str, shown: DemoOutput) -> None:
    variable, text, value = LINKTADORU[option]
    assert shown(**{variable: text})[option] == (value, variable)


def test_headers_may_come_one_a_variable_and_ours_win(shown: DemoOutput) -> None:
    found = shown(LT_HEADER_X_CUSTOM="s3cret", LT_LIMIT="5", TADORU_LIMIT="6")
    assert found["header"] == ("***", "LT_HEADER_*")
    assert found["limit"] == (6, "TADORU_LIMIT")


def test_linktadoru_s_file_is_understood(shown: DemoOutput, tmp_path: Path) -> None:
    (tmp_path / "linktadoru.yml").write_text(
        "concurrency: 3\nrequest_delay: 0.2\nrequest_timeout: 15s\nuser_agent: Me/2\nlimit: 8\nmax_depth: 2\n"
        "database_path: ./old.db\nignore_robots_txt: true\nfollow_external_hosts: true\nseed_urls:\n  - https://example.com/\n"
        "include_patterns: ['^https://example.com/']\nexclude_patterns: ['\\.pdf$']\nallowed_schemes: ['https://']\n"
        "headers:\n  X-Custom: s3cret\nlog_level: info\nauth_type: basic\n"
        "auth:\n  basic:\n    username: ann\n    password: s3cret\n"
    )
    found = {name: value for name, (value, source) in shown().items() if source == "linktadoru.yml"}
    assert found == {
        "concurrency": 3, "delay": 0.2, "timeout": 15.0, "user_agent": "Me/2", "limit": 8, "depth": 2, "database": "./old.db",
        "ignore_robots": True, "follow_external_hosts": True, "seed_urls": ["https://example.com/"],
        "include": ["^https://example.com/"], "exclude": ["\\.pdf$", "^http://"], "header": "***", "auth_type": "basic",
        "auth_username": "ann", "auth_password": "***",
    }  # fmt: skip


def test_linktadoru_s_file_takes_secrets_from_the_variables_it_names(shown: DemoOutput, tmp_path: Path) -> None:
    (tmp_path / "linktadoru.yml").write_text("auth_type: basic\nauth:\n  basic:\n    username_env: WHO\n    password_env: WORD\n")
    found = shown(WHO="ann", WORD="s3cret")
    assert (found["auth_username"], found["auth_password"]) == (("ann", "WHO"), ("***", "WORD"))


def test_a_variable_that_is_named_and_not_set_is_said(tadoru: Tadoru) -> None:
    (tadoru.folder / "linktadoru.yml").write_text("auth:\n  type: bearer\n  bearer:\n    token_env: NOT_THERE\n")
    done = tadoru("audit", "https://example.com/")
    assert (done.code, done.sentence.partition(": ")[2]) == (
        2,
        "auth_bearer_token_env names the variable NOT_THERE, which is not set.",
    )


@pytest.mark.parametrize("kind", ["username", "password"])
def test_a_found_file_may_not_send_variables_where_it_likes(kind: str, tadoru: Tadoru, site: Site) -> None:
    words = {"username": "x", "password": "x"}
    del words[kind]
    (tadoru.folder / "linktadoru.yml").write_text(
        json.dumps({"seed_urls": [site.url("/")], "auth_type": "basic", "auth": {"basic": {**words, f"{kind}_env": "MY_KEY"}}})
    )
    done = tadoru("audit", "-q", env={"MY_KEY": "s3cret"})
    assert (done.code, done.out, site.requests) == (2, "", [])
    assert "credentials come from outside this file" in done.sentence


@pytest.mark.parametrize("way", ["proxy: http://127.0.0.1:9", "insecure: true"], ids=["proxy", "insecure"])
@pytest.mark.parametrize("job", ["audit", "links"])
def test_a_found_file_may_not_say_by_which_way_credentials_go(way: str, job: str, tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    (tadoru.folder / "tadoru.yml").write_text(f"crawl:\n  {way}\n")
    done = tadoru(job, site.url("/"), "-q", env={"TADORU_HEADER": "X-Key: s3cret"})
    assert (done.code, done.out, site.requests) == (2, "", [])
    assert f"tadoru.yml in this folder sets {way.partition(':')[0]}" in done.sentence


def test_a_found_file_says_where_to_start_and_where_to_keep_it(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    (tadoru.folder / "linktadoru.yml").write_text(f"seed_urls: ['{site.url('/')}']\ndatabase_path: ./mine.db\nrequest_delay: 0\n")
    done = tadoru("audit", "-q", env={"LT_HEADER_X_CUSTOM": "", "TADORU_AUTH_TOKEN": ""})  # As good as not there.
    assert done.code == 0, done.err
    assert select(tadoru.folder, "url FROM completed_pages", "mine.db") == [(site.url("/"),)]


@pytest.mark.parametrize("variables", [
    {"TADORU_AUTH_TYPE": "bearer", "TADORU_AUTH_TOKEN": "s3cret"},
    {"LT_AUTH_TYPE": "basic", "LT_AUTH_BASIC_USERNAME": "ann", "LT_AUTH_BASIC_PASSWORD": "s3cret"},
    {"LT_HEADER_X_KEY": "s3cret"},
], ids=["a token", "a password", "a header"])  # fmt: skip
def test_a_found_file_may_not_say_where_credentials_of_the_environment_go(
    variables: dict[str, str], tadoru: Tadoru, site: Site
) -> None:
    site.page("/")
    (tadoru.folder / "tadoru.yml").write_text(f"audit:\n  seed_urls: ['{site.url('/')}']\n  delay: 0\n")
    done = tadoru("audit", "-q", env=variables)
    assert (done.code, done.out, site.requests) == (2, "", [])
    assert "tadoru.yml in this folder names the start URL, but credentials come from outside this file" in done.sentence
    assert "s3cret" not in done.err
    named = tadoru("audit", "-q", "--config", "tadoru.yml", env=variables)
    assert named.code == 0, named.err
    assert any("s3cret" in value or "YW5uOnMzY3JldA==" in value for value in site.requests[-1].headers.values())


@pytest.mark.parametrize("named", [[], ["--database", "tadoru.db"]], ids=["found", "named"])
def test_a_found_database_may_not_say_where_credentials_of_the_environment_go(
    named: list[str], tadoru: Tadoru, site: Site
) -> None:
    site.page("/", links=["/a"])
    site.page("/a")
    assert tadoru("audit", site.url("/"), "--limit", "1", "--sitemap", "off", "--delay", "0", "-q").code == 0
    requests = len(site.requests)
    done = tadoru("audit", "-q", "--delay", "0", "--limit", "0", *named, env={"LT_HEADER_X_KEY": "s3cret"})
    if named:
        assert done.code == 0, done.err
        assert site.requests[-1].headers["x-key"] == "s3cret"
    else:
        assert (done.code, done.out, len(site.requests)) == (2, "", requests)
        assert "was only discovered in this folder" in done.sentence


# -- seeds --------------------------------------------------------------------------------------------------------------

SEEDS = "\ufeff# where to start\r\n{one}\r\n\r\n   # nothing\n  {two}  \n"


@pytest.mark.parametrize("name", ["seeds.txt", "-"])
def test_seeds_come_from_a_file_or_from_stdin(name: str, tadoru: Tadoru, site: Site) -> None:
    site.page("/one", links=["/more"])
    site.page("/two")
    text = SEEDS.format(one=site.url("/one"), two=site.url("/two"))
    (tadoru.folder / "seeds.txt").write_bytes(text.encode())
    audit(tadoru, "--seed-file", name, "--list", **({"stdin": text} if name == "-" else {}))
    assert set(site.paths) == {"/robots.txt", "/one", "/two"}
    assert {depth for (depth,) in select(tadoru.folder, "depth FROM completed_pages JOIN pages USING (id)")} == {0}


def test_a_seed_is_one_more_url_to_start_from(tadoru: Tadoru, site: Site) -> None:
    site.page("/one")
    site.page("/two")
    audit(tadoru, site.url("/one"), "--seed", site.url("/two"))
    assert set(site.paths) == {"/robots.txt", "/one", "/two"}


def test_a_seed_file_without_a_url_is_refused(tadoru: Tadoru) -> None:
    (tadoru.folder / "seeds.txt").write_text("# nothing yet\n")
    done = tadoru("audit", "--seed-file", "seeds.txt")
    assert (done.code, done.sentence) == (2, "The seed file seeds.txt contains no URLs.")


def test_a_start_that_is_added_to_a_crawl_joins_it(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    site.page("/lonely")
    audit(tadoru, site.url("/"))
    audit(tadoru, site.url("/lonely"))
    assert (site.hits("/"), site.hits("/lonely")) == (1, 1)
    assert sorted(select(tadoru.folder, "depth, url FROM pages")) == [(0, site.url("/")), (0, site.url("/lonely"))]


# -- credentials --------------------------------------------------------------------------------------------------------


def test_credentials_go_to_the_named_origin_and_are_not_kept(tadoru: Tadoru, site: Site) -> None:
    with Site(host="127.0.0.2") as other:
        site.page("/", links=["/away", "/a"])
        site.page("/a")
        site.redirect("/away", other.url("/back"))
        other.redirect("/back", site.url("/a"))
        secrets = ("--auth-type", "bearer", "--auth-token", "s3cret", "-H", "X-Key: hush-hush")
        audit(tadoru, site.url("/"), *secrets, "--allow-private", "--follow-external-hosts", "--check-external")
        assert {seen.path for seen in other.requests} >= {"/back"}
        for seen in other.requests:
            assert not {"authorization", "x-key"} & set(seen.headers)
    asked = {seen.path: seen.headers for seen in site.requests}
    assert all(headers["authorization"] == "Bearer s3cret" and headers["x-key"] == "hush-hush" for headers in asked.values())
    everything = b"".join(file.read_bytes() for file in tadoru.folder.iterdir())
    assert b"s3cret" not in everything
    assert b"hush-hush" not in everything


def test_a_crawl_that_goes_on_without_its_url_sends_credentials_where_it_began(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/a"])
    site.page("/a")
    audit(tadoru, site.url("/"), "--limit", "1")
    audit(tadoru, "--limit", "0", "-H", "X-Key: hush-hush")
    assert {seen.path: seen.headers.get("x-key") for seen in site.requests} == {
        "/robots.txt": None, "/": None, "/a": "hush-hush",
    }  # fmt: skip


# -- memory -------------------------------------------------------------------------------------------------------------

HUGE = 400 * 1024 * 1024


@pytest.mark.parametrize("content_type, status", [("text/html", "error"), ("application/zip", "completed")])
def test_a_body_of_400_megabytes_is_not_read_into_memory(content_type: str, status: str, tadoru: Tadoru, site: Site) -> None:
    async def huge(exchange: Exchange, rest: str) -> None:
        await exchange.raw(f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {HUGE}\r\n\r\n".encode())
        for _ in range(HUGE // 65_536):
            await exchange.raw(b"x" * 65_536)

    site.page("/", links=["/huge"])
    site.handle("/huge", huge)
    # Measured from a small process: a child begins with the peak of the one that forked it.
    measured = (
        "import resource, subprocess, sys; print(subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode, "
        "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-P", "-m", "tadoru", "audit", site.url("/"), *QUICK]
    shown = subprocess.run(
        [sys.executable, "-c", measured, *command], env=tadoru.environment(), cwd=tadoru.folder, capture_output=True, check=True
    )
    code, peak = map(int, shown.stdout.split())
    assert code == 0
    assert peak < 200 * 1024, "kilobytes"
    assert select(tadoru.folder, "status FROM pages WHERE url LIKE '%huge'") == [(status,)]


# -- other hosts --------------------------------------------------------------------------------------------------------


def test_other_hosts_are_crawled_on_request_each_with_its_own_robots_txt(tadoru: Tadoru, site: Site) -> None:
    with Site(host="127.0.0.2") as second, Site(host="127.0.0.3") as third:
        site.page("/", links=[second.url("/a")])
        second.robots("User-agent: *\nDisallow: /private\n")
        second.page("/a", links=[third.url("/"), "/private"])
        third.page("/", links=[site.url("/b")])
        site.page("/b")
        audit(tadoru, site.url("/"), "--follow-external-hosts", "--allow-private")
        assert (set(second.paths), set(third.paths)) == ({"/robots.txt", "/a"}, {"/robots.txt", "/"})
        rows = select(tadoru.folder, "url, depth, internal FROM pages WHERE status = 'completed' ORDER BY depth")
        assert rows == [(site.url("/"), 0, 1), (second.url("/a"), 1, 1), (third.url("/"), 2, 1), (site.url("/b"), 3, 1)]


def test_other_hosts_on_loopback_stay_out_of_reach_unless_allowed(tadoru: Tadoru, site: Site) -> None:
    with Site(host="127.0.0.2") as second:
        site.page("/", links=[second.url("/a")])
        audit(tadoru, site.url("/"), "--follow-external-hosts")
        assert second.requests == []
        assert select(tadoru.folder, "status, last_error_type FROM pages WHERE depth = 1") == [("error", "blocked_address")]


# -- results ------------------------------------------------------------------------------------------------------------


def test_a_gate_that_is_exceeded_is_exit_10_and_every_report_is_written(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/gone"])
    reports = ("--report", "report.html", "--report", "report.json")
    done = tadoru("audit", site.url("/"), *QUICK, "--fail-on", "link-broken", *reports)
    assert (done.code, done.out) == (10, "")
    assert "link-broken" in done.err
    assert "<html" in (tadoru.folder / "report.html").read_text("utf-8")
    assert json.loads((tadoru.folder / "report.json").read_text("utf-8"))["findings"]


@pytest.mark.parametrize("text, names", [('"a.html"', ["a.html"]), ('["a.html", "b.sarif"]', ["a.html", "b.sarif"])])
def test_a_file_names_one_report_or_several(text: str, names: list[str], tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.toml").write_text(f"[audit]\nreport = {text}\n")
    assert tadoru("audit", "--show-config").result["audit"]["report"] == {"value": names, "source": "tadoru.toml"}


def test_a_gate_against_a_baseline_counts_only_what_is_new(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/gone"])
    audit(tadoru, site.url("/"))
    gates = ("--baseline", "crawl.db", "--fail-on", "error", "-q", "--delay", "0")
    assert tadoru("audit", site.url("/"), "-d", "same.db", *gates).code == 0
    site.page("/", links=["/gone", "/gone-too"])
    assert tadoru("audit", site.url("/"), "-d", "worse.db", *gates).code == 10


def test_what_is_accepted_does_not_count(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/gone"])
    (tadoru.folder / "known.txt").write_text("* * # all of it is known\n")
    done = tadoru("audit", site.url("/"), *QUICK, "--fail-on", "error", "--suppress", "known.txt")
    assert done.code == 0, done.err


def test_the_summary_goes_to_stdout_and_what_is_said_meanwhile_to_stderr(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/gone"])
    done = tadoru("audit", site.url("/"), "-d", "crawl.db", "--delay", "0", "--sitemap", "off", "--report", "report.json")
    assert done.code == 0, done.err
    assert site.url("/") in done.out
    assert "tadoru report crawl.db" in done.out
    assert "\x1b" not in done.out + done.err
    assert "Wrote report.json." in done.err


def test_a_second_run_with_nothing_to_do_says_so(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/a"])
    site.page("/a")
    audit(tadoru, site.url("/"), "--limit", "1")
    done = tadoru("audit", *QUICK[:-1], "--limit", "1")
    assert done.code == 0
    assert "the page limit of 1 is reached: raise --limit, or use --recrawl" in done.err
    assert site.hits("/a") == 0


def test_secrets_are_not_in_the_configuration_that_is_kept(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    audit(tadoru, site.url("/"), "--auth-type", "api-key", "--auth-header", "X-Key", "--auth-value", "s3cret")
    [(config,)] = select(tadoru.folder, "value FROM crawl_meta WHERE key = 'config'")
    assert json.loads(config)["auth_value"] == "***"
    assert json.loads(config)["auth_header"] == "X-Key"


def test_the_bad_lines_of_a_seed_file_are_told_by_their_numbers(tadoru: Tadoru) -> None:
    lines = ["# hosts", "https://one.example/", "", "ftp://two.example/", "https://one.example/#again", "http://a b/"]
    (tadoru.folder / "seeds.txt").write_text("\n".join(lines))
    done = tadoru("audit", "--seed-file", "seeds.txt")
    assert done.code == 2
    assert done.sentence.startswith("2 lines of the seed file seeds.txt are not URLs: 4, 6. The first: ")


def test_the_plan_of_a_broad_crawl_names_its_bounds_and_not_all_of_its_starts(tadoru: Tadoru) -> None:
    (tadoru.folder / "seeds.txt").write_text("".join(f"https://host-{number}.example/\n" * 2 for number in range(5_000)))
    done = tadoru("audit", "--seed-file", "seeds.txt", "--follow-external-hosts", "--pages-per-host", "7", "--dry-run")
    assert done.code == 0, done.err
    said = done.out.splitlines()
    assert sum(line.startswith("start") for line in said) == 10
    assert "             and 4,990 more" in said
    assert "per host     at most 7 pages" in said
    assert "per domain   at most 100 hosts, and the hosts of start URLs" in said


def test_going_on_without_the_credentials_of_an_earlier_run_is_said(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    audit = ("audit", "-d", "x.db", "--delay", "0")
    first = tadoru(*audit, site.url("/"), "-H", "X-Staging: hidden word")
    again = tadoru(*audit, "--recrawl", "-H", "X-Staging: hidden word")
    without = tadoru(*audit, "--recrawl")
    assert ["An earlier run used credentials" in done.err for done in (first, again, without)] == [
        False,
        False,
        True,
    ]
    assert b"hidden word" not in (tadoru.folder / "x.db").read_bytes()
