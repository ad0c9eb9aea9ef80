"""Every table of the events database, once, for SQLite and PostgreSQL. The names of the seed's data model are its names.

Two ideas carry it. A *sighting* is what one source says in one row: it is never lost, and an event is what its sightings say
together with what a person changed. So a merge moves sightings, and undoing it moves them back. And an *occurrence* is one time
at which an event takes place, kept for every event, so that lists walk one index in the order they show.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, MetaData, Table, text

from tadoru.store.events.column_types import Blob, Day, Flag, Json, Moment, Number, Real, Words

metadata = MetaData()


def _table(name: str, *parts: Any, **options: Any) -> Table:
    return Table(name, metadata, *parts, sqlite_strict=True, **options)


def _id() -> Column[Any]:
    return Column("id", Number, primary_key=True)


def _text(name: str, default: str = "", **options: Any) -> Column[Any]:
    return Column(name, Words, nullable=False, server_default=text(f"'{default}'"), **options)


def _whole(name: str, default: int = 0) -> Column[Any]:
    return Column(name, Number, nullable=False, server_default=text(str(default)))


def _at(name: str, *, required: bool = False) -> Column[Any]:
    return Column(name, Moment, nullable=not required)


def _flag(name: str, *, required: bool = True) -> Column[Any]:
    return Column(name, Flag, nullable=not required)


def _to(name: str, target: str, *, required: bool = True, key: bool = False, on_delete: str = "CASCADE") -> Column[Any]:
    return Column(name, Number, ForeignKey(f"{target}.id", ondelete=on_delete), nullable=not required, primary_key=key)


def _where(condition: str) -> dict[str, Any]:
    """A partial index, spelled for both."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


sources = _table(
    "sources",
    _id(),
    Column("name", Words, nullable=False, unique=True),
    Column("type", Words, CheckConstraint("type IN ('rss','ics','api','html','csv')", name="source_type"), nullable=False),
    Column("url", Words, nullable=False),
    _text("city"),
    _text("frequency", "normal"),
    _flag("enabled"),
    _text("notes"),
    _at("created_at", required=True),
    _at("updated_at", required=True),
    Column("settings", Json, nullable=False),
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
    Column("source_id", Number, nullable=False, index=True),  # No foreign key: what happened to a removed source stays known.
    _at("at", required=True),
    _text("by"),
    _text("field"),
    Column("old", Json),
    Column("new", Json),
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
    Column("last_count", Number),
    _at("next_run_at", required=True),
    Column("backoff", Real, nullable=False, server_default=text("0")),
    _to("lease_worker", "workers", required=False, on_delete="SET NULL"),
    Column("kept", Json),
)

hosts = _table(
    "hosts",
    Column("name", Words, primary_key=True),
    _at("next_at"),
    Column("gap", Real, nullable=False, server_default=text("0")),
    _to("slot_worker", "workers", required=False, on_delete="SET NULL"),
    _at("slot_until"),
)

robots = _table(
    "robots",
    Column("origin", Words, primary_key=True),
    Column("status", Number),
    Column("failure", Words),
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
    Column("status", Words, CheckConstraint("status IN ('success','fail','partial')", name="run_status")),
    _whole("fetched_count"),
    _whole("parsed_count"),
    _whole("upserted_count"),
    _text("error_summary"),
    Column("counts", Json, nullable=False),
    Column("snapshot_paths", Json, nullable=False),
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
    Column("uid", Words, nullable=False, unique=True),
    _text("title"),
    _text("title_clean"),
    _at("starts_at"),
    _at("ends_at"),
    _flag("all_day"),
    _flag("has_time"),
    Column("local_date", Day),
    _text("timezone"),
    _text("venue"),
    _text("venue_clean"),
    _text("address"),
    _text("city"),
    Column("lat", Real),
    Column("lon", Real),
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
        Words,
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
    # Long texts last: SQLite reads a row from its beginning, and most queries need none of these.
    _text("description"),
    Column("extra", Json, nullable=False),
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
    Column("number", Number, primary_key=True, autoincrement=False),
    _at("starts_at", required=True),
    _at("ends_at"),
    _flag("has_time"),
    Column("local_date", Day, nullable=False),
    Column("last_date", Day, nullable=False),
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
    Column("row_key", Words, nullable=False),
    Column("raw", Json),
    Column("draft", Json),
    _text("draft_hash"),
    _at("first_seen", required=True),
    _at("last_seen", required=True),
    Column("last_run", Number),
    _at("gone_at"),
    Index("sightings_by_row", "source_id", "row_key", unique=True),
    Index("sightings_by_event", "event_id"),
    sqlite_autoincrement=True,
)

blocks = _table(
    "blocks",
    Column("block", Words, primary_key=True),
    _to("event_id", "events", key=True),
    Index("blocks_of_event", "event_id"),
    sqlite_with_rowid=False,
)

field_owners = _table(
    "field_owners",
    _to("event_id", "events", key=True),
    Column("field", Words, primary_key=True),
    Column("owner", Words, CheckConstraint("owner IN ('source','person')", name="field_owner"), nullable=False),
    _to("source_id", "sources", required=False, on_delete="SET NULL"),
    _text("who"),
    _at("at", required=True),
    Column("value", Json),
)

event_history = _table(
    "event_history",
    _id(),
    _to("event_id", "events"),
    _at("at", required=True),
    _text("by"),
    Column("changes", Json, nullable=False),
    Index("event_history_of_event", "event_id"),
)

merges = _table(
    "merges",
    _id(),
    _to("kept_id", "events"),
    _to("absorbed_id", "events", required=False),
    Column("sighting_ids", Json, nullable=False),
    Column("score", Real),
    Column("reasons", Json, nullable=False),
    _at("at", required=True),
    _text("by"),
    Column("before", Json, nullable=False),
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
    Column("subject", Words, nullable=False, unique=True),
    Column("candidate_ids", Json, nullable=False),
    Column(
        "reason",
        Words,
        CheckConstraint("reason IN ('dedupe_conflict','missing_required','parse_error')", name="review_reason"),
        nullable=False,
    ),
    _to("source_id", "sources", required=False, on_delete="SET NULL"),
    Column("detail", Json, nullable=False),
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
    Column("kind", Words, nullable=False),
    Column("detail", Json, nullable=False),
    _at("opened_at", required=True),
    _at("notified_at"),
    _at("closed_at"),
    _at("recovered_notified_at"),
    _at("claimed_until"),
    Index("incidents_open", "source_id", "kind", unique=True, **_where("closed_at IS NULL")),
    sqlite_autoincrement=True,
)
