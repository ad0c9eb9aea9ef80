"""Both databases keep one contract: every test of this folder that takes `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from tadoru.model.event import EventDraft, QuarantinedEvent, RunStatus
from tadoru.store.calendar.records import ApplyResult, EventSource, RunLog
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.matching import PlainMatcher
from tests.support.clock import FakeClock

OpenEvents = Callable[[], CalendarStore]
LetPass = Callable[[float], None]


@pytest.fixture
def matcher() -> PlainMatcher:
    return PlainMatcher()


@pytest.fixture
def handles(database: str, clock: FakeClock) -> Iterator[OpenEvents]:
    """Opens one more handle on the same database: what another process would have."""
    opened: list[CalendarStore] = []

    def handle() -> CalendarStore:
        opened.append(open_calendar(database, clock))
        return opened[-1]

    yield handle
    for one in opened:
        one.close()


@pytest.fixture
def store(handles: OpenEvents) -> CalendarStore:
    return handles()


@pytest.fixture
def let_pass(store: CalendarStore, clock: FakeClock) -> LetPass:
    """Lets time pass for the database; less than none: its clock is set back. PostgreSQL has a clock of its own, so there what it
    remembers is moved into the past."""

    def let_pass(seconds: float) -> None:
        if seconds < 0:
            clock.put_back(-seconds)
        clock.advance(seconds)
        if store.db.is_sqlite:
            return
        columns = {
            "workers": ("expires_at",),
            "source_state": ("next_run_at", "last_attempt", "last_success"),
            "hosts": ("next_at", "wait_from", "slot_until"),
            "incidents": ("claimed_until",),
            "robots": ("fetched_at",),
        }
        with store.db.write() as sql:
            for table, names in columns.items():
                moved = ", ".join(f"{name} = {name} - make_interval(secs => :seconds)" for name in names)
                sql.execute(text(f"UPDATE {table} SET {moved}"), {"seconds": seconds})

    return let_pass


class Collector:
    """Runs of sources, as the job would do them."""

    def __init__(self, store: CalendarStore, matcher: PlainMatcher) -> None:
        self.store, self.matcher = store, matcher

    def source(self, name: str = "City", **given: object) -> EventSource:
        values = {"name": name, "type": "ics", "url": f"https://example.org/{name}", "city": "盛岡", **given}
        return self.store.sources.add(values, by="test")

    def start(self, source: EventSource) -> RunLog:
        return self.store.runs.start(source.id)

    def run(
        self,
        source: EventSource,
        drafts: list[EventDraft],
        bad: tuple[QuarantinedEvent, ...] = (),
        *,
        sweep: bool = False,
        chunk: int = 500,
    ) -> ApplyResult:
        run = self.start(source)
        applied = self.store.results.apply(run, drafts, bad, self.matcher, chunk=chunk)
        if sweep:
            self.store.results.mark_missing(run)
        self.store.runs.finish(run, RunStatus.SUCCESS, counts={"parsed": len(drafts) + len(bad), "upserted": applied.upserted})
        return applied

    def titles(self) -> list[str]:
        return [one.event.title for one in self.store.events.list(limit=1000).items]


@pytest.fixture
def collect(store: CalendarStore, matcher: PlainMatcher) -> Collector:
    return Collector(store, matcher)
