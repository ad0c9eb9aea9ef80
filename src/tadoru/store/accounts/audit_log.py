"""What the rooms of access give and take."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from tadoru.store.accounts.schema import audit_log
from tadoru.store.calendar.database import CalendarDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person who may sign in."""

    id: int
    name: str
    role: str
    """`viewer`, `editor` or `admin`."""
    has_password: bool
    created_at: datetime
    last_sign_in: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSession:
    """A browser that a person signed in with."""

    id: int
    user: User
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    address: str
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key of a program, without its secret."""

    id: int
    name: str
    prefix: str
    """What it begins with: enough to recognise it, and of no use to anybody."""
    scopes: tuple[str, ...]
    user_id: int | None
    user_name: str
    user_role: str
    """Of its owner; nothing for a key that belongs to nobody. It can never do more than its owner."""
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the audit log."""

    id: int
    at: datetime
    who: str
    user_id: int | None
    key_id: int | None
    address: str
    what: str
    subject: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who makes a change, for the audit log."""

    who: str
    user_id: int | None = None
    key_id: int | None = None
    address: str = ""

    @property
    def account(self) -> str:
        """Whom it counts for: a user with all of their keys, a key that no user owns, or the operator (empty)."""
        if self.user_id is not None:
            return f"user {self.user_id}"
        return f"key {self.key_id}" if self.key_id is not None else ""


class AuditLog(CalendarDatabase):
    """Writing and reading."""

    def record(self, by: Actor, what: str, subject: str = "", **detail: Any) -> None:
        """Add a line."""
        with self.write() as sql:
            self.recorded(sql, by, what, subject, **detail)

    def recorded(self, sql: Connection, by: Actor, what: str, subject: str = "", **detail: Any) -> None:
        """Add a line in the transaction of the change itself."""
        row = {"at": self.now(), "who": by.who, "user_id": by.user_id, "key_id": by.key_id, "address": by.address}
        sql.execute(insert(audit_log).values(**row, what=what, subject=subject, detail=detail))

    def audit_entries(self, *, limit: int = 100, before: int | None = None, who: str = "") -> tuple[AuditEntry, ...]:
        """The newest first; `before` is the id of the last one seen."""
        query = select(audit_log).order_by(audit_log.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit_log.c.id < before)
        if who:
            query = query.where(audit_log.c.who == who)
        with self.read() as sql:
            return tuple(AuditEntry(**row) for row in sql.execute(query).mappings())
