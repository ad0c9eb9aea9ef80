"""Merging two events and taking that back. Nothing is thrown away: sightings move, and the row of the absorbed event stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from tadoru.errors import UsageError
from tadoru.model.event import EventStatus
from tadoru.store.events.candidates import pair
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.questions import close, open_about
from tadoru.store.events.rows import event_rows, merge_from
from tadoru.store.events.schema import apart, events, field_owners, merges, sightings
from tadoru.store.events.values import Judge, MergeRecord
from tadoru.store.events.weave import Weaver, move, unseat


class Merging(EventsDatabase):
    """Merge and undo."""

    def merge_events(self, kept: int, absorbed: int, judge: Judge, by: str, *, score: float | None = None) -> MergeRecord:
        """Let one event take in another, because a person says so."""
        with self.write_events() as sql:
            for one in (kept, absorbed):
                standing(sql, one)
            if kept == absorbed:
                raise UsageError("An event can not be merged with itself: name two events.")
            number = absorb(sql, judge, kept, absorbed, Stamp(by, self.now(), is_person=True), score=score, reasons=[])
            return self._merge(sql, number)

    def undo_merge(self, merge_id: int, judge: Judge, by: str) -> tuple[int, int]:
        """Take a merge back and keep the two apart from now on. Returns both events' ids, the kept one first."""
        with self.write_events() as sql:
            done = self._merge(sql, merge_id)
            if done.undone_at is not None:
                raise UsageError(f"Merge {merge_id} was undone already.")
            now = self.now()
            row = event_rows(sql, [done.kept_id])[done.kept_id]
            if row["merged_into"] is not None:
                raise UsageError(f"Event {done.kept_id} was merged into {row['merged_into']} later: undo that merge first.")
            here = select(sightings.c.id).where(sightings.c.id.in_(done.sighting_ids), sightings.c.event_id == done.kept_id)
            if sql.execute(here).first() is None:
                raise UsageError(f"What merge {merge_id} brought together was taken apart already.")
            before = sql.execute(select(merges.c.before).where(merges.c.id == merge_id)).scalar_one()
            other = done.absorbed_id
            if other is None:
                other = copy_event(sql, row, now)
            sql.execute(update(events).where(events.c.id == other).values(merged_into=None, updated_at=now))
            move(sql, done.sighting_ids, since=done.kept_id, to=other)
            _give_back(sql, done.kept_id, other, before.get("carried", []))
            _take_back(sql, done.kept_id, before)
            for one in (done.kept_id, other):
                _see(sql, one)
            sql.execute(update(merges).where(merges.c.id == merge_id).values(undone_at=now, undone_by=by))
            keep_apart(sql, [done.kept_id, other], by, now)
            Weaver(sql, judge, now, by).weave([done.kept_id, other])
            return done.kept_id, other

    def merges(self, *, event_id: int | None = None, limit: int | None = None) -> tuple[MergeRecord, ...]:
        """The newest first."""
        query = select(merges).order_by(merges.c.id.desc()).limit(limit)
        if event_id is not None:
            query = query.where((merges.c.kept_id == event_id) | (merges.c.absorbed_id == event_id))
        with self.read() as sql:
            return tuple(merge_from(row) for row in sql.execute(query).mappings())

    def has_merge(self, merge_id: int) -> bool:
        with self.read() as sql:
            return sql.execute(select(merges.c.id).where(merges.c.id == merge_id)).first() is not None

    def _merge(self, sql: Connection, merge_id: int) -> MergeRecord:
        row = sql.execute(select(merges).where(merges.c.id == merge_id)).mappings().one_or_none()
        if row is None:
            raise UsageError(f"There is no merge {merge_id}: `tadoru events show ID` lists those of an event.")
        return merge_from(row)


def standing(sql: Connection, event_id: int) -> Mapping[Any, Any]:
    """The row of an event that is not a part of another."""
    row = event_rows(sql, [event_id]).get(event_id)
    if row is None:
        raise UsageError(f"There is no event {event_id}: list them with `tadoru events list --all`.")
    if row["merged_into"] is not None:
        raise UsageError(f"Event {event_id} was merged into {row['merged_into']}: use that one, or undo the merge.")
    return row


def final(sql: Connection, event_id: int) -> int:
    """The event that an event is a part of by now: itself, unless it was absorbed."""
    row = event_rows(sql, [event_id])[event_id]
    while row["merged_into"] is not None:
        row = event_rows(sql, [row["merged_into"]])[row["merged_into"]]
    number: int = row["id"]
    return number


class Stamp(NamedTuple):
    """Who merges, and when."""

    by: str
    at: datetime
    is_person: bool = False


def absorb(
    sql: Connection, judge: Judge, kept: int, absorbed: int, stamp: Stamp, *, score: float | None, reasons: Sequence[Any]
) -> int:
    """Move everything of one event to another; returns the merge's id. Call within `write_events`."""
    moved = list(sql.execute(select(sightings.c.id).where(sightings.c.event_id == absorbed)).scalars())
    before = {
        "carried": _carry(sql, kept, absorbed),
        "apart": _inherit(sql, kept, absorbed),
        "hid": _hide_too(sql, kept, absorbed),
    }
    values = {"kept_id": kept, "absorbed_id": absorbed, "sighting_ids": moved, "score": score, "reasons": list(reasons)}
    query = insert(merges).values(**values, at=stamp.at, by=stamp.by, before=before, undone_by="")
    number: int = sql.execute(query.returning(merges.c.id)).scalar_one()
    move(sql, moved, since=absorbed, to=kept)
    unseat(sql, [absorbed])
    sql.execute(update(events).where(events.c.id == absorbed).values(merged_into=kept, updated_at=stamp.at))
    _see(sql, kept)
    answered = [row["id"] for row in open_about(sql, [absorbed]) if _is_answered(sql, row["subject"], row["candidate_ids"])]
    close(sql, answered, "merge", stamp.by, stamp.at)
    Weaver(sql, judge, stamp.at, stamp.by, is_settled=stamp.is_person).weave([kept])
    return number


def _is_answered(sql: Connection, subject: str, candidate_ids: Sequence[int]) -> bool:
    """Whether a merge has answered a question about a pair."""
    return subject.startswith("pair:") and len({final(sql, one) for one in candidate_ids}) == 1


def _see(sql: Connection, event_id: int) -> None:
    """An event was last seen when one of its rows was."""
    seen = select(func.max(sightings.c.last_seen)).where(sightings.c.event_id == event_id)
    sql.execute(update(events).where(events.c.id == event_id).values(last_seen=seen.scalar_subquery()))


def _hide_too(sql: Connection, kept: int, absorbed: int) -> bool:
    """What a person has hidden stays hidden as a part of another. True when that hides the other."""
    rows = event_rows(sql, [kept, absorbed])
    hides: bool = rows[absorbed]["status"] == EventStatus.HIDDEN.value and rows[kept]["status"] != EventStatus.HIDDEN.value
    if hides:
        sql.execute(update(events).where(events.c.id == kept).values(status=EventStatus.HIDDEN.value))
    return hides


def _inherit(sql: Connection, kept: int, absorbed: int) -> list[int]:
    """Events that a person keeps apart from the absorbed one are kept apart from the other too; those that were not before."""
    sql.execute(delete(apart).where(_is_pair(*pair(kept, absorbed))))
    mine = sql.execute(select(apart).where(or_(apart.c.low_id == absorbed, apart.c.high_id == absorbed))).mappings().all()
    new = []
    for row in mine:
        other = row["low_id"] if row["high_id"] == absorbed else row["high_id"]
        low, high = pair(kept, other)
        if sql.execute(select(apart.c.low_id).where(_is_pair(low, high))).first() is None:
            sql.execute(insert(apart), {**row, "low_id": low, "high_id": high})
            new.append(other)
    return new


def _is_pair(low: int, high: int) -> Any:
    return and_(apart.c.low_id == low, apart.c.high_id == high)


def _take_back(sql: Connection, kept: int, before: Mapping[str, Any]) -> None:
    """What the kept event only had from the absorbed one."""
    for other in before.get("apart", ()):
        sql.execute(delete(apart).where(_is_pair(*pair(kept, other))))
    if before.get("hid"):
        hidden = and_(events.c.id == kept, events.c.status == EventStatus.HIDDEN.value)
        sql.execute(update(events).where(hidden).values(status=EventStatus.ACTIVE.value))


def _carry(sql: Connection, kept: int, absorbed: int) -> list[str]:
    """A person's fields of the absorbed event go along, unless the kept one has its own."""
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


def _give_back(sql: Connection, kept: int, other: int, carried: Sequence[str]) -> None:
    """What a person said about the absorbed event is its own again; what was changed since, stays on both."""
    query = select(field_owners).where(field_owners.c.event_id.in_([kept, other]), field_owners.c.field.in_(carried))
    said = {(row["event_id"], row["field"]): row["value"] for row in sql.execute(query).mappings()}
    for name in carried:
        if said.get((kept, name)) == said.get((other, name)):
            same = (field_owners.c.event_id == kept, field_owners.c.field == name)
            sql.execute(delete(field_owners).where(*same))


def copy_event(sql: Connection, row: Mapping[Any, Any], now: datetime) -> int:
    """A new event for sightings that are to leave another; weaving fills it."""
    values = {name: value for name, value in row.items() if name != "id"}
    values |= {"uid": uuid4().hex, "created_at": now, "updated_at": now, "sequence": 0, "merged_into": None}
    values |= {"status": EventStatus.ACTIVE.value, "archived_at": None}
    number: int = sql.execute(insert(events).values(values).returning(events.c.id)).scalar_one()
    return number


def keep_apart(sql: Connection, event_ids: Sequence[int], by: str, now: datetime) -> None:
    """Remember that these are different events, whatever a comparison says."""
    pairs = {pair(one, other) for one in event_ids for other in event_ids if one != other}
    for low, high in sorted(pairs):
        if sql.execute(select(apart.c.low_id).where(_is_pair(low, high))).first() is None:
            sql.execute(insert(apart), {"low_id": low, "high_id": high, "at": now, "by": by})
