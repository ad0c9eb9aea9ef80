"""Troubles of sources, each told once when it begins and once when it is over, however many workers there are.

A worker claims what is to be told, tells it, and says so. Should it die in between, the claim runs out and another tells it:
better told twice by a crash than never.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, and_, insert, or_, select, update

from tadoru.store.events.rows import incident_from
from tadoru.store.events.schema import incidents
from tadoru.store.events.tidings import Tidings
from tadoru.store.events.values import Incident

CLAIM = 300.0
"""Seconds that a worker has for telling what it claimed."""


class Incidents(Tidings):
    """The memory of what was told."""

    def open_incident(self, source_id: int, kind: str, detail: Mapping[str, Any]) -> Incident:
        """The open incident of this kind; a new one, when there is none."""
        with self.write_events() as sql:
            row = sql.execute(select(incidents).where(*_open(source_id, kind))).mappings().one_or_none()
            if row is None:
                values = {"source_id": source_id, "kind": kind, "detail": dict(detail), "opened_at": self.now()}
                row = sql.execute(insert(incidents).values(values).returning(incidents)).mappings().one()
                self._tell_health(sql, source_id)
            return incident_from(row)

    def close_incident(self, source_id: int, kind: str) -> Incident | None:
        """It is over; None when there was none."""
        with self.write() as sql:
            query = update(incidents).where(*_open(source_id, kind)).values(closed_at=self.now(), claimed_until=None)
            row = sql.execute(query.returning(incidents)).mappings().one_or_none()
            if row is None:
                return None
            self._tell_health(sql, source_id)
            return incident_from(row)

    def claim_notices(self, *, hold: float = CLAIM, limit: int = 100) -> tuple[Incident, ...]:
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
            found = [incident_from(row) for row in sql.execute(query).mappings()]
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
            return tuple(incident_from(row) for row in sql.execute(query).mappings())

    def _set(self, sql: Connection, ids: list[int], **values: Any) -> None:
        if ids:
            sql.execute(update(incidents).where(incidents.c.id.in_(ids)).values(values))


def _open(source_id: int, kind: str) -> tuple[Any, ...]:
    return incidents.c.source_id == source_id, incidents.c.kind == kind, incidents.c.closed_at.is_(None)
