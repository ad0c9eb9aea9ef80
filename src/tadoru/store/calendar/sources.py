"""The registry of sources with the history of each change, and statistics about their health."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Integer, case, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from tadoru.errors import UsageError, quoted
from tadoru.model.event import EventStatus, RunStatus, SourceType
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import EventSource, SourceFieldChange, last_error_counts, run_error, source_from_row
from tadoru.store.calendar.run_notifications import notify_health
from tadoru.store.calendar.schema import (
    events,
    incidents,
    merges,
    reviews,
    run_logs,
    sightings,
    snapshots,
    source_history,
    source_state,
    sources,
)

FREQUENCIES = ("high", "normal", "low")
_EDITABLE = frozenset(one.name for one in fields(EventSource)) - {"id", "created_at", "updated_at"}
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("city", "notes", "timezone", "licence", "terms_url", "named_host", "secret"), ""),
    **{"frequency": "normal", "enabled": True, "settings": {}, "priority": 0, "depends_on": None},
    **{"allow_private": False, "low_hours": 24},
}


def _check_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(values.keys() - _EDITABLE):
        raise UsageError(
            "Unknown field {field} of a source. Choose from {fields}.",
            field=quoted(unknown[0]),
            fields=", ".join(sorted(_EDITABLE)),
        )
    if "type" in values and values["type"] not in list(SourceType):
        raise UsageError("Unknown source type {type}. Use {types}.", type=quoted(values["type"]), types=", ".join(SourceType))
    if "frequency" in values and values["frequency"] not in FREQUENCIES:
        raise UsageError(
            "Unknown frequency {frequency}. Use {frequencies}.",
            frequency=quoted(values["frequency"]),
            frequencies=", ".join(FREQUENCIES),
        )
    if not 24 <= values.get("low_hours", 24) <= 72:
        raise UsageError("The low-frequency interval must be from 24 to 72 hours.")
    for name in ("name", "url"):
        if name in values and not values[name].strip():
            raise UsageError("A source needs a {field}.", field=name)
    checked = dict(values)
    if "type" in checked:
        checked["type"] = SourceType(checked["type"]).value
    return checked


class Sources:
    """Adds, edits and removes sources."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def add(self, values: Mapping[str, Any], by: str) -> EventSource:
        """Add a source, due immediately. `values` are fields of `EventSource`; name, type and url are required."""
        given = _DEFAULTS | _check_fields(values)
        if missing := [name for name in ("name", "type", "url") if name not in given]:
            raise UsageError("A source needs a {field}.", field=missing[0])
        now = self._db.now()
        with self._db.write() as sql:
            self._check_dependency(sql, None, given["depends_on"])
            number = self._insert(sql, given | {"created_at": now, "updated_at": now})
            sql.execute(insert(source_state), {"source_id": number, "next_run_at": self._db.shared_now(sql)})
            self._note(sql, number, by, [("source", None, given["name"])], now)
            return self._source(sql, number)

    def _insert(self, sql: Connection, values: Mapping[str, Any]) -> int:
        try:
            number: int = sql.execute(insert(sources).values(values).returning(sources.c.id)).scalar_one()
        except IntegrityError as error:
            raise UsageError("A source named {name} already exists. Choose another name.", name=quoted(values["name"])) from error
        return number

    def edit(self, source_id: int, changes: Mapping[str, Any], by: str) -> EventSource:
        """Change fields; values that are already set are no change. A new URL discards the validators of the old one."""
        checked = _check_fields(changes)
        now = self._db.now()
        with self._db.write() as sql:
            before = self._source(sql, source_id)
            changed = [(name, getattr(before, name), value) for name, value in checked.items() if getattr(before, name) != value]
            if not changed:
                return before
            if "depends_on" in checked:
                self._check_dependency(sql, source_id, checked["depends_on"])
            try:
                new = {name: value for name, _, value in changed}
                sql.execute(update(sources).where(sources.c.id == source_id).values(**new, updated_at=now))
            except IntegrityError as error:
                raise UsageError(
                    "A source named {name} already exists. Choose another name.", name=quoted(checked.get("name"))
                ) from error
            if {"url", "settings", "type"} & new.keys():
                fresh = {"etag": None, "last_modified": None, "body_hash": "", "next_run_at": self._db.shared_now(sql)}
                sql.execute(update(source_state).where(source_state.c.source_id == source_id).values(fresh))
            self._note(sql, source_id, by, changed, now)
            if {"name", "enabled"} & new.keys():
                notify_health(self._db, sql, source_id)
            return self._source(sql, source_id)

    def enable(self, source_id: int, by: str) -> EventSource:
        return self.edit(source_id, {"enabled": True}, by)

    def disable(self, source_id: int, by: str) -> EventSource:
        return self.edit(source_id, {"enabled": False}, by)

    def remove(self, source_id: int, by: str) -> tuple[str, ...]:
        """Remove a source; its events stay. Returns the paths of its snapshots, which are no longer referenced."""
        with self._db.write_events() as sql:
            found = self._source(sql, source_id)
            paths = sql.execute(select(snapshots.c.content_path).where(snapshots.c.source_id == source_id)).scalars().all()
            self._note(sql, source_id, by, [("source", found.name, None)], self._db.now())
            sql.execute(delete(sources).where(sources.c.id == source_id))
            return tuple(paths)

    def list(self, *, enabled: bool | None = None) -> tuple[EventSource, ...]:
        query = select(sources).order_by(sources.c.id)
        if enabled is not None:
            query = query.where(sources.c.enabled == enabled)
        with self._db.read() as sql:
            return tuple(source_from_row(row) for row in sql.execute(query).mappings())

    def get(self, source_id: int) -> EventSource:
        with self._db.read() as sql:
            return self._source(sql, source_id)

    def history(self, source_id: int) -> tuple[SourceFieldChange, ...]:
        """All changes, oldest first; also of a removed source."""
        query = select(source_history).where(source_history.c.source_id == source_id).order_by(source_history.c.id)
        with self._db.read() as sql:
            rows = sql.execute(query).mappings()
            names = ("at", "by", "field", "old", "new")
            return tuple(SourceFieldChange(**{name: row[name] for name in names}) for row in rows)

    def _source(self, sql: Connection, source_id: int) -> EventSource:
        row = sql.execute(select(sources).where(sources.c.id == source_id)).mappings().one_or_none()
        if row is None:
            raise UsageError("Source {id} not found. `tadoru events sources list` lists them.", id=source_id)
        return source_from_row(row)

    def _check_dependency(self, sql: Connection, source_id: int | None, on: int | None) -> None:
        """A source must not depend on itself through others."""
        seen = set()
        while on is not None and on not in seen:
            if on == source_id:
                raise UsageError("Source {id} would depend on itself. Choose another source.", id=source_id)
            seen.add(on)
            on = self._source(sql, on).depends_on

    def _note(self, sql: Connection, source_id: int, by: str, changed: Sequence[tuple[str, Any, Any]], now: datetime) -> None:
        rows = [
            {"source_id": source_id, "at": now, "by": by, "field": name, "old": old, "new": new} for name, old, new in changed
        ]
        sql.execute(insert(source_history), rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealthStats:
    """Statistics about one source."""

    source_id: int
    name: str
    enabled: bool
    rows: int
    """Rows that it lists now."""
    runs: int
    failed_runs: int
    """Both within the requested period."""
    failures: int
    """Consecutive failures until now."""
    last_success: datetime | None
    last_error: str
    late: float
    """Seconds by which its next run is overdue."""
    open_incidents: int
    fetched: int | None = None
    parsed: int | None = None
    """Documents and items of the last run; None before the first."""
    publishing_delay: float | None = None
    """Seconds from the start of the last run until its events were published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarTotals:
    """Statistics about the whole calendar."""

    events: dict[str, int]
    """By status, without merged events."""
    archived: int
    vanished: int
    rows: int
    merged_rows: int
    """Rows about an event that another row is about too."""
    open_reviews: int
    sources: int
    merges: int


class CalendarStatistics:
    """Statistics queries."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def totals(self) -> CalendarTotals:
        standing = events.c.merged_into.is_(None)
        with self._db.read() as sql:
            statuses = sql.execute(select(events.c.status, func.count()).where(standing).group_by(events.c.status)).all()
            by_status: dict[str, int] = dict(statuses)
            row_count = sql.execute(select(func.count()).select_from(sightings)).scalar_one()
            spoken_of = sql.execute(select(func.count(sightings.c.event_id.distinct()))).scalar_one()
            marked = select(func.count(events.c.archived_at), func.count(events.c.vanished_at)).where(standing)
            archived, vanished = sql.execute(marked).one()
            waiting = select(func.count()).select_from(reviews).where(reviews.c.resolved_at.is_(None))
            done = select(func.count()).select_from(merges).where(merges.c.undone_at.is_(None))
            return CalendarTotals(
                events={status.value: by_status.get(status.value, 0) for status in EventStatus},
                archived=archived,
                vanished=vanished,
                rows=row_count,
                merged_rows=row_count - spoken_of,
                open_reviews=sql.execute(waiting).scalar_one(),
                sources=sql.execute(select(func.count()).select_from(sources)).scalar_one(),
                merges=sql.execute(done).scalar_one(),
            )

    def source_health(self, *, days: int = 30) -> tuple[SourceHealthStats, ...]:
        """Statistics of all sources, by id."""
        failed = func.sum(case((run_logs.c.status == RunStatus.FAIL.value, 1), else_=0), type_=Integer)
        recent = select(run_logs.c.source_id, func.count().label("runs"), failed.label("failed"))
        recent = recent.where(run_logs.c.started_at >= self._db.now() - timedelta(days=days)).group_by(run_logs.c.source_id)
        current = select(sightings.c.source_id, func.count()).where(sightings.c.gone_at.is_(None)).group_by(sightings.c.source_id)
        newest = select(func.max(run_logs.c.id)).where(run_logs.c.finished_at.is_not(None)).group_by(run_logs.c.source_id)
        latest = select(run_logs.c.source_id, run_logs.c.counts, run_logs.c.started_at, run_logs.c.finished_at)
        latest = latest.where(run_logs.c.id.in_(newest))
        trouble = (
            select(incidents.c.source_id, func.count()).where(incidents.c.closed_at.is_(None)).group_by(incidents.c.source_id)
        )
        with self._db.read() as sql:
            now = self._db.shared_now(sql)
            runs = {row.source_id: row for row in sql.execute(recent)}
            last_runs = {row.source_id: row for row in sql.execute(latest)}
            rows: dict[int, int] = dict(sql.execute(current).all())
            open_incidents: dict[int, int] = dict(sql.execute(trouble).all())
            query = select(sources, source_state, last_error_counts()).join(source_state).order_by(sources.c.id)
            every = sql.execute(query).mappings()
            return tuple(
                SourceHealthStats(
                    source_id=row["id"],
                    name=row["name"],
                    enabled=row["enabled"],
                    rows=rows.get(row["id"], 0),
                    runs=runs[row["id"]].runs if row["id"] in runs else 0,
                    failed_runs=runs[row["id"]].failed if row["id"] in runs else 0,
                    failures=row["failures"],
                    last_success=row["last_success"],
                    last_error=run_error(row["last_error"], row["last_error_counts"]),
                    late=max(0.0, (now - row["next_run_at"]).total_seconds()) if row["enabled"] else 0.0,
                    open_incidents=open_incidents.get(row["id"], 0),
                    fetched=last_runs[row["id"]].counts.get("fetched", 0) if row["id"] in last_runs else None,
                    parsed=last_runs[row["id"]].counts.get("parsed", 0) if row["id"] in last_runs else None,
                    publishing_delay=_seconds(last_runs.get(row["id"])),
                )
                for row in every
            )

    def shared_rows(self) -> dict[int, int]:
        """For each source, the number of current rows about an event that another row is about too: its duplicates."""
        here = sightings.c.gone_at.is_(None)
        crowded = select(sightings.c.event_id).where(here).group_by(sightings.c.event_id).having(func.count() > 1)
        query = select(sightings.c.source_id, func.count()).where(here, sightings.c.event_id.in_(crowded))
        query = query.where(sightings.c.source_id.is_not(None)).group_by(sightings.c.source_id)
        with self._db.read() as sql:
            found: dict[int, int] = dict(sql.execute(query).all())
            return found


def _seconds(run: Any) -> float | None:
    """The seconds of a run from its first request until its events were published."""
    return None if run is None else max(0.0, (run.finished_at - run.started_at).total_seconds())
