"""Filters known URLs that were not requested again, when the rules have changed since they were found.

A start URL was added or moved to another host, `--exclude` was given, `--check-external` was switched on. Requested pages stay
as they are. This takes one pass over the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.interface import HOST_SPENT, QUEUE_FULL, TOO_DEEP, LinkTarget, PageFacts, PageStatus, UrlPurpose
from tadoru.store.crawl.queue_changes import QueueChanges

Decide = Callable[[str, bool], LinkTarget | None]
"""What becomes of a URL (and whether it is a start); None: what it was."""
OTHER_REFUSALS = (TOO_DEEP, HOST_SPENT, QUEUE_FULL, "trap: ", "robots.txt")
"""How the reasons begin that the rules of scope have no say in."""

_AT_A_TIME = 2_000
_OPEN = """SELECT id, url, status, host_id, depth, is_seed, purpose, internal, skip_reason, redirect_id, crawls FROM pages
    WHERE id > ? AND (status = 'queued' OR status = 'discovered' OR status = 'skipped'
        OR (purpose = 'check' AND (status = 'completed' OR status = 'error')))
    ORDER BY id LIMIT ?"""
_MOVE = """UPDATE pages SET status = ?, skip_reason = ?, purpose = ?, internal = ?, not_before = 0, retry_count = 0,
    redirect_id = NULL, last_error_type = NULL, last_error_message = NULL WHERE id = ?"""
_CLEAR = f"UPDATE pages SET {' = NULL, '.join(one.name for one in fields(PageFacts))} = NULL, crawled_at = NULL WHERE id = ?"


def stands_elsewhere(status: str, purpose: str, internal: bool, reason: str | None, target: LinkTarget) -> bool:
    """Whether a URL is not where the rules of today would put it."""
    if target.status is PageStatus.DISCOVERED and target.internal:
        return False  # Links are not followed now: no reason to drop what was wanted before.
    if status in (PageStatus.COMPLETED, PageStatus.ERROR):
        return target.status is PageStatus.QUEUED and target.purpose is UrlPurpose.PAGE
    is_same_site = (purpose, internal) == (target.purpose, target.internal)
    if is_same_site and status == PageStatus.SKIPPED and target.status is PageStatus.QUEUED:
        return not (reason or "").startswith(OTHER_REFUSALS)
    return not is_same_site or status != target.status


class Rescope:
    """Applies changed rules to known URLs."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db

    async def reconsider(self, decide: Decide, *, max_depth: int | None) -> int:
        def body(sql: SqlConnection) -> int:
            moves = _PageMoves(QueueChanges(self._db, sql, max_depth), sql)
            last = 0
            while rows := sql.execute(f"{_OPEN} {self._db.dialect.locked_rows}", (last, _AT_A_TIME)).fetchall():
                last = rows[-1][0]
                for row in rows:
                    target = decide(row[1], bool(row[5]))
                    if target is not None and stands_elsewhere(row[2], row[6], bool(row[7]), row[8], target):
                        moves.add(row, target)
                moves.write()
            moves.changes.flush()
            return moves.total

        return await self._db.write(body)


class _PageMoves:
    """The pages that belong elsewhere now."""

    def __init__(self, changes: QueueChanges, sql: SqlConnection) -> None:
        self.changes = changes
        self.total = 0
        self._sql = sql
        self._moved: list[tuple[object, ...]] = []
        self._dropped: list[int] = []

    def add(self, row: tuple[Any, ...], target: LinkTarget) -> None:
        """Put a page where it belongs now."""
        page, _, was, host_id, depth, seed, _, _, _, redirect_id, crawls = row
        status, reason = target.status, target.reason
        if status is PageStatus.QUEUED and was != PageStatus.QUEUED:
            status, reason = self.changes.admit(target, depth, bool(seed))
        self._moved.append((str(status), reason or None, str(target.purpose), target.internal, page))
        if crawls and status is not PageStatus.QUEUED:
            self._dropped.append(page)
        tally = self.changes.tally
        if was in (PageStatus.COMPLETED, PageStatus.ERROR):
            tally["counted" if redirect_id is None or was == PageStatus.ERROR else "redirects"] -= 1
        tally[was] -= 1
        tally[status] += 1
        self.changes.waiting[host_id] += (status is PageStatus.QUEUED) - (was == PageStatus.QUEUED)
        self.total += 1

    def write(self) -> None:
        self._sql.executemany(_MOVE, self._moved)
        self._sql.executemany(_CLEAR, [(page,) for page in self._dropped])
        self.changes.forget(self._dropped)
        self._moved.clear()
        self._dropped.clear()
