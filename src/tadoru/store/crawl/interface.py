"""The contract of a crawl store, by part: what the engine needs of a database (`tests/contract` runs one suite over all).

Durations, never points in time, cross this interface: each backend measures with its own clock, so that several machines on one
database agree. Every method is one transaction; when it returns, its effect survives `kill -9`. The records are
in `records`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from tadoru.rules.pace import Pace
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.records import CrawlCounts, LeaseBatch, LinkTarget, NamedPage, Outcome

if TYPE_CHECKING:
    from tadoru.store.crawl.meta import CrawlMeta, SingletonTasks
    from tadoru.store.crawl.queue_changes import CrawlLimits
    from tadoru.store.crawl.reader import CrawlGraph
    from tadoru.store.crawl.rescope import Rescope
    from tadoru.store.crawl.resources import ResourceTable, RobotsTable, SitemapTable


class FrontierStore(Protocol):
    """Workers, and the URLs that they lease and finish."""

    async def join(self, ttl: float) -> int:
        """Become a worker of this crawl; the leases taken under the returned number live for `ttl` seconds after each `renew`."""
        ...

    async def renew(self, worker: int, ttl: float) -> bool:
        """Say that the worker lives. False: it was declared dead and its leases are gone; join again."""
        ...

    async def leave(self, worker: int) -> None:
        """Give back every lease and go."""
        ...

    async def recover(self, living: int = 0) -> int:
        """Take back the leases of workers that died or stopped renewing, but not those of the one that asks; how many."""
        ...

    async def add(self, targets: Sequence[LinkTarget], *, seed: bool, depth: int = 0) -> int:
        """Make URLs known; how many were new. A known URL comes closer, with all that lies behind it.

        What comes closer and was too deep is for `widen` to queue. A seed is queued even if it was discovered, skipped or in vain
        before.
        """
        ...

    async def add_named(self, sitemap: int, pages: Sequence[NamedPage]) -> int:
        """Make the URLs of a sitemap known; how many were new. Unlinked pages come after all others.

        A page of the site that was only discovered, or too deep, is queued, if that is what the rules decided this time.
        """
        ...

    async def widen(self, max_depth: int | None) -> int:
        """Queue what was skipped as too deep and is within a new depth; how many."""
        ...

    async def lease(self, worker: int, wants: Mapping[str, int], *, new_hosts: int, per_host: int, limit: int) -> LeaseBatch:
        """Own up to `wants[host]` URLs of each named host and `per_host` of up to `new_hosts` others that have some to give.

        A host that is named with 0 gives nothing, but its state is told.
        Of a host the shallowest first, then the longest known; of other hosts those first that could have been asked for the
        longest time, since they became known or last gave something: so every host has its turn, however much others have.
        Never more than `limit` counted answers in all, whoever else is leasing (0: no limit), and while little is queued no more
        than this worker's fair part of it, unless it takes no other hosts: then it has those it names to itself.
        """
        ...

    async def finish(self, worker: int, outcomes: Sequence[Outcome], *, max_depth: int | None) -> int:
        """Write outcomes, links and newly known URLs, all or nothing; how many were still owned and so recorded.

        A page's depth is the shortest path known when this returns, whatever the lease has; where another worker applies
        shorter paths at that moment, at the latest when the crawl ends.
        """
        ...

    async def counts(self) -> CrawlCounts: ...

    async def metrics(self) -> CrawlMetrics:
        """What somebody who watches wants to know: one truth for any number of processes."""
        ...

    async def has_open_seeds(self) -> bool:
        """Whether a start, or what it redirects to, is still to be answered."""
        ...

    async def has_answered_seeds(self) -> bool:
        """Whether a start was answered."""
        ...

    async def has_workers(self) -> bool:
        """Whether a living worker works on this crawl."""
        ...


class CrawlHostStore(Protocol):
    """The pace of hosts, shared by all workers."""

    async def take_slot(self, worker: int, host: str, hold: float) -> float:
        """Ask to send to a paced host now. 0.0: yes, and nobody else may until `sent` or for `hold` seconds.

        Anything else: no, ask again after so many seconds.
        """
        ...

    async def sent(self, worker: int, host: str) -> None:
        """The request of the taken slot has gone out: the gap starts now."""
        ...

    async def begin_pace(self, host: str, pace: Pace) -> Pace:
        """Make a host known with at least this pace; the pace that holds now."""
        ...

    async def set_pace(self, host: str, pace: Pace, pause: float = 0.0) -> None:
        """Remember a host's pace for every worker, and leave the host alone for `pause` seconds. The base never goes down."""
        ...

    async def lower_paces(self, delay: float) -> None:
        """A run begins: hosts that an earlier one asked more slowly are asked with this delay, but for those that want patience.

        When somebody is at work already nothing happens: who joins may slow the others down, and not hurry them.
        """
        ...


class CrawlStore(Protocol):
    """One crawl, by part. Parts that are the same for both databases are their own contract."""

    frontier: FrontierStore
    hosts: CrawlHostStore
    robots: RobotsTable
    limits: CrawlLimits
    meta: CrawlMeta
    tasks: SingletonTasks
    sitemaps: SitemapTable
    resources: ResourceTable
    graph: CrawlGraph
    rescope: Rescope

    def release_memory(self) -> None:
        """Drop what is only cached; it is read again when it is needed."""
        ...

    async def close(self) -> None: ...
