"""A calendar for the commands to work on: sources and what they say, stored by the product's own normaliser and matcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tadoru.clock import Clock
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.model.event import QuarantinedEvent, RawEvent, RunStatus
from tadoru.store.calendar.records import ApplyResult, EventSource
from tadoru.store.calendar.store import CalendarStore, open_calendar

NOW = datetime(2049, 6, 1, tzinfo=UTC)
"""When sources are read. The events are of 2050, so that they are still to come when a command looks at the real clock."""


class Calendar:
    """A database that a test fills."""

    def __init__(self, path: Path | str, clock: Clock | None = None) -> None:
        self.path = str(path)
        self.store: CalendarStore = open_calendar(self.path, clock)

    def close(self) -> None:
        self.store.close()

    def source(self, name: str = "盛岡市", **given: Any) -> EventSource:
        values: Mapping[str, Any] = {
            "name": name, "type": "ics", "url": f"https://{len(name)}.example/{name}", "city": "盛岡市", "timezone": "Asia/Tokyo",
        }  # fmt: skip
        return self.store.sources.add({**values, **given}, by="test")

    def say(
        self,
        source: EventSource,
        *rows: RawEvent,
        status: RunStatus = RunStatus.SUCCESS,
        error: str = "",
        bad: Sequence[QuarantinedEvent] = (),
    ) -> ApplyResult:
        """One run of a source that says these rows."""
        rules = SourceRules(zone=source.timezone, now=NOW, city=source.city)
        outcomes = [normalise(row, rules) for row in rows]
        bad = [*bad, *(one for one in outcomes if isinstance(one, QuarantinedEvent))]
        good = [one for one in outcomes if not isinstance(one, QuarantinedEvent)]
        raws = [row for row, one in zip(rows, outcomes, strict=True) if not isinstance(one, QuarantinedEvent)]
        run = self.store.runs.start(source.id)
        applied = self.store.results.apply(run, good, bad, EventMatcher(), raws=raws)
        counts = {
            "fetched": 1,
            "parsed": len(rows),
            "upserted": applied.upserted,
            "quarantined": len(bad),
            "merged": applied.merged,
        }
        self.store.runs.finish(run, status, counts={**counts, "review": applied.review}, error=error)
        return applied


def row(title: str = "星まつり", start: str = "2050-08-01 10:00", **given: Any) -> RawEvent:
    """What a source says in one row."""
    given = {"venue": "市民会館", "position": "row 1"} | given
    return RawEvent(title=title, start=start, **given)
