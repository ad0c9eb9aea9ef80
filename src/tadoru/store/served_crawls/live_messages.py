"""Messages for those who watch, kept for a while: any process writes them, any process of the service hands them on.

They are in the database because a crawl is a process of its own and the service may be several; and because who was away for a
moment can then be told what happened since. Numbers are given in the order of commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text

from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.served_crawls.schema import LiveMessage, live_messages

LIVE_MESSAGES_LOCK = 0x7AD0_0005
"""The advisory lock of those who tell, on PostgreSQL: without it a lower number could appear after a higher one was read."""


class LiveMessages(CalendarDatabase):
    """Telling and hearing."""

    def tell(self, kind: str, subject: str, body: Mapping[str, Any]) -> None:
        """Add a message."""
        with self.write() as sql:
            self.add_live_message(sql, kind, subject, body)

    def add_live_message(self, sql: Connection, kind: str, subject: str, body: Mapping[str, Any]) -> None:
        """Add a message in the transaction of what it tells of. The last thing in it: on PostgreSQL others wait to tell."""
        if not self.is_sqlite:
            sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LIVE_MESSAGES_LOCK})
        sql.execute(insert(live_messages).values(at=self.now(), kind=kind, subject=subject, body=dict(body)))

    def messages(self, after: int, *, limit: int = 500) -> tuple[LiveMessage, ...]:
        """What came after a message, the oldest first."""
        query = select(live_messages).where(live_messages.c.id > after).order_by(live_messages.c.id).limit(limit)
        with self.read() as sql:
            return tuple(LiveMessage(**row) for row in sql.execute(query).mappings())

    def notices_about(self, subject: str, *, limit: int = 20, among: int = 20_000) -> tuple[LiveMessage, ...]:
        """The last notices about something, the oldest first, of the newest so many messages."""
        first = select(func.max(live_messages.c.id)).scalar_subquery() - among
        chosen = live_messages.c.id > first, live_messages.c.subject == subject, live_messages.c.kind == "crawl.notice"
        query = select(live_messages).where(*chosen).order_by(live_messages.c.id.desc()).limit(limit)
        with self.read() as sql:
            return tuple(LiveMessage(**row) for row in reversed(sql.execute(query).mappings().all()))

    def message_span(self) -> tuple[int, int]:
        """The first and the last message there are; zeros when there is none."""
        with self.read() as sql:
            # Each on its own: SQLite would read the whole table for both at once.
            ends = (select(end(live_messages.c.id)).scalar_subquery() for end in (func.min, func.max))
            first, last = sql.execute(select(*ends)).one()
            return first or 0, last or 0

    def delete_old_messages(self, before: datetime) -> int:
        """Remove what is older, but never the last one: numbers go on from it."""
        newest = select(func.max(live_messages.c.id)).scalar_subquery()
        with self.write() as sql:
            found = sql.execute(delete(live_messages).where(live_messages.c.at < before, live_messages.c.id < newest))
            return int(found.rowcount)
