"""robots.txt, sitemaps, and resources to check: leased like pages, once the pages are done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from tadoru.store.crawl.connection import CrawlConnection, CrawlPart, SqlConnection
from tadoru.store.crawl.records import (
    FAILED_ROBOTS_AGE,
    LinkTarget,
    PageStatus,
    ResourceLease,
    ResourceResult,
    RobotsRecord,
    SitemapRecord,
)
from tadoru.store.crawl.sqlite.database import stamp

# Unless an answer is young enough, or somebody is getting one.
_CLAIM_ROBOTS = """INSERT INTO robots(origin, owner, claimed_until) VALUES (:origin, :worker, :until)
    ON CONFLICT (origin) DO UPDATE SET status = NULL, failure = NULL, message = '', body = NULL, fetched_at = NULL,
        owner = excluded.owner, claimed_until = excluded.claimed_until
    WHERE NOT coalesce(CASE WHEN robots.fetched_at IS NULL THEN robots.claimed_until > :now
        WHEN robots.status < 500 AND robots.status <> 429 THEN robots.fetched_at >= :settled
        ELSE robots.fetched_at >= :failed END, false)
    RETURNING 1"""
_ROBOTS = "SELECT status, failure, message, body, fetched_at FROM robots WHERE origin = ?"
_PUT_ROBOTS = """INSERT INTO robots(origin, status, failure, message, body, fetched_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (origin) DO UPDATE SET status = excluded.status, failure = excluded.failure, message = excluded.message,
        body = excluded.body, fetched_at = excluded.fetched_at, owner = NULL, claimed_until = NULL"""
_FORGET_ROBOTS = "DELETE FROM robots WHERE fetched_at IS NOT NULL AND (status IS NULL OR status >= 500 OR status = 429)"


class RobotsTable(CrawlPart):
    """The answers for robots.txt."""

    async def claim(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        """What robots.txt of an origin answered; True: it is ours to fetch now; False: somebody else is at it, ask again.

        An answer that forbade everything because the server was failing is kept for a minute only.
        """

        def body(sql: SqlConnection) -> RobotsRecord | bool:
            now = self._db.clock.now()
            ages = {"settled": now - max_age, "failed": now - min(max_age, FAILED_ROBOTS_AGE)}
            claim = {"origin": origin, "worker": worker, "until": now + hold, "now": now, **ages}
            if sql.execute(_CLAIM_ROBOTS, claim).fetchone() is not None:
                return True
            row = sql.execute(_ROBOTS, (origin,)).fetchone()
            if row is None or row[4] is None:
                return False
            status, failure, message, text, fetched_at = row
            return RobotsRecord(status, failure, message, text or b"", now - fetched_at)

        return await self._db.write(body, beside=True)

    async def forget_failed(self) -> None:
        """Ask every origin again whose robots.txt could not be had."""
        await self._db.write(lambda sql: sql.execute(_FORGET_ROBOTS), beside=True)

    async def put(self, origin: str, record: RobotsRecord) -> None:
        values = (origin, record.status, record.failure, record.message, record.body, self._db.clock.now() - record.age)
        await self._db.write(lambda sql: sql.execute(_PUT_ROBOTS, values), beside=True)


class SitemapTable:
    """Stores sitemaps."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
        self._put = f"""INSERT INTO sitemaps(url, level, named_by, status, kind, status_code, bytes, urls, problems, read_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT ({db.dialect.unique_text("url")}) DO UPDATE SET status = excluded.status, kind = excluded.kind,
                status_code = excluded.status_code, bytes = excluded.bytes, urls = excluded.urls, problems = excluded.problems,
                read_at = excluded.read_at
            RETURNING id"""

    async def put(self, record: SitemapRecord) -> int:
        """Remember a sitemap, in place of what was known of it; its number. `FrontierStore.add_named` has the pages it lists."""
        problems = json.dumps(record.problems, ensure_ascii=False) if record.problems else None
        values = (
            record.url, record.level, record.named_by, record.status, record.kind, record.status_code,
            record.bytes, record.urls, problems, stamp(self._db.clock.now()),
        )  # fmt: skip

        def body(sql: SqlConnection) -> int:
            number: int = sql.execute(self._put, values).fetchone()[0]
            sql.execute("DELETE FROM sitemap_entries WHERE sitemap_id = ?", (number,))
            return number

        return await self._db.write(body, beside=True)


DECLARED = "declared"
"""The kind of a resource that no page loads: a URL that a page declares as its canonical, alternate, next or previous page."""
FRAGMENTS = "fragments"
"""The kind of an external page whose ids are read, because links name a fragment of it."""
_TAKEN = "SELECT CAST(coalesce(sum(value), 0) AS BIGINT) FROM counters WHERE name = 'resources'"
"""How many are being tried or were: counted, because there may be millions of them."""
_RESULT = """UPDATE resources SET status = ?, owner = NULL, status_code = ?, content_type = ?, content_length = ?, final_url = ?,
    skip_reason = ?, last_error_type = ?, last_error_message = ?, checked_at = ? WHERE id = ? AND owner = ?"""
_AGAIN = """UPDATE resources SET status = 'queued', owner = NULL, retry_count = retry_count + 1, not_before = ?
    WHERE id = ? AND owner = ?"""
_OPEN = """SELECT id, url, internal, status FROM resources
    WHERE id > ? AND (status = 'discovered' OR status = 'queued') ORDER BY id LIMIT 2000"""
# A URL that was requested as a page is known already, and so is one that is queued as a resource.
_DECLARED = """SELECT DISTINCT url FROM (
        SELECT coalesce(p.canonical_url, d.canonical_http) AS url FROM page_details d JOIN pages p ON p.id = d.page_id
        UNION SELECT next_url FROM page_details UNION SELECT prev_url FROM page_details UNION SELECT url FROM page_hreflang
    ) AS declared WHERE url IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM pages t WHERE t.url = declared.url AND t.status <> 'discovered')
    AND NOT EXISTS (SELECT 1 FROM resources r WHERE r.url = declared.url) ORDER BY url LIMIT ?"""
_ADD_DECLARED = f"""INSERT INTO resources(url, host, kind, internal, status) VALUES (?, ?, '{DECLARED}', ?, 'queued')
    ON CONFLICT DO NOTHING"""
_FRAGMENTED = """SELECT DISTINCT p.url, h.name
    FROM link_relations r JOIN pages p ON p.id = r.target_id JOIN hosts h ON h.id = p.host_id
    WHERE r.fragment_id <> 0 AND NOT p.internal AND p.status = 'completed' AND p.status_code = 200
    AND p.content_type LIKE 'text/html%' AND NOT EXISTS (SELECT 1 FROM page_anchors a WHERE a.page_id = p.id)
    ORDER BY p.url LIMIT ?"""
_ADD_FRAGMENTED = f"""INSERT INTO resources(url, host, kind, internal, status) VALUES (?, ?, '{FRAGMENTS}', ?, 'queued')
    ON CONFLICT DO NOTHING"""
_PUT_ANCHORS = """INSERT INTO page_anchors(page_id, anchors) SELECT p.id, ? FROM pages p JOIN resources r ON r.url = p.url
    WHERE r.id = ? ON CONFLICT DO NOTHING"""
_MOVE = "UPDATE resources SET internal = ?, status = ? WHERE id = ?"


class ResourceFailure(NamedTuple):
    """A use of a resource that has no response, or one other than success."""

    url: str
    kind: str
    status_code: int | None
    final_url: str | None
    error_type: str | None
    error_message: str | None
    page_url: str


class ExternalResource(NamedTuple):
    """A resource of another site that was requested, and what came of it."""

    url: str
    status_code: int | None
    content_type: str | None
    error_type: str | None
    error_message: str | None
    checked_at: datetime


_EXTERNAL = """SELECT url, status_code, content_type, last_error_type, last_error_message, checked_at FROM resources
    WHERE NOT internal AND (status = 'completed' OR status = 'error') AND checked_at IS NOT NULL ORDER BY url"""
_FAILURES = """SELECT r.url, r.kind, r.status_code, r.final_url, r.last_error_type, r.last_error_message, p.url
    FROM resource_uses u JOIN resources r ON r.id = u.resource_id JOIN pages p ON p.id = u.page_id
    WHERE r.status = 'error' OR (r.status = 'completed' AND (r.status_code < 200 OR r.status_code > 299))
    ORDER BY r.url, p.url, u.position"""


class ResourceTable:
    """Leases resources and stores their results."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
        waiting = f"FROM resources {db.dialect.indexed_by('resources_waiting')} WHERE status = 'queued'"
        self._soonest = f"SELECT min(not_before) {waiting}"
        self._take = f"""UPDATE resources SET status = 'processing', owner = ? WHERE id IN (
                SELECT id {waiting} AND not_before <= ? ORDER BY id LIMIT ? {db.dialect.unlocked_rows})
            RETURNING id, url, host, retry_count, kind"""

    async def reconsider(self, is_internal: Callable[[str], bool], *, externals: bool) -> None:
        """Other rules hold: which of those that were not tried belong to the site, and whether others are tried too."""

        def body(sql: SqlConnection) -> None:
            last = 0
            while rows := sql.execute(f"{_OPEN} {self._db.dialect.locked_rows}", (last,)).fetchall():
                last = rows[-1][0]
                moves = []
                for number, url, was_internal, was in rows:
                    internal = is_internal(url)
                    status = "queued" if internal or externals else "discovered"
                    if (internal, status) != (bool(was_internal), was):
                        moves.append((internal, status, number))
                sql.executemany(_MOVE, moves)

        await self._db.write(body)

    async def add_declared(self, decide: Callable[[str], LinkTarget], *, most: int) -> None:
        """Queue the URLs that pages declare and that were not requested, as far as they may be requested."""

        def body(sql: SqlConnection) -> None:
            targets = [decide(url) for (url,) in sql.execute(_DECLARED, (most,)).fetchall()]
            wanted = [(one.url, one.host, one.internal) for one in targets if one.status is PageStatus.QUEUED]
            sql.executemany(_ADD_DECLARED, wanted)

        await self._db.write(body, beside=True)

    async def add_fragmented(self, *, most: int) -> None:
        """Queue the external pages that respond and of which links name a fragment."""

        def body(sql: SqlConnection) -> None:
            wanted = [(url, host, False) for url, host in sql.execute(_FRAGMENTED, (most,)).fetchall()]
            sql.executemany(_ADD_FRAGMENTED, wanted)

        await self._db.write(body, beside=True)

    async def lease(self, worker: int, count: int, *, budget: int) -> list[ResourceLease]:
        """Own up to `count` resources to try; never more than `budget` in all, whoever else is leasing."""

        def body(sql: SqlConnection) -> list[ResourceLease]:
            if sql.execute(self._db.dialect.living_worker, (worker,)).fetchone() is None:
                return []
            sql.execute(self._db.dialect.take_turn("resources")).fetchone()
            room = min(count, budget - sql.execute(_TAKEN).fetchone()[0])
            if room <= 0:
                return []
            rows = sql.execute(self._take, (worker, self._db.clock.now(), room)).fetchall()
            self._db.count(sql, {"resources": len(rows)})
            return [ResourceLease(*row) for row in sorted(rows)]

        return await self._db.write(body, beside=True)

    async def finish(self, worker: int, results: Sequence[ResourceResult]) -> None:
        def body(sql: SqlConnection) -> None:
            now = self._db.clock.now()
            finished = []
            for result in results:
                if result.again_after is not None:
                    given_back = sql.execute(_AGAIN, (now + result.again_after, result.resource_id, worker))
                    self._db.count(sql, {"resources": -given_back.rowcount})
                    continue
                row = (
                    result.status, result.status_code, result.content_type, result.content_length, result.final_url,
                    result.skip_reason, result.error_type, result.error_message, stamp(now), result.resource_id, worker,
                )  # fmt: skip
                finished.append(row)
                if result.anchors is not None:
                    sql.execute(_PUT_ANCHORS, (result.anchors, result.resource_id))
            sql.executemany(_RESULT, finished)

        await self._db.write(body, beside=True)

    async def failures(self) -> list[ResourceFailure]:
        """Every use of a resource that does not work, by URL and page."""
        rows = await self._db.read(lambda sql: sql.execute(_FAILURES).fetchall())
        return [ResourceFailure(*row) for row in rows]

    async def external(self) -> list[ExternalResource]:
        """The resources of other sites that were requested, by URL."""
        rows = await self._db.read(lambda sql: sql.execute(_EXTERNAL).fetchall())
        return [
            ExternalResource(url, status, content_type, kind, message, datetime.fromisoformat(checked).replace(tzinfo=UTC))
            for url, status, content_type, kind, message, checked in rows
        ]

    async def wait(self, *, budget: int) -> float | None:
        """Seconds until a resource may be tried, or until somebody else's may come back; None when all is done."""

        def body(sql: SqlConnection) -> float | None:
            if sql.execute("SELECT 1 FROM resources WHERE owner IS NOT NULL LIMIT 1").fetchone() is not None:
                return 0.05
            (soonest,) = sql.execute(self._soonest).fetchone()
            if soonest is None or sql.execute(_TAKEN).fetchone()[0] >= budget:
                return None
            return max(0.0, float(soonest) - self._db.clock.now())

        return await self._db.read(body)
