"""What the engine needs of a job. A job is a value, not a subclass of a crawler: it names its scope, and reads pages."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from tadoru.model.web import Answer, Link, RenderedPage, Response
from tadoru.rules.budget import BreadthLimits, Budget
from tadoru.rules.scope import Scope
from tadoru.store.crawl.records import PageRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPolicy:
    """How to crawl, whatever the job."""

    delay: float = 1.0
    concurrency: int = 4
    timeout: float = 30.0
    max_bytes: int = 10 * 1024 * 1024
    budget: Budget = Budget()
    obey_robots: bool = True
    max_redirects: int = 10
    trap_cap: int = 500
    """How many URLs of one endless-looking class are requested; 0 switches traps off."""
    bounds: BreadthLimits = BreadthLimits()
    """Of hosts, domains and the queue: what a crawl of many hosts is kept within."""
    lease_ttl: float = 60.0
    revalidate: bool = False
    """Ask known pages whether they changed, instead of asking for them."""
    resource_budget: int = 0
    """How many images, scripts and styles are tried once the pages are done."""
    sitemaps: bool = False
    """Read the site's sitemaps, and crawl the pages they name."""
    sitemap_urls: tuple[str, ...] = ()
    """Sitemaps that the person named, beside those of robots.txt."""
    sitemap_below: str = ""
    """Only what begins so is taken from sitemaps."""


class ExtraRequest(NamedTuple):
    """A request that a job wants to be made, beside those for pages."""

    url: str
    accept: str | None = None
    """Media types that are asked for; None for what every page is asked with."""
    method: str = "GET"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """An answer with what the crawl knows about its URL."""

    url: str
    depth: int
    response: Response
    rendered: RenderedPage | None = None
    """What a browser made of it, when one was used."""
    twin: Answer | None = None
    """What came of `Found.twin`, when it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """What a job read from a page."""

    links: Sequence[Link] = ()
    title: str | None = None
    meta_description: str | None = None
    meta_robots: str | None = None
    canonical_url: str | None = None
    content_hash: str | None = None
    anchors: Sequence[str] | None = None
    resources: Sequence[Link] = ()
    """What the page is made of: images, scripts, styles, frames."""
    records: PageRecords | None = None
    render: str = ""
    """Why the page should be read again after a browser has rendered it; empty when it need not."""
    twin: ExtraRequest | None = None
    """Where the same page may be had in another form: to be asked for, and the page to be read again with the answer."""
    left_out: Sequence[str] = ()
    """What of the page is over a limit and therefore not read (`Document.left_out`)."""


class CrawlJob(Protocol):
    """One of the things Tadoru does with a site."""

    @property
    def scope(self) -> Scope: ...

    @property
    def body_types(self) -> tuple[str, ...] | None:
        """Media types whose bodies `handle` wants; None for every body."""
        ...

    @property
    def check_external(self) -> bool:
        """Whether external links are requested, to see that they answer."""
        ...

    @property
    def follow(self) -> bool:
        """False in list mode: only the given URLs."""
        ...

    def handle(self, page: FetchedPage) -> PageResult:
        """Read one page. Pure: no I/O, no state that matters."""
        ...

    def remark(self, url: str, answer: Answer | None, refusal: str | None) -> PageRecords | None:
        """What to keep of a URL that is no page: a redirect, a failure, or (no answer) one that robots.txt forbids. Pure."""
        ...


@runtime_checkable
class SiteProbingJob(Protocol):
    """A job that has to know a few things about the site before it can crawl it."""

    def survey(self) -> Generator[ExtraRequest, Answer, dict[str, object]]:
        """Ask, and return what was learnt, as JSON. What robots.txt forbids is answered by a failure. Pure, like `handle`."""
        ...

    def surveyed(self, found: Mapping[str, object]) -> CrawlJob:
        """The job that knows it."""
        ...

    def refusal(self, url: str) -> str | None:
        """Why a URL of the site is not wanted; None when it is."""
        ...

    def extra(self) -> Sequence[str]:
        """URLs that the survey found and that are to be read whether or not a page leads to them."""
        ...
