"""The tables of the service's crawls, beside those of the events: copies and backups carry both."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table, text

from tadoru.store.events.column_types import Json, Moment, Number, Words
from tadoru.store.events.schema import metadata


def _table(name: str, *parts: Any) -> Table:
    return Table(name, metadata, *parts, sqlite_strict=True, sqlite_autoincrement=True)


def _id() -> Column[Any]:
    return Column("id", Number, primary_key=True)


def _text(name: str, *parts: Any) -> Column[Any]:
    return Column(name, Words, *parts, nullable=False, server_default=text("''"))


crawls = _table(
    "crawls",
    _id(),
    Column("name", Words, nullable=False),
    Column("job", Words, CheckConstraint("job IN ('audit','links','docs')", name="crawl_job"), nullable=False),
    Column("starts", Json, nullable=False),
    Column("options", Json, nullable=False),
    Column("place", Words, nullable=False),
    Column("state", Words, CheckConstraint(
        "state IN ('queued','running','paused','stopped','finished','failed')", name="crawl_state"), nullable=False),
    _text("wanted", CheckConstraint("wanted IN ('','pause','stop')", name="crawl_wanted")),
    Column("again", Number, nullable=False, server_default=text("0")),
    _text("error"),
    _text("webhook"),
    Column("every", Number),
    Column("next_at", Moment),
    Column("created_at", Moment, nullable=False),
    _text("created_by"),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    _text("machine"),
    Column("pid", Number),
    _text("process_start"),
    Column("beat_at", Moment),
    Column("deaths", Number, nullable=False, server_default=text("0")),
    Column("progress", Json, nullable=False),
    _text("owner"),
    _text("queued_by"),
    Index("crawls_by_state", "state"),
)  # fmt: skip

crawl_runs = _table(
    "crawl_runs",
    _id(),
    Column("crawl_id", Number, ForeignKey("crawls.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    _text("outcome"),
    Column("figures", Json, nullable=False),
    Column("changes", Json, nullable=False),
    Column("told_at", Moment),
)

live_messages = _table(
    "live_messages",
    _id(),
    Column("at", Moment, nullable=False, index=True),
    Column("kind", Words, nullable=False),
    Column("subject", Words, nullable=False),
    Column("body", Json, nullable=False),
)
