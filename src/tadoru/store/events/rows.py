"""Rows as the values of `values`, and small queries over many of them. No statement that decides anything is here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, insert, select

from tadoru.model.event import EventStatus, ReviewReason, RunStatus, SourceType
from tadoru.store.events.drafts import draft_in
from tadoru.store.events.schema import events, sightings, sources
from tadoru.store.events.values import Event, Incident, MergeRecord, Review, RunLog, Said, Source

AT_ONCE = 400
"""How many values one IN list holds, and how many rows one INSERT: both databases have a limit on parameters."""
T = TypeVar("T")


def portions(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """So many at a time."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def among(sql: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]) -> list[RowMapping]:
    """The rows of a query whose column is one of the values."""
    found: list[RowMapping] = []
    for part in portions(dict.fromkeys(values)):
        found += sql.execute(query.where(column.in_(part))).mappings()
    return found


def add_all(sql: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that nobody needs the numbers of."""
    if rows:
        sql.execute(insert(table), [dict(row) for row in rows])


def source_from(row: RowMapping) -> Source:
    return Source(**{**row, "type": SourceType(row["type"])})


def event_from(row: Mapping[Any, Any]) -> Event:
    values = {one.name: row[one.name] for one in fields(Event)}
    return Event(**{**values, "status": EventStatus(row["status"])})


def run_from(row: RowMapping) -> RunLog:
    status = RunStatus(row["status"]) if row["status"] else None
    return RunLog(**{**row, "status": status, "snapshot_paths": tuple(row["snapshot_paths"])})


def review_from(row: RowMapping) -> Review:
    return Review(**{**row, "reason": ReviewReason(row["reason"]), "candidate_ids": tuple(row["candidate_ids"])})


def incident_from(row: RowMapping) -> Incident:
    return Incident(**{name: value for name, value in row.items() if name != "claimed_until"})


def merge_from(row: RowMapping) -> MergeRecord:
    kept = {name: value for name, value in row.items() if name != "before"}
    return MergeRecord(**{**kept, "sighting_ids": tuple(row["sighting_ids"]), "reasons": tuple(row["reasons"])})


def said_about(sql: Connection, event_ids: Iterable[int]) -> dict[int, list[Said]]:
    """Every sighting of these events: the source of higher priority first, then the older one."""
    query = select(sightings, sources.c.priority).join_from(sightings, sources, isouter=True)
    found: dict[int, list[Said]] = {}
    rows = among(sql, query, sightings.c.event_id, event_ids)
    for row in sorted(rows, key=lambda row: (-(row["priority"] or 0), row["id"])):
        found.setdefault(row["event_id"], []).append(_said_from(row))
    return found


def _said_from(row: RowMapping) -> Said:
    names = ("id", "event_id", "source_id", "row_key", "raw", "first_seen", "last_seen", "gone_at")
    draft = draft_in(row["draft"]) if row["draft"] else None
    return Said(**{name: row[name] for name in names}, priority=row["priority"] or 0, draft=draft)


def event_rows(sql: Connection, event_ids: Iterable[int]) -> dict[int, RowMapping]:
    return {row["id"]: row for row in among(sql, select(events), events.c.id, event_ids)}
