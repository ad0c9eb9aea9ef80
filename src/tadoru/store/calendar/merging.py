"""Builds events from their sightings and manual edits; merges two events and undoes merges.

Every change of an event goes through `EventMerger`: a changed row, a merge, its undo, an edit. So an event is always its
sightings plus its manual edits, however it came about. Manual edits override sources. Where sources contradict each other, one
value is shown and a review is opened.

A merge deletes nothing: sightings move to the kept event, and the row of the absorbed event stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, RowMapping, and_, bindparam, delete, func, insert, or_, select, update

from tadoru.errors import UsageError
from tadoru.model.event import EventDraft, EventStatus, ReviewReason
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.drafts import draft_from_json, draft_to_json, event_columns, occurrence_rows
from tadoru.store.calendar.merge_candidates import ordered_pair
from tadoru.store.calendar.records import (
    Matcher,
    MergedDraft,
    MergeRecord,
    Sighting,
    event_rows,
    in_batches,
    insert_all,
    merge_from_row,
    select_in,
    sightings_of,
)
from tadoru.store.calendar.review_items import (
    ReviewRequest,
    close_outdated_reviews,
    close_reviews,
    open_reviews,
    open_reviews_about,
)
from tadoru.store.calendar.schema import (
    apart,
    blocks,
    event_history,
    events,
    field_owners,
    merges,
    occurrences,
    sightings,
    sources,
)

_INTERNAL_COLUMNS = frozenset(
    {"last_seen", "updated_at", "sequence", "search_text", "title_clean", "venue_clean", "dedupe_key", "extra"}
)
"""Columns whose changes are not visible."""
CONFLICT_PREFIX = "conflict:"
"""Prefix of the subject of reviews about contradicting sources."""
_OWNED_AS = {"starts_at": "occurrence", "ends_at": "occurrence", "coordinates": "latitude"}
_TIME_COLUMNS = frozenset({"starts_at", "ends_at", "local_date", "last_day_over", "times"})


def manual_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Manual field values, from JSON to the types of a draft."""
    base = {"title": "", "title_clean": "", "timezone": values.get("timezone", "UTC"), "occurrence": _PLACEHOLDER_TIME}
    whole = draft_from_json(base | dict(values))
    return {name: getattr(whole, name) for name in values}


_PLACEHOLDER_TIME = ["2000-01-01T00:00:00+00:00", None, False]


def with_manual_values(draft: EventDraft, values: Mapping[str, Any]) -> EventDraft:
    """A draft with manual field values applied."""
    if not values:
        return draft
    put = replace(draft, **manual_values(values))
    if "category" in values and "category_from" in put.extra:
        # A person set the category, so it no longer comes from the enricher.
        put = replace(put, extra={name: value for name, value in put.extra.items() if name != "category_from"})
    return put


class EventMerger:
    """Updates events from their sightings and manual edits, in one transaction."""

    def __init__(self, sql: Connection, matcher: Matcher, now: datetime, by: str, *, is_settled: bool = False) -> None:
        """`is_settled`: a person has seen all sides, so contradictions are recorded as reviewed."""
        self._sql, self._matcher, self._now, self._by, self._is_settled = sql, matcher, now, by, is_settled
        self._notes: list[dict[str, Any]] = []
        self._owners: list[dict[str, Any]] = []
        self._requests: list[ReviewRequest] = []
        self._were_shared: set[int] = set()
        self.reviews_opened = 0
        self.conflicting: set[int] = set()
        """Sightings that contradict the rest of their event, which have a review."""

    def merge(self, event_ids: Iterable[int]) -> dict[int, EventDraft]:
        """Update these events; returns the draft of each."""
        sql = self._sql
        rows = event_rows(sql, event_ids)
        by_event = sightings_of(sql, rows)
        owned = self._owned(rows)
        origin = {row["id"]: row for row in sql.execute(select(sources)).mappings()} if rows else {}
        updates: list[dict[str, Any]] = []
        known: dict[int, EventDraft] = {}
        shared: list[int] = []
        for event_id, row in rows.items():
            with_draft = [one for one in by_event.get(event_id, ()) if one.draft is not None]
            if not with_draft:
                continue
            live = [one for one in with_draft if one.gone_at is None] or with_draft
            merged = self._merged(live)
            person = owned.get(event_id, {})
            draft = known[event_id] = with_manual_values(merged.draft, {name: value for name, (_, value) in person.items()})
            if len(with_draft) > 1 or event_id in self._were_shared:
                shared.append(event_id)
                self._record_owners(event_id, merged, live, person)
                self._request_reviews(event_id, merged, live, person)
            changes = self._columns(row, draft, merged, live, origin)
            if changes:
                updates.append({"b_id": event_id, **changes})
        self._write(updates)
        self._write_times(rows, known, updates)
        self._write_blocks(known, by_event)
        self._write_owners(shared)
        self._open_reviews(shared)
        insert_all(sql, event_history, self._notes)
        return known

    def write_blocks(self, event_ids: Iterable[int]) -> None:
        """Write the blocking keys of these events anew, and nothing else."""
        rows = event_rows(self._sql, event_ids)
        by_event, owned = sightings_of(self._sql, rows), self._owned(rows)
        known = {}
        for event_id in rows:
            with_draft = [one for one in by_event.get(event_id, ()) if one.draft is not None]
            if with_draft:
                live = [one for one in with_draft if one.gone_at is None] or with_draft
                person = {name: value for name, (_, value) in owned.get(event_id, {}).items()}
                known[event_id] = with_manual_values(self._merged(live).draft, person)
        self._write_blocks(known, by_event)

    def _merged(self, live: Sequence[Sighting]) -> MergedDraft:
        if len(live) == 1:
            assert live[0].draft is not None
            return MergedDraft(draft=live[0].draft)
        return self._matcher.merge(live)

    def _owned(self, event_ids: Iterable[int]) -> dict[int, dict[str, tuple[str, Any]]]:
        """The manual fields by event; events with fields of several sources are collected on the way."""
        found: dict[int, dict[str, tuple[str, Any]]] = {}
        for row in select_in(self._sql, select(field_owners), field_owners.c.event_id, event_ids):
            if row["owner"] == "person":
                found.setdefault(row["event_id"], {})[row["field"]] = (row["who"], row["value"])
            else:
                self._were_shared.add(row["event_id"])
        return found

    def _record_owners(self, event_id: int, merged: MergedDraft, live: Sequence[Sighting], owned: Mapping[str, Any]) -> None:
        """Record which source each field comes from. An event with one source needs no such rows."""
        if len(live) < 2:
            return
        by_id = {one.id: one for one in live}
        same = {"event_id": event_id, "owner": "source", "who": "", "at": self._now}
        self._owners += [
            {**same, "field": name, "source_id": by_id.get(merged.owners.get(name, live[0].id), live[0]).source_id}
            for name in draft_to_json(merged.draft)
            if name not in owned and name not in ("position", "uid")
        ]

    def _write_owners(self, event_ids: Sequence[int]) -> None:
        for part in in_batches(event_ids):
            mine = and_(field_owners.c.event_id.in_(part), field_owners.c.owner == "source")
            self._sql.execute(delete(field_owners).where(mine))
        insert_all(self._sql, field_owners, self._owners)

    def _request_reviews(self, event_id: int, merged: MergedDraft, live: Sequence[Sighting], owned: Mapping[str, Any]) -> None:
        """Request a review for each source that contradicts the shown value, unless that was set by a person."""
        sides: dict[int, list[Any]] = {}
        identities: dict[int, list[Any]] = {}
        for one in merged.conflicts:
            if _OWNED_AS.get(one.field, one.field) not in owned:
                sides.setdefault(one.number, []).append({**one._asdict(), "why": one.why})
                identities.setdefault(one.number, []).append({**one._asdict(), "why": getattr(one, "identity", one.why)})
        of = {one.id: one.source_id for one in live}
        for number, conflicts in sides.items():
            content = hashlib.sha256(json.dumps(identities[number], sort_keys=True).encode()).hexdigest()[:16]
            detail = {"sighting": number, "conflicts": conflicts, "reasons": [one["why"] for one in conflicts]}
            subject = f"{CONFLICT_PREFIX}{event_id}:{number}:{content}"
            self._requests.append(ReviewRequest(subject, (event_id,), ReviewReason.DEDUPE_CONFLICT, of.get(number), detail))
            self.conflicting.add(number)

    def _open_reviews(self, event_ids: Sequence[int]) -> None:
        still = {one.subject for one in self._requests}
        close_outdated_reviews(self._sql, event_ids, CONFLICT_PREFIX, still, self._by, self._now)
        opened = open_reviews(self._sql, self._requests, self._now)
        if self._is_settled:
            mine = [row["id"] for row in open_reviews_about(self._sql, event_ids) if row["subject"] in still]
            close_reviews(self._sql, mine, "merge", self._by, self._now)
        else:
            self.reviews_opened += opened

    def _columns(
        self, row: RowMapping, draft: EventDraft, merged: MergedDraft, live: Sequence[Sighting], origin: Mapping[int, RowMapping]
    ) -> dict[str, Any]:
        """The changed columns, with `sequence` if the change is visible."""
        columns = event_columns(draft, self._now, row)
        first = next((one for one in live if one.id == merged.owners.get("title")), live[0])
        source = origin.get(first.source_id) if first.source_id is not None else None
        columns |= {"source_id": source["id"] if source else None, "licence": source["licence"] if source else ""}
        columns |= {
            "terms_url": source["terms_url"] if source else "",
            "source_url": draft.url or (source["url"] if source else ""),
        }
        columns["dedupe_key"] = self._matcher.key(draft)
        if columns["cancelled_at"] and row["cancelled_at"]:
            columns["cancelled_at"] = row["cancelled_at"]
        if row["status"] == EventStatus.QUARANTINE.value:
            columns["status"] = EventStatus.ACTIVE.value
        gone = [one.gone_at for one in live if one.gone_at is not None]
        columns["vanished_at"] = (row["vanished_at"] or max(gone)) if len(gone) == len(live) else None
        if row["archived_at"] and columns["last_day_over"] > self._now:
            columns["archived_at"] = None
        different = {name: value for name, value in columns.items() if row[name] != value}
        seen = {name for name in different if name not in _INTERNAL_COLUMNS}
        if row["times"] > 1 and columns["times"] > 1 and seen <= _TIME_COLUMNS:
            seen = set()  # The next date of a series moves on by itself; `_write_times` detects whether its dates changed.
        if seen:
            self._note(row, {name: different[name] for name in seen})
            different |= {"sequence": row["sequence"] + 1, "updated_at": self._now}
        return different

    def _note(self, row: RowMapping, seen: Mapping[str, Any]) -> None:
        changes = {name: [_plain(row[name]), _plain(value)] for name, value in seen.items()}
        self._notes.append({"event_id": row["id"], "at": self._now, "by": self._by, "changes": changes})

    def _write(self, updates: list[dict[str, Any]]) -> None:
        """Update rows with the same columns together."""
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for one in updates:
            groups.setdefault(tuple(sorted(one.keys() - {"b_id"})), []).append(one)
        for names, rows in groups.items():
            query = update(events).where(events.c.id == bindparam("b_id"))
            self._sql.execute(
                query.values({name: bindparam(f"v_{name}", type_=events.c[name].type) for name in names}),
                [{"b_id": one["b_id"], **{f"v_{name}": one[name] for name in names}} for one in rows],
            )

    def _write_times(
        self, rows: Mapping[int, RowMapping], known: Mapping[int, EventDraft], updates: list[dict[str, Any]]
    ) -> None:
        order = (occurrences.c.event_id, occurrences.c.number)
        before: dict[int, list[dict[str, Any]]] = {}
        for one in select_in(self._sql, select(occurrences).order_by(*order), occurrences.c.event_id, known):
            before.setdefault(one["event_id"], []).append(dict(one))
        after = {event_id: occurrence_rows(event_id, draft) for event_id, draft in known.items()}
        stale = [event_id for event_id in known if before.get(event_id, []) != after[event_id]]
        if not stale:
            return
        self._sql.execute(
            delete(occurrences).where(occurrences.c.event_id == bindparam("b_id")), [{"b_id": one} for one in stale]
        )
        insert_all(self._sql, occurrences, [row for event_id in stale for row in after[event_id]])
        counted = {one["b_id"] for one in updates if "sequence" in one}
        for event_id in stale:
            if event_id not in counted and event_id in before and not _is_same_series(before[event_id], after[event_id]):
                row = rows[event_id]
                self._note(row, {"times": len(after[event_id])})
                query = update(events).where(events.c.id == event_id)
                self._sql.execute(query.values(sequence=row["sequence"] + 1, updated_at=self._now))

    def _write_blocks(self, known: Mapping[int, EventDraft], by_event: Mapping[int, Sequence[Sighting]]) -> None:
        before: dict[int, set[str]] = {}
        for one in select_in(self._sql, select(blocks), blocks.c.event_id, known):
            before.setdefault(one["event_id"], set()).add(one["block"])
        gone, new = [], []
        for event_id, draft in known.items():
            every = [draft, *(one.draft for one in by_event[event_id] if one.draft is not None)]
            names = {name for each in every for name in self._matcher.blocks(each)}
            gone += [{"b_block": name, "b_id": event_id} for name in before.get(event_id, set()) - names]
            new += [{"block": name, "event_id": event_id} for name in names - before.get(event_id, set())]
        if gone:
            query = delete(blocks).where(blocks.c.block == bindparam("b_block"), blocks.c.event_id == bindparam("b_id"))
            self._sql.execute(query, gone)
        insert_all(self._sql, blocks, new)


def _is_same_series(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a series only dropped past dates and gained later ones."""
    if len(before) < 2 or len(after) < 2:
        return False
    start, end = max(before[0]["starts_at"], after[0]["starts_at"]), min(before[-1]["starts_at"], after[-1]["starts_at"])

    def shared(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
        within = [row for row in rows if start <= row["starts_at"] <= end]
        return [(row["starts_at"], row["ends_at"], row["has_time"], row["city"]) for row in within]

    return bool(shared(before)) and shared(before) == shared(after)


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def unlist_events(sql: Connection, event_ids: Sequence[int]) -> None:
    """Remove events from lists and comparisons; their rows stay."""
    for table in (occurrences, blocks):
        sql.execute(delete(table).where(table.c.event_id.in_(event_ids)))


def move_sightings(sql: Connection, sighting_ids: Sequence[int], *, since: int, to: int) -> None:
    """Move sightings from one event to another."""
    where = and_(sightings.c.id.in_(sighting_ids), sightings.c.event_id == since)
    sql.execute(update(sightings).where(where).values(event_id=to))


class Merges:
    """Merges events and undoes merges."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def merge(self, kept: int, absorbed: int, matcher: Matcher, by: str, *, score: float | None = None) -> MergeRecord:
        """Merge an event into another, as decided by a person."""
        with self._db.write_events() as sql:
            for one in (kept, absorbed):
                unmerged_row(sql, one)
            if kept == absorbed:
                raise UsageError("An event cannot be merged with itself. Choose two events.")
            number = absorb_event(
                sql, matcher, kept, absorbed, MergeStamp(by, self._db.now(), is_person=True), score=score, reasons=[]
            )
            return self._merge(sql, number)

    def undo(self, merge_id: int, matcher: Matcher, by: str) -> tuple[int, int]:
        """Undo a merge and mark the two events as different. Returns both ids, the kept one first."""
        with self._db.write_events() as sql:
            done = self._merge(sql, merge_id)
            if done.undone_at is not None:
                raise UsageError("Merge {id} is already undone.", id=merge_id)
            now = self._db.now()
            row = event_rows(sql, [done.kept_id])[done.kept_id]
            if row["merged_into"] is not None:
                raise UsageError(
                    "Event {id} was merged into {other} later. Undo that merge first.", id=done.kept_id, other=row["merged_into"]
                )
            here = select(sightings.c.id).where(sightings.c.id.in_(done.sighting_ids), sightings.c.event_id == done.kept_id)
            if sql.execute(here).first() is None:
                raise UsageError("The events of merge {id} are already separate.", id=merge_id)
            before = sql.execute(select(merges.c.before).where(merges.c.id == merge_id)).scalar_one()
            other = done.absorbed_id
            if other is None:
                other = copy_event(sql, row, now)
            sql.execute(update(events).where(events.c.id == other).values(merged_into=None, updated_at=now))
            move_sightings(sql, done.sighting_ids, since=done.kept_id, to=other)
            _undo_carried_fields(sql, done.kept_id, other, before.get("carried", []))
            _undo_carried_state(sql, done.kept_id, before)
            for one in (done.kept_id, other):
                _update_last_seen(sql, one)
            sql.execute(update(merges).where(merges.c.id == merge_id).values(undone_at=now, undone_by=by))
            keep_apart(sql, [done.kept_id, other], by, now)
            EventMerger(sql, matcher, now, by).merge([done.kept_id, other])
            return done.kept_id, other

    def list(self, *, event_id: int | None = None, limit: int | None = None) -> tuple[MergeRecord, ...]:
        """Merges, newest first."""
        query = select(merges).order_by(merges.c.id.desc()).limit(limit)
        if event_id is not None:
            query = query.where((merges.c.kept_id == event_id) | (merges.c.absorbed_id == event_id))
        with self._db.read() as sql:
            return tuple(merge_from_row(row) for row in sql.execute(query).mappings())

    def has(self, merge_id: int) -> bool:
        with self._db.read() as sql:
            return sql.execute(select(merges.c.id).where(merges.c.id == merge_id)).first() is not None

    def _merge(self, sql: Connection, merge_id: int) -> MergeRecord:
        row = sql.execute(select(merges).where(merges.c.id == merge_id)).mappings().one_or_none()
        if row is None:
            raise UsageError("Merge {id} not found. `tadoru events show ID` lists the merges of an event.", id=merge_id)
        return merge_from_row(row)


def unmerged_row(sql: Connection, event_id: int) -> Mapping[Any, Any]:
    """The row of an event that was not merged into another. Raises UsageError."""
    row = event_rows(sql, [event_id]).get(event_id)
    if row is None:
        raise UsageError("Event {id} not found. `tadoru events list --all` lists all events.", id=event_id)
    if row["merged_into"] is not None:
        raise UsageError(
            "Event {id} was merged into {other}. Use that one, or undo the merge.", id=event_id, other=row["merged_into"]
        )
    return row


def final_event_id(sql: Connection, event_id: int) -> int:
    """The event that an event was merged into; itself if it was not."""
    row = event_rows(sql, [event_id])[event_id]
    while row["merged_into"] is not None:
        row = event_rows(sql, [row["merged_into"]])[row["merged_into"]]
    number: int = row["id"]
    return number


class MergeStamp(NamedTuple):
    """Who merges, and when."""

    by: str
    at: datetime
    is_person: bool = False


def absorb_event(
    sql: Connection, matcher: Matcher, kept: int, absorbed: int, stamp: MergeStamp, *, score: float | None, reasons: Sequence[Any]
) -> int:
    """Move everything of one event to another; returns the id of the merge. Call it within `write_events`."""
    moved = list(sql.execute(select(sightings.c.id).where(sightings.c.event_id == absorbed)).scalars())
    before = {
        "carried": _carry_manual_fields(sql, kept, absorbed),
        "apart": _carry_separations(sql, kept, absorbed),
        "hid": _carry_hidden(sql, kept, absorbed),
    }
    values = {"kept_id": kept, "absorbed_id": absorbed, "sighting_ids": moved, "score": score, "reasons": list(reasons)}
    query = insert(merges).values(**values, at=stamp.at, by=stamp.by, before=before, undone_by="")
    number: int = sql.execute(query.returning(merges.c.id)).scalar_one()
    move_sightings(sql, moved, since=absorbed, to=kept)
    unlist_events(sql, [absorbed])
    sql.execute(update(events).where(events.c.id == absorbed).values(merged_into=kept, updated_at=stamp.at))
    _update_last_seen(sql, kept)
    answered = [
        row["id"] for row in open_reviews_about(sql, [absorbed]) if _is_answered(sql, row["subject"], row["candidate_ids"])
    ]
    close_reviews(sql, answered, "merge", stamp.by, stamp.at)
    EventMerger(sql, matcher, stamp.at, stamp.by, is_settled=stamp.is_person).merge([kept])
    return number


def _is_answered(sql: Connection, subject: str, candidate_ids: Sequence[int]) -> bool:
    """Whether a merge has settled a review about a pair."""
    return subject.startswith("pair:") and len({final_event_id(sql, one) for one in candidate_ids}) == 1


def _update_last_seen(sql: Connection, event_id: int) -> None:
    """Set the last-seen time of an event from its sightings."""
    seen = select(func.max(sightings.c.last_seen)).where(sightings.c.event_id == event_id)
    sql.execute(update(events).where(events.c.id == event_id).values(last_seen=seen.scalar_subquery()))


def _carry_hidden(sql: Connection, kept: int, absorbed: int) -> bool:
    """Hide the kept event if a person had hidden the absorbed one; whether that changed it."""
    rows = event_rows(sql, [kept, absorbed])
    hides: bool = rows[absorbed]["status"] == EventStatus.HIDDEN.value and rows[kept]["status"] != EventStatus.HIDDEN.value
    if hides:
        sql.execute(update(events).where(events.c.id == kept).values(status=EventStatus.HIDDEN.value))
    return hides


def _carry_separations(sql: Connection, kept: int, absorbed: int) -> list[int]:
    """Copy "different events" decisions of the absorbed event to the kept one; returns the events of new ones."""
    sql.execute(delete(apart).where(_is_pair(*ordered_pair(kept, absorbed))))
    mine = sql.execute(select(apart).where(or_(apart.c.low_id == absorbed, apart.c.high_id == absorbed))).mappings().all()
    new = []
    for row in mine:
        other = row["low_id"] if row["high_id"] == absorbed else row["high_id"]
        low, high = ordered_pair(kept, other)
        if sql.execute(select(apart.c.low_id).where(_is_pair(low, high))).first() is None:
            sql.execute(insert(apart), {**row, "low_id": low, "high_id": high})
            new.append(other)
    return new


def _is_pair(low: int, high: int) -> Any:
    return and_(apart.c.low_id == low, apart.c.high_id == high)


def _undo_carried_state(sql: Connection, kept: int, before: Mapping[str, Any]) -> None:
    """Undo what the kept event only had from the absorbed one."""
    for other in before.get("apart", ()):
        sql.execute(delete(apart).where(_is_pair(*ordered_pair(kept, other))))
    if before.get("hid"):
        hidden = and_(events.c.id == kept, events.c.status == EventStatus.HIDDEN.value)
        sql.execute(update(events).where(hidden).values(status=EventStatus.ACTIVE.value))


def _carry_manual_fields(sql: Connection, kept: int, absorbed: int) -> list[str]:
    """Copy the manual fields of the absorbed event, unless the kept one has its own; returns their names."""
    person = field_owners.c.owner == "person"
    has = set(sql.execute(select(field_owners.c.field).where(field_owners.c.event_id == kept, person)).scalars())
    carried = []
    for row in sql.execute(select(field_owners).where(field_owners.c.event_id == absorbed, person)).mappings():
        if row["field"] not in has:
            same = and_(field_owners.c.event_id == kept, field_owners.c.field == row["field"])
            sql.execute(delete(field_owners).where(same))
            sql.execute(insert(field_owners), {**row, "event_id": kept})
            carried.append(row["field"])
    return carried


def _undo_carried_fields(sql: Connection, kept: int, other: int, carried: Sequence[str]) -> None:
    """Remove copied manual fields from the kept event, except those that were changed since."""
    query = select(field_owners).where(field_owners.c.event_id.in_([kept, other]), field_owners.c.field.in_(carried))
    values = {(row["event_id"], row["field"]): row["value"] for row in sql.execute(query).mappings()}
    for name in carried:
        if values.get((kept, name)) == values.get((other, name)):
            same = (field_owners.c.event_id == kept, field_owners.c.field == name)
            sql.execute(delete(field_owners).where(*same))


def copy_event(sql: Connection, row: Mapping[Any, Any], now: datetime) -> int:
    """Insert a new event for sightings that leave another; `EventMerger` fills it."""
    values = {name: value for name, value in row.items() if name != "id"}
    values |= {"uid": uuid4().hex, "created_at": now, "updated_at": now, "sequence": 0, "merged_into": None}
    values |= {"status": EventStatus.ACTIVE.value, "archived_at": None}
    number: int = sql.execute(insert(events).values(values).returning(events.c.id)).scalar_one()
    return number


def keep_apart(sql: Connection, event_ids: Sequence[int], by: str, now: datetime) -> None:
    """Record that these are different events, whatever a comparison says."""
    pairs = {ordered_pair(one, other) for one in event_ids for other in event_ids if one != other}
    for low, high in sorted(pairs):
        if sql.execute(select(apart.c.low_id).where(_is_pair(low, high))).first() is None:
            sql.execute(insert(apart), {"low_id": low, "high_id": high, "at": now, "by": by})


def release_apart(sql: Connection, event_ids: Sequence[int]) -> None:
    """Forget that these are different events."""
    for low, high in {ordered_pair(one, other) for one in event_ids for other in event_ids if one != other}:
        sql.execute(delete(apart).where(_is_pair(low, high)))
