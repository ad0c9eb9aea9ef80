"""What one transaction changes of the queue: counters, queued URLs of each host, and the limits of a crawl of many hosts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Generator, MutableMapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from tadoru.rules.budget import BreadthLimits
from tadoru.rules.scope import registrable_domain
from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl.connection import CrawlConnection, CrawlPart, SqlConnection, listed
from tadoru.store.crawl.metrics import read_counters
from tadoru.store.crawl.records import (
    HOST_SPENT,
    QUEUE_FULL,
    SUBDOMAINS,
    TOO_DEEP,
    TRAPPED_HOST,
    Lease,
    LinkTarget,
    PageStatus,
    UrlPurpose,
)

PUT_OFF = "put_off"
"""The counter of URLs that wait for a place in the queue."""
AT_A_TIME = 20_000
"""URLs that come back into the queue in one transaction."""
_CHUNK = 64
_HOSTS = f"""SELECT id, name, queued, asked, standing FROM hosts WHERE id IN ({", ".join("?" * _CHUNK)}) AND queued > 0
    ORDER BY id"""
_SKIP = """WITH over AS MATERIALIZED (SELECT p.id FROM {pages} p.status = 'queued' AND p.purpose = 'page'
        ORDER BY p.depth DESC, p.id DESC LIMIT ? {locked})
    UPDATE pages SET status = 'skipped', skip_reason = ?, owner = NULL WHERE id IN (SELECT id FROM over) RETURNING host_id"""
_ALL = 2**40
_DEPTHS = "CREATE INDEX IF NOT EXISTS pages_depths ON pages(depth, id) WHERE status = 'queued'"
_ADMIT_HOST = """INSERT INTO traps(key, why, known, refused, example) VALUES (?, ?, 1, 0, ?)
    ON CONFLICT (key) DO UPDATE SET known = traps.known + 1 WHERE traps.known < ? RETURNING known"""
_CUT = "UPDATE traps SET refused = refused + ?, example = ? WHERE key = ?"
_LEAVE_QUEUE = "UPDATE hosts SET queued = queued - ? WHERE id = ?"
_DEEP = "status = 'skipped' AND skip_reason = ? AND depth <= ?"
_BACK = "UPDATE pages SET status = 'queued', skip_reason = NULL WHERE id IN ({}) RETURNING host_id"
_PUT_OFF = _BACK.format("SELECT id FROM pages WHERE status = 'skipped' AND skip_reason = ? ORDER BY depth, id LIMIT ?")
_WITHIN = _BACK.format("""SELECT pages.id FROM pages JOIN hosts ON hosts.id = pages.host_id WHERE pages.status = 'skipped'
    AND (skip_reason = ? OR skip_reason = ? OR (skip_reason = ? AND (? = 0 OR hosts.asked < ?)))""")


class _Host(NamedTuple):
    id: int
    name: str
    queued: int
    asked: int
    standing: int | None


class HostExcess(NamedTuple):
    """Why queued pages of a host are skipped."""

    reason: str
    most: int = _ALL
    """How many of them, the deepest first."""


def excess_at_host(bounds: BreadthLimits, queued: int, asked: int, *, stands: bool) -> HostExcess | None:
    """What is too much at a host with so many queued and requested pages. `stands`: it is one of those of its domain."""
    if not stands:
        return HostExcess(TRAPPED_HOST)
    if bounds.is_spent(asked):
        return HostExcess(HOST_SPENT)
    if bounds.queued and queued > bounds.queued_per_host:
        return HostExcess(QUEUE_FULL, queued - bounds.queued_per_host)
    return None


R = TypeVar("R")
Steps = Generator[tuple[str, Sequence[Any]], list[Any], R]
"""Statements to run one after the other, each of which is sent its rows: one logic for those who await the rows, too."""


def hold_limits(
    db: CrawlConnection, hosts: Collection[int], tally: MutableMapping[str, int], queued: int, named: Collection[int] = ()
) -> Steps[None]:
    """URLs were queued or answered at these hosts: skip what is too much, and count that. `queued`: what is not counted yet is in
    the tally. Those that a person named belong to the crawl."""
    if named:
        yield f"UPDATE hosts SET standing = 1 WHERE coalesce(standing, 0) <> 1 AND id IN ({listed(sorted(named))})", ()
    if not db.bounds:
        return
    wanted, found = sorted(hosts), []
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        found += [_Host(*row) for row in (yield _HOSTS, [*chunk, *[-1] * (_CHUNK - len(chunk))])]
    for host in sorted(found, key=lambda host: "" if host.standing else domain_key(host.name)):  # So their traps are locked.
        yield from _hold_host(db, host, tally)
    over = queued + tally["queued"] - db.bounds.queued
    if db.bounds.queued and over > 0:
        # Those nearest to the start stay. On PostgreSQL, pages whose hosts another worker has locked are left out.
        pages = f"pages p {db.dialect.join_in_order} hosts h ON h.id = p.host_id WHERE"
        skip = _SKIP.format(pages=pages, locked=db.dialect.unlocked_rows)
        tally[PUT_OFF] += yield from _leave_queue(skip, (over, QUEUE_FULL), tally)


def _hold_host(db: CrawlConnection, host: _Host, tally: MutableMapping[str, int]) -> Steps[None]:
    bounds, key, example = db.bounds, domain_key(host.name), f"https://{host.name}/"
    stands = host.standing
    if bounds.hosts_per_domain and stands is None:  # Is it one of those of its domain that are requested?
        stands = len((yield _ADMIT_HOST, (key, SUBDOMAINS, example, bounds.hosts_per_domain)))
        yield "UPDATE hosts SET standing = ? WHERE id = ?", (stands, host.id)
    excess = excess_at_host(bounds, host.queued, host.asked, stands=bool(stands) or not bounds.hosts_per_domain)
    if excess is None:
        return
    pages = f"pages p {db.dialect.indexed_by('pages_frontier')} WHERE p.host_id = ? AND"
    skip = _SKIP.format(pages=pages, locked=db.dialect.locked_rows)
    skipped = yield from _leave_queue(skip, (host.id, excess.most, excess.reason), tally)
    if excess.reason == TRAPPED_HOST:
        yield _CUT, (skipped, example, key)
    elif excess.reason == QUEUE_FULL:
        tally[PUT_OFF] += skipped


def _leave_queue(skip: str, values: Sequence[object], tally: MutableMapping[str, int]) -> Steps[int]:
    """Skip pages; how many."""
    skipped = Counter(host for (host,) in (yield skip, values))
    for host, number in sorted(skipped.items()):
        yield _LEAVE_QUEUE, (number, host)
    total = skipped.total()
    tally["queued"] -= total
    tally["skipped"] += total
    return total


def run_steps(sql: SqlConnection, steps: Steps[None]) -> None:
    """Run statements with a connection."""
    with suppress(StopIteration):
        statement, values = next(steps)
        while True:
            statement, values = steps.send(sql.execute(statement, values).fetchall())


def check_limits(db: CrawlConnection, sql: SqlConnection, hosts: Collection[int]) -> None:
    """Hold the limits at hosts whose queued URLs are counted."""
    tally: defaultdict[str, int] = defaultdict(int)
    run_steps(sql, hold_limits(db, hosts, tally, db.counter(sql, "queued") if db.bounds.queued else 0))
    db.count(sql, tally)


def widen(db: CrawlConnection, sql: SqlConnection, max_depth: int | None) -> int:
    """Queue what was skipped as too deep and is within a new depth; how many."""
    values = (TOO_DEEP, 2**31 if max_depth is None else max_depth)
    found = sql.execute(f"SELECT count(*), host_id FROM pages WHERE {_DEEP} GROUP BY host_id ORDER BY host_id", values).fetchall()
    total: int = sum(count for count, _ in found)
    sql.execute(f"UPDATE pages SET status = 'queued', skip_reason = NULL WHERE {_DEEP}", values)
    sql.executemany("UPDATE hosts SET queued = queued + ? WHERE id = ?", found)
    db.count(sql, {"skipped": -total, "queued": total})
    check_limits(db, sql, [host for _, host in found])
    return total


class CrawlLimits(CrawlPart):
    """Sets the limits of a crawl and queues URLs again when there is capacity."""

    def set(self, bounds: BreadthLimits) -> None:
        """Apply these limits to everything done through this handle; every worker of a crawl gets the same.

        URLs over a limit are skipped with a reason: pages of a host with enough requests, hosts of a domain with too many, and
        URLs for which the queue has no space. Of the last, those nearest to the start URL stay, and start URLs always.
        """
        self._db.bounds = bounds

    async def requeue(self) -> int:
        """Other bounds hold than before: queue what was skipped for one of them and is within these; how many."""
        return await self._db.write(self._requeue)

    def _requeue(self, sql: SqlConnection) -> int:
        sql.execute(self._db.dialect.take_turn("limits")).fetchone()
        if self._db.bounds.queued:
            sql.execute(_DEPTHS)
        sql.execute("UPDATE hosts SET standing = NULL WHERE standing = 0")
        sql.execute("UPDATE traps SET refused = 0 WHERE why = ?", (SUBDOMAINS,))
        most = self._db.bounds.pages_per_host
        back = self._back(sql, _WITHIN, (TRAPPED_HOST, QUEUE_FULL, HOST_SPENT, most, most))
        self._db.count(sql, {PUT_OFF: -self._db.counter(sql, PUT_OFF)})
        self._check_all(sql)
        return back

    async def refill(self) -> int:
        """Queue again what was put off because the queue was full, if it is half empty: the nearest first; how many."""
        counters = await self._db.read(lambda sql: read_counters(sql, "queued", PUT_OFF))
        room = self._db.bounds.queued - counters.get("queued", 0)
        if room * 2 <= self._db.bounds.queued or not counters.get(PUT_OFF):
            return 0
        return await self._db.write(lambda sql: self._refill(sql, room))

    def _refill(self, sql: SqlConnection, room: int) -> int:
        sql.execute(self._db.dialect.take_turn("limits")).fetchone()
        back = self._back(sql, _PUT_OFF, (QUEUE_FULL, min(room, AT_A_TIME)))
        self._db.count(sql, {PUT_OFF: -(back or self._db.counter(sql, PUT_OFF))})
        if back:
            self._check_all(sql)
        return back

    def _check_all(self, sql: SqlConnection) -> None:
        check_limits(self._db, sql, [host for (host,) in sql.execute("SELECT id FROM hosts WHERE queued > 0").fetchall()])

    def _back(self, sql: SqlConnection, statement: str, values: Sequence[object]) -> int:
        """Put pages back into the queue; how many."""
        found = Counter(host for (host,) in sql.execute(statement, values).fetchall())
        self._db.count(sql, {"queued": found.total(), "skipped": -found.total()})
        sql.executemany(_LEAVE_QUEUE, [(-number, host) for host, number in sorted(found.items())])
        return found.total()


def domain_key(host: str) -> str:
    """The key in `traps` of the hosts of a domain."""
    return f"*.{registrable_domain(host)}"


_COUNT_TRAP = """INSERT INTO traps(key, why, known, refused, example) VALUES (?, ?, 1, 0, ?)
    ON CONFLICT (key) DO UPDATE SET known = traps.known + 1 RETURNING known"""
_REFUSE = "UPDATE traps SET refused = refused + 1, example = ? WHERE key = ?"
PAGE_TABLES = ("page_anchors", "page_details", "page_hreflang", "page_items", "resource_uses", "bodies")
# What the whole site says about a page stays.
_FORGET = (
    "DELETE FROM link_relations WHERE source_id = ?",
    *(f"DELETE FROM {table} WHERE page_id = ?" for table in PAGE_TABLES),
    "DELETE FROM page_findings WHERE page_id = ? AND check_number IN (SELECT number FROM checks WHERE scope = 'page')",
)


class QueueTally:
    """What one transaction changes of counters and hosts."""

    def __init__(self) -> None:
        self.tally: defaultdict[str, int] = defaultdict(int)
        """Counters."""
        self.waiting: defaultdict[int, int] = defaultdict(int)
        """By host, how many URLs came into the queue."""
        self.given_back: defaultdict[int, int] = defaultdict(int)
        """By host, how many pages are no longer leased."""
        self.answers: defaultdict[int, int] = defaultdict(int)
        """By host, how many requests for pages were made."""
        self.named: set[int] = set()
        """The hosts of new start URLs."""

    def queue_again(self, was: str, host_id: int) -> None:
        """A URL of this status is queued now, as a page."""
        is_new = int(was != "queued")
        self.tally[was] -= is_new
        self.tally["queued"] += is_new
        self.waiting[host_id] += is_new  # Also if it is 0: a check that becomes a page counts for the limits of its host.

    def give_back(self, lease: Lease, host_id: int, *, asked: bool) -> None:
        """A lease is over, and whether its host was asked."""
        if lease.purpose is UrlPurpose.PAGE:
            self.given_back[host_id] += 1
            self.answers[host_id] += asked


def is_too_deep(target: LinkTarget, depth: int, max_depth: int | None) -> bool:
    """Whether a URL that the rules would queue is beyond the depth."""
    return max_depth is not None and depth > max_depth and target.purpose is UrlPurpose.PAGE


class QueueChanges(QueueTally):
    """The changes of one transaction; counters and hosts are written by `flush`."""

    def __init__(self, db: CrawlConnection, sql: SqlConnection, max_depth: int | None = None) -> None:
        super().__init__()
        self._db = db
        self._sql = sql
        self._max_depth = max_depth

    def admit(self, target: LinkTarget, depth: int, seed: bool) -> tuple[PageStatus, str]:
        """Whether a URL that the rules would queue is within the depth, and within the cap of its kind."""
        if is_too_deep(target, depth, self._max_depth):
            return PageStatus.SKIPPED, TOO_DEEP
        if target.trap is not None and not seed and not self._within_trap(target.url, target.trap):
            return PageStatus.SKIPPED, f"trap: {target.trap.why}"
        return target.status, target.reason

    def _within_trap(self, url: str, trap: TrapPattern) -> bool:
        if self._sql.execute(_COUNT_TRAP, (trap.key, trap.why, url)).fetchone()[0] <= trap.cap:
            return trap.outer is None or self._within_trap(url, trap.outer)
        self._sql.execute(_REFUSE, (url, trap.key))
        return False

    def forget(self, pages: Sequence[int]) -> None:
        """What was stored of pages when they were crawled goes."""
        rows = [(page,) for page in pages]
        for statement in _FORGET:
            self._sql.executemany(statement, rows)

    def flush(self) -> None:
        """Write the counters and the numbers of hosts, and skip what is over a limit."""
        hosts = {*self.waiting, *self.given_back}
        rows = [(self.waiting[one], self.given_back[one], self.answers[one], one) for one in sorted(hosts)]
        leased = f"{self._db.dialect.greatest}(0, leased - ?)"
        statement = f"UPDATE hosts SET queued = queued + ?, leased = {leased}, asked = asked + ? WHERE id = ?"
        self._sql.executemany(statement, [row for row in rows if any(row[:3])])
        queued = self._db.counter(self._sql, "queued") if self._db.bounds.queued else 0
        run_steps(self._sql, hold_limits(self._db, hosts, self.tally, queued, self.named))
        self._db.count(self._sql, self.tally)
