"""What the engine announces while it works. The command line turns notices into progress and logs; a web page may do the same.

In this product an *event* is a calendar event; what happens inside a crawl is a notice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlNotification:
    """The root of all notices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDone(CrawlNotification):
    """An answer was read."""

    url: str
    status: int
    depth: int
    links: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFailed(CrawlNotification):
    """A URL gave no usable answer, for good."""

    url: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRetried(CrawlNotification):
    """A URL will be asked again."""

    url: str
    kind: str
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRefused(CrawlNotification):
    """A URL was not requested."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSlowed(CrawlNotification):
    """A host asked for patience, or answers ever slower."""

    host: str
    gap: float
    pause: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteMoved(CrawlNotification):
    """The start URL redirected to another host, which is now the site."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasesRecovered(CrawlNotification):
    """Work of a process that died was taken back."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHandlerFailed(CrawlNotification):
    """Our own code failed on a page: the page is recorded as unparsable, and this is a bug to report."""

    url: str
    trace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTruncated(CrawlNotification):
    """A page was read, but a part of it is over a limit and was left out."""

    url: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNotRendered(CrawlNotification):
    """A page wanted a browser and was read without one."""

    url: str
    reason: str
    browser_missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapRead(CrawlNotification):
    """A sitemap was read, or could not be."""

    url: str
    urls: int
    problem: str


Notify = Callable[[CrawlNotification], None]
