"""What one transaction changes of the queue: counters, queued URLs of each host, and the limits of a crawl of many hosts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from tadoru.rules.budget import BreadthLimits
from tadoru.rules.scope import registrable_domain
from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.metrics import read_counters
from tadoru.store.crawl.records import (
    HOST_SPENT,
    QUEUE_FULL,
    SUBDOMAINS,
    TOO_DEEP,
    TRAPPED_HOST,
    LinkTarget,
    PageStatus,
    UrlPurpose,
)

PUT_OFF = "put_off"
"""The counter of URLs that wait for a place in the queue."""
AT_A_TIME = 20_000
"""URLs that come back into the queue in one transaction."""
_CHUNK = 64
_SOME = f"id IN ({', '.join('?' * _CHUNK)})"
_HOSTS = f"SELECT id, name, queued, asked, standing FROM hosts WHERE {_SOME} ORDER BY id"
_SKIP = "UPDATE pages SET status = 'skipped', skip_reason = ?, owner = NULL WHERE "
_DEPTHS = "CREATE INDEX IF NOT EXISTS pages_depths ON pages(depth, id) WHERE status = 'queued'"
_ADMIT_HOST = """INSERT INTO traps(key, why, known, refused, example) VALUES (?, ?, 1, 0, ?)
    ON CONFLICT (key) DO UPDATE SET known = traps.known + 1 WHERE traps.known < ? RETURNING known"""
_CUT = "UPDATE traps SET refused = refused + ?, example = ? WHERE key = ?"
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
    most: int | None = None
    """How many of them, the deepest first; None: all."""


def excess_at_host(bounds: BreadthLimits, queued: int, asked: int, *, stands: bool) -> HostExcess | None:
    """What is too much at a host with so many queued and requested pages. `stands`: it is one of those of its domain."""
    if not stands:
        return HostExcess(TRAPPED_HOST)
    if bounds.is_spent(asked):
        return HostExcess(HOST_SPENT)
    if bounds.queued and queued > bounds.queued_per_host:
        return HostExcess(QUEUE_FULL, queued - bounds.queued_per_host)
    return None


class LimitChecker:
    """The limits within one transaction."""

    def __init__(self, db: CrawlConnection, sql: SqlConnection) -> None:
        self._db = db
        self._sql = sql
        self._bounds: BreadthLimits = db.bounds

    def hold(self, hosts: Collection[int], named: Collection[int] = ()) -> None:
        """URLs were queued or answered at these hosts: skip what is too much. Those that a person named belong to the crawl."""
        if named:
            self._sql.executemany("UPDATE hosts SET standing = 1 WHERE id = ?", [(host,) for host in sorted(named)])
        if not self._bounds:
            return
        wanted = sorted(hosts)
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            for row in self._sql.execute(_HOSTS, [*chunk, *[-1] * (_CHUNK - len(chunk))]).fetchall():
                self._hold_host(_Host(*row))
        self._hold_queue()

    def hold_all(self) -> None:
        """The same for every host with queued URLs."""
        self.hold([host for (host,) in self._sql.execute("SELECT id FROM hosts WHERE queued > 0").fetchall()])

    def _hold_host(self, host: _Host) -> None:
        if host.queued <= 0:
            return
        bounds = self._bounds
        stands = not bounds.hosts_per_domain or (host.standing if host.standing is not None else self._stands(host))
        excess = excess_at_host(bounds, host.queued, host.asked, stands=bool(stands))
        if excess is None:
            return
        skipped = self._skip(host.id, *excess)
        if excess.reason == TRAPPED_HOST:
            self._sql.execute(_CUT, (skipped, f"https://{host.name}/", domain_key(host.name)))
        elif excess.reason == QUEUE_FULL:
            self._db.count(self._sql, {PUT_OFF: skipped})

    def _stands(self, host: _Host) -> bool:
        """Whether a host that was not met before is one of those of its domain that are asked."""
        values = (domain_key(host.name), SUBDOMAINS, f"https://{host.name}/", self._bounds.hosts_per_domain)
        stands = self._sql.execute(_ADMIT_HOST, values).fetchone() is not None
        self._sql.execute("UPDATE hosts SET standing = ? WHERE id = ?", (int(stands), host.id))
        return stands

    def _skip(self, host: int, reason: str, most: int | None = None) -> int:
        """Skip the queued pages of a host, or only the deepest; how many."""
        dialect = self._db.dialect
        frontier = dialect.indexed_by("pages_frontier")
        pages = f"SELECT id FROM pages {frontier} WHERE host_id = ? AND status = 'queued' AND purpose = 'page'"
        if most is None:
            skipped = self._sql.execute(f"{_SKIP} id IN ({pages} {dialect.locked_rows})", (reason, host)).rowcount
        else:
            deepest = f"{_SKIP} id IN ({pages} ORDER BY depth DESC, id DESC LIMIT ? {dialect.unlocked_rows})"
            skipped = self._sql.execute(deepest, (reason, host, most)).rowcount
        _leave_queue(self._db, self._sql, {host: skipped})
        return skipped

    def _hold_queue(self) -> None:
        """The whole queue: those nearest to the start stay."""
        if not self._bounds.queued:
            return
        over = self._db.counter(self._sql, "queued") - self._bounds.queued
        if over > 0:
            deepest = f"""{_SKIP} id IN (SELECT id FROM pages WHERE status = 'queued' AND purpose = 'page'
                ORDER BY depth DESC, id DESC LIMIT ? {self._db.dialect.unlocked_rows}) RETURNING host_id"""
            skipped = Counter(host for (host,) in self._sql.execute(deepest, (QUEUE_FULL, over)).fetchall())
            _leave_queue(self._db, self._sql, skipped)
            self._db.count(self._sql, {PUT_OFF: skipped.total()})


class CrawlLimits:
    """Sets the limits of a crawl and queues URLs again when there is capacity."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db

    def set(self, bounds: BreadthLimits) -> None:
        self._db.bounds = bounds

    async def requeue(self) -> int:
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
        LimitChecker(self._db, sql).hold_all()
        return back

    async def refill(self) -> int:
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
            LimitChecker(self._db, sql).hold_all()
        return back

    def _back(self, sql: SqlConnection, statement: str, values: Sequence[object]) -> int:
        """Put pages back into the queue; how many."""
        found = Counter(host for (host,) in sql.execute(statement, values).fetchall())
        _leave_queue(self._db, sql, {host: -number for host, number in found.items()})
        return found.total()


def _leave_queue(db: CrawlConnection, sql: SqlConnection, numbers: Mapping[int, int]) -> None:
    """So many URLs of each host were skipped; if negative, so many came back."""
    total = sum(numbers.values())
    db.count(sql, {"queued": -total, "skipped": total})
    rows = [(number, host) for host, number in sorted(numbers.items()) if number]
    sql.executemany("UPDATE hosts SET queued = queued - ? WHERE id = ?", rows)


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


class QueueChanges:
    """The changes of one transaction; counters and hosts are written by `flush`."""

    def __init__(self, db: CrawlConnection, sql: SqlConnection, max_depth: int | None = None) -> None:
        self._db = db
        self._sql = sql
        self._max_depth = max_depth
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

    def admit(self, target: LinkTarget, depth: int, seed: bool) -> tuple[PageStatus, str]:
        """Whether a URL that the rules would queue is within the depth, and within the cap of its kind."""
        if self._max_depth is not None and depth > self._max_depth and target.purpose is UrlPurpose.PAGE:
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
        self._db.count(self._sql, self.tally)
        hosts = {*self.waiting, *self.given_back}
        rows = [(self.waiting[one], self.given_back[one], self.answers[one], one) for one in sorted(hosts)]
        leased = f"{self._db.dialect.greatest}(0, leased - ?)"
        statement = f"UPDATE hosts SET queued = queued + ?, leased = {leased}, asked = asked + ? WHERE id = ?"
        self._sql.executemany(statement, [row for row in rows if any(row[:3])])
        LimitChecker(self._db, self._sql).hold(hosts, self.named)
