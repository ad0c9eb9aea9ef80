"""The tables of accounts. They are in the calendar database, so that copies and backups include them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table, text

from tadoru.store.calendar.schema import Int64, JsonValue, SafeText, UtcDateTime, metadata


def service_table(name: str, *columns: Any) -> Table:
    """A table of the service, with a number of its own for each row."""
    number = Column("id", Int64, primary_key=True)
    return Table(name, metadata, number, *columns, sqlite_strict=True, sqlite_autoincrement=True)


def text_column(name: str, *parts: Any) -> Column[Any]:
    """A text that is empty unless it is given."""
    return Column(name, SafeText, *parts, nullable=False, server_default=text("''"))


def _user(*, required: bool) -> Column[Any]:
    return Column("user_id", Int64, ForeignKey("users.id", ondelete="CASCADE"), nullable=not required, index=True)


users = service_table(
    "users",
    Column("name", SafeText, nullable=False, unique=True),
    Column("role", SafeText, CheckConstraint("role IN ('viewer','editor','admin')", name="user_role"), nullable=False),
    text_column("password"),
    Column("created_at", UtcDateTime, nullable=False),
    Column("last_sign_in", UtcDateTime),
    Column("link_hash", SafeText, unique=True),
    Column("link_until", UtcDateTime),
    Column("revoked_at", UtcDateTime),
)

api_keys = service_table(
    "api_keys",
    Column("name", SafeText, nullable=False),
    Column("prefix", SafeText, nullable=False, unique=True),
    Column("secret_hash", SafeText, nullable=False),
    Column("scopes", JsonValue, nullable=False),
    _user(required=False),
    Column("created_at", UtcDateTime, nullable=False),
    text_column("created_by"),
    Column("expires_at", UtcDateTime),
    Column("last_used_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
)

sessions = service_table(
    "sessions",
    Column("token_hash", SafeText, nullable=False, unique=True),
    _user(required=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("last_seen_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    text_column("address"),
    text_column("agent"),
)

audit_log = service_table(
    "audit_log",
    Column("at", UtcDateTime, nullable=False),
    text_column("who"),
    Column("user_id", Int64),  # No foreign keys: entries stay after the user is removed.
    Column("key_id", Int64),
    text_column("address"),
    text_column("what"),
    text_column("subject"),
    Column("detail", JsonValue, nullable=False),
    Index("audit_log_in_order", "at", "id"),
)
