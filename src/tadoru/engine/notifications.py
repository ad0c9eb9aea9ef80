"""Notifications that the engine sends while it works. The command line turns them into log lines, the service into messages.

In this product an *event* is a calendar event; what happens inside a crawl is a notification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlNotification:
    """The base of all notifications."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDone(CrawlNotification):
    """A page was fetched and read."""

    url: str
    status: int
    depth: int
    links: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFailed(CrawlNotification):
    """A URL failed and is not retried."""

    url: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRetried(CrawlNotification):
    """A URL is requested again later."""

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
    """A host asked for a slower pace, its response times grow, or it does not respond."""

    host: str
    gap: float
    pause: float
    silent: bool = False
    """Whether it does not respond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteMoved(CrawlNotification):
    """The start URL redirected to another host, which is now the site."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasesRecovered(CrawlNotification):
    """Leases of a dead process were returned to the queue."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHandlerFailed(CrawlNotification):
    """A job raised an error on a page: the page is recorded as unparsable. This is a bug in Tadoru."""

    url: str
    trace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTruncated(CrawlNotification):
    """A page was read, but a part of it exceeds a limit and was skipped."""

    url: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNotRendered(CrawlNotification):
    """A page needed a browser and was read without one."""

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
