"""What the engine asks of a store: the contract that every backend keeps (`tests/contract` runs one suite over all of them).

Durations, never points in time, cross this border: each backend measures with its own clock, so that several machines on one
database agree. Every method is one transaction; when it returns, what it says has happened survives `kill -9`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from tadoru.rules.pace import MAX_HOLD, Pace
from tadoru.rules.traps import Trap
from tadoru.store.records import PageRecords

UNLINKED = 1000
"""The depth of a page that only a sitemap names: behind all that links lead to, until one leads to it."""
TOO_DEEP = "deeper than the depth limit"
"""Why a page is skipped that a shorter path, or a larger limit, brings back."""
SHORTEST_WAIT = 0.002
"""How soon to ask again for a slot that somebody holds and is about to use."""
FAILED_ROBOTS_AGE = 60.0
"""How long a robots.txt that could not be had is not asked for again."""


def longest_wait(gap: float) -> float:
    """Nobody has to leave a host alone for longer: a wait beyond it was written before the machine's clock was put back."""
    return max(gap, MAX_HOLD)


class PageStatus(StrEnum):
    """Where a URL stands. The values are the seed's, in the database as they are here."""

    DISCOVERED = "discovered"
    """Known, and not to be requested (an external link, say)."""
    QUEUED = "queued"
    PROCESSING = "processing"
    """Leased by a worker."""
    SKIPPED = "skipped"
    """Refused by robots, scope, patterns, depth or a trap; `skip_reason` says which."""
    COMPLETED = "completed"
    """An HTTP answer was stored, whatever its status code."""
    ERROR = "error"
    """No usable answer."""


class Purpose(StrEnum):
    """What a URL is requested for."""

    PAGE = "page"
    CHECK = "check"
    """Only to see whether it answers: no body, nothing followed."""


class Target(NamedTuple):
    """A URL to be known to the crawl, and what the rules decided about it."""

    url: str
    host: str
    status: PageStatus
    reason: str = ""
    purpose: Purpose = Purpose.PAGE
    internal: bool = True
    trap: Trap | None = None
    """The class that the URL belongs to, when that may be endless."""


class FoundLink(NamedTuple):
    """A link of a page, its target decided."""

    target: Target
    kind: str
    text: str
    rel: str
    position: int
    fragment: str


class Lease(NamedTuple):
    """A URL this worker owns until it finishes it, gives it back, or stops renewing."""

    page_id: int
    url: str
    host: str
    depth: int
    hops: int
    """Redirects followed to get here."""
    attempt: int
    """Retries already made."""
    purpose: Purpose
    seed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What one answer said, under the seed's column names."""

    status_code: int
    title: str | None = None
    meta_description: str | None = None
    meta_robots: str | None = None
    canonical_url: str | None = None
    content_hash: str | None = None
    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    ttfb_ms: float | None = None
    download_time_ms: float | None = None
    response_size_bytes: int | None = None
    content_type: str | None = None
    content_length: int | None = None
    last_modified: str | None = None
    server: str | None = None
    content_encoding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """An answer was read: its facts, its links, and where it redirects."""

    lease: Lease
    facts: PageFacts
    links: Sequence[FoundLink] = ()
    redirect: Target | None = None
    anchors: Sequence[str] | None = None
    """The page's fragment targets, when a job asked for them."""
    records: PageRecords | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The server says that the page is as it was: what is known of it stays."""

    lease: Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No usable answer, for good."""

    lease: Lease
    kind: str
    message: str
    records: PageRecords | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """To be requested once more, not before `after` seconds from now."""

    lease: Lease
    after: float
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Not requested: robots, say."""

    lease: Lease
    reason: str
    records: PageRecords | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Given back untouched."""

    lease: Lease


Outcome = Completed | Unchanged | Failed | Again | Refused | Released


class HostState(NamedTuple):
    """A host as the store knows it, with its pace and for how long it wants to be left alone."""

    host: str
    pace: Pace | None
    """None until the host was first asked for anything."""
    wait: float


class Leased(NamedTuple):
    """What a call to `lease` gave."""

    leases: list[Lease]
    hosts: dict[str, HostState]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many URLs stand where."""

    discovered: int = 0
    queued: int = 0
    processing: int = 0
    skipped: int = 0
    completed: int = 0
    error: int = 0
    counted: int = 0
    """Answers that count against `--limit`: completed or error, redirects not included."""
    redirects: int = 0

    @property
    def known(self) -> int:
        return self.discovered + self.queued + self.processing + self.skipped + self.completed + self.error


class RobotsRecord(NamedTuple):
    """A robots.txt as it was answered, and how old that answer is."""

    status: int | None
    failure: str | None
    message: str
    body: bytes
    age: float

    @property
    def is_settled(self) -> bool:
        """Whether the server really answered, so that the answer may be kept for long."""
        return self.status is not None and self.status < 500 and self.status != 429


class TrapRecord(NamedTuple):
    """A class of URLs that was cut off."""

    key: str
    why: str
    known: int
    refused: int
    example: str


class PageRow(NamedTuple):
    """A URL as reports read it."""

    page_id: int
    url: str
    internal: bool
    purpose: str
    status: str
    depth: int
    parent_url: str | None
    status_code: int | None
    content_type: str | None
    title: str | None
    redirect_url: str | None
    skip_reason: str | None
    error_type: str | None
    error_message: str | None
    added_at: datetime
    crawled_at: datetime | None
    response_ms: float | None


class LinkRow(NamedTuple):
    """A link as reports read it."""

    source_url: str
    target_url: str
    text: str
    rel: str
    kind: str
    position: int
    fragment: str


class CrawlStore(Protocol):
    """One crawl: its frontier, its hosts, its pages and links."""

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

    async def add(self, targets: Sequence[Target], *, seed: bool, depth: int = 0) -> int:
        """Make URLs known; how many were new. A known URL comes closer, with all that lies behind it.

        What comes closer and was too deep is for `widen` to queue. A seed is queued even if it was discovered or skipped before.
        """
        ...

    async def widen(self, max_depth: int | None) -> int:
        """Queue what was skipped as too deep and is within a new depth; how many."""
        ...

    async def lease(self, worker: int, wants: Mapping[str, int], *, new_hosts: int, per_host: int, limit: int) -> Leased:
        """Own up to `wants[host]` URLs of each named host and `per_host` of up to `new_hosts` others that have some to give.

        A host that is named with 0 gives nothing, but its state is told.
        Of a host the shallowest first, then the longest known; of other hosts those first that may be asked soonest.
        Never more than `limit` counted answers in all, whoever else is leasing (0: no limit), and while little is queued no more
        than this worker's fair part of it.
        """
        ...

    async def finish(self, worker: int, outcomes: Sequence[Outcome], *, max_depth: int | None) -> int:
        """Write outcomes, links and newly known URLs, all or nothing; how many were still owned and so recorded.

        A page's depth is the shortest path known when this returns, whatever the lease said.
        """
        ...

    async def counts(self) -> Counts: ...

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

    async def claim_robots(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        """What robots.txt of an origin answered; True: it is ours to fetch now; False: somebody else is at it, ask again.

        An answer that forbade everything because the server was failing is kept for a minute only.
        """
        ...

    async def put_robots(self, origin: str, record: RobotsRecord) -> None: ...

    async def get_meta(self, key: str) -> str | None: ...

    async def set_meta(self, key: str, value: str) -> None: ...

    async def settle(self) -> None:
        """Make parents deterministic and reports fast. Called when a crawl ends; calling it twice is harmless."""
        ...

    def pages(self) -> AsyncIterator[PageRow]:
        """Every known URL by depth, then URL."""
        ...

    def links(self) -> AsyncIterator[LinkRow]:
        """Every stored link, by source and position."""
        ...

    def links_to(self, page_ids: Sequence[int]) -> AsyncIterator[LinkRow]:
        """The links that lead to given pages."""
        ...

    def fragment_links(self) -> AsyncIterator[tuple[LinkRow, bool]]:
        """Links with a fragment into pages whose anchors are known, with whether the anchor is there.

        By target, then source and position.
        """
        ...

    async def traps(self) -> list[TrapRecord]:
        """The classes of URLs that were cut off, the one that was cut most first."""
        ...

    async def close(self) -> None: ...
