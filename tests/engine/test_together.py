"""Pages that arrive together: how they are timed, read and written. The network is a stand-in that lets them arrive at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.job import CrawlPolicy, FetchedPage, PageResult
from tadoru.engine.url_filter import UrlFilter
from tadoru.fetch.base import RequestTurn
from tadoru.jobs.links.job import LinksJob
from tadoru.model.web import Answer, Request, Response
from tadoru.rules.scope import Scope
from tadoru.store.crawl.records import Outcome
from tests.support.memory_store.store import MemoryStore

START = "http://site.example/"
TOGETHER = 8


@dataclass
class Recorder:
    """What happened, in order."""

    arrived: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(TOGETHER))
    events: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)


@dataclass
class BurstSite:
    """A site whose pages, but for the first, all arrive at the same moment."""

    recorder: Recorder

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        body = "".join(f'<a href="/{number}">x</a>' for number in range(TOGETHER)) if request.url == START else "<p>nothing</p>"
        if request.url != START:
            await self.recorder.arrived.wait()
            self.recorder.events.append("arrived")
        return Response(url=request.url, status=200, headers=(("Content-Type", "text/html"),), body=body.encode())

    async def close(self) -> None: ...


@dataclass(frozen=True)
class RecordingJob(LinksJob):
    """A job that says when it reads."""

    recorder: Recorder = field(default_factory=Recorder)

    def handle(self, page: FetchedPage) -> PageResult:
        if page.url != START:
            self.recorder.events.append("read")
        return super().handle(page)


class RecordingStore(MemoryStore):
    """A store that says how much is written at a time."""

    recorder: Recorder

    async def finish(self, worker: int, outcomes: Sequence[Outcome], *, max_depth: int | None) -> int:
        self.recorder.batches.append(len(outcomes))
        return await super().finish(worker, outcomes, max_depth=max_depth)


async def crawled() -> Recorder:
    recorder, scope = Recorder(), Scope(sites=(START,))
    store = RecordingStore(SystemClock())
    store.recorder = recorder
    await store.add([UrlFilter(scope, check_external=False, follow=True, trap_cap=0).start_target(START)], seed=True)
    policy = CrawlPolicy(delay=0.0, concurrency=TOGETHER, obey_robots=False)
    job = RecordingJob(scope=scope, recorder=recorder)
    await Crawler(
        job=job, policy=policy, store=store, fetcher=BurstSite(recorder), clock=SystemClock(), notify=lambda _: None
    ).run()
    return recorder


async def test_no_answer_waits_to_be_timed_until_others_are_read() -> None:
    assert (await crawled()).events == ["arrived"] * TOGETHER + ["read"] * TOGETHER


async def test_pages_that_arrive_together_are_written_together_and_half_of_them_do_not_wait_for_the_rest() -> None:
    batches = (await crawled()).batches
    assert batches[0] == 1, "the start page, by itself"
    assert sum(batches) == 1 + TOGETHER
    assert max(batches) >= TOGETHER // 2
    assert len(batches) > 2
