"""Leases on PostgreSQL: pages by `FOR UPDATE SKIP LOCKED`, in one statement, concurrently with other leases and writes.

The named hosts are locked first, by number; then others, skipping locked ones; then their pages in the same way; the counters
last. So two leases take different pages, and no deadlock can arise. Only with a page limit do leases wait for each other. The
pace and slots of a host are one statement and one locked row each, also between crawls of one database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from tadoru.errors import StoreError
from tadoru.rules.pace import MAX_HOLD, Pace
from tadoru.store.crawl import metrics, records, workers
from tadoru.store.crawl.connection import json_text, plain
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.postgres.database import PgDatabase
from tadoru.store.crawl.postgres.depths import apply_depth_changes
from tadoru.store.crawl.postgres.page_writer import PgPageWriter
from tadoru.store.crawl.postgres.pool import Statement, retried
from tadoru.store.crawl.postgres.url_writer import SHARDS, PgUrlWriter, WantedUrl
from tadoru.store.crawl.queue_changes import widen
from tadoru.store.crawl.records import SHORTEST_WAIT
from tadoru.store.crawl.sqlite.database import stamp
from tadoru.store.crawl.sqlite.frontier import HostRow, host_state

W = TypeVar("W", bound=PgUrlWriter)
LEASING = 0x7AD0_0013
"""The advisory lock of who leases from a crawl with a limit."""
_IN_TURN = f"SELECT pg_advisory_xact_lock({LEASING}, hashtext(current_schema()))"
_COUNTS = f"SELECT name, sum(value)::bigint FROM counters WHERE name IN ({metrics.COUNTED_IN_SQL}) GROUP BY name"
_SEED = "SELECT 1 FROM pages WHERE is_seed AND status = ANY(%s) LIMIT 1"
_SITEMAP_ENTRIES = """INSERT INTO sitemap_entries(sitemap_id, page_id, lastmod)
    SELECT %s, page_id, lastmod FROM json_to_recordset(%s) AS e(page_id bigint, lastmod text) ON CONFLICT DO NOTHING"""
# Not EXISTS, which would be made a join with all hosts that wait: they are looked at in their order until there are enough.
_READY = """(SELECT true FROM pages p WHERE p.host_id = h.id AND p.status = 'queued' AND p.not_before <= (SELECT now FROM room)
    LIMIT 1)"""
_AT_HOST = f"CASE WHEN %(at_host)s = 0 THEN {2**40} ELSE %(at_host)s - h.asked - h.leased END"
LEASE = f"""WITH me AS MATERIALIZED (SELECT id FROM workers WHERE id = %(worker)s FOR KEY SHARE),
    totals AS MATERIALIZED (SELECT coalesce(sum(value) FILTER (WHERE name = 'queued'), 0)::bigint AS queued,
        coalesce(sum(value) FILTER (WHERE name <> 'queued'), 0)::bigint AS taken
        FROM counters WHERE name IN ('queued', 'counted', 'processing')),
    room AS MATERIALIZED (SELECT shared_now() AS now, least(%(wanted)s::bigint,
            CASE WHEN %(new_hosts)s = 0 THEN queued
                ELSE ceil(queued::float8 / greatest(1, (SELECT count(*) FROM workers)))::bigint END,
            CASE WHEN %(limit)s = 0 THEN %(wanted)s::bigint ELSE %(limit)s - taken END) AS most
        FROM totals WHERE EXISTS (SELECT 1 FROM me)),
    wanted AS MATERIALIZED (SELECT * FROM unnest(%(names)s::text[], %(wants)s::bigint[]) WITH ORDINALITY AS w(name, want, place)),
    named AS MATERIALIZED (SELECT h.id, least(w.want, {_AT_HOST}) AS want, w.place FROM wanted w JOIN hosts h ON h.name = w.name
        WHERE w.want > 0 AND h.queued > 0 AND (SELECT most FROM room) > 0 AND {_READY} ORDER BY h.id FOR UPDATE OF h),
    others AS MATERIALIZED (SELECT h.id, least(%(per_host)s, {_AT_HOST}) AS want, greatest(h.next_at, h.turn_at) AS since
        FROM hosts h WHERE h.queued > 0 AND (SELECT count(*) FROM named) >= 0 AND (SELECT most FROM room) > 0
            AND h.name <> ALL (%(names)s::text[]) AND {_AT_HOST} > 0 AND {_READY}
        ORDER BY greatest(h.next_at, h.turn_at), h.id LIMIT %(new_hosts)s FOR UPDATE OF h SKIP LOCKED),
    chosen AS MATERIALIZED (SELECT id, want, place FROM named UNION ALL
        SELECT id, want, {2**40} + row_number() OVER (ORDER BY since, id) FROM others ORDER BY place),
    picked AS MATERIALIZED (SELECT p.id FROM chosen c CROSS JOIN LATERAL (
            SELECT id FROM pages WHERE host_id = c.id AND status = 'queued' AND not_before <= (SELECT now FROM room)
            ORDER BY depth, id LIMIT greatest(0, least(c.want, (SELECT most FROM room))) FOR UPDATE SKIP LOCKED) AS p
        LIMIT greatest(0, (SELECT most FROM room))),
    leased AS (UPDATE pages SET status = 'processing', owner = %(worker)s, processing_started_at = %(stamp)s
        WHERE id = ANY (ARRAY(SELECT id FROM picked))
        RETURNING id, url, depth, hops, retry_count, purpose, is_seed, host_id),
    taken AS MATERIALIZED (SELECT host_id, count(*) AS number, count(*) FILTER (WHERE purpose = 'page') AS pages
        FROM leased GROUP BY host_id),
    emptied AS (UPDATE hosts h SET queued = h.queued - t.number, leased = h.leased + t.pages, turn_at = (SELECT now FROM room)
        FROM taken t WHERE h.id = t.host_id RETURNING t.number),
    moved AS (INSERT INTO counters(worker, name, value) SELECT %(shard)s, name, sign * number
        FROM (SELECT sum(number) AS number FROM emptied) AS e, (VALUES ('processing', 1), ('queued', -1)) AS c(name, sign)
        WHERE number > 0 ORDER BY name ON CONFLICT (worker, name) DO UPDATE SET value = counters.value + EXCLUDED.value)
    SELECT room.now, h.id, h.name, h.gap, h.base, h.latency, h.baseline, h.strikes, h.next_at, h.asked, h.leased,
        l.id, l.url, l.depth, l.hops, l.retry_count, l.purpose, l.is_seed
    FROM room CROSS JOIN (SELECT h.id, w.place FROM wanted w JOIN hosts h ON h.name = w.name
        UNION ALL SELECT id, place FROM chosen WHERE place >= {2**40}) AS asked
    JOIN hosts h ON h.id = asked.id LEFT JOIN leased l ON l.host_id = h.id
    WHERE room.most > 0 ORDER BY asked.place, l.depth, l.id"""

_JOIN = """INSERT INTO workers(machine, pid, started, expires_at) VALUES (%s, %s, %s, shared_now() + %s) RETURNING id"""
_RENEW = "UPDATE workers SET expires_at = shared_now() + %s WHERE id = %s RETURNING id"
_OTHERS = "SELECT id, machine, pid, started, expires_at < shared_now() FROM workers WHERE id <> %s"
# What it is about to lease or to write comes first: it has locked itself for that, so that it is seen here.
_LOCK_WORKER = "SELECT id FROM workers WHERE id = %(worker)s FOR UPDATE"
# Its request may have gone out just before it died: the gap begins now.
_TAKE_BACK = """WITH freed AS (UPDATE pages SET status = 'queued', owner = NULL WHERE owner = %(worker)s
        RETURNING host_id, purpose),
    held AS MATERIALIZED (SELECT host_id, count(*) AS number, count(*) FILTER (WHERE purpose = 'page') AS pages
        FROM freed GROUP BY host_id),
    locked AS MATERIALIZED (SELECT h.id FROM hosts h
        WHERE h.id = ANY (ARRAY(SELECT host_id FROM held)) OR h.slot_owner = %(worker)s ORDER BY h.id FOR UPDATE),
    filled AS (UPDATE hosts h SET queued = h.queued + coalesce((SELECT number FROM held WHERE host_id = h.id), 0),
        leased = greatest(0, h.leased - coalesce((SELECT pages FROM held WHERE host_id = h.id), 0)),
        next_at = CASE WHEN h.slot_owner = %(worker)s THEN greatest(h.next_at, shared_now() + coalesce(h.gap, 0))
            ELSE h.next_at END,
        slot_owner = nullif(h.slot_owner, %(worker)s) FROM locked WHERE h.id = locked.id RETURNING 1),
    unasked AS (DELETE FROM robots WHERE owner = %(worker)s),
    undone AS (UPDATE chores SET owner = NULL WHERE owner = %(worker)s),
    untried AS (UPDATE resources SET status = 'queued', owner = NULL WHERE owner = %(worker)s RETURNING 1),
    gone AS (DELETE FROM workers WHERE id = %(worker)s),
    tally AS MATERIALIZED (SELECT (SELECT coalesce(sum(number), 0) FROM held) AS pages,
        (SELECT count(*) FROM untried) AS resources, (SELECT count(*) FROM filled)),
    moved AS (INSERT INTO counters(worker, name, value) SELECT 0, name, change FROM tally, LATERAL (VALUES
            ('processing', -pages), ('queued', pages), ('resources', -resources)) AS c(name, change)
        WHERE change <> 0 ORDER BY name ON CONFLICT (worker, name) DO UPDATE SET value = counters.value + EXCLUDED.value)
    SELECT pages FROM tally"""
# Only somebody who does not know of this number can have left it wrong.
_RECOUNT_LEASED = """UPDATE hosts h SET leased = (SELECT count(*) FROM pages p
    WHERE p.owner IS NOT NULL AND p.host_id = h.id AND p.purpose = 'page') WHERE h.leased <> 0"""
_OF_HOST = 10
"""Columns of a host in the rows of `LEASE`."""


class PgFrontier:
    """The frontier on PostgreSQL."""

    def __init__(self, db: PgDatabase) -> None:
        self._db = db
        self._was_empty = False
        """The last lease gave nothing."""

    async def join(self, ttl: float) -> int:
        # A worker that is cut off in the middle of writing would keep its locks until the server misses it.
        await self._db.pool.limit_transactions(ttl)
        number: int = (await self._db.pool.run((_JOIN, [*workers.current(), ttl])))[0][0]
        return number

    async def renew(self, worker: int, ttl: float) -> bool:
        return bool(await self._db.pool.run((_RENEW, [ttl, worker])))

    async def leave(self, worker: int) -> None:
        await self._return_leases(worker)

    async def has_workers(self) -> bool:
        await self.recover()
        return bool(await self._db.pool.run(("SELECT 1 FROM workers LIMIT 1", ())))

    async def recover(self, living: int = 0) -> int:
        gone = workers.lost(await self._db.pool.run((_OTHERS, [living])))
        return sum([await self._return_leases(worker) for worker in gone])

    async def _return_leases(self, worker: int) -> int:
        """Every lease of a worker returns to the queue, its slots and claims are free, and the worker is forgotten."""
        values = {"worker": worker}
        return int((await self._db.pool.run((_LOCK_WORKER, values), (_TAKE_BACK, values)))[0][0])

    async def counts(self) -> records.CrawlCounts:
        return records.CrawlCounts(**dict(await self._db.pool.run((_COUNTS, ()))))

    async def metrics(self) -> CrawlMetrics:
        counters: dict[str, int] = dict(await self._db.pool.run((metrics.ALL_COUNTERS, ())))
        ((working,),) = await self._db.pool.run(("SELECT count(*) FROM workers", ()))
        return metrics.read(counters, working)

    async def has_open_seeds(self) -> bool:
        return bool(await self._db.pool.run((_SEED, [["queued", "processing"]])))

    async def has_answered_seeds(self) -> bool:
        return bool(await self._db.pool.run((_SEED, [["completed"]])))

    async def lease(
        self, worker: int, wants: Mapping[str, int], *, new_hosts: int, per_host: int, limit: int
    ) -> records.LeaseBatch:
        # Who waits for the end of a crawl looks before asking: an index may be being made, which locks out who would write.
        if self._was_empty:
            await apply_depth_changes(self._db, worker)
            counts = await self.counts()
            if not counts.queued:
                return records.LeaseBatch([], {})
            if self._db.bounds.pages_per_host and not counts.processing:
                await self._db.pool.run(("LOCK TABLE hosts IN SHARE ROW EXCLUSIVE MODE", ()), (_RECOUNT_LEASED, ()))
        values = {
            "worker": worker, "names": [plain(host) for host in wants], "wants": list(wants.values()), "limit": limit,
            "wanted": sum(wants.values()) + new_hosts * per_host, "new_hosts": max(0, new_hosts), "per_host": per_host,
            "at_host": self._db.bounds.pages_per_host, "stamp": stamp(self._db.clock.now()), "shard": worker % SHARDS,
        }  # fmt: skip
        first: list[Statement] = [(_IN_TURN, ())] if limit else []
        rows = await self._db.pool.run(*first, (LEASE, values))
        if rows:
            self._db.clock.set(rows[0][0])
        found = _leased(rows)
        self._was_empty = not found.leases
        return found

    async def add(self, targets: Sequence[records.LinkTarget], *, seed: bool, depth: int = 0) -> int:
        wanted = {target.url: WantedUrl(target, depth, None, seed=seed) for target in targets}

        async def written() -> PgUrlWriter:
            writer = PgUrlWriter(self._db, 0, depth)
            await writer.look_up(targets)
            async with self._db.pool.transaction(*self._db.beginning) as link:
                await writer.know(link, wanted)
                await writer.flush(link)
            return writer

        return (await self._finish(written)).inserted if targets else 0

    async def add_named(self, sitemap: int, pages: Sequence[records.NamedPage]) -> int:
        targets = [page.target for page in pages]
        wanted = {target.url: WantedUrl(target, records.UNLINKED, None) for target in targets}

        async def written() -> PgUrlWriter:
            writer = PgUrlWriter(self._db, 0, None)
            await writer.look_up(targets)
            async with self._db.pool.transaction(*self._db.beginning) as link:
                numbers = await writer.know(link, wanted)
                await writer.want(link, [numbers[one.url] for one in targets if one.status is records.PageStatus.QUEUED])
                rows = [{"page_id": numbers[page.target.url], "lastmod": page.lastmod} for page in pages]
                await link.execute(_SITEMAP_ENTRIES, [sitemap, json_text(rows)])
                await writer.flush(link)
            return writer

        return (await self._finish(written)).inserted if targets else 0

    async def finish(self, worker: int, outcomes: Sequence[records.Outcome], *, max_depth: int | None) -> int:
        async def written() -> PgPageWriter:
            writer = PgPageWriter(self._db, worker, max_depth)
            await writer.prepare(outcomes)
            async with self._db.pool.transaction(*self._db.beginning) as link:
                await writer.record(link, outcomes)
                await writer.flush(link)
            return writer

        return (await self._finish(written)).recorded if outcomes else 0

    async def _finish(self, written: Callable[[], Awaitable[W]]) -> W:
        """Run a transaction that makes URLs known, again if it was the victim of a deadlock; then apply the shorter paths."""
        writer = await retried(written)
        writer.remember()
        if writer.shorter:
            await apply_depth_changes(self._db, writer.worker)
        return writer

    async def widen(self, max_depth: int | None) -> int:
        await apply_depth_changes(self._db, 0, wait=True)
        return await self._db.write(lambda sql: widen(self._db, sql, max_depth))


def _leased(rows: Sequence[tuple[Any, ...]]) -> records.LeaseBatch:
    leases: list[records.Lease] = []
    hosts: dict[str, records.HostState] = {}
    for now, *row in rows:
        host, (page, url, depth, hops, tries, purpose, seed) = row[1], row[_OF_HOST:]
        if host not in hosts:
            hosts[host] = host_state(cast(HostRow, tuple(row[:_OF_HOST])), now)
        if page is not None:
            leases.append(records.Lease(page, url, host, depth, hops, tries, records.UrlPurpose(purpose), seed))
    return records.LeaseBatch(leases, hosts)


PACING = 0x7AD0_0015
"""The advisory lock of who takes a slot of a host that others may ask, too."""
_GONE = ("42P01", "3F000", "42883")
"""What PostgreSQL reports when a table, a schema or a function is not there."""
FRESH = 2.0
"""Seconds for which the list of other crawls is believed."""
MOST = 50
_IS_CLUSTER = "SELECT to_regclass('tadoru_cluster.crawls') IS NOT NULL, clock_timestamp()"
_OTHER_HOSTS = f"""SELECT 'crawl_' || name FROM tadoru_cluster.crawls WHERE 'crawl_' || name <> current_schema()
    AND (ended_at IS NULL OR ended_at > clock_timestamp() - interval '5 minutes')
    AND to_regclass(format('%I.hosts', 'crawl_' || name)) IS NOT NULL ORDER BY added_at DESC LIMIT {MOST}"""
_LOCK = f"SELECT pg_advisory_xact_lock({PACING}, hashtext(%(host)s))"
# When a host was last asked for another crawl, and its gap there. A slot that is still held may be that of a worker that was
# killed while it asked.
_ASKED = """SELECT CASE WHEN slot_owner IS NULL THEN next_at - coalesce(gap, 0) ELSE least({crawl}.shared_now(), slot_until) END,
    coalesce(gap, 0) FROM {crawl}.hosts WHERE name = %(host)s"""
_CARRY = """UPDATE hosts h SET next_at = greatest(h.next_at, asked.free_at) FROM (
        SELECT max(at + greatest(gap, (SELECT coalesce(gap, 0) FROM hosts WHERE name = %(host)s))) AS free_at
        FROM ({others}) AS other(at, gap)) AS asked
    WHERE h.name = %(host)s AND asked.free_at > h.next_at"""


class SharedHosts:
    """Other crawls of the database that request the same hosts."""

    def __init__(self, db: PgDatabase) -> None:
        self._db = db
        self._seen_at = float("-inf")
        self._carry = ""
        self.listed_at: datetime | None = None
        """When the list was read, by the database's clock; None outside a cluster."""

    async def before_asking(self, host: str, now: float) -> list[Statement]:
        """What has to be done before a slot is taken, in the same transaction; nothing where a crawl is alone."""
        if now - self._seen_at >= FRESH:
            self._seen_at = now
            await self._look()
        return [(text, {"host": plain(host)}) for text in (_LOCK, self._carry)] if self._carry else []

    def forget(self) -> None:
        """Look again: one of the other crawls is gone."""
        self._seen_at = float("-inf")

    async def _look(self) -> None:
        ((is_cluster, now),) = await self._db.pool.run((_IS_CLUSTER, ()))
        self.listed_at = now if is_cluster else None
        others = [row[0] for row in await self._db.pool.run((_OTHER_HOSTS, ()))] if is_cluster else []
        asked = " UNION ALL ".join(_ASKED.format(crawl=f'"{other}"') for other in others)
        self._carry = _CARRY.format(others=asked) if others else ""


# A crawl that was added after the list of others was read may have asked: this one waits until it has read the list again.
_IS_LISTED = "AND NOT EXISTS (SELECT 1 FROM tadoru_cluster.crawls WHERE added_at > %(listed_at)s)"
# A wait that is too long to be true was written before the clock was put back.
_TAKE = f"""WITH moment AS MATERIALIZED (SELECT shared_now() AS now),
    corrected AS (UPDATE hosts SET next_at = now + coalesce(gap, 0) FROM moment
        WHERE name = %(host)s AND next_at - now > greatest(coalesce(gap, 0), {MAX_HOLD})),
    taken AS (UPDATE hosts SET slot_owner = %(worker)s, slot_until = now + %(hold)s FROM moment
        WHERE name = %(host)s AND next_at <= now AND (slot_owner IS NULL OR slot_until <= now) {{is_listed}} RETURNING 1)
    SELECT CASE WHEN EXISTS (SELECT 1 FROM taken) THEN 0
        WHEN slot_owner IS NOT NULL AND slot_until > now THEN greatest(wait, {SHORTEST_WAIT}, least(slot_until - now, pause / 4))
        ELSE greatest(wait, {SHORTEST_WAIT}) END
    FROM (SELECT slot_owner, slot_until, now, coalesce(gap, 0) AS pause, CASE
        WHEN next_at - now > greatest(coalesce(gap, 0), {MAX_HOLD}) THEN coalesce(gap, 0) ELSE next_at - now END AS wait
        FROM hosts, moment WHERE name = %(host)s) AS seen"""
_SENT = """UPDATE hosts SET next_at = greatest(next_at, shared_now() + coalesce(gap, 0)),
    slot_owner = nullif(slot_owner, %(worker)s) WHERE name = %(host)s"""
_BEGIN = """WITH begun AS (UPDATE hosts SET gap = greatest(coalesce(gap, 0), %(gap)s), base = %(base)s
        WHERE name = %(host)s AND (base IS NULL OR base < %(base)s) RETURNING gap, base, latency, baseline, strikes)
    SELECT * FROM begun UNION ALL SELECT gap, base, latency, baseline, strikes FROM hosts
    WHERE name = %(host)s AND NOT EXISTS (SELECT 1 FROM begun)"""
_LOWER = """UPDATE hosts SET gap = CASE WHEN strikes > 0 THEN gap ELSE %(delay)s END, base = %(delay)s
    WHERE base > %(delay)s AND NOT EXISTS (SELECT 1 FROM workers)"""
_SET = """UPDATE hosts SET gap = greatest(%(gap)s, coalesce(base, 0)), base = greatest(%(base)s, coalesce(base, 0)),
    latency = %(latency)s, baseline = %(baseline)s, strikes = %(strikes)s,
    next_at = CASE WHEN %(pause)s > 0 THEN greatest(next_at, shared_now() + %(pause)s) ELSE next_at END
    WHERE name = %(host)s RETURNING 1"""


class PgHosts:
    """Slots and paces of hosts on PostgreSQL."""

    def __init__(self, db: PgDatabase) -> None:
        self._db = db
        self._shared = SharedHosts(db)

    async def _of_host(self, statement: str, values: dict[str, object], *before: Statement) -> Any:
        """The row that a statement about a host answers with, after others; the host is made known when it is new."""
        given = {name: plain(value) for name, value in values.items()}
        if not (rows := await self._db.pool.run(*before, (statement, given))):
            await self._db.know_hosts([str(given["host"])])
            rows = await self._db.pool.run(*before, (statement, given))
        return rows[0]

    async def take_slot(self, worker: int, host: str, hold: float) -> float:
        try:
            return await self._take(worker, host, hold)
        except StoreError as error:
            if getattr(error.__cause__, "sqlstate", None) not in _GONE:
                raise
            self._shared.forget()
            return await self._take(worker, host, hold)

    async def _take(self, worker: int, host: str, hold: float) -> float:
        before = await self._shared.before_asking(host, self._db.clock.monotonic())
        values = {"worker": worker, "host": host, "hold": hold, "listed_at": self._shared.listed_at}
        take = _TAKE.format(is_listed=_IS_LISTED if self._shared.listed_at else "")
        return float((await self._of_host(take, values, *before))[0])

    async def sent(self, worker: int, host: str) -> None:
        await self._db.pool.run((_SENT, {"worker": worker, "host": plain(host)}))

    async def begin_pace(self, host: str, pace: Pace) -> Pace:
        return Pace(*await self._of_host(_BEGIN, {"host": host, "gap": pace.gap, "base": pace.base}))

    async def set_pace(self, host: str, pace: Pace, pause: float = 0.0) -> None:
        known: dict[str, object] = {"latency": pace.latency, "baseline": pace.baseline, "strikes": pace.strikes}
        await self._of_host(_SET, {"host": host, "gap": pace.gap, "base": pace.base, "pause": pause, **known})

    async def lower_paces(self, delay: float) -> None:
        await self._db.pool.run((_LOWER, {"delay": delay}))
