"""What goes wrong: one sentence on stderr, the right exit code, nothing on stdout that a program would take for a result."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.store.crawl.sqlite.database import LOCK_PATIENCE
from tests.acceptance.command import Tadoru, finished
from tests.support.site import Site

BAD_USAGE = {
    "no URL": ([], "Start URL missing"),
    "a URL with a bad host": (["http://[bad/"], "not a valid IPv6 address"),
    "a URL that is none": (["http://exa mple.com/"], "not a valid host name"),
    "another scheme": (["ftp://example.com/"], "ftp: URLs cannot be crawled"),
    "a password in the URL": (["http://ann:s3cret@example.com/"], "must not contain a user name or password"),
    "two URLs": (["example.com", "example.org"], "--list"),
    "an unknown option": (["example.com", "--max-dept", "3"], "did you mean --max-depth?"),
    "an option without its value": (["example.com", "--depth"], "--depth"),
    "a word for a number": (["example.com", "--depth", "deep"], "--depth must be a whole number from 0"),
    "a number out of bounds": (["example.com", "-c", "101"], "--concurrency must be a whole number from 1 to 100"),
    "a number beyond all bounds": (["example.com", "--limit", "9" * 30], "--limit must be a whole number"),
    "a delay that was meant in milliseconds": (["example.com", "--delay", "61"], "write 61ms for milliseconds, or 61s"),
    "a time that is none": (["example.com", "--timeout", "soon"], "--timeout must be a duration such as 1.5, 500ms or 2s"),
    "no time at all": (["example.com", "--timeout", "0"], "greater than 0"),
    "a size that is none": (["example.com", "--max-response-size", "big"], "--max-response-size must be a size"),
    "an unknown format": (["example.com", "-f", "xml"], "--format must be one of text, json, csv, dot, html"),
    "an unknown scope": (["example.com", "--scope", "galaxy"], "--scope must be one of host, domain, path"),
    "a bad pattern": (["example.com", "--include", "("], "--include must be a regular expression"),
    "bad codes": (["example.com", "--accept", "all"], "200..299,403"),
    "an unknown gate": (["example.com", "--fail-on", "rain"], "Use broken, blocked"),
    "a header without a colon": (["example.com", "-H", "s3cret"], "Name: value"),
    "a header with a line break": (["example.com", "-H", "A: b\r\nC: s3cret"], "control characters"),
    "a user agent with a line break": (["example.com", "-u", "a\nb"], "control characters"),
    "half of the credentials": (["example.com", "--auth-type", "basic", "--auth-password", "s3cret"], "--auth-username"),
    "a proxy that is none": (["example.com", "--proxy", "s3cret"], "The proxy URL is not valid"),
    "cookies that are not there": (
        ["example.com", "--cookies", "none.txt"],
        "Cannot read none.txt (No such file",
    ),
    "suppressions that are not there": (
        ["example.com", "--suppress", "none.txt"],
        "Cannot read none.txt (No such file",
    ),
    "seeds that are not there": (["--list", "--seed-file", "none.txt"], "Cannot read none.txt (No such file"),
    "an output without a folder": (["example.com", "-o", "none/out.json"], "folder none not found"),
    "an output that is a folder": (["example.com", "-o", "."], "is a folder"),
    "a state without a folder": (["example.com", "--state", "none/crawl.db"], "folder none not found"),
    "a configuration that is not there": (["example.com", "--config", "none.yml"], "Configuration file none.yml not found"),
    "no such log format": (["example.com", "--log-format", "xml"], "--log-format"),
}


@pytest.mark.parametrize("arguments, words", BAD_USAGE.values(), ids=BAD_USAGE)
def test_bad_usage_is_one_sentence_and_exit_2(arguments: list[str], words: str, tadoru: Tadoru) -> None:
    done = tadoru("links", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.sentence
    assert "s3cret" not in done.err
    assert list(tadoru.folder.iterdir()) == []


@pytest.mark.parametrize("arguments, words", [
    (["lnks"], "did you mean “tadoru links”?"),
    (["https://example.com"], "tadoru links https://example.com"),
    (["example.com"], "tadoru links example.com"),
    (["dance"], "tadoru --help"),
    (["--frobnicate"], "--frobnicate"),
], ids=["misspelt", "a URL", "a host", "something else", "an option"])  # fmt: skip
def test_an_unknown_command_is_answered_with_the_likely_one(arguments: list[str], words: str, tadoru: Tadoru) -> None:
    done = tadoru(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.sentence


def test_an_output_that_can_not_be_written_is_exit_2_before_anything_is_requested(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    done = tadoru.links(site.url(), "-o", "/proc/out.json")
    assert (done.code, done.out) == (2, "")
    assert "--output /proc/out.json cannot be written" in done.sentence
    assert site.requests == []


@pytest.mark.parametrize("where", [["-o", "/dev/full"], []], ids=["a file", "stdout"])
def test_a_result_that_can_not_be_written_is_exit_1_and_the_crawl_is_kept(where: list[str], tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    with Path("/dev/full").open("w") as full:
        done = finished(tadoru.start("links", site.url(), "--delay", "0", "--processes", "1", "-q", *where, stdout=full))
    assert done.code == 1
    assert "(No space left on device)" in done.sentence
    state = done.sentence.rpartition(" --state ")[2].rstrip(".")
    try:
        again = tadoru.map(site.url(), "--state", state, "-q")
    finally:
        Path(state).unlink()
    assert [info["status_code"] for info in again["internal_urls"]] == [200]
    assert site.hits("/") == 1


@pytest.mark.parametrize("number, code", [(0, 0), (1, 1), (2, 0)], ids=["stdin", "stdout", "stderr"])
def test_a_closed_standard_stream_ends_no_crawl(number: int, code: int, tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    streams = {"preexec_fn": lambda: os.close(number), ("stdin", "stdout", "stderr")[number]: None}
    done = tadoru.links(site.url(), "--state", "crawl.db", "-f", "json", **streams)
    assert done.code == code
    if number == 1:
        assert "Cannot write the result (Bad file descriptor)" in done.sentence
    else:
        assert [info["status_code"] for info in done.result["internal_urls"]] == [200]
    assert site.hits("/") == 1


def test_a_log_that_can_not_be_written_stops_no_crawl(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    with Path("/dev/full").open("w") as full:
        done = tadoru.links(site.url(), "-f", "json", "-v", stderr=full)
    assert (done.code, [info["status_code"] for info in done.result["internal_urls"]]) == (0, [200])


@pytest.mark.parametrize("url, words", [
    ("http://no-such-host.invalid/", "(dns failure)."),
    ("http://127.0.0.1:1/", "(connection refused)."),
], ids=["a host that does not resolve", "a refused connection"])  # fmt: skip
@pytest.mark.parametrize("robots", [[], ["--ignore-robots"]], ids=["robots", "no robots"])
def test_an_unreachable_start_is_exit_1(url: str, words: str, robots: list[str], tadoru: Tadoru) -> None:
    done = tadoru.links(url, "-f", "json", *robots)
    assert (done.code, done.sentence) == (1, f"Cannot reach {url} {words}")
    assert [failed["url"] for failed in done.result["failed_urls"]] == [url]


def test_an_unreachable_start_prints_only_its_error(tadoru: Tadoru) -> None:
    done = tadoru.links("http://127.0.0.1:1/")
    assert (done.code, done.out) == (1, "")
    assert done.sentence == "Cannot reach http://127.0.0.1:1/ (connection refused)."


def test_a_start_that_robots_forbid_is_exit_4_with_the_line(tadoru: Tadoru, site: Site) -> None:
    site.robots("User-agent: *\nAllow: /open\nDisallow: /priv\x1b[31mate\n")
    done = tadoru.links(site.url("/priv%1B[31mate"), "-f", "json")
    assert done.code == 4
    assert "robots.txt line 3: Disallow: /priv" in done.sentence
    assert done.sentence.endswith("If the site is yours, use --ignore-robots.")
    assert "\x1b" not in done.err, "crawled text does not steer the terminal"
    assert site.paths == ["/robots.txt"]
    assert [info["status_code"] for info in done.result["internal_urls"]] == [None]


def test_a_start_that_the_patterns_exclude_is_exit_4(tadoru: Tadoru, site: Site) -> None:
    done = tadoru.links(site.url("/a"), "--exclude", "/a")
    assert (done.code, site.paths) == (4, [])
    assert "excluded by pattern /a" in done.sentence


def test_a_start_that_answers_with_an_error_is_a_result(tadoru: Tadoru, site: Site) -> None:
    done = tadoru.links(site.url("/gone"), "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert [failed["error_type"] for failed in done.result["failed_urls"]] == ["http_404"]


# -- state files --------------------------------------------------------------------------------------------------------


def test_somebody_else_s_database_is_refused_and_left_as_it_is(tadoru: Tadoru) -> None:
    path = tadoru.folder / "crawl.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE things(name)")
    before = path.read_bytes()
    done = tadoru.links("http://127.0.0.1:1/", "--state", "crawl.db")
    assert (done.code, done.out) == (1, "")
    assert "not a Tadoru crawl" in done.sentence
    assert path.read_bytes() == before


def damaged(path: Path) -> None:
    """Overwrite the middle of a database."""
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


def test_a_damaged_state_file_is_exit_1(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    tadoru.map(site.url(), "--state", "crawl.db")
    damaged(tadoru.folder / "crawl.db")
    done = tadoru.links(site.url(), "--state", "crawl.db")
    assert (done.code, done.out) == (1, "")
    assert "crawl.db" in done.sentence
    assert "damaged" in done.sentence


def test_a_state_file_that_is_no_database_is_exit_1_and_left_as_it_is(tadoru: Tadoru) -> None:
    (tadoru.folder / "notes.txt").write_text("dear diary " * 500)
    done = tadoru.links("http://127.0.0.1:1/", "--state", "notes.txt")
    assert (done.code, done.out) == (1, "")
    assert "notes.txt is not a SQLite database" in done.sentence
    assert (tadoru.folder / "notes.txt").read_text().startswith("dear diary")


def test_the_state_of_another_start_is_exit_2(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    tadoru.map(site.url(), "--state", "crawl.db")
    done = tadoru.links(site.url("/other"), "--state", "crawl.db")
    assert (done.code, done.out) == (2, "")
    assert f"crawl.db contains the crawl of {site.url()}" in done.sentence


def test_a_state_file_is_enough_to_go_on(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/a"])
    tadoru.map(site.url(), "--state", "crawl.db", "--limit", "1")
    done = tadoru("links", "--state", "crawl.db", "--limit", "2", "-f", "json")
    assert (done.code, done.result["total_processed"]) == (0, 2)


def test_a_locked_state_file_is_exit_1_after_a_few_seconds(tadoru: Tadoru) -> None:
    with closing(sqlite3.connect(tadoru.folder / "crawl.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        done = tadoru.links("http://127.0.0.1:1/", "--state", "crawl.db")
    assert (done.code, done.out) == (1, "")
    assert time.monotonic() - began < LOCK_PATIENCE, "the patience of a crawl that is under way"
    assert "crawl.db is locked by another process" in done.sentence
