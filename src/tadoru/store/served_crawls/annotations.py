"""What a team keeps about a crawl: named views of its tables, findings that it ignores, and links to its report.

A link is a random token that is shown once; only its hash is stored. It expires, can be revoked, and opens one report.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sqlalchemy import Table, delete, func, insert, select, update

from tadoru.errors import UsageError
from tadoru.store.accounts.audit_log import Actor, add_audit_entry
from tadoru.store.accounts.secrets import hash_token, new_token
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.served_crawls.schema import (
    IgnoredFinding,
    SavedView,
    SharedReport,
    crawl_ignored,
    crawl_shares,
    crawl_views,
)

MAX_VIEWS, MAX_IGNORED, MAX_SHARES = 50, 500, 50
"""How many a crawl may have of each; links in reports by e-mail are apart."""
MAX_MAILED = 1_000
"""Links in reports by e-mail of a crawl: the oldest ones end when there are more."""
SCHEDULE = Actor(who="scheduled run")
"""Who creates the links in reports by e-mail."""
USED_EVERY = timedelta(minutes=1)
"""How exactly the last use of a link is known: a reader must not cause a write for each request."""


class CrawlAnnotations:
    """Views, ignored findings and shared reports of crawls."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def views(self, crawl_id: int, tab: str = "") -> tuple[SavedView, ...]:
        """The named views of a table, or of all, by name."""
        query = select(crawl_views).where(crawl_views.c.crawl_id == crawl_id)
        query = query.where(crawl_views.c.tab == tab) if tab else query.order_by(crawl_views.c.tab)
        with self._db.read() as sql:
            return tuple(SavedView(**row) for row in sql.execute(query.order_by(crawl_views.c.name)).mappings())

    def save_view(self, crawl_id: int, by: Actor, *, tab: str, name: str, query: str) -> SavedView:
        """Name a view; a view of the same name is replaced. Raises UsageError."""
        same = crawl_views.c.crawl_id == crawl_id, crawl_views.c.tab == tab, crawl_views.c.name == name
        with self._db.write() as sql:
            sql.execute(delete(crawl_views).where(*same))
            self._add(sql, crawl_views, MAX_VIEWS, by, crawl_id=crawl_id, tab=tab, name=name, query=query)
            add_audit_entry(self._db, sql, by, "crawl.view", f"crawl/{crawl_id}", name=name)
            return SavedView(**sql.execute(select(crawl_views).where(*same)).mappings().one())

    def remove_view(self, crawl_id: int, view_id: int, by: Actor) -> None:
        """Remove a view."""
        self._remove(crawl_views, crawl_id, view_id, by, "crawl.view_remove")

    def ignored(self, crawl_id: int) -> tuple[IgnoredFinding, ...]:
        """The ignored findings of a crawl."""
        query = select(crawl_ignored).where(crawl_ignored.c.crawl_id == crawl_id).order_by(crawl_ignored.c.id)
        with self._db.read() as sql:
            return tuple(IgnoredFinding(**row) for row in sql.execute(query).mappings())

    def ignore(self, crawl_id: int, by: Actor, *, check_id: str, subject: str, reason: str) -> None:
        """Ignore a check or one of its subjects, for a reason. Raises UsageError."""
        same = crawl_ignored.c.crawl_id == crawl_id, crawl_ignored.c.check_id == check_id, crawl_ignored.c.subject == subject
        with self._db.write() as sql:
            sql.execute(delete(crawl_ignored).where(*same))
            self._add(sql, crawl_ignored, MAX_IGNORED, by, crawl_id=crawl_id, check_id=check_id, subject=subject, reason=reason)
            add_audit_entry(self._db, sql, by, "crawl.ignore", f"crawl/{crawl_id}", check=check_id, url=subject)

    def unignore(self, crawl_id: int, ignored_id: int, by: Actor) -> None:
        """No longer ignore a finding."""
        self._remove(crawl_ignored, crawl_id, ignored_id, by, "crawl.unignore")

    def shares(self, crawl_id: int) -> tuple[SharedReport, ...]:
        """The links to the report of a crawl, newest first."""
        query = select(*_shared_columns()).where(crawl_shares.c.crawl_id == crawl_id).order_by(crawl_shares.c.id.desc())
        query = query.limit(2 * MAX_SHARES)
        with self._db.read() as sql:
            return tuple(SharedReport(**row) for row in sql.execute(query).mappings())

    def share(self, crawl_id: int, by: Actor, *, label: str, days: int) -> str:
        """The token of a new link, which is shown once. Raises UsageError."""
        token, now = new_token(), self._db.now()
        of_crawl = crawl_shares.c.crawl_id == crawl_id
        with self._db.write() as sql:
            sql.execute(delete(crawl_shares).where(of_crawl, crawl_shares.c.expires_at <= now))
            if by == SCHEDULE:
                mailed = select(crawl_shares.c.id).where(of_crawl, crawl_shares.c.created_by == by.who)
                oldest = mailed.order_by(crawl_shares.c.id.desc()).offset(MAX_MAILED - 1)
                sql.execute(delete(crawl_shares).where(crawl_shares.c.id.in_(sql.execute(oldest).scalars().all())))
            self._add(
                sql, crawl_shares, MAX_SHARES, by, crawl_id=crawl_id, token_hash=hash_token(token), label=label,
                expires_at=now + timedelta(days=days),
            )  # fmt: skip
            add_audit_entry(self._db, sql, by, "crawl.share", f"crawl/{crawl_id}", label=label, days=days)
        return token

    def revoke_share(self, crawl_id: int, share_id: int, by: Actor) -> None:
        """Revoke a link."""
        mine = crawl_shares.c.id == share_id, crawl_shares.c.crawl_id == crawl_id, crawl_shares.c.revoked_at.is_(None)
        with self._db.write() as sql:
            sql.execute(update(crawl_shares).where(*mine).values(revoked_at=self._db.now()))
            add_audit_entry(self._db, sql, by, "crawl.share_revoke", f"crawl/{crawl_id}", share=share_id)

    def open_share(self, token: str) -> SharedReport | None:
        """The report that a token opens; None if it is unknown, expired or revoked."""
        now = self._db.now()
        valid = (
            crawl_shares.c.token_hash == hash_token(token),
            crawl_shares.c.revoked_at.is_(None),
            crawl_shares.c.expires_at > now,
        )
        with self._db.read() as sql:
            row = sql.execute(select(*_shared_columns()).where(*valid)).mappings().one_or_none()
        if row is None:
            return None
        found = SharedReport(**row)
        if found.used_at is None or now - found.used_at > USED_EVERY:
            with self._db.write() as sql:
                sql.execute(update(crawl_shares).where(crawl_shares.c.id == found.id).values(used_at=now))
        return found

    def _add(self, sql: Any, table: Table, most: int, by: Actor, **values: Any) -> None:
        count = select(func.count()).where(table.c.crawl_id == values["crawl_id"], table.c.created_by != SCHEDULE.who)
        if by != SCHEDULE and sql.execute(count).scalar_one() >= most:
            raise UsageError("A crawl can have at most {limit} of these. Remove some first.", limit=most)
        sql.execute(insert(table).values(created_at=self._db.now(), created_by=by.who, **values))

    def _remove(self, table: Table, crawl_id: int, row_id: int, by: Actor, what: str) -> None:
        with self._db.write() as sql:
            sql.execute(delete(table).where(table.c.id == row_id, table.c.crawl_id == crawl_id))
            add_audit_entry(self._db, sql, by, what, f"crawl/{crawl_id}")


def _shared_columns() -> Iterable[Any]:
    return [column for column in crawl_shares.c if column.name != "token_hash"]
