"""Running the real engine in a test: store, fetcher and loop, nothing replaced but time where a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tadoru.clock import Clock
from tadoru.config.options import LinksOptions
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.notifications import CrawlNotification
from tadoru.jobs import launch
from tadoru.jobs.crawl_setup import PreparedCrawl
from tadoru.jobs.links.result import CrawlResult, UrlInfo
from tadoru.jobs.links.run import LinksCrawl, links_async
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.site import Site

N = TypeVar("N", bound=CrawlNotification)
UNHURRIED: dict[str, Any] = {"delay": 0.0, "depth": None, "limit": 0, "timeout": 5.0}
"""No pace, no limits: what most tests want unless they are about them."""


class FastClock:
    """A clock that runs so many times as fast as the machine's: a backoff of a minute is over in no time, and still measured."""

    def __init__(self, speed: float = 200.0) -> None:
        self._speed = speed
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    def now(self) -> float:
        return 1_900_000_000.0 + self.monotonic()

    def monotonic(self) -> float:
        return (self._loop.time() - self._began) * self._speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)


@dataclass
class Setup:
    """A crawl of a site in a file, to be run as often and by as many engines as a test likes."""

    links: LinksCrawl
    prepared: PreparedCrawl
    notices: list[CrawlNotification] = field(default_factory=list)

    @property
    def database(self) -> str:
        return self.prepared.plan.database

    async def run(
        self, *, engines: int = 1, clock: Clock | None = None, on_created: Callable[[Crawler], None] | None = None, **policy: Any
    ) -> list[CrawlOutcome]:
        """Every engine with its own connection to the file, as separate processes would have."""
        plan = replace(self.prepared.plan, policy=replace(self.prepared.plan.policy, **policy))
        each = (launch.crawl(plan, self.notices.append, on_created=on_created, clock=clock) for _ in range(engines))
        return await asyncio.gather(*each)

    async def result(self) -> CrawlResult:
        return (await self.links.finish(self.prepared, CrawlOutcome(stopped=False), 0.0)).result

    def told(self, kind: type[N]) -> list[N]:
        """The notices of one kind."""
        return [notice for notice in self.notices if isinstance(notice, kind)]

    def store(self, clock: Clock) -> SqliteStore:
        """One more connection to the crawl."""
        return SqliteStore(self.database, clock)


async def set_up(site: Site, folder: Path, path: str = "/", **options: Any) -> Setup:
    """A crawl that has not begun."""
    chosen = LinksOptions(**{**UNHURRIED, **options})
    links = LinksCrawl(chosen, [site.url(path)], str(folder / "crawl.db"), load=True)
    return Setup(links, await links.prepare())


async def crawl(site: Site, path: str = "/", **options: Any) -> CrawlResult:
    """The whole way, as the Python API goes it."""
    return await links_async(site.url(path), **{**UNHURRIED, **options})


def by_path(site: Site, result: CrawlResult) -> dict[str, UrlInfo]:
    """The internal URLs by their path."""
    return {info.url.removeprefix(site.base): info for info in result.internal_urls}
