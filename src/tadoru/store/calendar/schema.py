"""Every table of the calendar database, and the column types, for SQLite and PostgreSQL.

A *sighting* is one row of one source. Sightings are never lost: an event is what its sightings say plus what a person edited, so
a merge moves sightings and undoing it moves them back. An *occurrence* is one time at which an event takes place; every event has
at least one row of them, so lists follow one index in their order.

The column types behave the same on both databases. SQLite's tables are STRICT, so each type maps to one that SQLite has. Python
sees aware UTC times, dates, booleans and plain JSON values. Characters that no database stores (NUL, lone surrogates) are dropped
when a value is written, because crawled text may contain anything.

The tables of the search engine sync have metadata of their own (`search_metadata`): a copy of a database does not copy them,
because it has synced nothing. Migration 0004 creates the full-text index and the triggers that maintain it.
"""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine

Int64 = BigInteger().with_variant(Integer(), "sqlite")
Float64: TypeEngine[float] = Double().with_variant(REAL(), "sqlite")
Blob = LargeBinary()


_SHORT_TEXT = 200


def storable_text(text: str) -> str:
    """The text without characters that no database stores.

    A long text is copied unless it is ASCII: SQLite's driver makes its UTF-8 form, which stays as long as the text does, and the
    texts of a run stay until its end.
    """
    if text.isprintable() and (text.isascii() or len(text) <= _SHORT_TEXT):  # Neither NUL nor half a surrogate pair is printable.
        return text
    return text.encode("utf-8", "ignore").decode("utf-8").replace("\x00", "")


class SafeText(TypeDecorator[str]):
    """Text of any origin."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable_text(value)


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time: `timestamptz`, or on SQLite UTC text of a fixed length, which sorts correctly."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        at = value.astimezone(UTC)
        # Not strftime: its %Y has no leading zeros on Linux, and the year 987 must sort before 1987.
        return at.replace(tzinfo=None).isoformat(" ", "microseconds") if dialect.name == "sqlite" else at

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if isinstance(value, str):
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
        at: datetime = value
        return at.astimezone(UTC)


class LocalDate(TypeDecorator[date]):
    """A date without a time zone: the local day of an event."""

    impl = Date
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else Date())

    def process_bind_param(self, value: date | None, dialect: Dialect) -> Any:
        return value.isoformat() if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> date | None:
        return date.fromisoformat(value) if isinstance(value, str) else value


class BooleanFlag(TypeDecorator[bool]):
    """A Boolean; 1 or 0 on SQLite."""

    impl = Boolean
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else Boolean())

    def process_bind_param(self, value: bool | None, dialect: Dialect) -> Any:
        return int(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> bool | None:
        return None if value is None else bool(value)


class JsonValue(TypeDecorator[Any]):
    """A JSON value: `jsonb`, or text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else JSONB(none_as_null=True))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        if dialect.name != "sqlite":
            return _storable_json(value)
        with contextlib.suppress(ValueError):  # for NaN
            text = _json_text(value, allow_nan=False)
            if text.isprintable() and "\\u0000" not in text:
                return text
        return _json_text(_storable_json(value))

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return json.loads(value) if isinstance(value, str) and dialect.name == "sqlite" else value


def _json_text(value: Any, *, allow_nan: bool = True) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=allow_nan)


def _storable_json(value: Any) -> Any:
    match value:
        case str():
            return storable_text(value)
        case dict():
            return {storable_text(str(name)): _storable_json(part) for name, part in value.items()}
        case list() | tuple():
            return [_storable_json(part) for part in value]
        case float() if not isfinite(value):
            return None  # A source may send NaN, which JSON does not have.
    return value


metadata = MetaData()


def _table(name: str, *parts: Any, **options: Any) -> Table:
    return Table(name, metadata, *parts, sqlite_strict=True, **options)


def _id() -> Column[Any]:
    return Column("id", Int64, primary_key=True)


def _text(name: str, default: str = "", **options: Any) -> Column[Any]:
    return Column(name, SafeText, nullable=False, server_default=text(f"'{default}'"), **options)


def _whole(name: str, default: int = 0) -> Column[Any]:
    return Column(name, Int64, nullable=False, server_default=text(str(default)))


def _at(name: str, *, required: bool = False) -> Column[Any]:
    return Column(name, UtcDateTime, nullable=not required)


def _flag(name: str, *, required: bool = True) -> Column[Any]:
    return Column(name, BooleanFlag, nullable=not required)


def _to(name: str, target: str, *, required: bool = True, key: bool = False, on_delete: str = "CASCADE") -> Column[Any]:
    return Column(name, Int64, ForeignKey(f"{target}.id", ondelete=on_delete), nullable=not required, primary_key=key)


def _where(condition: str) -> dict[str, Any]:
    """The options of a partial index, for both databases."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


sources = _table(
    "sources",
    _id(),
    Column("name", SafeText, nullable=False, unique=True),
    Column("type", SafeText, CheckConstraint("type IN ('rss','ics','api','html','csv')", name="source_type"), nullable=False),
    Column("url", SafeText, nullable=False),
    _text("city"),
    _text("frequency", "normal"),
    _flag("enabled"),
    _text("notes"),
    _at("created_at", required=True),
    _at("updated_at", required=True),
    Column("settings", JsonValue, nullable=False),
    _text("timezone"),
    _whole("priority"),
    _to("depends_on", "sources", required=False, on_delete="SET NULL"),
    _text("licence"),
    _text("terms_url"),
    _flag("allow_private"),
    _text("named_host"),
    _whole("low_hours", 24),
    _text("secret"),
    sqlite_autoincrement=True,
)

source_history = _table(
    "source_history",
    _id(),
    Column("source_id", Int64, nullable=False, index=True),  # No foreign key: the history of a removed source is kept.
    _at("at", required=True),
    _text("by"),
    _text("field"),
    Column("old", JsonValue),
    Column("new", JsonValue),
)

workers = _table(
    "workers",
    _id(),
    _text("machine"),
    _whole("pid"),
    _text("started"),
    _at("expires_at", required=True),
    sqlite_autoincrement=True,
)

source_state = _table(
    "source_state",
    _to("source_id", "sources", key=True),
    Column("etag", Blob),
    Column("last_modified", Blob),
    _text("body_hash"),
    _at("last_attempt"),
    _at("last_success"),
    _whole("failures"),
    _text("last_error"),
    Column("last_count", Int64),
    _at("next_run_at", required=True),
    Column("backoff", Float64, nullable=False, server_default=text("0")),
    _to("lease_worker", "workers", required=False, on_delete="SET NULL"),
    Column("kept", JsonValue),
)

hosts = _table(
    "hosts",
    Column("name", SafeText, primary_key=True),
    _at("next_at"),
    _at("wait_from"),
    Column("gap", Float64, nullable=False, server_default=text("0")),
    _to("slot_worker", "workers", required=False, on_delete="SET NULL"),
    _at("slot_until"),
)

robots = _table(
    "robots",
    Column("origin", SafeText, primary_key=True),
    Column("status", Int64),
    Column("failure", SafeText),
    _text("message"),
    Column("body", Blob),
    _at("fetched_at", required=True),
)

run_logs = _table(
    "run_logs",
    _id(),
    _to("source_id", "sources"),
    _at("started_at", required=True),
    _at("finished_at"),
    Column("status", SafeText, CheckConstraint("status IN ('success','fail','partial')", name="run_status")),
    _whole("fetched_count"),
    _whole("parsed_count"),
    _whole("upserted_count"),
    _text("error_summary"),
    Column("counts", JsonValue, nullable=False),
    Column("snapshot_paths", JsonValue, nullable=False),
    _to("worker_id", "workers", required=False, on_delete="SET NULL"),
    Index("run_logs_by_source", "source_id", "started_at"),
    Index("run_logs_open", "id", **_where("finished_at IS NULL")),
    sqlite_autoincrement=True,
)

snapshots = _table(
    "snapshots",
    _id(),
    _to("source_id", "sources"),
    _to("event_candidate_id", "events", required=False, on_delete="SET NULL"),
    _text("url"),
    _text("content_path"),
    _at("fetched_at", required=True),
    Column("etag", Blob),
    Column("last_modified", Blob),
    _to("run_id", "run_logs", required=False, on_delete="SET NULL"),
    Index("snapshots_by_source", "source_id", "fetched_at"),
    sqlite_autoincrement=True,
)

events = _table(
    "events",
    _id(),
    Column("uid", SafeText, nullable=False, unique=True),
    _text("title"),
    _text("title_clean"),
    _at("starts_at"),
    _at("ends_at"),
    _flag("all_day"),
    _flag("has_time"),
    Column("local_date", LocalDate),
    _text("timezone"),
    _text("venue"),
    _text("venue_clean"),
    _text("address"),
    _text("city"),
    Column("lat", Float64),
    Column("lon", Float64),
    _text("category"),
    _text("price"),
    _text("organizer"),
    _text("url"),
    _text("image"),
    _text("recurrence"),
    _text("when_note"),
    _text("source_url"),
    _to("source_id", "sources", required=False, on_delete="SET NULL"),
    _text("licence"),
    _text("terms_url"),
    _text("dedupe_key"),
    Column(
        "status",
        SafeText,
        CheckConstraint("status IN ('active','hidden','quarantine')", name="event_status"),
        nullable=False,
    ),
    _at("created_at", required=True),
    _at("updated_at", required=True),
    _at("last_seen", required=True),
    _at("last_day_over"),
    _at("cancelled_at"),
    _at("vanished_at"),
    _at("archived_at"),
    _to("merged_into", "events", required=False, on_delete="SET NULL"),
    _whole("sequence"),
    _whole("times", 1),
    # Long texts last: SQLite reads a row from its start, and most queries need none of these.
    _text("description"),
    Column("extra", JsonValue, nullable=False),
    _text("search_text"),
    CheckConstraint("status <> 'active' OR (starts_at IS NOT NULL AND title <> '')", name="event_required"),
    Index("events_by_source", "source_id"),
    Index("events_updated", "updated_at", "id"),
    Index("events_merged", "merged_into", **_where("merged_into IS NOT NULL")),
    Index("events_to_archive", "last_day_over", **_where("archived_at IS NULL AND last_day_over IS NOT NULL")),
    Index("events_by_place", "lat", "lon", **_where("lat IS NOT NULL")),
    sqlite_autoincrement=True,
)

occurrences = _table(
    "occurrences",
    _to("event_id", "events", key=True),
    Column("number", Int64, primary_key=True, autoincrement=False),
    _at("starts_at", required=True),
    _at("ends_at"),
    _flag("has_time"),
    Column("local_date", LocalDate, nullable=False),
    Column("last_date", LocalDate, nullable=False),
    _text("city"),
    Index("occurrences_in_order", "starts_at", "event_id"),
    Index("occurrences_by_city", "city", "starts_at", "event_id"),
    Index("occurrences_under_way", "last_date", "local_date", **_where("last_date > local_date")),
)

sightings = _table(
    "sightings",
    _id(),
    _to("event_id", "events"),
    _to("source_id", "sources", required=False, on_delete="SET NULL"),
    Column("row_key", SafeText, nullable=False),
    Column("raw", JsonValue),
    Column("draft", JsonValue),
    _text("draft_hash"),
    _at("first_seen", required=True),
    _at("last_seen", required=True),
    Column("last_run", Int64),
    _at("gone_at"),
    Index("sightings_by_row", "source_id", "row_key", unique=True),
    Index("sightings_by_event", "event_id"),
    sqlite_autoincrement=True,
)

blocks = _table(
    "blocks",
    Column("block", SafeText, primary_key=True),
    _to("event_id", "events", key=True),
    Index("blocks_of_event", "event_id"),
    sqlite_with_rowid=False,
)

block_formats = _table(
    "block_formats",
    _to("source_id", "sources", key=True),
    _whole("format"),
)

field_owners = _table(
    "field_owners",
    _to("event_id", "events", key=True),
    Column("field", SafeText, primary_key=True),
    Column("owner", SafeText, CheckConstraint("owner IN ('source','person')", name="field_owner"), nullable=False),
    _to("source_id", "sources", required=False, on_delete="SET NULL"),
    _text("who"),
    _at("at", required=True),
    Column("value", JsonValue),
)

event_history = _table(
    "event_history",
    _id(),
    _to("event_id", "events"),
    _at("at", required=True),
    _text("by"),
    Column("changes", JsonValue, nullable=False),
    Index("event_history_of_event", "event_id"),
)

merges = _table(
    "merges",
    _id(),
    _to("kept_id", "events"),
    _to("absorbed_id", "events", required=False),
    Column("sighting_ids", JsonValue, nullable=False),
    Column("score", Float64),
    Column("reasons", JsonValue, nullable=False),
    _at("at", required=True),
    _text("by"),
    Column("before", JsonValue, nullable=False),
    _at("undone_at"),
    _text("undone_by"),
    Index("merges_by_kept", "kept_id"),
    Index("merges_by_absorbed", "absorbed_id"),
    sqlite_autoincrement=True,
)

apart = _table(
    "apart",
    _to("low_id", "events", key=True),
    _to("high_id", "events", key=True),
    _at("at", required=True),
    _text("by"),
)

reviews = _table(
    "reviews",
    _id(),
    Column("subject", SafeText, nullable=False, unique=True),
    Column("candidate_ids", JsonValue, nullable=False),
    Column(
        "reason",
        SafeText,
        CheckConstraint("reason IN ('dedupe_conflict','missing_required','parse_error')", name="review_reason"),
        nullable=False,
    ),
    _to("source_id", "sources", required=False, on_delete="SET NULL"),
    Column("detail", JsonValue, nullable=False),
    _at("created_at", required=True),
    _at("resolved_at"),
    _text("resolution"),
    _text("by"),
    Index("reviews_open", "id", **_where("resolved_at IS NULL")),
    sqlite_autoincrement=True,
)

review_candidates = _table(
    "review_candidates",
    _to("event_id", "events", key=True),
    _to("review_id", "reviews", key=True),
    Index("review_candidates_by_review", "review_id"),
)

incidents = _table(
    "incidents",
    _id(),
    _to("source_id", "sources"),
    Column("kind", SafeText, nullable=False),
    Column("detail", JsonValue, nullable=False),
    _at("opened_at", required=True),
    _at("notified_at"),
    _at("closed_at"),
    _at("recovered_notified_at"),
    _at("claimed_until"),
    Index("incidents_open", "source_id", "kind", unique=True, **_where("closed_at IS NULL")),
    sqlite_autoincrement=True,
)


search_metadata = MetaData()

search_targets = Table(
    "search_targets",
    search_metadata,
    Column("id", Int64, primary_key=True),
    Column("name", SafeText, nullable=False, unique=True),
    Column("since", UtcDateTime, nullable=False),
    Column("synced_at", UtcDateTime),
    Column("form", SafeText, nullable=False, server_default=text("''")),
    Column("worker_id", Int64, ForeignKey(workers.c.id, ondelete="SET NULL")),
    sqlite_strict=True,
    sqlite_autoincrement=True,
)

search_changes = Table(
    "search_changes",
    search_metadata,
    Column("target_id", Int64, ForeignKey("search_targets.id", ondelete="CASCADE"), primary_key=True),
    Column("event_id", Int64, primary_key=True, autoincrement=False),  # No foreign key: deleted events are synced too.
    Column("number", Int64, nullable=False, server_default=text("1")),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
