"""The audit log: who changed what, and when; and the records of users, sessions and API keys. Entries are never changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from tadoru.store.accounts.schema import audit_log
from tadoru.store.calendar.database import CalendarDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user who can sign in."""

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
    """A browser in which a user is signed in."""

    id: int
    user: User
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    address: str
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key, without its secret."""

    id: int
    name: str
    prefix: str
    """The first part of the key, which identifies it and is not secret."""
    scopes: tuple[str, ...]
    user_id: int | None
    user_name: str
    user_role: str
    """The role of its owner, which limits the key; empty for a key without an owner."""
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry of the audit log."""

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
        """The account that limits apply to: a user with all of their keys, a key without an owner, or the operator (empty)."""
        if self.user_id is not None:
            return f"user {self.user_id}"
        return f"key {self.key_id}" if self.key_id is not None else ""


def add_audit_entry(db: CalendarDatabase, sql: Connection, by: Actor, what: str, subject: str = "", **detail: Any) -> None:
    """Add an entry in the transaction of the change itself."""
    row = {"at": db.now(), "who": by.who, "user_id": by.user_id, "key_id": by.key_id, "address": by.address}
    sql.execute(insert(audit_log).values(**row, what=what, subject=subject, detail=detail))


class AuditLog:
    """Writes and reads the audit log."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def record(self, by: Actor, what: str, subject: str = "", **detail: Any) -> None:
        """Add an entry."""
        with self._db.write() as sql:
            add_audit_entry(self._db, sql, by, what, subject, **detail)

    def entries(self, *, limit: int = 100, before: int | None = None, who: str = "") -> tuple[AuditEntry, ...]:
        """Entries, newest first; `before` is the ID of the last one seen."""
        query = select(audit_log).order_by(audit_log.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit_log.c.id < before)
        if who:
            query = query.where(audit_log.c.who == who)
        with self._db.read() as sql:
            return tuple(AuditEntry(**row) for row in sql.execute(query).mappings())

    def last_subject(self, what: str) -> str:
        """The subject of the newest entry of a kind; "" if there is none."""
        query = select(audit_log.c.subject).where(audit_log.c.what == what).order_by(audit_log.c.id.desc()).limit(1)
        with self._db.read() as sql:
            return sql.execute(query).scalar() or ""
