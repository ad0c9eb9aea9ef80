"""Ctrl-C and SIGTERM: what is in flight is finished, the partial result is written, and the same command goes on."""

from __future__ import annotations

import json
import re
import shlex
import signal
from pathlib import Path

import pytest

from tests.acceptance.command import CommandResult, Tadoru, finished, paths
from tests.support.site import Site

PAGES = {"/", "/slow", "/later", "/last"}
CRAWL = ("--delay", "0", "--depth", "9", "-f", "json", "--timeout", "50")
TIME_TO_HEAR = {"1": (), "2": ("--delay", "1")}
"""A second process hears of a signal from the first: a little later, and not three pages later."""


@pytest.fixture
def slow(site: Site) -> Site:
    """A site whose second page waits for its gate, with pages behind it."""
    site.page("/", links=["/slow"])
    site.page("/slow", links=["/later"])
    site.page("/later", links=["/last"])
    site.page("/last")
    site.hold("/slow")
    return site


def pages_until_stopped(stopped: CommandResult) -> int:
    """How many pages were done: one more may have begun in the moment of the signal, of which a second process hears later."""
    assert stopped.code == 130
    told = re.fullmatch(r"tadoru: Stopped after ([23]) pages. To resume, rerun the command.", stopped.err.splitlines()[-1])
    assert told is not None, stopped.err
    return int(told[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("processes", ["1", "2"])
def test_one_signal_finishes_what_is_in_flight_and_the_same_command_goes_on(
    number: signal.Signals, processes: str, tadoru: Tadoru, slow: Site
) -> None:
    command = ("links", slow.url(), *CRAWL, "--processes", processes, "--state", "crawl.db")
    process = tadoru.start(*command, *TIME_TO_HEAR[processes])
    slow.wait_for(lambda site: site.hits("/slow") == 1)
    process.send_signal(number)
    slow.hold("/slow").release()
    stopped = finished(process)
    done = pages_until_stopped(stopped)
    assert stopped.result["stopped"] == "interrupted"
    ways = ["/", "/slow", "/later", "/last"]
    assert {info["url"]: info["status_code"] for info in stopped.result["internal_urls"]} == {
        slow.url(path): 200 if number < done else None for number, path in enumerate(ways[: done + 1])
    }
    resumed = tadoru(*command)
    assert resumed.code == 0, resumed.err
    assert resumed.err == f"Resuming the crawl of {slow.url()}.\n"
    assert paths(resumed.result) == PAGES
    assert all(slow.hits(path) == 1 for path in PAGES), "what was finished is not asked for again"


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_terminal_that_goes_away_is_a_reason_to_stop_too(processes: str, tadoru: Tadoru, slow: Site) -> None:
    command = ("links", slow.url(), *CRAWL, "--processes", processes, "--state", "crawl.db")
    process = tadoru.start(*command, *TIME_TO_HEAR[processes], preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    slow.wait_for(lambda site: site.hits("/slow") == 1)
    process.send_signal(signal.SIGHUP)
    slow.hold("/slow").release()
    pages_until_stopped(finished(process))


def test_a_terminal_that_goes_away_is_none_of_the_business_of_a_command_that_ignores_it(tadoru: Tadoru, slow: Site) -> None:
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    process = tadoru.start("links", slow.url(), *CRAWL, "--processes", "2", **ignoring)
    slow.wait_for(lambda site: site.hits("/slow") == 1)
    process.send_signal(signal.SIGHUP)
    slow.hold("/slow").release()
    done = finished(process)
    assert (done.code, paths(done.result)) == (0, PAGES)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_two_signals_stop_at_once_and_lose_nothing(processes: str, tadoru: Tadoru, slow: Site) -> None:
    command = ("links", slow.url(), *CRAWL, "--processes", processes, "--state", "crawl.db")
    process = tadoru.start(*command)
    slow.wait_for(lambda site: site.hits("/slow") == 1)
    # Two different ones: a second signal of the same number may be merged with the first by the system.
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    stopped = finished(process)
    assert (stopped.code, stopped.sentence) == (130, "Stopped after 1 page. To resume, rerun the command.")
    assert paths(stopped.result) == {"/", "/slow"}
    slow.hold("/slow").release()
    assert paths(tadoru(*command).result) == PAGES
    assert slow.hits("/slow") == 2, "it was in flight, and is asked for again"


def test_without_a_state_file_the_sentence_names_one_to_go_on_with(tadoru: Tadoru, slow: Site) -> None:
    command = ("links", slow.url(), *CRAWL, "--auth-type", "bearer", "--auth-token", "s3cret")
    process = tadoru.start(*command)
    slow.wait_for(lambda site: site.hits("/slow") == 1)
    process.send_signal(signal.SIGINT)
    slow.hold("/slow").release()
    stopped = finished(process)
    assert stopped.code == 130
    match = re.fullmatch(r"Stopped after [23] pages. To resume, rerun the command with --state (.+)\.", stopped.sentence)
    assert match
    state = Path(shlex.split(match[1])[0])
    assert "s3cret" not in stopped.err + stopped.out
    try:
        assert paths(tadoru(*command, "--state", str(state)).result) == PAGES
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{state}{suffix}").unlink(missing_ok=True)


def test_a_time_limit_stops_the_crawl_and_says_so(tadoru: Tadoru, site: Site) -> None:
    done = tadoru("links", site.url("/calendar/2024/1"), "--delay", "50ms", "--depth", "1000", "--max-time", "2s", "-f", "json")
    assert (done.code, done.result["stopped"]) == (0, "time limit")
    assert 2 <= len(site.paths) <= 50


def test_a_finished_crawl_without_a_state_file_leaves_nothing_behind(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    temporary = tadoru.folder / "tmp"
    temporary.mkdir()
    assert tadoru.links(site.url(), env={"TMPDIR": str(temporary)}).code == 0
    assert list(temporary.iterdir()) == []
    assert tadoru.links("http://127.0.0.1:1/", env={"TMPDIR": str(temporary)}).code == 1
    assert list(temporary.iterdir()) == []


def test_a_partial_result_is_written_to_the_file_asked_for(tadoru: Tadoru, slow: Site) -> None:
    process = tadoru.start("links", slow.url(), *CRAWL, "-o", "out.json", "--state", "crawl.db", "-q")
    slow.wait_for(lambda site: site.hits("/slow") == 1)
    process.send_signal(signal.SIGTERM)
    slow.hold("/slow").release()
    stopped = finished(process)
    assert (stopped.code, stopped.out) == (130, "")
    assert json.loads((tadoru.folder / "out.json").read_text("utf-8"))["stopped"] == "interrupted"
    assert {path.name for path in tadoru.folder.iterdir()} <= {"out.json", "crawl.db", "crawl.db-wal", "crawl.db-shm"}
