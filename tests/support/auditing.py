"""Running a real audit in a test's own process: prepare, crawl with as many engines as a test likes, analyse, ask the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tadoru.clock import Clock
from tadoru.config.options import AuditOptions
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.notifications import CrawlNotification
from tadoru.jobs import launch
from tadoru.jobs.audit.run import AuditCrawl
from tadoru.jobs.crawl_setup import NOTHING_TO_DO, PreparedCrawl
from tests.support.site import Site

N = TypeVar("N", bound=CrawlNotification)
UNHURRIED: dict[str, Any] = {"delay": 0.0, "processes": 1, "timeout": 5.0, "sitemap": "off", "resources": 0}
"""No pace, nothing beside the pages: what most tests want unless they are about it."""


@dataclass
class Audit:
    """One database, to be crawled into as often as a test likes."""

    site: Site
    folder: Path
    notices: list[CrawlNotification] = field(default_factory=list)

    @property
    def database(self) -> Path:
        return self.folder / "crawl.db"

    async def run(
        self,
        *paths: str,
        engines: int = 1,
        clock: Clock | None = None,
        on_created: Callable[[Crawler], None] | None = None,
        policy: dict[str, Any] | None = None,
        **options: Any,
    ) -> CrawlOutcome:
        """One run of the command; without a path it goes on with what is there."""
        chosen = AuditOptions(**{**UNHURRIED, "database": str(self.database), **options})
        audit = AuditCrawl(chosen, [self.site.url(path) for path in paths])
        prepared = await audit.prepare()
        ended = NOTHING_TO_DO
        if not prepared.nothing_to_do:
            ended = await self.crawl(prepared, engines, clock, on_created, policy or {})
        await audit.finish(prepared, ended, 0.0)
        return ended

    async def crawl(
        self,
        prepared: PreparedCrawl,
        engines: int,
        clock: Clock | None,
        on_created: Callable[[Crawler], None] | None,
        policy: dict[str, Any],
    ) -> CrawlOutcome:
        """Every engine with its own connection to the file, as separate processes would have."""
        plan = replace(prepared.plan, policy=replace(prepared.plan.policy, **policy))
        each = (launch.crawl(plan, self.notices.append, on_created=on_created, clock=clock) for _ in range(engines))
        return (await asyncio.gather(*each))[0]

    def told(self, kind: type[N]) -> list[N]:
        """The notices of one kind."""
        return [notice for notice in self.notices if isinstance(notice, kind)]

    def select(self, what: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the database, as a person with `sqlite3` would. The site's address is left out of what it says."""
        with closing(sqlite3.connect(self.database)) as sql:
            rows = sql.execute(f"SELECT {what}", values).fetchall()
        return [tuple(one.replace(self.site.base, "") if isinstance(one, str) else one for one in row) for row in rows]

    def one(self, what: str, *values: object) -> tuple[Any, ...]:
        """The only row there is."""
        [row] = self.select(what, *values)
        return row

    def column(self, what: str, *values: object) -> list[Any]:
        """The first value of each row."""
        return [row[0] for row in self.select(what, *values)]

    def statuses(self) -> dict[str, str]:
        """Every known page by its path, and where it stands."""
        return dict(self.select("url, status FROM pages"))
