"""A crawl keeps its options: a later run of it uses them unless they are given again, and says which."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tadoru.cli.main import run
from tests.support.site import Site

Ran = Callable[..., tuple[str, str]]
QUICK = ("--delay", "0", "--processes", "1")


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ran:
    """Run a command that succeeds; what it wrote to stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[str, str]:
        code = run(list(arguments))
        out, err = capfd.readouterr()
        assert code == 0, err
        return out, err

    return command


@pytest.fixture
def handbook(site: Site) -> Site:
    site.page("/docs/", links=["/docs/a", "/docs/b", "/blog/"])
    for path in ("/docs/a", "/docs/b", "/blog/"):
        site.page(path)
    return site


def test_an_audit_that_is_repeated_stays_as_narrow_as_it_was(ran: Ran, handbook: Site) -> None:
    ran("audit", handbook.url("/docs/"), "-d", "s.db", "--scope", "path", "--exclude", "/b$", "--sitemap", "off", *QUICK)
    first = set(handbook.paths)
    handbook.requests.clear()
    _, err = ran("audit", "-d", "s.db", "--recrawl")
    assert set(handbook.paths) == first == {"/robots.txt", "/docs/", "/docs/a"}
    assert "Options of the stored crawl: --scope path, --exclude /b$, --delay 0, --sitemap off." in err


def test_an_option_that_is_given_again_replaces_the_stored_one(ran: Ran, handbook: Site) -> None:
    ran("audit", handbook.url("/docs/"), "-d", "s.db", "--scope", "path", "--exclude", "/b$", "--sitemap", "off", *QUICK)
    _, err = ran("audit", "-d", "s.db", "--scope", "host")
    assert "/blog/" in handbook.paths
    assert "/docs/b" not in handbook.paths
    assert "Options of the stored crawl: --exclude /b$, " in err
    shown, _ = ran("audit", "-d", "s.db", "--show-config")
    listing = json.loads(shown)["audit"]
    assert (listing["scope"], listing["exclude"]) == (
        {"value": "host", "source": "stored crawl"},
        {"value": ["/b$"], "source": "stored crawl"},
    )


def test_what_is_about_one_run_and_what_is_secret_is_not_kept(ran: Ran, handbook: Site, tmp_path: Path) -> None:
    ran(
        "audit", handbook.url("/docs/"), "-d", "s.db", "--max-time", "60", "--fail-on", "error>99", "--allow-private", *QUICK,
        "--auth-type", "basic", "--auth-username", "ann", "--auth-password", "s3cret-word", "-H", "X-Key: s3cret-key",
    )  # fmt: skip
    shown, _ = ran("audit", "-d", "s.db", "--show-config")
    kept = {name for name, entry in json.loads(shown)["audit"].items() if entry["source"] == "stored crawl"}
    assert {"delay", "scope", "exclude", "limit"} <= kept
    assert not kept & {
        "max_time", "fail_on", "processes", "allow_private", "auth_type", "auth_username", "auth_password", "header", "cookies",
        "proxy", "insecure", "database", "report", "recrawl",
    }  # fmt: skip
    assert b"s3cret" not in (tmp_path / "s.db").read_bytes()


def test_links_resume_and_recheck_with_the_state_alone(ran: Ran, site: Site) -> None:
    site.page("/", links=["/gone", "/x/a"])
    site.reply("/gone", status=404, times=1)
    site.page("/gone")
    site.page("/x/a")
    first, _ = ran("links", site.url("/"), "--state", "s.db", "--exclude", "^.*/x/", "-f", "json", *QUICK)
    assert [link["url"] for link in json.loads(first)["broken_links"]] == [site.url("/gone")]
    resumed, err = ran("links", "--state", "s.db", "-f", "json")
    assert json.loads(resumed)["broken_links"] == json.loads(first)["broken_links"], "a finished crawl is only read"
    assert "Options of the stored crawl: --exclude ^.*/x/, --delay 0." in err
    again, err = ran("links", "--state", "s.db", "--recrawl", "-f", "json")
    assert json.loads(again)["broken_links"] == []
    assert (site.hits("/"), site.hits("/gone"), site.hits("/x/a")) == (2, 2, 0)
    assert "again (run 2)" in err


def test_a_page_that_nothing_links_to_any_more_is_no_failure_of_the_next_run(ran: Ran, site: Site) -> None:
    site.html("/", '<a href="/old">Old</a>', times=1)
    site.html("/", '<a href="/new">New</a>')
    site.page("/new")
    ran("links", site.url("/"), "--state", "s.db", *QUICK)
    again, _ = ran("links", "--state", "s.db", "--recrawl", "-f", "json")
    result = json.loads(again)
    assert (result["broken_links"], result["failed_urls"]) == ([], [])


def test_documentation_keeps_its_options_too(ran: Ran, handbook: Site) -> None:
    ran("docs", handbook.url("/docs/"), "-o", "out", "--scope", "path", "--exclude", "/b$", "--render", "never", *QUICK)
    handbook.requests.clear()
    _, err = ran("docs", handbook.url("/docs/"), "-o", "out", "--diff")
    assert {path for path in handbook.paths if path in ("/docs/a", "/docs/b", "/blog/")} == {"/docs/a"}
    assert "--scope path, --exclude /b$" in err


def test_a_url_is_explained_with_the_options_of_its_crawl(ran: Ran, handbook: Site) -> None:
    ran("links", handbook.url("/docs/"), "--state", "s.db", "--exclude", "/b$", *QUICK)
    out, _ = ran("explain", handbook.url("/docs/b"), "--state", "s.db")
    assert "not crawled: excluded by pattern /b$" in out
