"""A search engine that is configured is kept up to date by collecting, and by a command of its own."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.acceptance.calendar import Calendar, ics, meeting
from tests.acceptance.command import finished
from tests.support.search_engines import KEY, MeilisearchStub
from tests.support.site import Site


@pytest.fixture
def stub() -> Iterator[MeilisearchStub]:
    with closing(MeilisearchStub()) as one:
        yield one


def where(stub: MeilisearchStub) -> tuple[str, ...]:
    return ("--search-engine", "meilisearch", "--search-url", stub.url, "--search-key", "SEARCH")


def test_what_a_run_collected_is_in_the_engine_and_an_engine_that_is_down_stops_no_run(
    calendar: Calendar, site: Site, stub: MeilisearchStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH", KEY)
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar", times=1)
    site.reply("/a.ics", body=ics(meeting(1), meeting(2)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    stub.faults = {0: 503}
    done = calendar.run(*where(stub))
    assert done.code == 0
    assert "Meilisearch is overloaded (status 503)" in done.err
    assert KEY not in done.err + done.out
    assert calendar.run(*where(stub)).code == 0
    assert len(stub.documents()) == len(calendar.titles()) == 2


def test_a_worker_tells_an_engine_what_it_collected(
    calendar: Calendar, site: Site, stub: MeilisearchStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH", KEY)
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    arguments = ("events", "-d", calendar.database, "worker", "--delay", "0", "--log-format", "json", "-vv", *where(stub))
    process = calendar.tadoru.start(*arguments)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("{") and json.loads(line).get("stage") == "search":
            break
    assert len(stub.documents()) == 1
    process.send_signal(signal.SIGTERM)
    finished(process)


def test_a_command_without_an_engine_says_what_to_give(calendar: Calendar, stub: MeilisearchStub) -> None:
    done = calendar("search-sync")
    assert (done.code, done.out) == (2, "")
    assert "No search engine is configured. Give --search-engine and --search-url." in done.sentence
    done = calendar("search-sync", *where(stub))
    assert done.code == 2
    assert "The environment variable SEARCH" in done.sentence


def test_an_engine_can_be_forgotten(calendar: Calendar, stub: MeilisearchStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH", KEY)
    assert calendar("search-sync", *where(stub)).out == "Whole calendar: 0 events sent, 0 removed.\n"
    assert calendar("search-sync", "--forget", *where(stub)).out == "Changes are no longer tracked for this engine.\n"
    with calendar.store() as store:
        assert store.search_changes.targets() == ()
