"""The audit log: who changed what, and when. Lines are added and read, never changed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select

from tadoru.store.access.schema import audit_log
from tadoru.store.access.values import By, Entry
from tadoru.store.events.connect import EventsDatabase


class AuditLog(EventsDatabase):
    """Writing and reading."""

    def record(self, by: By, what: str, subject: str = "", **detail: Any) -> None:
        """Add a line."""
        with self.write() as sql:
            self.recorded(sql, by, what, subject, **detail)

    def recorded(self, sql: Connection, by: By, what: str, subject: str = "", **detail: Any) -> None:
        """Add a line in the transaction of the change itself."""
        row = {"at": self.now(), "who": by.who, "user_id": by.user_id, "key_id": by.key_id, "address": by.address}
        sql.execute(insert(audit_log).values(**row, what=what, subject=subject, detail=detail))

    def audit_entries(self, *, limit: int = 100, before: int | None = None, who: str = "") -> tuple[Entry, ...]:
        """The newest first; `before` is the id of the last one seen."""
        query = select(audit_log).order_by(audit_log.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit_log.c.id < before)
        if who:
            query = query.where(audit_log.c.who == who)
        with self.read() as sql:
            return tuple(Entry(**row) for row in sql.execute(query).mappings())
