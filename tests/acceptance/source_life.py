"""A source over days and weeks of virtual time: what its server answers, what the real commands do, and what is always true.

A life is a list of steps. With each step time passes, the server may change its answers, a command runs (`run --due`, as cron has
it), and what it printed, asked for and stored is compared with the step. After every step it is also true that
- the command took no longer than `LONGEST_RUN`, and the source is due again within `LONGEST_PAUSE`;
- no event was lost, and what a person wrote is on the same event, with the same UID;
- every snapshot that the run saved is in its `snapshot_paths`, and no run is open;
- the doctor names the source exactly if it fails.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO
from zoneinfo import ZoneInfo

import pytest

from tadoru.cli.main import run
from tadoru.jobs.events.collect import source_registry
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import CalendarEvent, CollectionState, RunLog
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.acceptance.calendar import ics
from tests.support.clock import FakeClock
from tests.support.exchange import Exchange, Handler, Reply
from tests.support.postgres import server
from tests.support.site import Site

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
LONGEST_RUN = 5 * MINUTE
"""Seconds of virtual time that one run of one source may take, whatever the host does."""
LONGEST_PAUSE = 8 * DAY
START = 1_900_000_000.0
ZONE = "Asia/Tokyo"
PERSON = "Market society"
"""What a person writes as the organizer of the first event that is read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answers at a path; 304 to whoever has its ETag. `{other}` in a header is the address of the other site."""

    body: str | bytes = ""
    kind: str = "text/calendar"
    status: int = 200
    etag: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def handler(self, other: Site) -> Handler:
        headers = tuple((name, value.replace("{other}", other.base)) for name, value in self.headers.items())
        headers += (("ETag", self.etag),) if self.etag else ()
        body = self.body.encode() if isinstance(self.body, str) else self.body

        async def answer(exchange: Exchange, _: str) -> None:
            if self.etag and exchange.seen.headers.get("if-none-match") == self.etag:
                await exchange.send(Reply(304, headers=headers, content_type=""))
            else:
                await exchange.send(Reply(self.status, body, self.kind, headers))

        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What happens, and what the command is to show. What is None is not compared."""

    after: float = 12 * HOUR
    """Seconds that pass before; negative: the clock is put back."""
    times: int = 1
    """How often time passes and the command runs; the rest is compared at the end."""
    world: Mapping[str, Answer | Handler] = field(default_factory=dict)
    do: Callable[[SourceLife], object] = lambda life: None
    """Something else that happens before the command."""
    command: str = "run --due"
    stop_at: str = ""
    """A part of a log line at which SIGTERM is sent."""
    code: int = 0
    says: str | Iterable[str] = ()
    """Parts of what the command prints."""
    log: str = ""
    """A part of the summary of the newest run; empty: it has none."""
    status: str | None = "success"
    asked: int | None = None
    """Requests that the command sends, robots.txt not counted."""
    shows: list[str] | None = None
    """The listed events: "title, day, time, venue"."""
    unlisted: int = 0
    """Events that are no longer listed."""
    due: float | None = None
    """Hours until the source is due again, up to the tenth by which a pause may be shorter or longer."""
    enabled: bool = True


def stop_process() -> None:
    """What systemd does to stop a command."""
    os.kill(os.getpid(), signal.SIGTERM)


class StoppingStream(io.StringIO):
    """A stream that passes on what is written, and stops the process at a line with a text."""

    def __init__(self, shown: TextIO, at: str) -> None:
        super().__init__()
        self._shown, self._at = shown, at

    def write(self, text: str) -> int:
        if self._at in text:
            stop_process()
        return self._shown.write(text)


class SourceLife:
    """One source, the commands on its calendar, and a clock that nobody waits for."""

    def __init__(
        self, folder: Path, database: str, clock: FakeClock, sites: tuple[Site, Site], capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.database, self.clock, self._capsys = folder, database, clock, capsys
        self.site, self.other = sites
        self.id = 0
        self.timeout = 20.0
        self.took = 0.0
        self._event_ids: set[int] = set()
        self._uid = ""

    def add(self, kind: str, url: str, settings: Mapping[str, Any] = {}, **fields: Any) -> int:
        """The source to run from now on."""
        values: dict[str, Any] = {
            "name": "Town",
            "type": kind,
            "url": url,
            "settings": dict(settings),
            "timezone": ZONE,
            "allow_private": True,
            **fields,
        }
        with self.store() as store:
            self.id = asyncio.run(source_registry.add_source(store, values, "test")).id
        return self.id

    @contextmanager
    def store(self) -> Iterator[CalendarStore]:
        with closing(open_calendar(self.database, self.clock)) as store:
            yield store

    def command(self, line: str, stop_at: str = "") -> tuple[int, str]:
        """Run a command; its exit code and what it printed."""
        words = line.split()
        if words[0] in ("run", "worker"):
            words += ["--delay", "0", "--files", str(self.folder), "--timeout", str(self.timeout)]
        began, shown = self.clock.monotonic(), sys.stderr
        if stop_at:
            sys.stderr = StoppingStream(shown, stop_at)
            words.append("-vv")
        try:
            code = run(["events", "-d", self.database, *words], clock=self.clock)
        finally:
            sys.stderr = shown
        self.took = self.clock.monotonic() - began
        printed = self._capsys.readouterr()
        return code, printed.out + printed.err

    def pass_time(self, seconds: float) -> None:
        if seconds < 0:
            self.clock.put_back(-seconds)
        else:
            self.clock.advance(seconds)

    def answer(self, world: Mapping[str, Answer | Handler]) -> None:
        for path, answer in world.items():
            self.site.handle(path, answer.handler(self.other) if isinstance(answer, Answer) else answer)

    def events(self) -> list[CalendarEvent]:
        with self.store() as store:
            return [one.event for one in store.events.list(EventFilter(archived=None), limit=10_000).items]

    def shown(self) -> list[str]:
        """The listed events."""
        return sorted(describe(one) for one in self.events() if one.vanished_at is None)

    def runs(self) -> tuple[RunLog, ...]:
        """The newest first."""
        with self.store() as store:
            return store.runs.list()

    def state(self) -> CollectionState:
        with self.store() as store:
            return store.schedule.state(self.id)

    def hours_until_due(self) -> float:
        with self.store() as store:
            return (store.schedule.state(self.id).next_run_at - store.db.now()).total_seconds() / HOUR

    def live(self, *steps: Step) -> None:
        """Go through the steps."""
        for number, step in enumerate(steps, 1):
            for _ in range(step.times):
                self.pass_time(step.after)
                self.answer(step.world)
                step.do(self)
                before = self._count_requests()
                code, printed = self.command(step.command, step.stop_at)
                self._check_always(f"step {number}: {printed}")
            self._check_doctor(f"step {number}: ")
            self._compare(step, code, printed, self._count_requests() - before, f"step {number}: {printed}")

    def _count_requests(self) -> int:
        return sum(path != "/robots.txt" for path in (*self.site.paths, *self.other.paths))

    def _compare(self, step: Step, code: int, printed: str, asked: int, where: str) -> None:
        assert code == step.code, where
        for text in [step.says] if isinstance(step.says, str) else step.says:
            assert text in printed, where
        if step.asked is not None:
            assert asked == step.asked, where
        with self.store() as store:
            assert store.sources.get(self.id).enabled is step.enabled, where
        if step.status is not None:
            newest = self.runs()[0]
            assert (newest.status, step.log in newest.error_summary) == (step.status, True), f"{where}{newest.error_summary}"
            assert bool(step.log) == bool(newest.error_summary), f"{where}{newest.error_summary}"
        if step.shows is not None:
            assert self.shown() == sorted(step.shows), where
        assert sum(one.vanished_at is not None for one in self.events()) == step.unlisted, where
        if step.due is not None:
            assert 0.89 * step.due <= self.hours_until_due() <= 1.11 * step.due, f"{where}{self.hours_until_due()}"

    def _check_always(self, where: str) -> None:
        assert self.took <= LONGEST_RUN, f"{where}took {self.took} s"
        every = self.events()
        ids = {one.id for one in every}
        assert ids >= self._event_ids, f"{where}an event was lost"
        self._event_ids = ids
        self._check_person(every, where)
        runs = self.runs()
        assert all(one.finished_at is not None for one in runs), where
        with self.store() as store:
            source, state = store.sources.get(self.id), store.schedule.state(self.id)
            assert state.lease_worker is None, where
            if source.enabled:
                pause = abs(state.next_run_at - store.db.now()).total_seconds()
                assert pause <= LONGEST_PAUSE, f"{where}due in {pause / DAY} days"
            saved = {one.content_path for one in store.runs.snapshots(self.id) if runs and one.run_id == runs[0].id}
        if runs:
            assert saved == set(runs[0].snapshot_paths), where
            assert all((self.folder / path).exists() for path in saved), where

    def _check_doctor(self, where: str) -> None:
        with self.store() as store:
            is_failing = store.sources.get(self.id).enabled and store.schedule.state(self.id).failures > 0
        _, printed = self.command("doctor")
        assert (f"Source {self.id} (Town) fails" in printed) is is_failing, f"{where}{printed}"

    def _check_person(self, every: list[CalendarEvent], where: str) -> None:
        """The edit of a person stays where it is; the first event that is read gets one."""
        edited = [one for one in every if one.organizer == PERSON]
        if self._uid:
            assert [one.uid for one in edited] == [self._uid], where
        elif every:
            first = min(every, key=lambda one: one.id)
            with self.store() as store:
                store.edits.edit(first.id, {"organizer": PERSON}, EventMatcher(), "editor")
            self._uid = first.uid

    def edited(self) -> CalendarEvent:
        """The event with the edit of a person."""
        return next(one for one in self.events() if one.uid == self._uid)


def describe(event: CalendarEvent) -> str:
    """An event as a step names it."""
    start = event.starts_at.astimezone(ZoneInfo(ZONE)) if event.starts_at else None
    when = f"{start:%m-%d %H:%M}" if start and event.has_time else f"{start:%m-%d}" if start else "no date"
    return f"{event.title}, {when}{f', {event.venue}' if event.venue else ''}"


def calendar_of(*entries: Mapping[str, str], etag: str = "") -> Answer:
    return Answer(ics(*entries), etag=etag)


def refusal(status: int, **headers: str) -> Answer:
    return Answer(status=status, kind="text/plain", headers={name.replace("_", "-"): value for name, value in headers.items()})


def moved(to: str, status: int = 301) -> Answer:
    return refusal(status, Location=to)


def html(body: str, etag: str = "") -> Answer:
    return Answer(body, "text/html; charset=utf-8", etag=etag)


@contextmanager
def database_with_clock(kind: str, folder: Path, clock: FakeClock) -> Iterator[str]:
    """The address of a new database; the clock of PostgreSQL is the one of the test, too."""
    if kind == "sqlite":
        yield str(folder / "calendar.db")
        return
    address = server().new_database()
    name = address.partition("@/")[2].partition("?")[0]
    with server().connect(name) as sql:
        sql.execute("CREATE SCHEMA virtual")
        sql.execute(f'ALTER DATABASE "{name}" SET search_path TO public, virtual, pg_catalog')

        def tell() -> None:
            function = "virtual.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
            sql.execute(f"CREATE OR REPLACE FUNCTION {function} AS $$ SELECT to_timestamp({clock.now()!r}) $$")

        clock.on_change = tell
        tell()
        yield address
    server().drop(address)
