"""The records that cross the border between the engine and a crawl database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, overload

from tadoru.model.finding import Finding, Value
from tadoru.model.web import FailureKind, Link
from tadoru.rules.pace import MAX_HOLD, Pace
from tadoru.rules.traps import TrapPattern

SiteFacts = dict[str, str | tuple[str, Mapping[str, Value]]]
"""The evidence of each check that applies to a page and is usually about the whole site; a pair if there is more, by name."""

UNLINKED = 1000
"""The depth of a page that only a sitemap names: behind all that links lead to, until one leads to it."""
TOO_DEEP = "deeper than the depth limit"
"""Why a page is skipped that a shorter path, or a larger limit, brings back."""
HOST_SPENT = "over the number of pages for one host"
"""Why a page is skipped that a larger number brings back."""
QUEUE_FULL = "put off: the queue was full"
"""Why a page is skipped until the queue has space."""
SUBDOMAINS = "subdomains"
"""The kind of trap that a domain with ever new hosts is."""
TRAPPED_HOST = f"trap: {SUBDOMAINS}"
NOT_ARRIVED = frozenset(
    {
        FailureKind.DNS,
        FailureKind.REFUSED,
        FailureKind.CONNECT_TIMEOUT,
        FailureKind.TLS,
        FailureKind.BLOCKED_ADDRESS,
        FailureKind.PROXY,
    }
)
"""Failures of which a host noticed nothing, or next to nothing: trying again later is no request more."""
SHORTEST_WAIT = 0.002
"""How soon to ask again for a slot that somebody holds and is about to use."""
FAILED_ROBOTS_AGE = 60.0
"""How long a robots.txt that could not be had is not asked for again."""


def longest_wait(gap: float) -> float:
    """Nobody has to leave a host alone for longer: a wait beyond it was written before the machine's clock was put back."""
    return max(gap, MAX_HOLD)


def slot_wait(wait: float, gap: float, held_for: float, shortest: float = SHORTEST_WAIT) -> float:
    """Seconds until to ask again for a slot of a host that has to be left alone for `wait`; 0: it is free. `held_for`: seconds
    for which another worker has it."""
    return max(wait, shortest, min(held_for, gap / 4)) if held_for > 0 else max(0.0, wait)


class PageStatus(StrEnum):
    """The state of a URL, with the values of the database."""

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


def response_class(status: str, status_code: int | None) -> str:
    """`2xx` to `5xx`, `no answer`, `waiting` or `not requested`."""
    match status:
        case PageStatus.COMPLETED:
            return f"{(status_code or 0) // 100}xx"
        case PageStatus.ERROR:
            return "no answer"
        case PageStatus.QUEUED | PageStatus.PROCESSING:
            return "waiting"
    return "not requested"


@overload
def parse_utc(text: str) -> datetime: ...
@overload
def parse_utc(text: str | None) -> datetime | None: ...
def parse_utc(text: str | None) -> datetime | None:
    """A time of the database, which is in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


class UrlPurpose(StrEnum):
    """Why a URL is requested."""

    PAGE = "page"
    CHECK = "check"
    """Only to see whether it answers: no body, nothing followed."""
    STYLE = "style"
    """To read what a style sheet names; whatever the depth of the page that needs it."""
    GONE = "gone"
    """For nothing any more: a re-crawl did not find it, and nothing names it."""


class LinkTarget(NamedTuple):
    """A URL with the decision of the rules about it."""

    url: str
    host: str
    status: PageStatus
    reason: str = ""
    purpose: UrlPurpose = UrlPurpose.PAGE
    internal: bool = True
    trap: TrapPattern | None = None
    """The class that the URL belongs to, when that may be endless."""


class Lease(NamedTuple):
    """A URL that this worker owns until it finishes it, releases it, or stops renewing."""

    page_id: int
    url: str
    host: str
    depth: int
    hops: int
    """Redirects followed to get here."""
    attempt: int
    """Retries already made."""
    purpose: UrlPurpose
    seed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """The facts of one response, under the column names of the database."""

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
class CompletedOutcome:
    """A response was read: its facts, links, and redirect target."""

    lease: Lease
    facts: PageFacts
    links: Sequence[Link] = ()
    targets: Mapping[str, LinkTarget] = field(default_factory=dict)
    """The decision about each URL that the links lead to, in their order."""
    redirect: LinkTarget | None = None
    anchors: Sequence[str] | None = None
    """The page's fragment targets, when a job asked for them."""
    records: PageRecords | None = None
    resources: Sequence[ResourceUse] = ()
    left_out: Sequence[str] = ()
    """What of the page is over a limit and was not read: each becomes an error of the kind `page_limit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedOutcome:
    """The server reports that the page has not changed."""

    lease: Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedOutcome:
    """No usable response, after all retries."""

    lease: Lease
    kind: str
    message: str
    records: PageRecords | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOutcome:
    """To be requested again, not before `after` seconds from now."""

    lease: Lease
    after: float
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedOutcome:
    """Not requested, for example because of robots.txt."""

    lease: Lease
    reason: str
    records: PageRecords | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedOutcome:
    """Released without a request."""

    lease: Lease


Outcome = CompletedOutcome | UnchangedOutcome | FailedOutcome | RetryOutcome | RefusedOutcome | ReleasedOutcome


class Validators(NamedTuple):
    """ETag and Last-Modified of a page, for conditional requests."""

    etag: str | None
    last_modified: str | None


class SitemapRecord(NamedTuple):
    """A sitemap that was requested."""

    url: str
    level: int
    named_by: str
    status: str
    kind: str | None
    status_code: int | None
    bytes: int
    urls: int
    problems: tuple[str, ...]


class NamedPage(NamedTuple):
    """A page that a sitemap lists."""

    target: LinkTarget
    lastmod: str | None


class ResourceLease(NamedTuple):
    """A resource that this worker checks."""

    resource_id: int
    url: str
    host: str
    attempt: int
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceResult:
    """The result of checking a resource."""

    resource_id: int
    status: str
    """`completed`, `error` or `skipped`."""
    status_code: int | None = None
    content_type: str | None = None
    content_length: int | None = None
    final_url: str | None = None
    """Where redirects led, when there were any."""
    skip_reason: str | None = None
    error_type: str | None = None
    error_message: str | None = None
    anchors: str | None = None
    """What fragments of an external page can point at, one per line."""
    again_after: float | None = None
    """Seconds after which to try again; then nothing else counts."""


class HostState(NamedTuple):
    """A host with its pace and the time until its next slot."""

    host: str
    pace: Pace | None
    """None until the host was first asked for anything."""
    wait: float


class LeaseBatch(NamedTuple):
    """The result of one call of `lease`."""

    leases: list[Lease]
    hosts: dict[str, HostState]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCounts:
    """Numbers of URLs by state."""

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
    """An answer for robots.txt, and its age."""

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
    """A URL pattern that was cut off as a crawler trap."""

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


class AlternateUrl(NamedTuple):
    """A page in another language."""

    language: str
    url: str
    source: str
    """`html` or `http`."""


class StructuredItem(NamedTuple):
    """An item of structured data."""

    syntax: str
    type: str
    properties: Mapping[str, object]


class ResourceUse(NamedTuple):
    """A resource that a page uses."""

    url: str
    host: str
    kind: str
    internal: bool
    wanted: bool
    """Whether it is to be requested, to see that it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A page of documentation as Markdown."""

    title: str
    markdown: str
    source: str
    """`html`, `rendered`, or `markdown`: the site's own."""
    generator: str | None = None
    language: str | None = None
    version: str | None = None
    confidence: float = 1.0
    metadata: Mapping[str, str | None] = field(default_factory=dict)
    headings: Sequence[tuple[int, str, str | None]] = ()
    """Level, text, anchor."""
    breadcrumbs: Sequence[str] = ()
    navigation: Sequence[str] = ()
    """The URLs of the site's menu, in its order."""
    next_url: str | None = None
    prev_url: str | None = None


class Specification(NamedTuple):
    """A machine-readable description of an API."""

    content_type: str
    body: bytes


class OfferedPage(NamedTuple):
    """A page as Markdown that the site offers at another URL."""

    url: str
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecords:
    """A job's records of one URL; without a response only the first three fields are set."""

    indexable: bool
    indexability: str
    findings: Sequence[Finding] = ()
    http_version: str | None = None
    address: str | None = None
    transferred_bytes: int | None = None
    body_hash: str | None = None
    etag: str | None = None
    last_modified_field: str | None = None
    headers: Sequence[tuple[str, str]] = ()
    charset: str | None = None
    language: str | None = None
    title_length: int | None = None
    title_pixels: int | None = None
    description_length: int | None = None
    description_pixels: int | None = None
    h1: str | None = None
    word_count: int | None = None
    text_ratio: float | None = None
    canonical_http: str | None = None
    x_robots_tag: str | None = None
    next_url: str | None = None
    prev_url: str | None = None
    sketch: bytes | None = None
    headings: Sequence[tuple[int, str]] = ()
    images: Sequence[tuple[str, str | None, str, str, str]] = ()
    directives: Sequence[tuple[str, str, str, str]] = ()
    rendering: Mapping[str, object] | None = None
    extracted: Mapping[str, Sequence[str]] | None = None
    site_facts: SiteFacts = field(default_factory=dict)
    template: str | None = None
    segment: str | None = None
    hreflang: Sequence[AlternateUrl] = ()
    items: Sequence[StructuredItem] = ()
    body: bytes | None = None
    """Compressed by zlib, when bodies are kept."""
    document: DocumentRecord | None = None
    drops_document: bool = False
    """What an earlier run kept of the page as documentation is no longer true. A page that only failed keeps it."""
    specification: Specification | None = None
    offered: Sequence[OfferedPage] = ()
