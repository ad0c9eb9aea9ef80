"""Rows that lack what every event must have: kept as they came, each with a question for a person, and never shown.

Such a row is an event in quarantine, so that it can be fixed by hand or by the source. When a row that was an event lacks
something now, the event stays as it was, and a person is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, RowMapping, insert, select, update

from tadoru.model.event import EventStatus
from tadoru.store.events.questions import Question, ask, ask_again
from tadoru.store.events.row_keys import BadRow
from tadoru.store.events.rows import add_all, among, portions
from tadoru.store.events.schema import events, sightings
from tadoru.store.events.values import RunLog


def quarantine(sql: Connection, run: RunLog, rows: Sequence[BadRow], now: datetime) -> int:
    """Store the rows; how many questions were asked."""
    query = select(sightings).where(sightings.c.source_id == run.source_id)
    known = {row["row_key"]: row for row in among(sql, query, sightings.c.row_key, [row.key for row in rows])}
    fresh = [row for row in rows if row.key not in known]
    numbers = _insert(sql, run, fresh, now)
    _see(sql, run, list(known.values()), now)
    numbers |= {row["row_key"]: row["event_id"] for row in known.values()}
    questions = [_question(row, numbers[row.key], run) for row in rows]
    back = {row["row_key"] for row in known.values() if row["gone_at"] is not None}
    again = [one.subject for one, row in zip(questions, rows, strict=True) if row.key in back]
    return ask(sql, questions, now) + ask_again(sql, again)


def _question(row: BadRow, event_id: int, run: RunLog) -> Question:
    subject = f"row:{run.source_id}:{row.key}:{row.hash}"
    detail = {"why": row.row.why, "raw": row.raw, "position": row.row.raw.position}
    return Question(subject, (event_id,), row.row.reason, run.source_id, detail)


def _insert(sql: Connection, run: RunLog, rows: Sequence[BadRow], now: datetime) -> dict[str, int]:
    if not rows:
        return {}
    uids = {row.key: uuid4().hex for row in rows}
    made = {
        found.uid: found.id
        for found in sql.execute(
            insert(events).returning(events.c.id, events.c.uid), [_event(row, uids[row.key], run, now) for row in rows]
        )
    }
    numbers = {key: made[uid] for key, uid in uids.items()}
    seen = {"source_id": run.source_id, "first_seen": now, "last_seen": now, "last_run": run.id}
    add_all(sql, sightings, [{**seen, "event_id": numbers[row.key], "row_key": row.key, "raw": row.raw} for row in rows])
    return numbers


def _event(row: BadRow, uid: str, run: RunLog, now: datetime) -> dict[str, Any]:
    """What can be said of it: its title, if it has one."""
    raw = row.row.raw
    said = {"title": raw.title or "", "venue": raw.venue or "", "city": raw.city or "", "source_url": raw.url or ""}
    stamps = {"created_at": now, "updated_at": now, "last_seen": now, "status": EventStatus.QUARANTINE.value}
    return {
        **said,
        **stamps,
        "uid": uid,
        "source_id": run.source_id,
        "all_day": False,
        "has_time": False,
        "extra": {},
        "times": 0,
    }


def _see(sql: Connection, run: RunLog, known: Sequence[RowMapping], now: datetime) -> None:
    for part in portions(known):
        ids = [row["id"] for row in part]
        query = update(sightings).where(sightings.c.id.in_(ids))
        sql.execute(query.values(last_seen=now, last_run=run.id, gone_at=None))
        about = events.c.id.in_([row["event_id"] for row in part])
        sql.execute(update(events).where(about).values(last_seen=now))
        back = (about, events.c.status == EventStatus.QUARANTINE.value, events.c.vanished_at.is_not(None))
        sql.execute(update(events).where(*back).values(vanished_at=None))
