"""Filters known URLs that were not requested again, when the rules have changed since they were found.

A start URL was added or moved to another host, `--exclude` was given, `--check-external` was switched on. Requested pages stay
as they are. This takes one pass over the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tadoru.store.crawl.database import Database
from tadoru.store.crawl.interface import HOST_SPENT, QUEUE_FULL, TOO_DEEP, LinkTarget, PageStatus, UrlPurpose
from tadoru.store.crawl.page_writer import FACTS, PageWriter

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
_CLEAR = f"UPDATE pages SET {' = NULL, '.join(FACTS)} = NULL, crawled_at = NULL WHERE id = ?"


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

    def __init__(self, db: Database) -> None:
        self._db = db

    async def reconsider(self, decide: Decide, *, max_depth: int | None) -> int:
        changed, last = 0, 0
        async with self._db.transaction() as sql:
            batch = _Second(self._db, worker=0, max_depth=max_depth)
            while rows := sql.execute(_OPEN, (last, _AT_A_TIME)).fetchall():
                last = rows[-1][0]
                for row in rows:
                    target = decide(row[1], bool(row[5]))
                    if target is not None and stands_elsewhere(row[2], row[6], bool(row[7]), row[8], target):
                        batch.move(row, target)
                        changed += 1
            batch.flush()
        return changed


class _Second(PageWriter):
    def move(self, row: tuple[Any, ...], target: LinkTarget) -> None:
        """Put a page where it belongs now."""
        page, _, was, host_id, depth, seed, _, _, _, redirect_id, crawls = row
        status, reason = target.status, target.reason
        if status is PageStatus.QUEUED and was != PageStatus.QUEUED:
            status, reason = self._admit(target, depth, bool(seed))
        values = (str(status), reason or None, str(target.purpose), target.internal, page)
        self.sql.execute(_MOVE, values)
        if crawls and status is not PageStatus.QUEUED:
            self.sql.execute(_CLEAR, (page,))
            self._forget(page)
        if was in (PageStatus.COMPLETED, PageStatus.ERROR):
            self.tally["counted" if redirect_id is None or was == PageStatus.ERROR else "redirects"] -= 1
        self.tally[was] -= 1
        self.tally[status] += 1
        self.waiting[host_id] += (status is PageStatus.QUEUED) - (was == PageStatus.QUEUED)
