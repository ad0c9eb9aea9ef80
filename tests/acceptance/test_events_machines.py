"""Several collectors on one PostgreSQL, as on several machines: each source is collected once, each host is asked as by one of
them, and what a killed one had begun is done by another."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise

import pytest

from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.schedule import WORKER_STOPPED
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.acceptance.calendar import ics, meeting
from tests.acceptance.command import Tadoru, finished
from tests.support.site import ReceivedRequest, Site

SOURCES, HOSTS, GAP = 30, 3, 0.2
NAMES = ("first", "second", "third")


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Site()) for _ in range(HOSTS)]


def fill(store: CalendarStore, sites: list[Site]) -> None:
    """Sources that are all due, of each host in turn."""
    for number in range(SOURCES):
        site = sites[number % HOSTS]
        site.reply(f"/{number}.ics", body=ics(meeting(number)), content_type="text/calendar")
        named = site.url("/").split("/")[2]
        values = {"name": f"source {number}", "type": "ics", "url": site.url(f"/{number}.ics"), "named_host": named}
        store.sources.add(values, by="test")


def calendars(site: Site) -> list[ReceivedRequest]:
    return [seen for seen in site.requests if seen.path.endswith(".ics")]


def collectors(sites: list[Site]) -> set[str]:
    """Who has asked for a calendar by now."""
    return {seen.headers["user-agent"] for site in sites for seen in calendars(site)}


def test_three_share_thirty_sources_and_two_finish_when_one_is_killed(tadoru: Tadoru, address: str, sites: list[Site]) -> None:
    with closing(open_calendar(address)) as store:
        fill(store, sites)
        gates = [site.hold(f"/{number}.ics") for number in range(SOURCES) for site in [sites[number % HOSTS]]]
        options = ("run", "--due", "--delay", str(GAP), "--concurrency", "1", "-q")
        started = {name: tadoru.start("events", "-d", address, *options, "-u", name) for name in NAMES}
        for site in sites:
            site.wait_for(lambda site: bool(calendars(site)))  # One is at each host, and waits for its answer.
        assert collectors(sites) == set(NAMES)
        (taken,) = calendars(sites[0])
        killed = taken.headers["user-agent"]
        started[killed].send_signal(signal.SIGKILL)
        finished(started.pop(killed))
        for gate in gates:
            gate.release()
        for name, process in started.items():
            done = finished(process)
            assert done.code == 0, (name, done.err)

        asked = [seen.path for site in sites for seen in calendars(site)]
        assert sorted(asked) == sorted([taken.path, *(f"/{number}.ics" for number in range(SOURCES))])
        for site in sites:
            gaps = sorted(after.at - before.at for before, after in pairwise(site.requests))
            # One that the site sees late makes one gap shorter, but not all of them together.
            assert gaps[len(gaps) // 3] >= GAP * 0.9
            assert sum(gaps) > (len(gaps) - 0.5) * GAP
        events = store.events.list(EventFilter(archived=None), limit=1000).items
        assert sorted(one.event.title for one in events) == sorted(meeting(number)["SUMMARY"] for number in range(SOURCES))
        runs = store.runs.list(limit=1000)
        assert (len(runs), sum(run.error_summary == WORKER_STOPPED for run in runs)) == (SOURCES + 1, 1)
        assert all(run.finished_at is not None for run in runs)
        states = store.schedule.states(one.id for one in store.sources.list())
        assert {state.lease_worker for state in states.values()} == {None}
        assert {state.failures for state in states.values()} == {0}
