"""What those who watch are told of collecting: that a run began or ended, and that a source does better or worse.

It is told in the transaction of what it tells of, so that nobody hears of what did not happen, and whoever collects is heard of:
the service itself, a worker beside it, or one on another machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from tadoru.store.calendar.records import Incident, incident_from_row
from tadoru.store.calendar.schema import incidents, source_state, sources
from tadoru.store.served_crawls.live_messages import LiveMessages

RUNNING = "running"
"""The status of a run that has none yet."""
MAX_ERROR_LENGTH = 500
"""Characters of an error that are told; the rest is in the log of the run."""


class RunNotifications(LiveMessages):
    """Telling of collecting."""

    def _tell_run(self, sql: Connection, row: Mapping[Any, Any]) -> None:
        """Tell how a run stands, by its row."""
        status = row["status"] or RUNNING
        body = {"run_id": row["id"], "source_id": row["source_id"], "status": status, "counts": dict(row["counts"])}
        kind = "run.started" if status == RUNNING else "run.ended"
        self.add_live_message(sql, kind, f"source/{row['source_id']}", body | {"error": row["error_summary"][:MAX_ERROR_LENGTH]})

    def _tell_health(self, sql: Connection, source_id: int) -> None:
        """Tell how a source does; nothing when it is gone."""
        trouble = select(func.count()).where(incidents.c.source_id == source_id, incidents.c.closed_at.is_(None))
        state = source_state.c
        columns = sources.c.name, sources.c.enabled, state.failures, state.last_error, state.last_success
        query = select(*columns, trouble.scalar_subquery().label("incidents")).join(source_state)
        row = sql.execute(query.where(sources.c.id == source_id)).one_or_none()
        if row is None:
            return
        body = {
            "source_id": source_id, "name": row.name, "failures": row.failures, "error": row.last_error[:MAX_ERROR_LENGTH],
            "incidents": row.incidents, "status": _status(row),
        }  # fmt: skip
        self.add_live_message(sql, "source.health", f"source/{source_id}", body)


def _status(row: Any) -> str:
    if not row.enabled:
        return "off"
    if row.failures:
        return "failing"
    return "new" if row.last_success is None else "well"


CLAIM_SECONDS = 300.0
"""Seconds that a worker has for telling what it claimed."""


class IncidentStore(RunNotifications):
    """The memory of what was told."""

    def open_incident(self, source_id: int, kind: str, detail: Mapping[str, Any]) -> Incident:
        """The open incident of this kind; a new one, when there is none."""
        with self.write_events() as sql:
            row = sql.execute(select(incidents).where(*_open(source_id, kind))).mappings().one_or_none()
            if row is None:
                values = {"source_id": source_id, "kind": kind, "detail": dict(detail), "opened_at": self.now()}
                row = sql.execute(insert(incidents).values(values).returning(incidents)).mappings().one()
                self._tell_health(sql, source_id)
            return incident_from_row(row)

    def close_incident(self, source_id: int, kind: str) -> Incident | None:
        """It is over; None when there was none."""
        with self.write() as sql:
            query = update(incidents).where(*_open(source_id, kind)).values(closed_at=self.now(), claimed_until=None)
            row = sql.execute(query.returning(incidents)).mappings().one_or_none()
            if row is None:
                return None
            self._tell_health(sql, source_id)
            return incident_from_row(row)

    def claim_notices(self, *, hold: float = CLAIM_SECONDS, limit: int = 100) -> tuple[Incident, ...]:
        """What is to be told now: that it began, or (when `closed_at` is set) that it is over. An incident that was over before
        anybody was told is not told at all."""
        with self.write() as sql:
            now = self.shared_now(sql)
            begun = and_(incidents.c.notified_at.is_(None), incidents.c.closed_at.is_(None))
            ended = and_(
                incidents.c.notified_at.is_not(None),
                incidents.c.closed_at.is_not(None),
                incidents.c.recovered_notified_at.is_(None),
            )
            free = or_(incidents.c.claimed_until.is_(None), incidents.c.claimed_until <= now)
            query = select(incidents).where(or_(begun, ended), free).order_by(incidents.c.id).limit(limit)
            if not self.is_sqlite:
                query = query.with_for_update(skip_locked=True)
            found = [incident_from_row(row) for row in sql.execute(query).mappings()]
            self._set(sql, [one.id for one in found], claimed_until=now + timedelta(seconds=hold))
            return tuple(found)

    def told(self, incident: Incident) -> None:
        """The notice went out."""
        with self.write() as sql:
            name = "recovered_notified_at" if incident.closed_at is not None else "notified_at"
            self._set(sql, [incident.id], **{name: self.now(), "claimed_until": None})

    def not_told(self, incident: Incident) -> None:
        """The notice could not be sent: somebody else may try."""
        with self.write() as sql:
            self._set(sql, [incident.id], claimed_until=None)

    def incidents(self, *, source_id: int | None = None, is_open: bool | None = None) -> tuple[Incident, ...]:
        query = select(incidents).order_by(incidents.c.id)
        if source_id is not None:
            query = query.where(incidents.c.source_id == source_id)
        if is_open is not None:
            query = query.where(incidents.c.closed_at.is_(None) if is_open else incidents.c.closed_at.is_not(None))
        with self.read() as sql:
            return tuple(incident_from_row(row) for row in sql.execute(query).mappings())

    def _set(self, sql: Connection, ids: list[int], **values: Any) -> None:
        if ids:
            sql.execute(update(incidents).where(incidents.c.id.in_(ids)).values(values))


def _open(source_id: int, kind: str) -> tuple[Any, ...]:
    return incidents.c.source_id == source_id, incidents.c.kind == kind, incidents.c.closed_at.is_(None)
