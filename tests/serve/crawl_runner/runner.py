"""A service that runs crawls, without its web: with processes of their own as it really does, or here, where that is enough."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tadoru.clock import Clock, SystemClock
from tadoru.config.options import ServeOptions
from tadoru.log import Log
from tadoru.serve.crawl_runner.crawl_files import crawl_database, crawl_path
from tadoru.serve.crawl_runner.crawl_process import StopRequest, run_crawl
from tadoru.serve.crawl_runner.dispatcher import Dispatcher, start_dispatcher
from tadoru.serve.crawl_runner.process_messages import CrawlRequest
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl
from tadoru.store.service import open_service
from tests.support.site import Site

BY = Actor(who="mika")
PATIENCE = 60.0
FAST = {"delay": 0.0, "concurrency": 4}
"""Quicker than anybody may ask for over the web."""


def place_of(site: Site) -> str:
    """The one address that an operator would allow."""
    return site.base.partition("//")[2]


def until(reached: Callable[[], bool], what: str = "it") -> None:
    """Look again and again until it is so: what happens is in another process, which tells us by the database only."""
    clock, pause = SystemClock(), threading.Event()
    last = clock.monotonic() + PATIENCE
    while not reached():
        assert clock.monotonic() < last, f"{what} did not come to that"
        pause.wait(0.02)


class RunnerHarness:
    """The service."""

    def __init__(self, folder: Path, *allowed: Site, clock: Clock | None = None, database: str = "", **options: Any) -> None:
        self.database = database or str(folder / "var" / "tadoru.db")
        self.said = io.StringIO()
        clock = clock or SystemClock()
        self.store = open_service(self.database, clock)
        chosen = {"crawl_private": tuple(place_of(site) for site in allowed)} | options
        self.service = Service(
            store=self.store, options=ServeOptions(database=self.database, **chosen), clock=clock,
            log=Log(self.said, clock, form="json", level="info"),
        )  # fmt: skip

    def close(self) -> None:
        self.service.close()

    def dispatch(self) -> Dispatcher:
        """Run what is queued, in processes."""
        start_dispatcher(self.service)
        assert self.service.crawling is not None
        return self.service.crawling

    def add(self, job: str, *starts: str, every: int | None = None, webhook: str = "", **options: Any) -> ServedCrawl:
        """A crawl as the store has it, whatever may be asked for over the web."""
        return self.store.crawls.add(f"{job} of it", job, starts, FAST | options, BY, every=every, webhook=webhook)

    def run_here(self, crawl_id: int) -> CrawlRun:
        """Run a crawl that is queued, in this process; its run."""
        crawl = self.store.claims.claim(current(), at_once=99)
        assert crawl is not None
        assert crawl.id == crawl_id
        private = self.service.options.crawl_private
        request = CrawlRequest(database=self.database, crawl_id=crawl_id, operators={}, private=private)
        run_crawl(request, self.store, StopRequest(), self.service.log)
        return self.store.crawls.runs(crawl_id)[0]

    def run_again(self, crawl_id: int) -> CrawlRun:
        self.store.crawls.run(crawl_id, BY)
        return self.run_here(crawl_id)

    def state(self, crawl_id: int) -> CrawlState:
        return self.store.crawls.get(crawl_id).state

    def wait(self, crawl_id: int, *states: CrawlState) -> ServedCrawl:
        """Until a crawl stands so."""
        until(lambda: self.state(crawl_id) in states, f"crawl {crawl_id}, which is {self.state(crawl_id)},")
        return self.store.crawls.get(crawl_id)

    def heard(self, crawl_id: int) -> None:
        """Until the process of a crawl has heard what is wanted of it: it hears that when it says how it goes."""
        last = self.store.messages.span()[1]
        kind, subject = "crawl.progress", f"crawl/{crawl_id}"
        until(lambda: any((one.kind, one.subject) == (kind, subject) for one in self.store.messages.list(last)), "the next beat")

    def path(self, crawl_id: int) -> Path:
        return crawl_path(self.service, self.store.crawls.get(crawl_id))

    def crawl_database(self, crawl_id: int) -> Path:
        return crawl_database(self.service, self.store.crawls.get(crawl_id))

    def child(self, crawl_id: int) -> int:
        """The process that runs a crawl."""
        with self.store.db.read() as sql:
            pid: int = sql.exec_driver_sql(f"SELECT pid FROM crawls WHERE id = {crawl_id}").scalar_one()
        return pid

    def notices(self, crawl_id: int) -> list[str]:
        told = self.store.messages.list(0, limit=10_000)
        return [one.body["text"] for one in told if one.kind == "crawl.notice" and one.body["crawl_id"] == crawl_id]
