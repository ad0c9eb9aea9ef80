"""The frontier: leases of URLs, and the pace of hosts. `kill -9` loses nothing, and two workers never lease the same URL.

All workers share the pace of a host. A slot is taken, the request is sent, and only then the gap starts (`sent`), so a slow
connect cannot bring two requests close together. A worker that dies in between blocks nobody: its slot is free when its death is
noticed, or after `hold`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from tadoru.rules.budget import Budget
from tadoru.rules.pace import Pace
from tadoru.store.crawl import metrics, workers
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.queue_changes import check_limits, widen
from tadoru.store.crawl.records import (
    UNLINKED,
    CrawlCounts,
    HostState,
    Lease,
    LeaseBatch,
    LinkTarget,
    NamedPage,
    Outcome,
    PageStatus,
    UrlPurpose,
    longest_wait,
    slot_wait,
)
from tadoru.store.crawl.sqlite.database import HOSTS_AT_ONCE, Database, stamp
from tadoru.store.crawl.sqlite.page_writer import PageWriter
from tadoru.store.errors import translated

_LEASE = """UPDATE pages SET status = 'processing', owner = ?, processing_started_at = ? WHERE id IN (
    SELECT id FROM pages INDEXED BY pages_frontier WHERE host_id = ? AND status = 'queued' AND not_before <= ?
    ORDER BY depth, id LIMIT ?)
    RETURNING id, url, depth, hops, retry_count, purpose, is_seed"""
_HELD = """SELECT count(*), sum(CASE WHEN purpose = 'page' THEN 1 ELSE 0 END), host_id FROM pages WHERE owner = ?
    GROUP BY host_id"""
_TAKEN = "UPDATE hosts SET queued = queued - ?, leased = leased + ?, turn_at = ? WHERE id = ?"
_HOST = "SELECT id, name, gap, base, latency, baseline, strikes, next_at, asked, leased FROM hosts"
_NAMED = f"{_HOST} INDEXED BY sqlite_autoindex_hosts_1 WHERE name IN ({', '.join('?' * HOSTS_AT_ONCE)})"
_WAITING_HOSTS = f"""{_HOST} WHERE queued > 0 AND (? = 0 OR asked + leased < ?) AND EXISTS (
    SELECT 1 FROM pages INDEXED BY pages_frontier WHERE host_id = hosts.id AND status = 'queued' AND not_before <= ?)
    ORDER BY max(next_at, turn_at), id LIMIT ?"""
HostRow = tuple[int, str, float | None, float | None, float | None, float | None, int, float, int, int]


class SqliteFrontier:
    """Leases URLs and takes back the leases of dead workers."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def join(self, ttl: float) -> int:
        me = workers.current()
        async with self._db.transaction() as sql:
            row = sql.execute(
                "INSERT INTO workers(machine, pid, started, expires_at) VALUES (?, ?, ?, ?) RETURNING id",
                (*me, self._db.clock.now() + ttl),
            ).fetchone()
        number: int = row[0]
        return number

    async def renew(self, worker: int, ttl: float) -> bool:
        async with self._db.transaction() as sql:
            return bool(
                sql.execute("UPDATE workers SET expires_at = ? WHERE id = ?", (self._db.clock.now() + ttl, worker)).rowcount
            )

    async def leave(self, worker: int) -> None:
        async with self._db.transaction() as sql:
            self._take_back(sql, worker)

    async def has_workers(self) -> bool:
        """Whether somebody who lives is at work on this crawl."""
        await self.recover()
        return bool(self._db.rows("SELECT 1 FROM workers LIMIT 1"))

    async def recover(self, living: int = 0) -> int:
        if not self._gone(living):
            return 0
        async with self._db.transaction() as sql:
            return sum(self._take_back(sql, worker) for worker in self._gone(living))

    def _gone(self, living: int) -> list[int]:
        """The workers that died or stopped renewing."""
        query = "SELECT id, machine, pid, started, expires_at < ? FROM workers WHERE id <> ?"
        return workers.lost(self._db.rows(query, (self._db.clock.now(), living)))

    def _take_back(self, sql: sqlite3.Connection, worker: int) -> int:
        """Every lease of a worker returns to the queue, its slots and claims are free, and the worker is forgotten."""
        held = sql.execute(_HELD, (worker,)).fetchall()
        sql.execute("UPDATE pages SET status = 'queued', owner = NULL WHERE owner = ?", (worker,))
        sql.executemany("UPDATE hosts SET queued = queued + ?, leased = max(0, leased - ?) WHERE id = ?", held)
        total: int = sum(count for count, _, _ in held)
        self._db.count(sql, {"processing": -total, "queued": total})
        check_limits(self._db, sql, [host for _, _, host in held])
        # Its request may have gone out just before it died.
        sql.execute(
            "UPDATE hosts SET next_at = max(next_at, ? + coalesce(gap, 0)), slot_owner = NULL WHERE slot_owner = ?",
            (self._db.clock.now(), worker),
        )
        sql.execute("DELETE FROM robots WHERE owner = ?", (worker,))
        sql.execute("UPDATE chores SET owner = NULL WHERE owner = ?", (worker,))
        untried = sql.execute("UPDATE resources SET status = 'queued', owner = NULL WHERE owner = ?", (worker,))
        self._db.count(sql, {"resources": -untried.rowcount})
        sql.execute("DELETE FROM workers WHERE id = ?", (worker,))
        return total

    async def add(self, targets: Sequence[LinkTarget], *, seed: bool, depth: int = 0) -> int:
        async with self._db.transaction():
            batch = PageWriter(self._db, 0, depth)
            batch.know_many(targets, depth, seed=seed)
            batch.flush()
        return batch.inserted

    async def add_named(self, sitemap: int, pages: Sequence[NamedPage]) -> int:
        async with self._db.transaction() as sql:
            batch = PageWriter(self._db, 0, None)
            rows = [(sitemap, batch.know(page.target, UNLINKED, None), page.lastmod) for page in pages]
            wanted = (page.target.status is PageStatus.QUEUED for page in pages)
            batch.want(number for (_, number, _), is_wanted in zip(rows, wanted, strict=True) if is_wanted)
            batch.flush()
            sql.executemany("INSERT OR IGNORE INTO sitemap_entries VALUES (?, ?, ?)", rows)
        return batch.inserted

    async def widen(self, max_depth: int | None) -> int:
        return await self._db.write(lambda sql: widen(self._db, sql, max_depth))

    async def finish(self, worker: int, outcomes: Sequence[Outcome], *, max_depth: int | None) -> int:
        async with self._db.transaction():
            batch = PageWriter(self._db, worker, max_depth)
            for outcome in outcomes:
                batch.record(outcome)
            batch.flush()
        return batch.recorded

    async def counts(self) -> CrawlCounts:
        rows = self._db.rows(f"SELECT name, value FROM counters WHERE name IN ({metrics.COUNTED_IN_SQL})")
        return CrawlCounts(**{str(name): value for name, value in rows})

    async def metrics(self) -> CrawlMetrics:
        with translated(self._db.path):
            counters = metrics.read_counters(self._db.sql)
            (workers,) = self._db.sql.execute("SELECT count(*) FROM workers").fetchone()
        return metrics.read(counters, workers)

    async def has_open_seeds(self) -> bool:
        return self._has_seed("status = 'queued' OR status = 'processing'")

    async def has_answered_seeds(self) -> bool:
        return self._has_seed("status = 'completed'")

    def _has_seed(self, state: str) -> bool:
        return bool(self._db.rows(f"SELECT 1 FROM pages WHERE is_seed AND ({state}) LIMIT 1"))

    async def lease(self, worker: int, wants: Mapping[str, int], *, new_hosts: int, per_host: int, limit: int) -> LeaseBatch:
        counts = await self.counts()
        wanted = sum(wants.values()) + new_hosts * per_host
        budget = Budget(limit=limit)
        if not counts.queued or not budget.leasable(counts.counted, counts.processing, wanted):
            return LeaseBatch([], {})
        with translated(self._db.path):
            now = self._db.clock.now()
            rows = self._hosts_to_ask(self._db.sql, wants, new_hosts, now)
        if not any(wants.get(row[1], per_host) for row in rows):
            return LeaseBatch([], {row[1]: host_state(row, now) for row in rows})
        async with self._db.transaction() as sql:
            counts = await self.counts()
            workers, is_living = sql.execute("SELECT count(*), max(id = ?) FROM workers", (worker,)).fetchone()
            if not is_living:
                return LeaseBatch([], {})
            share = budget.fair_share(counts.queued, workers if new_hosts else 1)
            room = min(budget.leasable(counts.counted, counts.processing, wanted), share)
            now = self._db.clock.now()
            if self._db.bounds.pages_per_host and not counts.processing:
                # Somebody who did not know of this number may have given pages back.
                sql.execute("UPDATE hosts SET leased = 0 WHERE leased <> 0")
            leases: list[Lease] = []
            hosts: dict[str, HostState] = {}
            for row in self._hosts_to_ask(sql, wants, new_hosts, now):
                state = host_state(row, now)
                hosts[state.host] = state
                want = self._db.bounds.leasable_at_host(row[8], row[9], min(wants.get(state.host, per_host), room - len(leases)))
                if want > 0:
                    leases += self._lease_host(sql, worker, row[0], state.host, want, now)
            self._db.count(sql, {"processing": len(leases), "queued": -len(leases)})
        return LeaseBatch(leases, hosts)

    def _hosts_to_ask(self, sql: sqlite3.Connection, wants: Mapping[str, int], new_hosts: int, now: float) -> list[HostRow]:
        names = list(wants)
        rows: list[HostRow] = []
        for start in range(0, len(names), HOSTS_AT_ONCE):
            chunk = names[start : start + HOSTS_AT_ONCE]
            found = {row[1]: row for row in sql.execute(_NAMED, [*chunk, *[None] * (HOSTS_AT_ONCE - len(chunk))])}
            rows += [found[name] for name in chunk if name in found]
        if new_hosts > 0:
            most = self._db.bounds.pages_per_host
            waiting = sql.execute(_WAITING_HOSTS, (most, most, now, new_hosts + len(wants)))
            rows += [row for row in waiting if row[1] not in wants][:new_hosts]
        return rows

    @staticmethod
    def _lease_host(sql: sqlite3.Connection, worker: int, host_id: int, host: str, want: int, now: float) -> list[Lease]:
        rows = sql.execute(_LEASE, (worker, stamp(now), host_id, now, want)).fetchall()
        if rows:
            pages = sum(row[5] == UrlPurpose.PAGE for row in rows)
            sql.execute(_TAKEN, (len(rows), pages, now, host_id))
        rows.sort(key=lambda row: (row[2], row[0]))
        return [
            Lease(page, url, host, depth, hops, tries, UrlPurpose(purpose), bool(seed))
            for page, url, depth, hops, tries, purpose, seed in rows
        ]


def host_state(row: HostRow, now: float) -> HostState:
    _, name, gap, base, latency, baseline, strikes, next_at, *_ = row
    pace = None if gap is None or base is None else Pace(gap=gap, base=base, latency=latency, baseline=baseline, strikes=strikes)
    return HostState(name, pace, min(max(0.0, next_at - now), longest_wait(gap or 0.0)))


_SENT = """UPDATE hosts SET next_at = max(next_at, ? + coalesce(gap, 0)), slot_owner = nullif(slot_owner, ?)
    WHERE name = ?"""
_PACE = "SELECT gap, base, latency, baseline, strikes FROM hosts WHERE id = ?"
_SET_PACE = """UPDATE hosts SET gap = max(?, coalesce(base, 0)), base = max(?, coalesce(base, 0)), latency = ?, baseline = ?,
    strikes = ?, next_at = max(next_at, ?) WHERE id = ?"""
_LOWER = """UPDATE hosts SET gap = CASE WHEN strikes > 0 THEN gap ELSE ? END, base = ?
    WHERE base > ? AND NOT EXISTS (SELECT 1 FROM workers)"""


class SqliteHosts:
    """Slots and paces of hosts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def take_slot(self, worker: int, host: str, hold: float) -> float:
        async with self._db.transaction() as sql:
            number, now = self._db.host_id(host), self._db.clock.now()
            next_at, gap, owner, until = sql.execute(
                "SELECT next_at, coalesce(gap, 0), slot_owner, slot_until FROM hosts WHERE id = ?", (number,)
            ).fetchone()
            wait = float(next_at - now)
            if wait > longest_wait(gap):
                wait = gap
                sql.execute("UPDATE hosts SET next_at = ? WHERE id = ?", (now + gap, number))
            wait = slot_wait(wait, gap, until - now if owner is not None else 0.0)
            if not wait:
                sql.execute("UPDATE hosts SET slot_owner = ?, slot_until = ? WHERE id = ?", (worker, now + hold, number))
            return wait

    async def sent(self, worker: int, host: str) -> None:
        async with self._db.transaction() as sql:
            sql.execute(_SENT, (self._db.clock.now(), worker, host))

    async def begin_pace(self, host: str, pace: Pace) -> Pace:
        async with self._db.transaction() as sql:
            number = self._db.host_id(host)
            sql.execute(
                "UPDATE hosts SET gap = max(coalesce(gap, 0), ?), base = ? WHERE id = ? AND (base IS NULL OR base < ?)",
                (pace.gap, pace.base, number, pace.base),
            )
            return Pace(*sql.execute(_PACE, (number,)).fetchone())

    async def set_pace(self, host: str, pace: Pace, pause: float = 0.0) -> None:
        async with self._db.transaction() as sql:
            number, until = self._db.host_id(host), self._db.clock.now() + pause if pause > 0 else 0.0
            sql.execute(_SET_PACE, (pace.gap, pace.base, pace.latency, pace.baseline, pace.strikes, until, number))

    async def lower_paces(self, delay: float) -> None:
        async with self._db.transaction() as sql:
            sql.execute(_LOWER, (delay, delay, delay))
