"""The life of a source, in virtual time: what a worker does over days of faults, and that nothing waits longer than its bound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tadoru.config.options import EventsOptions
from tadoru.jobs.events.collect import source_registry
from tadoru.jobs.events.collect.collector import STOPPING_GRACE
from tadoru.jobs.events.collect.source_fetch import DETAIL_BUDGET
from tadoru.jobs.events.collect.worker_pool import WORKER_LEASE, CycleResult, WorkerPool
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.store.calendar.schedule import WORKER_STOPPED
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

    longest = float("inf")
    """Seconds after which a wait has no end."""

    async def sleep(self, seconds: float) -> None:
        if seconds == WORKER_LEASE / 3 or seconds > self.longest:
            await asyncio.Event().wait()  # until the worker ends
        await super().sleep(seconds)


class SourceLife:
    """One source of a site, a worker, and a clock that nobody waits for."""

    def __init__(self, folder: Path, site: Site, store: CalendarStore, clock: SourceClock) -> None:
        self.clock, self.store, self.site = clock, store, site
        self._files = str(folder / "var")
        self.add("ics", "/a.ics", {})

    def add(self, kind: str, path: str, settings: dict[str, Any]) -> None:
        """The source to run from now on."""
        values = {"name": path, "type": kind, "url": self.site.url(path), "settings": settings, "timezone": "Asia/Tokyo"}
        self.id = asyncio.run(source_registry.add_source(self.store, values, "test")).id

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
        return sorted(one.event.title for one in self.store.events.list(limit=1_000).items)


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
    result, took = life.run()
    assert took <= LONGEST_RUN
    assert life.seconds_until_due() >= DAY - LONGEST_RUN
    assert "asked for a pause until 2030-03-18 17:46 UTC" in result.failed[0].run.error_summary
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


def test_a_worker_that_is_stopped_before_it_begins_sends_nothing(life: SourceLife) -> None:
    _, took = life.run(lambda pool: pool.stop())
    assert took <= 1.0
    assert life.store.runs.list() == ()
    assert life.site.paths == []


async def _no_response(exchange: Exchange, _: str) -> None:
    await asyncio.Event().wait()


async def _endless_body(exchange: Exchange, _: str) -> None:
    await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/calendar\r\nContent-Length: 1000\r\n\r\nBEGIN")
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    "path, handler",
    [
        ("/a.ics", _no_response),
        ("/a.ics", _endless_body),
        ("/a.ics", failing(503, ("Retry-After", "80"))),
        ("/a.ics", failing(500)),
        ("/robots.txt", _no_response),
    ],
    ids=["response", "body", "pause", "retry", "robots.txt"],
)
def test_one_request_to_stop_ends_a_run_whatever_it_waits_for(path: str, handler: Handler, life: SourceLife) -> None:
    life.clock.longest = STOPPING_GRACE

    def stop_at_the_request(pool: WorkerPool) -> None:
        loop = asyncio.get_running_loop()

        async def answer(exchange: Exchange, target: str) -> None:
            loop.call_soon_threadsafe(pool.stop)
            await handler(exchange, target)

        life.site.handle(path, answer)

    result, took = life.run(stop_at_the_request)
    assert took <= 2 * STOPPING_GRACE
    assert life.site.hits(path) == 1
    assert result.collected == []
    assert [run.error_summary for run in life.store.runs.list()] == [WORKER_STOPPED]
    assert life.store.schedule.state(life.id).failures == 0, "it is not the fault of the source"
    assert life.seconds_until_due() <= 0.0


def test_retries_after_503_come_later_each_time(life: SourceLife) -> None:
    times: list[float] = []

    async def answer(exchange: Exchange, target: str) -> None:
        times.append(life.clock.monotonic())
        await failing(503)(exchange, target)

    life.site.handle("/a.ics", answer)
    life.run()
    gaps = [after - before for before, after in pairwise(times)]
    assert len(gaps) >= 2
    assert gaps[0] > 0.9
    assert all(after > before for before, after in pairwise(gaps))


def test_a_clock_that_jumps_ahead_and_back_does_not_stop_the_source(life: SourceLife) -> None:
    life.site.handle("/a.ics", with_validator(ics(meeting(1)), '"one"'))
    life.run()
    due = life.seconds_until_due()
    for jump in (-300 * DAY, 300 * DAY):
        life.clock.put_back(jump)
        result, took = life.run()
        assert not result.failed
        assert took <= LONGEST_RUN
        assert life.seconds_until_due() <= due + HOUR
    assert life.titles() == ["Market 1"]


def test_pages_of_an_unchanged_list_are_asked_for_within_a_budget_those_first_that_waited_longest(life: SourceLife) -> None:
    count = DETAIL_BUDGET + 20
    paths = [f"/e/{number}" for number in range(count)]
    life.site.handle("/list", with_validator("".join(f'<a class="e" href="{path}">x</a>' for path in paths), '"l"', "text/html"))
    for number, path in enumerate(paths):
        page = f"<h1>{meeting(number)['SUMMARY']}</h1><time>2031-{1 + number // 28:02}-{1 + number % 28:02} 10:00</time>"
        life.site.handle(path, with_validator(page, f'"{number}"', "text/html"))
    life.add("html", "/list", {"details": "a.e", "fields": {"title": "h1", "start": "time"}})
    life.run()
    for _ in range(2):
        life.clock.advance(DAY)
        before = [life.site.hits(path) for path in paths]
        life.run()
        asked = [life.site.hits(path) - hits for path, hits in zip(paths, before, strict=True)]
        assert sum(asked) == DETAIL_BUDGET
    assert all(asked[DETAIL_BUDGET:]), "those that were left out are asked for first"
    assert len(life.titles()) == count


def test_a_corrected_event_without_a_uid_keeps_its_own_and_what_a_person_wrote(life: SourceLife) -> None:
    life.add("html", "/list", {"item": "li", "fields": {"title": "b", "start": "time", "venue": "i", "url": "a::attr(href)"}})
    item = "<li><b>{}</b><time>2031-{}</time><i>{}</i><a href=/e/{}>x</a></li>"
    others = "".join(item.format(meeting(number)["SUMMARY"], f"03-0{number} 10:00", "Hall", number) for number in range(2, 9))
    uids = set()
    for when, venue in (("05-01 10:00", "Hall"), ("05-01 13:30", "Hall"), ("05-08 13:30", "Hall"), ("05-08 13:30", "Pier")):
        life.site.html("/list", f"<ul>{item.format('Market 1', when, venue, 1)}{others}</ul>")
        life.run()
        life.clock.advance(DAY)
        (event,) = [one.event for one in life.store.events.list().items if one.event.title == "Market 1"]
        if not uids:
            life.store.edits.edit(event.id, {"organizer": "Market society"}, EventMatcher(), "editor")
        uids.add(event.uid)
    assert len(uids) == 1
    assert len(life.titles()) == 8
    assert (event.venue, event.organizer, event.vanished_at) == ("Pier", "Market society", None)


@pytest.mark.parametrize("link", ["<a href=/e/1>x</a>", ""], ids=["with a page of its own", "without"])
def test_a_rule_without_a_period_stays_one_event_whose_dates_move_on(link: str, life: SourceLife) -> None:
    life.add("html", "/list", {"item": "li", "fields": {"title": "b", "start": "time", "venue": "i", "url": "a::attr(href)"}})
    reading = f"<li><b>朗読のつどい</b><time>毎週水曜日 10:00～11:00</time><i>Hall</i>{link}</li>"
    others = "".join(f"<li><b>{meeting(n)['SUMMARY']}</b><time>2031-03-0{n} 10:00</time></li>" for n in range(2, 6))
    life.site.handle("/list", with_validator(f"<ul>{reading}{others}</ul>", '"l"', "text/html"))
    uids, days = set(), []
    for _ in range(6):
        life.run()
        (event,) = [one.event for one in life.store.events.list().items if one.event.title == "朗読のつどい"]
        if not uids:
            life.store.edits.edit(event.id, {"organizer": "Readers"}, EventMatcher(), "editor")
        uids.add(event.uid)
        days.append(event.local_date)
        assert 0 <= (event.local_date - life.store.db.now().date()).days <= 7
        life.clock.advance(20 * DAY)
    assert len(uids) == 1
    assert days == sorted(set(days))
    assert (event.organizer, event.vanished_at) == ("Readers", None)
