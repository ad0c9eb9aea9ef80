"""Short ways to say what the contract's tests say all the time: targets, links, outcomes, and a whole crawl of a small graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from tadoru.model.web import Link, LinkKind
from tadoru.rules.traps import TrapPattern
from tadoru.rules.url import host_key
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.records import CompletedOutcome, Lease, LinkTarget, PageFacts, PageRow, PageStatus, UrlPurpose
from tests.support.clock import FakeClock
from tests.support.memory_store.store import MemoryStore

HOST = "a.example"
TTL = 60.0


def url(path: str, host: str = HOST) -> str:
    return f"https://{host}/{path}"


def target(path: str, host: str = HOST, status: PageStatus = PageStatus.QUEUED, reason: str = "") -> LinkTarget:
    return LinkTarget(url(path, host), host, status, reason)


def trapped(path: str, cap: int, key: str = "calendar of /") -> LinkTarget:
    return LinkTarget(url(path), HOST, PageStatus.QUEUED, trap=TrapPattern(key, "calendar", cap))


def external(path: str, *, check: bool = False) -> LinkTarget:
    status, purpose = (PageStatus.QUEUED, UrlPurpose.CHECK) if check else (PageStatus.DISCOVERED, UrlPurpose.PAGE)
    return LinkTarget(url(path, "b.example"), "b.example", status, "another site", purpose, internal=False)


def decided(*targets: LinkTarget | Link | str) -> dict[str, LinkTarget]:
    """The decisions about these, by URL: to request what is only a path or a link."""
    plain = (url(each) if isinstance(each, str) else each.url for each in targets)
    return {
        one: each if isinstance(each, LinkTarget) else LinkTarget(one, host_key(one), PageStatus.QUEUED)
        for one, each in zip(plain, targets, strict=True)
    }


def to(*targets: LinkTarget | str) -> list[Link]:
    """Links to these, in this order."""
    found = [url(each) if isinstance(each, str) else each.url for each in targets]
    return [Link(each, LinkKind.A, f"to {each}", "", position, "") for position, each in enumerate(found)]


def done(
    lease: Lease, *targets: LinkTarget | str, redirect: LinkTarget | str | None = None, status: int | None = None
) -> CompletedOutcome:
    """An answer with links to these, or a redirect."""
    onward = target(redirect) if isinstance(redirect, str) else redirect
    code = status or (200 if onward is None else 301)
    facts = PageFacts(status_code=code)
    return CompletedOutcome(lease=lease, facts=facts, links=to(*targets), targets=decided(*targets), redirect=onward)


async def lease(store: CrawlStore, worker: int, number: int = 1, *, host: str = HOST, limit: int = 0) -> list[Lease]:
    """Up to so many URLs of one host."""
    return (await store.frontier.lease(worker, {host: number}, new_hosts=0, per_host=0, limit=limit)).leases


async def lease_one(store: CrawlStore, worker: int) -> Lease:
    [only] = await lease(store, worker)
    return only


async def rows(store: CrawlStore) -> dict[str, PageRow]:
    """Every page by its path (by its whole URL when it is of another host)."""
    return {row.url.removeprefix(url("")): row async for row in store.graph.pages()}


async def row(store: CrawlStore, path: str) -> PageRow:
    return (await rows(store))[path]


async def statuses(store: CrawlStore) -> dict[str, str]:
    return {path: found.status for path, found in (await rows(store)).items()}


async def depths(store: CrawlStore) -> dict[str, int]:
    return {path: found.depth for path, found in (await rows(store)).items()}


async def started(store: CrawlStore, *paths: str) -> int:
    """A worker of a crawl that starts at these."""
    await store.frontier.add([target(path) for path in paths], seed=True)
    return await store.frontier.join(TTL)


async def crawl(
    store: CrawlStore,
    graph: Mapping[str, Collection[str]],
    *,
    max_depth: int | None = None,
    choose: Callable[[Sequence[Lease]], int] = lambda held: 0,
    redirects: Mapping[str, str] | None = None,
    watch: Callable[[dict[str, int]], None] | None = None,
) -> None:
    """Crawl a graph to its end with two workers, finishing the held leases one by one in the order that `choose` says.

    `watch` is shown the depths after each of them.
    """
    workers = [await store.frontier.join(TTL), await store.frontier.join(TTL)]
    held: list[Lease] = []
    owners: dict[int, int] = {}
    while True:
        for worker in workers:
            for got in await lease(store, worker, 2):
                held.append(got)
                owners[got.page_id] = worker
        if not held:
            break
        got = held.pop(choose(held))
        path = got.url.removeprefix(url(""))
        onward = (redirects or {}).get(path)
        outcome = done(got, redirect=onward) if onward is not None else done(got, *graph.get(path, ()))
        assert await store.frontier.finish(owners[got.page_id], [outcome], max_depth=max_depth) == 1
        if watch is not None:
            watch(await depths(store))
    for worker in workers:
        await store.frontier.leave(worker)


def without_file(backend: str) -> CrawlStore:
    """A new crawl that lives in this process only: `memory` or `sqlite`."""
    return MemoryStore(FakeClock()) if backend == "memory" else open_store(":memory:", FakeClock())
