"""The tables of accounts. They are in the calendar database, so that copies and backups include them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table, text

from tadoru.store.calendar.schema import Int64, JsonValue, SafeText, UtcDateTime, metadata


def _table(name: str, *parts: Any) -> Table:
    return Table(name, metadata, *parts, sqlite_strict=True, sqlite_autoincrement=True)


def _id() -> Column[Any]:
    return Column("id", Int64, primary_key=True)


def _text(name: str) -> Column[Any]:
    return Column(name, SafeText, nullable=False, server_default=text("''"))


def _user(*, required: bool) -> Column[Any]:
    return Column("user_id", Int64, ForeignKey("users.id", ondelete="CASCADE"), nullable=not required, index=True)


users = _table(
    "users",
    _id(),
    Column("name", SafeText, nullable=False, unique=True),
    Column("role", SafeText, CheckConstraint("role IN ('viewer','editor','admin')", name="user_role"), nullable=False),
    _text("password"),
    Column("created_at", UtcDateTime, nullable=False),
    Column("last_sign_in", UtcDateTime),
    Column("link_hash", SafeText, unique=True),
    Column("link_until", UtcDateTime),
    Column("revoked_at", UtcDateTime),
)

api_keys = _table(
    "api_keys",
    _id(),
    Column("name", SafeText, nullable=False),
    Column("prefix", SafeText, nullable=False, unique=True),
    Column("secret_hash", SafeText, nullable=False),
    Column("scopes", JsonValue, nullable=False),
    _user(required=False),
    Column("created_at", UtcDateTime, nullable=False),
    _text("created_by"),
    Column("expires_at", UtcDateTime),
    Column("last_used_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
)

sessions = _table(
    "sessions",
    _id(),
    Column("token_hash", SafeText, nullable=False, unique=True),
    _user(required=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("last_seen_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    _text("address"),
    _text("agent"),
)

audit_log = _table(
    "audit_log",
    _id(),
    Column("at", UtcDateTime, nullable=False),
    _text("who"),
    Column("user_id", Int64),  # No foreign keys: entries stay after the user is removed.
    Column("key_id", Int64),
    _text("address"),
    _text("what"),
    _text("subject"),
    Column("detail", JsonValue, nullable=False),
    Index("audit_log_in_order", "at", "id"),
)
