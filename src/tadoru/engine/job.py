"""The interface between the engine and a job, and what the parts of a crawl share in one process: its policy and context.

A job is a value, not a subclass of a crawler: it has a scope and reads pages.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from tadoru.clock import Clock
from tadoru.engine.notifications import Notify
from tadoru.engine.request_flow import Expiry
from tadoru.engine.url_filter import UrlFilter
from tadoru.fetch.base import Fetcher, Renderer
from tadoru.model.web import Answer, Link, RenderedPage, Response
from tadoru.parse.html import HTML_TYPES
from tadoru.rules.budget import BreadthLimits, Budget
from tadoru.rules.robots import PRODUCT_TOKEN
from tadoru.rules.scope import Scope
from tadoru.rules.url import UrlCleaner, UrlRemaps, UrlResolver
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import PageRecords

MAX_REDIRECTS = 10
"""Redirects that are followed from a URL."""


class KnownCheck(NamedTuple):
    """The result of requesting an external URL, from an earlier crawl."""

    checked_at: float
    status_code: int | None = None
    content_type: str | None = None
    redirect_url: str | None = None
    error_type: str | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPolicy:
    """How to crawl, independent of the job."""

    delay: float = 1.0
    concurrency: int = 4
    timeout: float = 30.0
    max_bytes: int = 10 * 1024 * 1024
    budget: Budget = Budget()
    obey_robots: bool = True
    robots_token: str = PRODUCT_TOKEN
    """The product token whose group of robots.txt applies."""
    robots_text: bytes | None = None
    """What is read instead of the robots.txt of the crawled sites."""
    max_redirects: int = MAX_REDIRECTS
    local_host: str = ""
    """The host whose files are on this machine, and which therefore needs no delay."""
    trap_cap: int = 500
    """How many URLs that match one trap pattern are requested; 0 turns trap detection off."""
    bounds: BreadthLimits = BreadthLimits()
    """Limits of a crawl of many hosts: pages per host, hosts per domain, queued URLs."""
    lease_ttl: float = 60.0
    revalidate: bool = False
    """Send conditional requests for known pages."""
    resource_budget: int = 0
    """How many images, scripts and style sheets are checked once the pages are done."""
    external_fragments: bool = False
    """Read the ids of external pages of which links name a fragment; with the resources, and within their budget."""
    declared_targets: bool = False
    """Check the URLs that pages declare (canonical, hreflang, next, prev) and no link leads to, within the same budget."""
    sitemaps: bool = False
    """Read the sitemaps of the site and crawl the pages they list."""
    sitemap_urls: tuple[str, ...] = ()
    """Sitemaps that the user named, besides those in robots.txt."""
    sitemap_below: str = ""
    """Only URLs with this prefix are taken from sitemaps."""
    retries: int | None = None
    """Retries of any temporary failure; None for a number for each kind of failure."""
    remaps: UrlRemaps = ()
    """For the targets of redirects; links are remapped where they are read."""
    known_checks: Mapping[str, KnownCheck] = field(default_factory=dict)
    """Recent results of external URLs, which are not requested again."""


class ExtraRequest(NamedTuple):
    """A request that a job needs besides those for pages."""

    url: str
    accept: str | None = None
    """The Accept header; None for the default of pages."""
    method: str = "GET"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """A response with what the crawl knows about its URL."""

    url: str
    depth: int
    response: Response
    rendered: RenderedPage | None = None
    """The page as a browser rendered it, if one was used."""
    alternate_answer: Answer | None = None
    """The answer to `PageResult.alternate_request`, if there was one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """What a job extracted from a page."""

    links: Sequence[Link] = ()
    title: str | None = None
    meta_description: str | None = None
    meta_robots: str | None = None
    canonical_url: str | None = None
    content_hash: str | None = None
    anchors: Sequence[str] | None = None
    resources: Sequence[Link] = ()
    """Images, scripts, style sheets and frames of the page."""
    records: PageRecords | None = None
    render: str = ""
    """Why the page has to be rendered by a browser and read again; empty when it does not."""
    alternate_request: ExtraRequest | None = None
    """A request for another representation of the same page; the page is read again with its answer."""
    left_out: Sequence[str] = ()
    """The parts of the page that exceed a limit and were skipped (`Document.left_out`)."""


class CrawlJob(Protocol):
    """What is done with the pages of a site: links, audit or docs."""

    @property
    def scope(self) -> Scope: ...

    @property
    def body_types(self) -> tuple[str, ...] | None:
        """Media types whose bodies `handle` needs; None for every body."""
        ...

    @property
    def check_external(self) -> bool:
        """Whether external links are requested, to check that they respond."""
        ...

    @property
    def follow(self) -> bool:
        """False in list mode: only the given URLs are requested."""
        ...

    def handle(self, page: FetchedPage) -> PageResult:
        """Read one page. Pure: no I/O and no state."""
        ...

    def handle_non_page(self, url: str, answer: Answer | None, refusal: str | None) -> PageRecords | None:
        """The records of a URL without a page: a redirect, a failure, or (no answer) one that robots.txt disallows. Pure."""
        ...


@dataclass(frozen=True)
class HtmlJob:
    """The fields of every job that reads the pages of a site."""

    scope: Scope
    check_external: bool = False
    follow: bool = True
    cleaning: UrlCleaner = UrlCleaner()
    body_types: tuple[str, ...] = HTML_TYPES

    @cached_property
    def resolver(self) -> UrlResolver:
        """Resolves the URLs in pages."""
        return UrlResolver(self.cleaning)


@runtime_checkable
class SiteProbingJob(Protocol):
    """A job that has to probe the site before it is crawled."""

    def probe(self) -> Generator[ExtraRequest, Answer, dict[str, object]]:
        """Yield requests and return the result as JSON. A URL that robots.txt disallows is answered with a failure. Pure."""
        ...

    def with_probe_result(self, found: Mapping[str, object]) -> CrawlJob:
        """The job with the result of the probe."""
        ...

    def skip_reason(self, url: str) -> str | None:
        """Why a URL of the site is skipped; None when it is crawled."""
        ...

    def extra_urls(self) -> Sequence[str]:
        """URLs that the probe found, which are requested whether or not a page links to them."""
        ...


@dataclass(slots=True, kw_only=True)
class CrawlContext:
    """The job, policy and resources of a crawl in one process."""

    job: CrawlJob
    policy: CrawlPolicy
    store: CrawlStore
    fetcher: Fetcher
    clock: Clock
    notify: Notify
    url_filter: UrlFilter
    renderer: Renderer | None = None
    worker: int = 0
    """The number of this worker in the store; it changes when the worker was declared dead and joins again."""
    lease: Expiry | None = None
    """Until when nobody can have declared this worker dead."""
    stopping: bool = False
