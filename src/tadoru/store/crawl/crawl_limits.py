"""Keeps a crawl within its `BreadthLimits`, in the transaction that would exceed them.

A URL over a limit is skipped with a reason and stays known. `PageWriter` calls `LimitChecker.hold` for the hosts that a
transaction touched. `CrawlLimits` queues skipped URLs again when the limits allow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tadoru.rules.budget import BreadthLimits
from tadoru.rules.scope import registrable_domain
from tadoru.store.crawl.database import Database, translated
from tadoru.store.crawl.records import HOST_SPENT, QUEUE_FULL, SUBDOMAINS, TRAPPED_HOST

PUT_OFF = "put_off"
"""The counter of URLs that wait for a place in the queue."""
AT_A_TIME = 20_000
"""URLs that come back into the queue in one transaction."""
_CHUNK = 64
_SOME = f"id IN ({', '.join('?' * _CHUNK)})"
_HOSTS = f"SELECT id, name, queued, asked, standing FROM hosts WHERE {_SOME} ORDER BY id"
_SKIP = "UPDATE pages SET status = 'skipped', skip_reason = ?, owner = NULL WHERE "
_AT_HOST = "SELECT id FROM pages INDEXED BY pages_frontier WHERE host_id = ? AND status = 'queued' AND purpose = 'page'"
_SKIP_ALL = f"{_SKIP} id IN ({_AT_HOST})"
_SKIP_DEEPEST = f"{_SKIP} id IN ({_AT_HOST} ORDER BY depth DESC, id DESC LIMIT ?)"
_SKIP_OF_ALL = f"""{_SKIP} id IN (SELECT id FROM pages WHERE status = 'queued' AND purpose = 'page'
    ORDER BY depth DESC, id DESC LIMIT ?) RETURNING host_id"""
_DEPTHS = "CREATE INDEX IF NOT EXISTS pages_depths ON pages(depth, id) WHERE status = 'queued'"
_ADMIT_HOST = """INSERT INTO traps VALUES (?, ?, 1, 0, ?) ON CONFLICT(key) DO UPDATE SET known = traps.known + 1"""
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


class LimitChecker:
    """The limits within one transaction."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.sql = db.sql
        self.bounds: BreadthLimits = db.bounds

    def hold(self, hosts: Collection[int], named: Collection[int] = ()) -> None:
        """URLs were queued or answered at these hosts: skip what is too much. Those that a person named belong to the crawl."""
        if named:
            self.sql.executemany("UPDATE hosts SET standing = 1 WHERE id = ?", [(host,) for host in sorted(named)])
        if not self.bounds:
            return
        wanted = sorted(hosts)
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            for row in self.sql.execute(_HOSTS, [*chunk, *[-1] * (_CHUNK - len(chunk))]).fetchall():
                self._hold_host(_Host(*row))
        self._hold_queue()

    def _hold_host(self, host: _Host) -> None:
        bounds = self.bounds
        if host.queued <= 0:
            return
        if bounds.hosts_per_domain and not (host.standing if host.standing is not None else self._stands(host)):
            cut = self._skip(host.id, _SKIP_ALL, (TRAPPED_HOST, host.id))
            self.sql.execute(_CUT, (cut, f"https://{host.name}/", _key(host.name)))
        elif bounds.is_spent(host.asked):
            self._skip(host.id, _SKIP_ALL, (HOST_SPENT, host.id))
        elif bounds.queued and host.queued > bounds.queued_per_host:
            over = host.queued - bounds.queued_per_host
            self.db.count({PUT_OFF: self._skip(host.id, _SKIP_DEEPEST, (QUEUE_FULL, host.id, over))})

    def _stands(self, host: _Host) -> bool:
        """Whether a host that was not met before is one of those of its domain that are asked."""
        key = _key(host.name)
        row = self.sql.execute("SELECT known FROM traps WHERE key = ?", (key,)).fetchone()
        stands = row is None or row[0] < self.bounds.hosts_per_domain
        if stands:
            self.sql.execute(_ADMIT_HOST, (key, SUBDOMAINS, f"https://{host.name}/"))
        self.sql.execute("UPDATE hosts SET standing = ? WHERE id = ?", (int(stands), host.id))
        return stands

    def _skip(self, host: int, statement: str, values: Sequence[object]) -> int:
        skipped = self.sql.execute(statement, values).rowcount
        self._left_queue({host: skipped})
        return skipped

    def _hold_queue(self) -> None:
        """The whole queue: those nearest to the start stay."""
        if not self.bounds.queued:
            return
        over = self.db.counter("queued") - self.bounds.queued
        if over > 0:
            skipped = Counter(host for (host,) in self.sql.execute(_SKIP_OF_ALL, (QUEUE_FULL, over)).fetchall())
            self._left_queue(skipped)
            self.db.count({PUT_OFF: skipped.total()})

    def _left_queue(self, numbers: dict[int, int]) -> None:
        total = sum(numbers.values())
        self.db.count({"queued": -total, "skipped": total})
        rows = [(number, host) for host, number in sorted(numbers.items()) if number]
        self.sql.executemany("UPDATE hosts SET queued = queued - ? WHERE id = ?", rows)


class CrawlLimits:
    """Sets the limits of a crawl and queues URLs again when there is capacity."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def set(self, bounds: BreadthLimits) -> None:
        self._db.bounds = bounds

    async def requeue(self) -> int:
        async with self._db.transaction() as sql:
            if self._db.bounds.queued:
                sql.execute(_DEPTHS)
            sql.execute("UPDATE hosts SET standing = NULL WHERE standing = 0")
            sql.execute("UPDATE traps SET refused = 0 WHERE why = ?", (SUBDOMAINS,))
            most = self._db.bounds.pages_per_host
            back = self._back(_WITHIN, (TRAPPED_HOST, QUEUE_FULL, HOST_SPENT, most, most))
            sql.execute("DELETE FROM counters WHERE name = ?", (PUT_OFF,))
            self._hold_all()
        return back

    async def refill(self) -> int:
        with translated(self._db.path):
            names = ("queued", PUT_OFF)
            counts: dict[str, int] = dict(
                self._db.sql.execute("SELECT name, value FROM counters WHERE name IN (?, ?)", names).fetchall()
            )
        room = self._db.bounds.queued - counts.get("queued", 0)
        if room * 2 <= self._db.bounds.queued or not counts.get(PUT_OFF):
            return 0
        async with self._db.transaction() as sql:
            back = self._back(_PUT_OFF, (QUEUE_FULL, min(room, AT_A_TIME)))
            if back:
                self._db.count({PUT_OFF: -back})
                self._hold_all()
            else:
                sql.execute("DELETE FROM counters WHERE name = ?", (PUT_OFF,))
        return back

    def _back(self, statement: str, values: Sequence[object]) -> int:
        """Put pages back into the queue; how many."""
        found = Counter(host for (host,) in self._db.sql.execute(statement, values).fetchall())
        self._db.sql.executemany(
            "UPDATE hosts SET queued = queued + ? WHERE id = ?", [(n, host) for host, n in sorted(found.items())]
        )
        self._db.count({"queued": found.total(), "skipped": -found.total()})
        return found.total()

    def _hold_all(self) -> None:
        hosts = [host for (host,) in self._db.sql.execute("SELECT id FROM hosts WHERE queued > 0").fetchall()]
        LimitChecker(self._db).hold(hosts)


def _key(host: str) -> str:
    return f"*.{registrable_domain(host)}"
