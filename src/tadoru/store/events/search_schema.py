"""What search engines were not told yet: the engines, and the events that changed since. They are no part of `schema.metadata`,
because a copy of a database takes neither along: it has told nobody anything.

The index of searched texts is of each database's own kind. Revision 0004 makes it, and the triggers that keep all of this.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, MetaData, Table, text

from tadoru.store.events.column_types import Moment, Number, Words
from tadoru.store.events.schema import workers

metadata = MetaData()

search_targets = Table(
    "search_targets",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("since", Moment, nullable=False),
    Column("synced_at", Moment),
    Column("form", Words, nullable=False, server_default=text("''")),
    Column("worker_id", Number, ForeignKey(workers.c.id, ondelete="SET NULL")),
    sqlite_strict=True,
    sqlite_autoincrement=True,
)

search_changes = Table(
    "search_changes",
    metadata,
    Column("target_id", Number, ForeignKey("search_targets.id", ondelete="CASCADE"), primary_key=True),
    Column("event_id", Number, primary_key=True, autoincrement=False),  # No foreign key: what is gone is told too.
    Column("number", Number, nullable=False, server_default=text("1")),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
