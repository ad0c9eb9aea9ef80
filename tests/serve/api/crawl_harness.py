"""A service that knows crawls in every state, over databases that were crawled once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tadoru.serve.crawl_runner.crawl_files import crawl_database
from tadoru.serve.roles import Role
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import WorkerIdentity
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tests.support.serving import ServiceHarness

CRAWLS = "/api/v1/crawls"
BY = Actor(who="test")
HERE = WorkerIdentity("here", 1, "1")


class CrawlHarness(ServiceHarness):
    """A service with a crawl for each state that a reader can meet."""

    def __init__(self, folder: Path, audited: Path, linked: Path) -> None:
        super().__init__(folder / "events.db")
        self.admin = self.client(Role.ADMIN)
        self.audit = self.known("Garden", "audit", audited)
        self.links = self.known("Links", "links", linked)
        self.docs = self.known("Docs", "docs", linked)
        self.waiting = self.store.crawls.add("Waiting", "audit", ["https://garden.example/"], {"limit": 5}, BY)
        self.lost = self.store.crawls.add("Lost", "audit", ["https://garden.example/"], {}, BY, state=CrawlState.FINISHED)

    def known(self, name: str, job: str, database: Path, state: CrawlState = CrawlState.FINISHED) -> ServedCrawl:
        """A crawl whose database is there."""
        crawl = self.store.crawls.add(name, job, ["https://garden.example/"], {}, BY, state=state)
        place = crawl_database(self.service, crawl)
        place.parent.mkdir(parents=True)
        shutil.copy(database, place)
        return crawl

    def claimed(self, *beats: dict[str, Any]) -> ServedCrawl:
        """The crawl that waits longest, running now."""
        crawl = self.store.claims.claim(HERE, at_once=9)
        assert crawl is not None
        for progress in beats:
            self.store.claims.beat(crawl.id, HERE, progress)
        return crawl

    def at(self, crawl: ServedCrawl, what: str = "") -> str:
        return f"{CRAWLS}/{crawl.id}{what}"
