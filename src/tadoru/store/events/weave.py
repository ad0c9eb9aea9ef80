"""Making an event of what its sources say and what a person changed, and writing only what is different.

Every change of an event passes here: a row that changed, a merge, its undoing, an edit. So an event is always what its sightings
and its person say together, whichever way it came about. A person's field is put over whatever the sources say. Where the
sources contradict each other, one is shown and a person is asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, bindparam, delete, select, update

from tadoru.model.event import EventDraft, EventStatus, ReviewReason
from tadoru.store.events.drafts import columns_of, draft_in, draft_out, occurrence_rows
from tadoru.store.events.questions import Question, ask, close, close_outdated, open_about
from tadoru.store.events.rows import add_all, among, event_rows, portions, said_about
from tadoru.store.events.schema import blocks, event_history, events, field_owners, occurrences, sightings, sources
from tadoru.store.events.values import Judge, Merged, Said

_UNSEEN = frozenset({"last_seen", "updated_at", "sequence", "search_text", "title_clean", "venue_clean", "dedupe_key", "extra"})
"""Columns whose change nobody sees."""
CONFLICT = "conflict:"
"""How the subject of a question begins that asks about sources which contradict each other."""
_OWNED_AS = {"starts_at": "occurrence", "ends_at": "occurrence", "coordinates": "latitude"}
_WHEN = frozenset({"starts_at", "ends_at", "local_date", "last_day_over", "times"})


def person_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a person's fields hold, as a draft has them, from JSON."""
    base = {"title": "", "title_clean": "", "timezone": values.get("timezone", "UTC"), "occurrence": _SOME_TIME}
    whole = draft_in(base | dict(values))
    return {name: getattr(whole, name) for name in values}


_SOME_TIME = ["2000-01-01T00:00:00+00:00", None, False]


def over(draft: EventDraft, values: Mapping[str, Any]) -> EventDraft:
    """A draft with a person's fields put over it."""
    if not values:
        return draft
    put = replace(draft, **person_values(values))
    if "category" in values and "category_from" in put.extra:
        # A person says it now, and no longer what had filled it in.
        put = replace(put, extra={name: value for name, value in put.extra.items() if name != "category_from"})
    return put


class Weaver:
    """One weaving of some events, in one transaction."""

    def __init__(self, sql: Connection, judge: Judge, now: datetime, by: str, *, is_settled: bool = False) -> None:
        """`is_settled`: a person has looked at all sides, so that contradictions are noted as answered."""
        self._sql, self._judge, self._now, self._by, self._is_settled = sql, judge, now, by, is_settled
        self._notes: list[dict[str, Any]] = []
        self._owners: list[dict[str, Any]] = []
        self._questions: list[Question] = []
        self._were_shared: set[int] = set()
        self.asked = 0
        self.contested: set[int] = set()
        """Sightings that contradict the rest of their event: a person is asked about them."""

    def weave(self, event_ids: Iterable[int]) -> dict[int, EventDraft]:
        """Bring these events up to date; returns what each is now."""
        sql = self._sql
        rows = event_rows(sql, event_ids)
        said = said_about(sql, rows)
        owned = self._owned(rows)
        origin = {row["id"]: row for row in sql.execute(select(sources)).mappings()} if rows else {}
        updates: list[dict[str, Any]] = []
        known: dict[int, EventDraft] = {}
        shared: list[int] = []
        for event_id, row in rows.items():
            with_draft = [one for one in said.get(event_id, ()) if one.draft is not None]
            if not with_draft:
                continue
            live = [one for one in with_draft if one.gone_at is None] or with_draft
            merged = self._merged(live)
            person = owned.get(event_id, {})
            draft = known[event_id] = over(merged.draft, {name: value for name, (_, value) in person.items()})
            if len(with_draft) > 1 or event_id in self._were_shared:
                shared.append(event_id)
                self._own(event_id, merged, live, person)
                self._doubt(event_id, merged, live, person)
            changes = self._columns(row, draft, merged, live, origin)
            if changes:
                updates.append({"b_id": event_id, **changes})
        self._write(updates)
        self._write_times(rows, known, updates)
        self._write_blocks(known, said)
        self._write_owners(shared)
        self._ask(shared)
        add_all(sql, event_history, self._notes)
        return known

    def _merged(self, live: Sequence[Said]) -> Merged:
        if len(live) == 1:
            assert live[0].draft is not None
            return Merged(draft=live[0].draft)
        return self._judge.merge(live)

    def _owned(self, event_ids: Iterable[int]) -> dict[int, dict[str, tuple[str, Any]]]:
        """What a person said; the events with fields of several sources are noted on the way."""
        found: dict[int, dict[str, tuple[str, Any]]] = {}
        for row in among(self._sql, select(field_owners), field_owners.c.event_id, event_ids):
            if row["owner"] == "person":
                found.setdefault(row["event_id"], {})[row["field"]] = (row["who"], row["value"])
            else:
                self._were_shared.add(row["event_id"])
        return found

    def _own(self, event_id: int, merged: Merged, live: Sequence[Said], owned: Mapping[str, Any]) -> None:
        """Which source each field is from. An event of one source needs no such rows."""
        if len(live) < 2:
            return
        by_id = {one.id: one for one in live}
        same = {"event_id": event_id, "owner": "source", "who": "", "at": self._now}
        self._owners += [
            {**same, "field": name, "source_id": by_id.get(merged.owners.get(name, live[0].id), live[0]).source_id}
            for name in draft_out(merged.draft)
            if name not in owned and name not in ("position", "uid")
        ]

    def _write_owners(self, event_ids: Sequence[int]) -> None:
        for part in portions(event_ids):
            mine = and_(field_owners.c.event_id.in_(part), field_owners.c.owner == "source")
            self._sql.execute(delete(field_owners).where(mine))
        add_all(self._sql, field_owners, self._owners)

    def _doubt(self, event_id: int, merged: Merged, live: Sequence[Said], owned: Mapping[str, Any]) -> None:
        """A question for each source that contradicts what is shown, unless what is shown is a person's word."""
        sides: dict[int, list[Any]] = {}
        for one in merged.conflicts:
            if _OWNED_AS.get(one.field, one.field) not in owned:
                sides.setdefault(one.number, []).append({**one._asdict(), "why": one.why})
        of = {one.id: one.source_id for one in live}
        for number, conflicts in sides.items():
            content = hashlib.sha256(json.dumps(conflicts, sort_keys=True).encode()).hexdigest()[:16]
            detail = {"sighting": number, "conflicts": conflicts, "reasons": [one["why"] for one in conflicts]}
            subject = f"{CONFLICT}{event_id}:{number}:{content}"
            self._questions.append(Question(subject, (event_id,), ReviewReason.DEDUPE_CONFLICT, of.get(number), detail))
            self.contested.add(number)

    def _ask(self, event_ids: Sequence[int]) -> None:
        still = {one.subject for one in self._questions}
        close_outdated(self._sql, event_ids, CONFLICT, still, self._by, self._now)
        asked = ask(self._sql, self._questions, self._now)
        if self._is_settled:
            mine = [row["id"] for row in open_about(self._sql, event_ids) if row["subject"] in still]
            close(self._sql, mine, "merge", self._by, self._now)
        else:
            self.asked += asked

    def _columns(
        self, row: RowMapping, draft: EventDraft, merged: Merged, live: Sequence[Said], origin: Mapping[int, RowMapping]
    ) -> dict[str, Any]:
        """The columns that are different now, with `sequence` when it can be seen."""
        columns = columns_of(draft, self._now, row)
        first = next((one for one in live if one.id == merged.owners.get("title")), live[0])
        source = origin.get(first.source_id) if first.source_id is not None else None
        columns |= {"source_id": source["id"] if source else None, "licence": source["licence"] if source else ""}
        columns |= {
            "terms_url": source["terms_url"] if source else "",
            "source_url": draft.url or (source["url"] if source else ""),
        }
        columns["dedupe_key"] = self._judge.key(draft)
        if columns["cancelled_at"] and row["cancelled_at"]:
            columns["cancelled_at"] = row["cancelled_at"]
        if row["status"] == EventStatus.QUARANTINE.value:
            columns["status"] = EventStatus.ACTIVE.value
        gone = [one.gone_at for one in live if one.gone_at is not None]
        columns["vanished_at"] = (row["vanished_at"] or max(gone)) if len(gone) == len(live) else None
        if row["archived_at"] and columns["last_day_over"] > self._now:
            columns["archived_at"] = None
        different = {name: value for name, value in columns.items() if row[name] != value}
        seen = {name for name in different if name not in _UNSEEN}
        if row["times"] > 1 and columns["times"] > 1 and seen <= _WHEN:
            seen = set()  # A series moves on by itself; whether its dates changed is told by `_write_times`.
        if seen:
            self._note(row, {name: different[name] for name in seen})
            different |= {"sequence": row["sequence"] + 1, "updated_at": self._now}
        return different

    def _note(self, row: RowMapping, seen: Mapping[str, Any]) -> None:
        changes = {name: [_plain(row[name]), _plain(value)] for name, value in seen.items()}
        self._notes.append({"event_id": row["id"], "at": self._now, "by": self._by, "changes": changes})

    def _write(self, updates: list[dict[str, Any]]) -> None:
        """Rows with the same columns go out together."""
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
        for one in among(self._sql, select(occurrences).order_by(*order), occurrences.c.event_id, known):
            before.setdefault(one["event_id"], []).append(dict(one))
        after = {event_id: occurrence_rows(event_id, draft) for event_id, draft in known.items()}
        stale = [event_id for event_id in known if before.get(event_id, []) != after[event_id]]
        if not stale:
            return
        self._sql.execute(
            delete(occurrences).where(occurrences.c.event_id == bindparam("b_id")), [{"b_id": one} for one in stale]
        )
        add_all(self._sql, occurrences, [row for event_id in stale for row in after[event_id]])
        told = {one["b_id"] for one in updates if "sequence" in one}
        for event_id in stale:
            if event_id not in told and event_id in before and not _goes_on(before[event_id], after[event_id]):
                row = rows[event_id]
                self._note(row, {"times": len(after[event_id])})
                query = update(events).where(events.c.id == event_id)
                self._sql.execute(query.values(sequence=row["sequence"] + 1, updated_at=self._now))

    def _write_blocks(self, known: Mapping[int, EventDraft], said: Mapping[int, Sequence[Said]]) -> None:
        before: dict[int, set[str]] = {}
        for one in among(self._sql, select(blocks), blocks.c.event_id, known):
            before.setdefault(one["event_id"], set()).add(one["block"])
        gone, new = [], []
        for event_id, draft in known.items():
            every = [draft, *(one.draft for one in said[event_id] if one.draft is not None)]
            names = {name for each in every for name in self._judge.blocks(each)}
            gone += [{"b_block": name, "b_id": event_id} for name in before.get(event_id, set()) - names]
            new += [{"block": name, "event_id": event_id} for name in names - before.get(event_id, set())]
        if gone:
            query = delete(blocks).where(blocks.c.block == bindparam("b_block"), blocks.c.event_id == bindparam("b_id"))
            self._sql.execute(query, gone)
        add_all(self._sql, blocks, new)


def _goes_on(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a series only lost dates that are over and gained later ones."""
    if len(before) < 2 or len(after) < 2:
        return False
    start, end = max(before[0]["starts_at"], after[0]["starts_at"]), min(before[-1]["starts_at"], after[-1]["starts_at"])

    def shared(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
        within = [row for row in rows if start <= row["starts_at"] <= end]
        return [(row["starts_at"], row["ends_at"], row["has_time"], row["city"]) for row in within]

    return bool(shared(before)) and shared(before) == shared(after)


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def unseat(sql: Connection, event_ids: Sequence[int]) -> None:
    """Take events out of lists and comparisons; their rows stay."""
    for table in (occurrences, blocks):
        sql.execute(delete(table).where(table.c.event_id.in_(event_ids)))


def move(sql: Connection, sighting_ids: Sequence[int], *, since: int, to: int) -> None:
    """Let sightings of one event be another's."""
    where = and_(sightings.c.id.in_(sighting_ids), sightings.c.event_id == since)
    sql.execute(update(sightings).where(where).values(event_id=to))
