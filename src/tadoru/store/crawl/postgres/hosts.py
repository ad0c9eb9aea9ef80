"""Hosts on PostgreSQL: pace and slots, one statement and one locked row each, also between crawls of one database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tadoru.errors import StoreError
from tadoru.rules.pace import MAX_HOLD, Pace
from tadoru.store.crawl.connection import plain
from tadoru.store.crawl.postgres.database import PgDatabase
from tadoru.store.crawl.postgres.pool import Statement
from tadoru.store.crawl.records import SHORTEST_WAIT

PACING = 0x7AD0_0015
"""The advisory lock of who takes a slot of a host that others may ask, too."""
_GONE = ("42P01", "3F000", "42883")
"""What PostgreSQL reports when a table, a schema or a function is not there."""
FRESH = 2.0
"""Seconds for which the list of other crawls is believed."""
MOST = 50
_IS_CLUSTER = "SELECT to_regclass('tadoru_cluster.crawls') IS NOT NULL, clock_timestamp()"
_OTHERS = f"""SELECT 'crawl_' || name FROM tadoru_cluster.crawls WHERE 'crawl_' || name <> current_schema()
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
        others = [row[0] for row in await self._db.pool.run((_OTHERS, ()))] if is_cluster else []
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
