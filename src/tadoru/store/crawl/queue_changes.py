"""What one transaction changes of the queue: the counters, the URLs that wait at each host, and what is stored of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.crawl_limits import LimitChecker
from tadoru.store.crawl.records import TOO_DEEP, LinkTarget, PageStatus, UrlPurpose

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
        """A URL of this status is queued now."""
        if was != "queued":
            self.tally[was] -= 1
            self.tally["queued"] += 1
            self.waiting[host_id] += 1

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
