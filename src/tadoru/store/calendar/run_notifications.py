"""Live messages about runs and the health of sources, and incidents for notices to people.

A live message is written in the transaction of the change it reports, so that only what happened is reported, whichever process
collects.

An incident is a problem of a source. One notice is sent when it starts and one when it ends, however many workers there are: a
worker claims a notice, sends it and confirms it. If it dies in between, the claim expires and another worker sends it; a crash
may therefore cause a duplicate, but never a lost notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from tadoru.errors import clip_message
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import Incident, counts_from_row, incident_from_row, last_error_counts, run_error
from tadoru.store.calendar.schema import incidents, source_state, sources
from tadoru.store.served_crawls.live_messages import add_live_message

RUNNING = "running"
"""The status in messages of a run that has not finished."""
MAX_ERROR_LENGTH = 500
"""Maximum length of an error in a message; the run log has all of it."""


def notify_run(db: CalendarDatabase, sql: Connection, row: Mapping[Any, Any]) -> None:
    """Write a message about a run, from its row."""
    status = row["status"] or RUNNING
    body = {"run_id": row["id"], "source_id": row["source_id"], "status": status, "counts": counts_from_row(row["counts"])}
    kind = "run.started" if status == RUNNING else "run.ended"
    error = clip_message(run_error(row["error_summary"], row["counts"]), MAX_ERROR_LENGTH)
    add_live_message(db, sql, kind, f"source/{row['source_id']}", body | {"error": error})


def notify_health(db: CalendarDatabase, sql: Connection, source_id: int) -> None:
    """Write a message about the health of a source; nothing if it was removed."""
    trouble = select(func.count()).where(incidents.c.source_id == source_id, incidents.c.closed_at.is_(None))
    state = source_state.c
    columns = sources.c.name, sources.c.enabled, state.failures, state.last_error, state.last_success, last_error_counts()
    query = select(*columns, trouble.scalar_subquery().label("incidents")).join(source_state)
    row = sql.execute(query.where(sources.c.id == source_id)).one_or_none()
    if row is None:
        return
    error = clip_message(run_error(row.last_error, row.last_error_counts), MAX_ERROR_LENGTH)
    body = {
        "source_id": source_id, "name": row.name, "failures": row.failures, "error": error,
        "incidents": row.incidents, "status": _status(row),
    }  # fmt: skip
    add_live_message(db, sql, "source.health", f"source/{source_id}", body)


def _status(row: Any) -> str:
    if not row.enabled:
        return "off"
    if row.failures:
        return "failing"
    return "new" if row.last_success is None else "well"


CLAIM_SECONDS = 300.0
"""Seconds that a worker has to send a notice it claimed."""


class Incidents:
    """Incidents and their notices."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def open(self, source_id: int, kind: str, detail: Mapping[str, Any]) -> Incident:
        """The open incident of this kind, created if there is none."""
        with self._db.write_events() as sql:
            row = sql.execute(select(incidents).where(*_open(source_id, kind))).mappings().one_or_none()
            if row is None:
                values = {"source_id": source_id, "kind": kind, "detail": dict(detail), "opened_at": self._db.now()}
                row = sql.execute(insert(incidents).values(values).returning(incidents)).mappings().one()
                notify_health(self._db, sql, source_id)
            return incident_from_row(row)

    def close(self, source_id: int, kind: str) -> Incident | None:
        """Close an incident; None if there was none."""
        with self._db.write() as sql:
            query = update(incidents).where(*_open(source_id, kind)).values(closed_at=self._db.now(), claimed_until=None)
            row = sql.execute(query.returning(incidents)).mappings().one_or_none()
            if row is None:
                return None
            notify_health(self._db, sql, source_id)
            return incident_from_row(row)

    def claim_notices(self, *, hold: float = CLAIM_SECONDS, limit: int = 100) -> tuple[Incident, ...]:
        """Claim the notices to send now: that an incident started, or (if `closed_at` is set) that it ended. For an incident that
        ended before a notice was sent, none is sent."""
        with self._db.write() as sql:
            now = self._db.shared_now(sql)
            begun = and_(incidents.c.notified_at.is_(None), incidents.c.closed_at.is_(None))
            ended = and_(
                incidents.c.notified_at.is_not(None),
                incidents.c.closed_at.is_not(None),
                incidents.c.recovered_notified_at.is_(None),
            )
            claimed_until = incidents.c.claimed_until
            # No claim is so long: the clock was set back since.
            free = or_(claimed_until.is_(None), claimed_until <= now, claimed_until > now + timedelta(seconds=2 * hold))
            query = select(incidents).where(or_(begun, ended), free).order_by(incidents.c.id).limit(limit)
            if not self._db.is_sqlite:
                query = query.with_for_update(skip_locked=True)
            found = [incident_from_row(row) for row in sql.execute(query).mappings()]
            self._set(sql, [one.id for one in found], claimed_until=now + timedelta(seconds=hold))
            return tuple(found)

    def mark_notified(self, incident: Incident) -> None:
        """Record that the notice was sent."""
        with self._db.write() as sql:
            name = "recovered_notified_at" if incident.closed_at is not None else "notified_at"
            self._set(sql, [incident.id], **{name: self._db.now(), "claimed_until": None})

    def release_notice(self, incident: Incident) -> None:
        """Release the claim, because the notice could not be sent: another worker may try."""
        with self._db.write() as sql:
            self._set(sql, [incident.id], claimed_until=None)

    def list(self, *, source_id: int | None = None, is_open: bool | None = None) -> tuple[Incident, ...]:
        query = select(incidents).order_by(incidents.c.id)
        if source_id is not None:
            query = query.where(incidents.c.source_id == source_id)
        if is_open is not None:
            query = query.where(incidents.c.closed_at.is_(None) if is_open else incidents.c.closed_at.is_not(None))
        with self._db.read() as sql:
            return tuple(incident_from_row(row) for row in sql.execute(query).mappings())

    def _set(self, sql: Connection, ids: Sequence[int], **values: Any) -> None:
        if ids:
            sql.execute(update(incidents).where(incidents.c.id.in_(ids)).values(values))


def _open(source_id: int, kind: str) -> tuple[Any, ...]:
    return incidents.c.source_id == source_id, incidents.c.kind == kind, incidents.c.closed_at.is_(None)
