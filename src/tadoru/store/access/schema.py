"""The tables of access, beside those of the events: copies and backups carry both."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table, text

from tadoru.store.events.column_types import Json, Moment, Number, Words
from tadoru.store.events.schema import metadata


def _table(name: str, *parts: Any) -> Table:
    return Table(name, metadata, *parts, sqlite_strict=True, sqlite_autoincrement=True)


def _id() -> Column[Any]:
    return Column("id", Number, primary_key=True)


def _text(name: str) -> Column[Any]:
    return Column(name, Words, nullable=False, server_default=text("''"))


def _user(*, required: bool) -> Column[Any]:
    return Column("user_id", Number, ForeignKey("users.id", ondelete="CASCADE"), nullable=not required, index=True)


users = _table(
    "users",
    _id(),
    Column("name", Words, nullable=False, unique=True),
    Column("role", Words, CheckConstraint("role IN ('viewer','editor','admin')", name="user_role"), nullable=False),
    _text("password"),
    Column("created_at", Moment, nullable=False),
    Column("last_sign_in", Moment),
    Column("link_hash", Words, unique=True),
    Column("link_until", Moment),
    Column("revoked_at", Moment),
)

api_keys = _table(
    "api_keys",
    _id(),
    Column("name", Words, nullable=False),
    Column("prefix", Words, nullable=False, unique=True),
    Column("secret_hash", Words, nullable=False),
    Column("scopes", Json, nullable=False),
    _user(required=False),
    Column("created_at", Moment, nullable=False),
    _text("created_by"),
    Column("expires_at", Moment),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
)

sessions = _table(
    "sessions",
    _id(),
    Column("token_hash", Words, nullable=False, unique=True),
    _user(required=True),
    Column("created_at", Moment, nullable=False),
    Column("last_seen_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    _text("address"),
    _text("agent"),
)

audit_log = _table(
    "audit_log",
    _id(),
    Column("at", Moment, nullable=False),
    _text("who"),
    Column("user_id", Number),  # No foreign keys: what a user did stays known when the user is gone.
    Column("key_id", Number),
    _text("address"),
    _text("what"),
    _text("subject"),
    Column("detail", Json, nullable=False),
    Index("audit_log_in_order", "at", "id"),
)
