"""Live messages: any process writes them, and every process of the service sends them to its connections.

They are in the database because a crawl is a separate process and the service may have several, and so that a client can catch up
after a break. IDs follow the order of commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text

from tadoru.errors import Message, restore_message
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.served_crawls.schema import LiveMessage, live_messages

TEXT_FIELDS = ("error", "text")
"""The fields of a body that are texts for people."""
MESSAGES = "messages"
"""The key in a body under which its texts are stored as messages, to be shown in other languages."""
LIVE_MESSAGES_LOCK = 0x7AD0_0005
"""The advisory lock of writers on PostgreSQL: without it a lower ID could appear after a higher one was read."""


def message_texts(body: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a stored body that can be translated."""
    stored = body.get(MESSAGES) or {}
    return {name: restore_message(str(body.get(name, "")), one) for name, one in stored.items()}


def add_live_message(db: CalendarDatabase, sql: Connection, kind: str, subject: str, body: Mapping[str, Any]) -> None:
    """Add a message in the transaction of its event. Call it last: on PostgreSQL other writers wait.

    A text in its body that can be translated is also stored as a message.
    """
    if not db.is_sqlite:
        sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LIVE_MESSAGES_LOCK})
    texts = {name: one.to_json() for name in TEXT_FIELDS if isinstance(one := body.get(name), Message)}
    stored = {**body, MESSAGES: texts} if texts else dict(body)
    sql.execute(insert(live_messages).values(at=db.now(), kind=kind, subject=subject, body=stored))


class LiveMessages:
    """Writes and reads live messages."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def publish(self, kind: str, subject: str, body: Mapping[str, Any]) -> None:
        """Add a message."""
        with self._db.write() as sql:
            add_live_message(self._db, sql, kind, subject, body)

    def list(self, after: int, *, limit: int = 500) -> tuple[LiveMessage, ...]:
        """The messages after an ID, oldest first."""
        query = select(live_messages).where(live_messages.c.id > after).order_by(live_messages.c.id).limit(limit)
        with self._db.read() as sql:
            return tuple(LiveMessage(**row) for row in sql.execute(query).mappings())

    def notices_about(self, subject: str, *, limit: int = 20, among: int = 20_000) -> tuple[LiveMessage, ...]:
        """The last notices about a subject, oldest first, among the newest messages."""
        first = select(func.max(live_messages.c.id)).scalar_subquery() - among
        chosen = live_messages.c.id > first, live_messages.c.subject == subject, live_messages.c.kind == "crawl.notice"
        query = select(live_messages).where(*chosen).order_by(live_messages.c.id.desc()).limit(limit)
        with self._db.read() as sql:
            return tuple(LiveMessage(**row) for row in reversed(sql.execute(query).mappings().all()))

    def span(self) -> tuple[int, int]:
        """The IDs of the first and the last message; zeros if there is none."""
        with self._db.read() as sql:
            # Separate subqueries: SQLite would scan the table for both in one.
            ends = (select(end(live_messages.c.id)).scalar_subquery() for end in (func.min, func.max))
            first, last = sql.execute(select(*ends)).one()
            return first or 0, last or 0

    def delete_old(self, before: datetime) -> int:
        """Remove older messages, but never the last one: IDs continue from it."""
        newest = select(func.max(live_messages.c.id)).scalar_subquery()
        with self._db.write() as sql:
            found = sql.execute(delete(live_messages).where(live_messages.c.at < before, live_messages.c.id < newest))
            return int(found.rowcount)
