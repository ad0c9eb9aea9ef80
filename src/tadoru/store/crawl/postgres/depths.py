"""Applies shorter paths to known pages: beside the crawl, in bounded steps, by one worker at a time.

Who finds a shorter path only proposes it (`depth_changes`), because the pages behind it may be any others, which other workers
write at the same moment. A step takes some proposals, lowers the depth of their pages, and proposes the pages that these lead to.
When no proposal is left every depth is the length of the shortest path: before a crawl ends, all are applied.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tadoru.model.web import FailureKind
from tadoru.store.crawl.metrics import error_counter
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.postgres.database import PgDatabase
from tadoru.store.crawl.postgres.pool import AsyncLink, retried, together
from tadoru.store.crawl.postgres.url_writer import PgUrlWriter
from tadoru.store.crawl.queue_changes import CrawlLimits
from tadoru.store.crawl.reader import CrawlGraph
from tadoru.store.crawl.records import TOO_DEEP
from tadoru.store.crawl.sqlite.database import stamp

if TYPE_CHECKING:
    from tadoru.store.crawl.postgres.database import PgDatabase


APPLYING = 0x7AD0_0016
"""The advisory lock of the worker that applies proposals."""
AT_ONCE = 5_000
_HAS_PROPOSALS = "SELECT 1 FROM depth_changes LIMIT 1"
_TRY_LOCK = f"SELECT pg_try_advisory_xact_lock({APPLYING}, hashtext(current_schema()))"
_LOCK = f"SELECT pg_advisory_xact_lock({APPLYING}, hashtext(current_schema())) IS NOT NULL"
_TAKE = f"""DELETE FROM depth_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM depth_changes LIMIT {AT_ONCE}))
    RETURNING page_id, depth, parent_id, max_depth"""
_LOWER = f"""WITH given AS MATERIALIZED (SELECT DISTINCT ON (page_id) * FROM
        unnest(%(pages)s::bigint[], %(depths)s::bigint[], %(parents)s::bigint[], %(most)s::bigint[])
        AS g(page_id, depth, parent_id, max_depth) ORDER BY page_id, depth, parent_id),
    was AS MATERIALIZED (SELECT p.id, p.status = 'skipped' AND p.skip_reason = '{TOO_DEEP}'
            AND (g.max_depth IS NULL OR g.depth <= g.max_depth) AS is_wanted
        FROM pages p JOIN given g ON g.page_id = p.id WHERE p.depth > g.depth ORDER BY p.id FOR NO KEY UPDATE OF p)
    UPDATE pages p SET depth = g.depth, parent_id = g.parent_id,
        status = CASE WHEN was.is_wanted THEN 'queued' ELSE p.status END,
        skip_reason = CASE WHEN was.is_wanted THEN NULL ELSE p.skip_reason END
    FROM given g JOIN was ON was.id = g.page_id WHERE p.id = g.page_id AND p.depth > g.depth
    RETURNING p.id, p.url, p.depth, p.host_id, g.max_depth, was.is_wanted"""
# A statement of its own: it sees the links of pages that were written while the one before it waited for their rows.
_ONWARD = """INSERT INTO depth_changes(page_id, depth, parent_id, max_depth)
    SELECT DISTINCT ON (t.id) t.id, onward.depth, onward.source, onward.max_depth FROM (
        SELECT r.target_id AS id, l.depth + 1 AS depth, l.id AS source, l.max_depth
        FROM unnest(%(ids)s::bigint[], %(depths)s::bigint[], %(most)s::bigint[]) AS l(id, depth, max_depth)
        JOIN link_relations r ON r.source_id = l.id
        UNION ALL SELECT p.redirect_id, l.depth, l.id, l.max_depth
        FROM unnest(%(ids)s::bigint[], %(depths)s::bigint[], %(most)s::bigint[]) AS l(id, depth, max_depth)
        JOIN pages p ON p.id = l.id WHERE p.redirect_id IS NOT NULL) AS onward
    JOIN pages t ON t.id = onward.id WHERE t.depth > onward.depth ORDER BY t.id, onward.depth, onward.source"""


async def apply_depth_changes(db: PgDatabase, worker: int, *, wait: bool = False) -> int:
    """Apply all proposals, unless another worker does; how many URLs were queued because they are near enough now.

    With `wait`, none of those that were there is left when this returns, whoever applied it.
    """
    queued = 0
    while await db.pool.run((_HAS_PROPOSALS, ())):
        found = await retried(lambda: _apply_some(db, worker, _LOCK if wait else _TRY_LOCK))
        if found is None:
            break
        queued += found
    return queued


async def _apply_some(db: PgDatabase, worker: int, lock: str) -> int | None:
    """One step; None if another worker applies proposals now."""
    changes = PgUrlWriter(db, worker, None)
    async with db.pool.transaction(*db.beginning) as link:
        ((is_locked,),) = (await together(link, [(lock, ())]))[0]
        if not is_locked:
            return None
        queued = await _lower(db, link, changes, (await together(link, [(_TAKE, ())]))[0])
        await changes.flush(link)
    return queued


async def _lower(
    db: PgDatabase, link: AsyncLink, changes: PgUrlWriter, taken: list[tuple[int, int, int | None, int | None]]
) -> int:
    columns: defaultdict[str, list[int | None]] = defaultdict(list)
    for page, depth, parent, most in taken:
        for name, value in (("pages", page), ("depths", depth), ("parents", parent), ("most", most)):
            columns[name].append(value)
    if not taken:
        return 0
    lowered = (await together(link, [(_LOWER, columns)]))[0]
    queued = 0
    for number, url, depth, host_id, _, is_wanted in lowered:
        db.known[url] = (number, depth)
        if is_wanted:
            changes.queue_again("skipped", host_id)
            queued += 1
    if lowered:
        onward = {name: [row[at] for row in lowered] for name, at in (("ids", 0), ("depths", 2), ("most", 4))}
        await link.execute(_ONWARD, onward)
    return queued


_IN_LOOPS = """WITH RECURSIVE walk(start, step) AS (
        SELECT id, redirect_id FROM pages WHERE redirect_id IS NOT NULL
        UNION SELECT w.start, p.redirect_id FROM walk w JOIN pages p ON p.id = w.step
        WHERE p.redirect_id IS NOT NULL AND w.step <> w.start)
    SELECT p.id, p.url, p.redirect_id, p.status FROM walk w JOIN pages p ON p.id = w.start
    WHERE w.step = w.start ORDER BY p.url"""
_LOOP = "UPDATE pages SET status = 'error', last_error_type = ?, last_error_message = ? WHERE id = ?"
_ERROR = "INSERT INTO crawl_errors(url, error_type, error_message, occurred_at) VALUES (?, ?, ?, ?)"


class PgLimits(CrawlLimits):
    """The limits of a crawl on PostgreSQL."""

    def __init__(self, db: PgDatabase) -> None:
        super().__init__(db)
        self._pg = db

    async def refill(self) -> int:
        return await apply_depth_changes(self._pg, 0, wait=True) + await super().refill()


class PgGraph(CrawlGraph):
    """Pages and links on PostgreSQL."""

    def __init__(self, db: PgDatabase) -> None:
        super().__init__(db)
        self._pg = db

    async def complete(self) -> None:
        await apply_depth_changes(self._pg, 0, wait=True)
        await self._pg.write(self._close_loops)

    async def settle(self) -> None:
        await self.complete()
        await super().settle()

    def _close_loops(self, sql: PgConnection) -> None:
        """Two workers that write the two halves of a loop at the same moment do not see it: the last page by URL is an error."""
        pages = {number: (url, onward, status) for number, url, onward, status in sql.execute(_IN_LOOPS).fetchall()}
        while pages:
            number, (url, onward, status) = pages.popitem()
            is_closed = status != "completed"
            while onward in pages:
                _, onward, status = pages.pop(onward)
                is_closed |= status != "completed"  # An error already, or still to be requested.
            if not is_closed:
                message = f"The redirects from {url} lead back to it."
                sql.execute(_LOOP, (str(FailureKind.REDIRECT_LOOP), message, number))
                sql.execute(_ERROR, (url, str(FailureKind.REDIRECT_LOOP), message, stamp(self._pg.clock.now())))
                changes = {"completed": -1, "redirects": -1, "error": 1, "counted": 1}
                self._pg.count(sql, {**changes, error_counter(FailureKind.REDIRECT_LOOP): 1})
