"""The life of a source, in virtual time: what a worker does over days of faults, and that nothing waits longer than its bound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.config.options import EventsOptions
from tadoru.jobs.events.collect import source_registry
from tadoru.jobs.events.collect.worker_pool import WORKER_LEASE, CycleResult, WorkerPool
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tadoru.store.files import open_files
from tests.acceptance.calendar import ics, meeting, with_validator
from tests.support.clock import FakeClock
from tests.support.exchange import Exchange, Handler, Reply
from tests.support.site import Site

HOUR, DAY = 3_600.0, 86_400.0
LONGEST_RUN = 2 * 60.0
"""Seconds of virtual time that one run of one source may take, whatever the host does."""
LONGEST_PAUSE = 30 * DAY


class SourceClock(FakeClock):
    """Time passes when a source is waited for, and not while the worker waits to renew its lease beside that."""

    async def sleep(self, seconds: float) -> None:
        if seconds == WORKER_LEASE / 3:
            await asyncio.Event().wait()  # until the worker ends
        await super().sleep(seconds)


class SourceLife:
    """One source of a site, a worker, and a clock that nobody waits for."""

    def __init__(self, folder: Path, site: Site, store: CalendarStore, clock: FakeClock) -> None:
        self.clock, self.store, self.site = clock, store, site
        self._files = str(folder / "var")
        values = {"name": "Town", "type": "ics", "url": site.url("/a.ics"), "frequency": "normal"}
        self.id = asyncio.run(source_registry.add_source(store, values, "test")).id

    def run(self, before: Callable[[WorkerPool], None] = lambda pool: None) -> tuple[CycleResult, float]:
        """Collect what is due; the result and the seconds it took."""
        began = self.clock.monotonic()

        async def work() -> CycleResult:
            pool = WorkerPool(self.store, open_files(self._files), self.clock, EventsOptions(delay=0.0), lambda *_, **__: None)
            async with pool.running():
                before(pool)
                return await pool.run([self.store.sources.get(self.id)])

        return asyncio.run(work()), self.clock.monotonic() - began

    def seconds_until_due(self) -> float:
        return (self.store.schedule.state(self.id).next_run_at - self.store.db.now()).total_seconds()

    def titles(self) -> list[str]:
        return sorted(one.event.title for one in self.store.events.list().items)


@pytest.fixture
def life(tmp_path: Path, site: Site) -> Iterator[SourceLife]:
    clock = SourceClock(1_900_000_000.0)
    with closing(open_calendar(str(tmp_path / "calendar.db"), clock)) as store:
        yield SourceLife(tmp_path, site, store, clock)


def failing(status: int, *headers: tuple[str, str]) -> Handler:
    async def answer(exchange: Exchange, _: str) -> None:
        await exchange.send(Reply(status, b"", "text/plain", headers))

    return answer


def test_a_host_that_asks_for_a_day_is_left_alone_for_a_day_and_waited_for_by_nobody(life: SourceLife) -> None:
    life.site.handle("/a.ics", failing(503, ("Retry-After", "86400")))
    _, took = life.run()
    assert took <= LONGEST_RUN
    assert life.seconds_until_due() >= DAY - LONGEST_RUN
    _, took = life.run()
    assert took <= LONGEST_RUN, "the host is paused: the run says so and ends"
    life.site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    life.clock.advance(DAY)
    life.run()
    assert life.titles() == ["Market 1"]


def test_failures_make_the_pauses_longer_up_to_a_bound_and_one_success_makes_them_short(life: SourceLife) -> None:
    life.site.handle("/a.ics", failing(500))
    pauses = []
    for _ in range(12):
        _, took = life.run()
        assert took <= LONGEST_RUN
        pauses.append(life.seconds_until_due())
        life.clock.advance(max(0.0, pauses[-1]))
    assert pauses[1] > 1.5 * pauses[0]
    assert pauses[2] > 1.5 * pauses[1]
    assert max(pauses) <= LONGEST_PAUSE
    life.site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    life.run()
    assert life.seconds_until_due() <= 1.5 * pauses[0]
    assert life.titles() == ["Market 1"]


def test_a_clock_that_is_put_back_does_not_stop_the_source(life: SourceLife) -> None:
    life.site.handle("/a.ics", with_validator(ics(meeting(1)), '"one"'))
    life.run()
    due = life.seconds_until_due()
    life.clock.put_back(2 * DAY)
    result, took = life.run()
    assert not result.failed
    assert took <= LONGEST_RUN
    assert life.seconds_until_due() <= due + HOUR
    assert life.titles() == ["Market 1"]


def test_an_event_is_listed_corrected_dropped_and_listed_again_with_one_uid(life: SourceLife) -> None:
    uids = set()
    others = [meeting(number) for number in range(2, 9)]
    for entries in ([meeting(1)], [meeting(1, SUMMARY="Market 1 at the harbour")], [], [meeting(1)]):
        life.site.reply("/a.ics", body=ics(*entries, *others), content_type="text/calendar")
        life.run()
        life.clock.advance(DAY)
        uids |= {one.event.uid for one in life.store.events.list().items if one.event.title.startswith("Market 1")}
    assert len(uids) == 1
    assert len(life.titles()) == 8


def test_a_worker_that_is_stopped_while_it_waits_ends_at_once(life: SourceLife) -> None:
    life.site.handle("/a.ics", failing(503, ("Retry-After", "30")))
    _, took = life.run(lambda pool: pool.stop())
    assert took <= 1.0
    assert life.store.runs.list() == ()
