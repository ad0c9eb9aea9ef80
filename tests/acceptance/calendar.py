"""A calendar of a test's own: the events commands on one database, and small sources to set them on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadoru.jobs.events.collect import source_registry
from tadoru.jobs.events.collect.source_settings import settings_from_pairs
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import CalendarEvent, CollectionState, EventSource, RunLog
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.acceptance.command import CommandResult, Tadoru
from tests.support.exchange import Exchange, Handler, Reply

HEADER = "イベント名,開始日,終了日,開始時間,場所名称"


@dataclass(frozen=True, slots=True)
class Calendar:
    """`tadoru events` on one database."""

    tadoru: Tadoru
    database: str = "var/tadoru.db"

    @property
    def folder(self) -> Path:
        return self.tadoru.folder

    def __call__(self, *arguments: str, **options: Any) -> CommandResult:
        return self.tadoru("events", "-d", self.database, *arguments, **options)

    @contextmanager
    def store(self) -> Iterator[CalendarStore]:
        """The database, from the test's own process."""
        with closing(open_calendar(str(self.folder / self.database))) as store:
            yield store

    def add(self, url: str, kind: str, *pairs: str, name: str = "", **fields: Any) -> int:
        """A source with these settings (`key=value`); its number. A test of the command itself says it in full."""
        values = {"name": name or url, "type": kind, "url": url, "settings": settings_from_pairs(pairs), **fields}
        with self.store() as store:
            return asyncio.run(source_registry.add_source(store, values, "test")).id

    def run(self, *arguments: str, **options: Any) -> CommandResult:
        """Collect, with the real command and without a gap between requests."""
        chosen = () if "--source" in arguments or "--due" in arguments else ("--all",)
        delay = () if "--delay" in arguments else ("--delay", "0")
        return self("run", *chosen, *delay, *arguments, **options)

    def json(self, *arguments: str) -> Any:
        """What a command says."""
        done = self(*arguments, "--format", "json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    def events(self) -> list[CalendarEvent]:
        """All of them, by title."""
        with self.store() as store:
            page = store.events.list(EventFilter(archived=None), limit=100_000)
        return sorted((listed.event for listed in page.items), key=lambda event: event.title)

    def titles(self) -> list[str]:
        return [event.title for event in self.events()]

    def vanished(self) -> int:
        return sum(event.vanished_at is not None for event in self.events())

    def runs(self) -> tuple[RunLog, ...]:
        """The newest first."""
        with self.store() as store:
            return store.runs.list()

    def source(self, number: int) -> EventSource:
        with self.store() as store:
            return store.sources.get(number)

    def state(self, number: int) -> CollectionState:
        with self.store() as store:
            return store.schedule.state(number)

    def reviews(self) -> list[str]:
        """The reasons of what is asked."""
        with self.store() as store:
            return sorted(review.reason.value for review in store.reviews.list())

    def files(self, below: str) -> list[Path]:
        return sorted(path for path in (self.folder / "var" / below).rglob("*") if path.is_file())


def table(titles: Iterable[str], day: str = "2031-05-01", header: str = HEADER) -> str:
    """A municipal table with an event for each title."""
    return "\r\n".join([header, *(f"{title},{day},{day},10:00,公民館" for title in titles), ""])


def ics(*events: Mapping[str, str]) -> str:
    """A calendar of these events."""
    blocks = ["\r\n".join(["BEGIN:VEVENT", *(f"{key}:{value}" for key, value in one.items()), "END:VEVENT"]) for one in events]
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *blocks, "END:VCALENDAR", ""])


def meeting(number: int, **more: str) -> dict[str, str]:
    """An event of `ics`; each is something else, on a day of its own."""
    names = ("Choir", "Market", "Chess club", "Film night", "Swimming gala", "Book fair", "Jazz brunch", "Pottery course")
    fields = {
        "UID": f"{number}@example",
        "SUMMARY": f"{names[number % len(names)]} {number}",
        "DTSTART": f"2031{1 + number // 28 % 12:02}{1 + number % 28:02}T100000Z",
    }
    return fields | more


def with_validator(body: str, etag: str, content_type: str = "text/calendar") -> Handler:
    """Answers 304 to whoever has it."""

    async def answer(exchange: Exchange, _: str) -> None:
        known = exchange.seen.headers.get("if-none-match")
        headers = (("ETag", etag),)
        await exchange.send(
            Reply(304, headers=headers, content_type="") if known == etag else Reply(200, body.encode(), content_type, headers)
        )

    return answer
