"""Known URLs in another light: other rules since they were found, or gone from the site."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from tadoru.store.crawl.connection import CrawlPart, SqlConnection
from tadoru.store.crawl.queue_changes import QueueChanges
from tadoru.store.crawl.records import HOST_SPENT, QUEUE_FULL, TOO_DEEP, LinkTarget, PageFacts, PageStatus, UrlPurpose

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


class Rescope(CrawlPart):
    """Applies changed rules to known URLs."""

    async def reconsider(self, decide: Decide, *, max_depth: int | None) -> int:
        """Other rules hold: ask `decide` about each URL that was not requested as a page, and put it where it belongs now; how
        many were moved."""

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


# Whoever names it counts, in a link, a redirect, a sitemap or the head of a page, as long as it is not broken itself.
_NAMED = """SELECT n.canonical_url FROM pages n WHERE n.canonical_url IS NOT NULL AND n.status_code < 400
    UNION SELECT d.canonical_http FROM page_details d JOIN pages n ON n.id = d.page_id
        WHERE d.canonical_http IS NOT NULL AND n.status_code < 400
    UNION SELECT d.next_url FROM page_details d JOIN pages n ON n.id = d.page_id
        WHERE d.next_url IS NOT NULL AND n.status_code < 400
    UNION SELECT d.prev_url FROM page_details d JOIN pages n ON n.id = d.page_id
        WHERE d.prev_url IS NOT NULL AND n.status_code < 400
    UNION SELECT a.url FROM page_hreflang a JOIN pages n ON n.id = a.page_id WHERE n.status_code < 400"""
_DEAD = f"""SELECT p.id FROM pages p
    WHERE p.internal AND p.purpose = 'page' AND NOT p.is_seed AND p.redirect_id IS NULL
        AND (p.status = 'error' OR (p.status = 'completed' AND p.status_code >= 400))
        AND NOT EXISTS (SELECT 1 FROM link_relations r JOIN pages s ON s.id = r.source_id
            WHERE r.target_id = p.id AND s.id <> p.id AND s.status <> 'error' AND coalesce(s.status_code, 0) < 400)
        AND NOT EXISTS (SELECT 1 FROM pages b WHERE b.redirect_id = p.id)
        AND p.id NOT IN (SELECT e.page_id FROM sitemap_entries e)
        AND p.url NOT IN ({_NAMED})"""
_GONE = "SELECT id, status, host_id FROM pages WHERE purpose = 'gone'"
_RECALL = "UPDATE pages SET purpose = 'page', status = 'queued', not_before = 0, retry_count = 0 WHERE id = ?"


class StalePages(CrawlPart):
    """Marks pages that are gone."""

    async def retire(self) -> int:
        """Put away what did not answer and is named nowhere; how many. Only after a re-crawl: a first crawl has no such pages."""
        return await self._db.write(self._retire)

    def _retire(self, sql: SqlConnection) -> int:
        if sql.execute("SELECT 1 FROM runs WHERE id > 1 LIMIT 1").fetchone() is None:
            return 0
        dead = [page for (page,) in sql.execute(_DEAD).fetchall()]
        sql.executemany("UPDATE pages SET purpose = 'gone' WHERE id = ?", [(page,) for page in dead])
        QueueChanges(self._db, sql).forget(dead)
        return len(dead)

    async def recall(self) -> int:
        """Ask again for what is gone, because more of the site is about to be read and may lead there; how many."""
        return await self._db.write(self._recall)

    def _recall(self, sql: SqlConnection) -> int:
        changes = QueueChanges(self._db, sql)
        gone = sql.execute(f"{_GONE} {self._db.dialect.locked_rows}").fetchall()
        sql.executemany(_RECALL, [(page,) for page, _, _ in gone])
        for _, status, host in gone:
            changes.queue_again(status, host)
        changes.tally["counted"] -= len(gone)
        changes.flush()
        return len(gone)
