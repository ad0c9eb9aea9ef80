"""Creates, edits and hides events for a person. Fields that a person sets override all sources until they are released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, and_, delete, insert, select, update

from tadoru.errors import UsageError, quoted
from tadoru.model.event import EventDraft, EventStatus
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.drafts import comparable_text, draft_hash, draft_to_json, event_columns
from tadoru.store.calendar.merging import EventMerger, unmerged_row
from tadoru.store.calendar.records import CalendarEvent, Matcher, event_from_row, event_rows, sightings_of
from tadoru.store.calendar.schema import event_history, events, field_owners, sightings

EDITABLE = frozenset(one.name for one in fields(EventDraft)) - {"uid", "position", "extra"}
_SHADOWS = {"title": "title_clean", "venue": "venue_clean"}


def set_manual_fields(sql: Connection, event_id: int, values: Mapping[str, Any], by: str, now: datetime) -> None:
    """Record fields of a draft, as JSON, as set by a person."""
    for name, value in values.items():
        if name not in EDITABLE:
            continue
        same = and_(field_owners.c.event_id == event_id, field_owners.c.field == name)
        sql.execute(delete(field_owners).where(same))
        row = {"event_id": event_id, "field": name, "owner": "person", "source_id": None, "who": by, "at": now, "value": value}
        sql.execute(insert(field_owners), row)


class ManualEdits:
    """Manual changes of events."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def create(self, draft: EventDraft, matcher: Matcher, by: str) -> CalendarEvent:
        """Create an event without a source: all its fields are manual."""
        now, data = self._db.now(), draft_to_json(draft)
        columns = event_columns(draft, now) | {"uid": uuid4().hex, "status": EventStatus.ACTIVE.value, "source_id": None}
        stamps = {"created_at": now, "updated_at": now, "last_seen": now, "dedupe_key": matcher.key(draft)}
        with self._db.write_events() as sql:
            query = insert(events).values(**columns, **stamps, source_url=draft.url, licence="", terms_url="")
            number: int = sql.execute(query.returning(events.c.id)).scalar_one()
            seen = {"first_seen": now, "last_seen": now, "row_key": f"person:{columns['uid']}"}
            sql.execute(insert(sightings).values(**seen, event_id=number, draft=data, draft_hash=draft_hash(data)))
            set_manual_fields(sql, number, data, by, now)
            EventMerger(sql, matcher, now, by).merge([number])
            return event_from_row(event_rows(sql, [number])[number])

    def edit(self, event_id: int, changes: Mapping[str, Any], matcher: Matcher, by: str) -> CalendarEvent:
        """Change fields, named as in `EventDraft`. A new `occurrence` alone makes a series a single event."""
        if unknown := sorted(changes.keys() - EDITABLE):
            raise UsageError(
                "The field {field} of an event cannot be edited. Choose from {fields}.",
                field=quoted(unknown[0]),
                fields=", ".join(sorted(EDITABLE)),
            )
        given = dict(changes)
        for name, shadow in _SHADOWS.items():
            if name in given:
                given.setdefault(shadow, comparable_text(given[name]))
        if "occurrence" in given:
            given.setdefault("occurrences", ())
        if not given.get("title", "-").strip():
            raise UsageError("Title missing. Enter a title, or hide the event.")
        now = self._db.now()
        with self._db.write_events() as sql:
            unmerged_row(sql, event_id)
            drafts = [one.draft for one in sightings_of(sql, [event_id]).get(event_id, ()) if one.draft is not None]
            if not drafts:
                raise UsageError("Event {id} is in quarantine. Complete it with `tadoru events review fix`.", id=event_id)
            set_manual_fields(sql, event_id, _as_json(drafts[0], given), by, now)
            EventMerger(sql, matcher, now, by).merge([event_id])
            return event_from_row(event_rows(sql, [event_id])[event_id])

    def release_fields(self, event_id: int, names: frozenset[str], matcher: Matcher, by: str) -> CalendarEvent:
        """Let the sources set these fields again."""
        names |= {shadow for name, shadow in _SHADOWS.items() if name in names}
        mine = (field_owners.c.event_id == event_id, field_owners.c.owner == "person", field_owners.c.field.in_(names))
        with self._db.write_events() as sql:
            unmerged_row(sql, event_id)
            sql.execute(delete(field_owners).where(*mine))
            EventMerger(sql, matcher, self._db.now(), by).merge([event_id])
            return event_from_row(event_rows(sql, [event_id])[event_id])

    def hide(self, event_id: int, by: str) -> CalendarEvent:
        return self._show(event_id, EventStatus.HIDDEN, by)

    def unhide(self, event_id: int, by: str) -> CalendarEvent:
        return self._show(event_id, EventStatus.ACTIVE, by)

    def _show(self, event_id: int, status: EventStatus, by: str) -> CalendarEvent:
        now = self._db.now()
        with self._db.write_events() as sql:
            row = unmerged_row(sql, event_id)
            if row["status"] == EventStatus.QUARANTINE.value:
                raise UsageError("Event {id} is in quarantine. Resolve its review first.", id=event_id)
            if row["status"] != status.value:
                changed = {"status": status.value, "updated_at": now, "sequence": row["sequence"] + 1}
                sql.execute(update(events).where(events.c.id == event_id).values(changed))
                changes = {"status": [row["status"], status.value]}
                sql.execute(insert(event_history), {"event_id": event_id, "at": now, "by": by, "changes": changes})
            found = sql.execute(select(events).where(events.c.id == event_id)).mappings().one()
            return event_from_row(found)


def _as_json(base: EventDraft, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as JSON, including empty values, which a draft leaves out."""
    empty = {"is_cancelled": False, "occurrences": [], "latitude": None, "longitude": None}
    zone = {"timezone": changes.get("timezone", base.timezone)}
    whole = draft_to_json(EventDraft(**{**_required(base), **zone, **changes}))
    data = {name: whole.get(name, empty.get(name, "")) for name in changes}
    # A time keeps the zone it was entered in, even if the zone of the sources changes.
    return data | (zone if "occurrence" in changes else {})


def _required(base: EventDraft) -> dict[str, Any]:
    return {"title": base.title, "title_clean": base.title_clean, "occurrence": base.occurrence}
