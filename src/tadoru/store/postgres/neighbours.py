"""Crawls of one database that ask the same hosts: each leaves a host alone for as long as any of them would.

Within a crawl the slots of its hosts keep the distance. Between the crawls that the workers of a cluster do, whoever takes a slot
first looks at what the others did to the host, under a lock of the host, so that no two take one at the same moment. That holds
for everything that is sent: slices, robots.txt, sitemaps, and the resources that are tried when a crawl is finished.
"""

from __future__ import annotations

from tadoru.store.postgres.connection import PgConnection, Values
from tadoru.store.postgres.dialect import plain

PACING = 0x7AD0_0015
"""The advisory lock of who takes a slot of a host that others may ask, too."""
FRESH = 2.0
"""Seconds for which the list of other crawls is believed."""
MOST = 50
_IS_CLUSTER = "SELECT to_regclass('tadoru_cluster.crawls') IS NOT NULL"
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


class Neighbours:
    """The other crawls that ask hosts now, as this one knows them."""

    def __init__(self, link: PgConnection) -> None:
        self._link = link
        self._seen_at = float("-inf")
        self._carry = ""

    def before_asking(self, host: str, now: float) -> list[tuple[str, Values]]:
        """What has to be done before a slot is taken, in the same transaction; nothing where a crawl is alone."""
        if now - self._seen_at >= FRESH:
            self._seen_at = now
            self._look()
        return [(text, {"host": plain(host)}) for text in (_LOCK, self._carry)] if self._carry else []

    def _look(self) -> None:
        is_cluster = self._link.run(_IS_CLUSTER).fetchall()[0][0]
        others = [row[0] for row in self._link.run(_OTHERS).fetchall()] if is_cluster else []
        asked = " UNION ALL ".join(_ASKED.format(crawl=f'"{other}"') for other in others)
        self._carry = _CARRY.format(others=asked) if others else ""
