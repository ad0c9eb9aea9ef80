"""Crawls of many hosts: the engine, a real store, and a world that answers for every host there could be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tadoru.config.options import AuditOptions
from tadoru.engine import crawl as engine
from tadoru.engine.crawl import Crawler
from tadoru.fetch.base import RequestTurn
from tadoru.jobs.audit.run import AuditCrawl
from tadoru.model.web import Answer, Request, Response
from tadoru.store.crawl.records import HOST_SPENT, TRAPPED_HOST
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.crawling import FastClock
from tests.support.generated_sites import document

Links = Callable[[str, str], Sequence[str]]


class FakeWeb:
    """Every URL is a page; `links` says where it leads, or where it redirects when it is one URL in brackets."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self.asked: list[str] = []

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        if turn is not None:
            turn.sent()
        _, _, host, path = request.url.split("/", 3)
        if path == "robots.txt":
            return Response(url=request.url, status=404, headers=())
        self.asked.append(request.url)
        links = self._links(host, path)
        if len(links) == 1 and links[0].startswith("["):
            return Response(url=request.url, status=302, headers=(("Location", links[0].strip("[]")),))
        return Response(url=request.url, status=200, headers=(("Content-Type", "text/html"),), body=document(request.url, links))

    async def close(self) -> None:
        """Nothing is open."""

    @property
    def hosts(self) -> Counter[str]:
        return Counter(url.split("/")[2] for url in self.asked)


async def crawl(folder: Path, links: Links, *starts: str, **options: Any) -> tuple[FakeWeb, dict[str, str | None]]:
    """What was asked, and why what was skipped was."""
    chosen = AuditOptions(
        database=str(folder / "crawl.db"), follow_external_hosts=True, sitemap="off", resources=0,
        **{"delay": 0.0, "concurrency": 8, **options},
    )  # fmt: skip
    prepared = await AuditCrawl(chosen, starts).prepare()
    fake_web, clock = FakeWeb(links), FastClock()
    store = SqliteStore(chosen.database, clock)
    plan = prepared.plan
    work = Crawler(job=plan.job, policy=plan.policy, store=store, fetcher=fake_web, clock=clock, notify=lambda _: None)
    await work.run()
    skipped = {row.url: row.skip_reason async for row in store.graph.pages() if row.status == "skipped"}
    await store.close()
    return fake_web, skipped


def many(host: str, path: str) -> Sequence[str]:
    return [f"/{number}" for number in range(30)]


async def test_no_host_is_asked_for_more_pages_than_it_may_be_and_a_larger_number_goes_on(tmp_path: Path) -> None:
    starts = ("https://one.example/", "https://two.example/")
    fake_web, skipped = await crawl(tmp_path, many, *starts, pages_per_host=5)
    assert fake_web.hosts == {"one.example": 5, "two.example": 5}
    assert (len(skipped), set(skipped.values())) == (52, {HOST_SPENT})
    again, _ = await crawl(tmp_path, many, pages_per_host=5)
    assert again.asked == []
    more, skipped = await crawl(tmp_path, many, pages_per_host=8)
    assert more.hosts == {"one.example": 3, "two.example": 3}
    assert len(skipped) == 46


async def test_a_domain_with_a_new_host_on_every_page_ends(tmp_path: Path) -> None:
    def links(host: str, path: str) -> Sequence[str]:
        return [f"https://{name}-{host.partition('.')[0]}.wild.example/" for name in "ab"] if len(host) < 60 else []

    fake_web, skipped = await crawl(tmp_path, links, "https://x.wild.example/", hosts_per_domain=6)
    assert len(fake_web.hosts) == 7  # The one that was named, and six more.
    assert set(skipped.values()) == {TRAPPED_HOST}


async def test_redirects_from_host_to_host_end(tmp_path: Path) -> None:
    def onward(host: str, path: str) -> Sequence[str]:
        return [f"[https://h{int(host[1:].partition('.')[0]) + 1}.example/]"]

    fake_web, _ = await crawl(tmp_path, onward, "https://h0.example/")
    assert [url.split("/")[2] for url in fake_web.asked] == [f"h{number}.example" for number in range(11)]


async def test_a_queue_that_was_full_loses_nothing(tmp_path: Path) -> None:
    def links(host: str, path: str) -> Sequence[str]:
        return [f"https://h{number}.example/" for number in range(60)] if host == "start.example" else many(host, path)[:3]

    fake_web, skipped = await crawl(tmp_path, links, "https://start.example/", queue_limit=10, hosts_per_domain=0)
    assert (len(fake_web.asked), len(set(fake_web.asked))) == (241, 241)
    assert skipped == {}


async def test_hosts_take_turns_when_there_are_more_of_them_than_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_HOSTS", 4)

    def links(host: str, path: str) -> Sequence[str]:
        return [f"/{number}" for number in range(400 if host.startswith("big") else 2)]

    starts = [f"https://big{number}.example/" for number in range(4)] + [f"https://small{number}.example/" for number in range(8)]
    fake_web, _ = await crawl(tmp_path, links, *starts, delay=1.0, limit=200)
    first = {host: at for at, host in reversed(list(enumerate(url.split("/")[2] for url in fake_web.asked)))}
    assert len(first) == 12
    assert max(first.values()) < 180


async def test_the_scope_of_very_many_starts_stays_small_and_all_of_them_are_asked(tmp_path: Path) -> None:
    starts = [f"https://93.184.{number // 250}.{number % 250 + 1}/" for number in range(251)]
    fake_web, _ = await crawl(tmp_path, lambda host, path: (), *starts, include=("/only-this",))
    assert len(fake_web.asked) == 251
    joined = await AuditCrawl(AuditOptions(database=str(tmp_path / "crawl.db"), follow_external_hosts=True)).join()
    assert (len(joined.plan.job.scope.sites), len(joined.starts)) == (100, 251)
