"""What each outcome makes of a URL, and what the counters say about it."""

from __future__ import annotations

from datetime import UTC, datetime

from tadoru.clock import to_datetime
from tadoru.model.web import LinkKind
from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import (
    CompletedOutcome,
    CrawlCounts,
    FailedOutcome,
    PageFacts,
    PageStatus,
    RefusedOutcome,
    ReleasedOutcome,
    RetryOutcome,
    TrapRecord,
)
from tests.contract.crawls import (
    HOST,
    decided,
    done,
    external,
    lease,
    lease_one,
    row,
    rows,
    started,
    statuses,
    target,
    to,
    trapped,
    url,
)
from tests.support.clock import START, FakeClock


async def test_a_completed_page_shows_its_facts(store: CrawlStore, clock: FakeClock) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    clock.advance(2.5)
    facts = PageFacts(status_code=404, title="Gone ☃", content_type="text/html", ttfb_ms=1.5, download_time_ms=2.25)
    assert await store.frontier.finish(worker, [CompletedOutcome(lease=got, facts=facts)], max_depth=None) == 1
    found = await row(store, "x")
    assert found.status == "completed"
    assert (found.status_code, found.title, found.content_type, found.response_ms) == (404, "Gone ☃", "text/html", 3.75)
    assert found.added_at == datetime.fromtimestamp(START, UTC)
    assert found.crawled_at == to_datetime(START + 2.5)
    assert (found.error_type, found.skip_reason, found.parent_url, found.internal, found.purpose) == (
        None,
        None,
        None,
        True,
        "page",
    )


async def test_a_failed_page_shows_why(store: CrawlStore, clock: FakeClock) -> None:
    worker = await started(store, "x")
    outcome = FailedOutcome(lease=await lease_one(store, worker), kind="dns_failure", message="No such host.")
    await store.frontier.finish(worker, [outcome], max_depth=None)
    found = await row(store, "x")
    assert (found.status, found.error_type, found.error_message) == ("error", "dns_failure", "No such host.")
    assert found.crawled_at == to_datetime(clock.now())
    assert await store.frontier.counts() == CrawlCounts(error=1, counted=1)


async def test_a_refused_page_was_never_requested(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(
        worker, [RefusedOutcome(lease=await lease_one(store, worker), reason="robots.txt: Disallow: /")], max_depth=None
    )
    found = await row(store, "x")
    assert (found.status, found.skip_reason, found.crawled_at) == ("skipped", "robots.txt: Disallow: /", None)
    assert await store.frontier.counts() == CrawlCounts(skipped=1)


async def test_a_released_page_is_as_it_was(store: CrawlStore) -> None:
    worker = await started(store, "x")
    before = await row(store, "x")
    got = await lease_one(store, worker)
    assert await store.frontier.finish(worker, [ReleasedOutcome(lease=got)], max_depth=None) == 1
    assert await row(store, "x") == before
    assert await lease_one(store, worker) == got


async def test_a_retry_waits_for_its_time_and_is_counted(store: CrawlStore, clock: FakeClock) -> None:
    worker = await started(store, "x")
    for attempt in range(3):
        got = await lease_one(store, worker)
        assert got.attempt == attempt
        await store.frontier.finish(
            worker, [RetryOutcome(lease=got, after=10.0, kind="http_503", message="Answered 503.")], max_depth=None
        )
        clock.advance(9.5)
        assert await lease(store, worker) == []
        assert await store.frontier.counts() == CrawlCounts(queued=1)
        clock.advance(0.5)
    assert (await row(store, "x")).error_type == "http_503"


async def test_a_retry_that_waits_does_not_hold_up_those_behind_it(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    got = await lease_one(store, worker)
    await store.frontier.finish(worker, [RetryOutcome(lease=got, after=10.0, kind="http_503", message="")], max_depth=None)
    assert [each.url for each in await lease(store, worker, 5)] == [url("y")]


async def test_an_answer_after_a_retry_leaves_no_error(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(
        worker, [RetryOutcome(lease=await lease_one(store, worker), after=0.0, kind="tls_error", message="m")], max_depth=None
    )
    await store.frontier.finish(worker, [done(await lease_one(store, worker))], max_depth=None)
    found = await row(store, "x")
    assert (found.error_type, found.error_message) == (None, None)


async def test_counters_tell_answers_from_redirects(store: CrawlStore) -> None:
    worker = await started(store, "x", "y", "z")
    x, y, _ = await lease(store, worker, 3)
    await store.frontier.finish(worker, [done(x, redirect="onward"), done(y, external("e"), "new")], max_depth=None)
    assert await store.frontier.counts() == CrawlCounts(discovered=1, queued=2, processing=1, completed=2, counted=1, redirects=1)
    assert (await store.frontier.counts()).known == 6


async def test_a_redirect_target_keeps_the_depth_and_inherits_the_seed(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="y")], max_depth=0)
    got = await lease_one(store, worker)
    assert (got.url, got.depth, got.hops, got.seed) == (url("y"), 0, 1, True)
    await store.frontier.finish(worker, [done(got, redirect="z")], max_depth=0)
    got = await lease_one(store, worker)
    assert (got.url, got.depth, got.hops, got.seed) == (url("z"), 0, 2, True)
    assert (await row(store, "x")).redirect_url == url("y")
    assert (await row(store, "y")).parent_url == url("x")


async def test_the_redirect_target_of_a_found_page_is_no_seed(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=None)
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="b")], max_depth=None)
    got = await lease_one(store, worker)
    assert (got.depth, got.hops, got.seed) == (1, 1, False)


async def test_a_seed_that_redirects_to_a_page_only_discovered_makes_it_a_page_of_the_crawl(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    x, y = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x, external("home"))], max_depth=None)
    moved = target("home", "b.example")
    await store.frontier.finish(worker, [done(y, redirect=moved)], max_depth=None)
    found = (await rows(store))["https://b.example/home"]
    assert (found.status, found.internal, found.depth, found.skip_reason) == ("queued", True, 0, None)
    assert len(await lease(store, worker, host="b.example")) == 1


async def test_a_redirect_may_carry_links_too(store: CrawlStore) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    await store.frontier.finish(worker, [done(got, "hint", redirect="y")], max_depth=None)
    assert [link.target_url async for link in store.graph.links()] == [url("hint")]


async def test_a_class_of_urls_is_cut_off_at_its_cap_and_counted(store: CrawlStore) -> None:
    worker = await started(store, "x")
    days = [trapped(f"day-{n}", cap=3) for n in range(5)]
    await store.frontier.finish(worker, [done(await lease_one(store, worker), *days, *days)], max_depth=None)
    assert [(await row(store, f"day-{n}")).status for n in range(5)] == ["queued"] * 3 + ["skipped"] * 2
    assert (await row(store, "day-4")).skip_reason == "trap: calendar"
    assert await store.graph.traps() == [TrapRecord("calendar of /", "calendar", 5, 2, url("day-4"))]


async def test_the_cap_of_a_class_holds_across_pages_and_workers(store: CrawlStore) -> None:
    first = await started(store, "x", "y")
    second = await store.frontier.join(60)
    for worker, number in ((first, 0), (second, 2)):
        days = [trapped(f"day-{number + n}", cap=3) for n in range(2)]
        await store.frontier.finish(worker, [done(await lease_one(store, worker), *days)], max_depth=None)
    assert list((await statuses(store)).values()).count("skipped") == 1


async def test_a_class_of_classes_has_a_cap_of_its_own(store: CrawlStore) -> None:
    worker = await started(store, "x")
    outer = TrapPattern("every page", "session id", 3)
    found = [trapped(f"{page}-{n}", cap=2, key=f"page {page}") for page in range(3) for n in range(3)]
    found = [each._replace(trap=each.trap and each.trap._replace(outer=outer)) for each in found]
    await store.frontier.finish(worker, [done(await lease_one(store, worker), *found)], max_depth=None)
    requested = {path for path, status in (await statuses(store)).items() if status == "queued"}
    assert requested == {"0-0", "0-1", "1-0"}
    cut = {trap.key: (trap.known, trap.refused) for trap in await store.graph.traps()}
    assert cut == {"page 0": (3, 1), "page 1": (3, 1), "page 2": (3, 1), "every page": (6, 3)}


async def test_classes_that_were_not_cut_off_are_not_reported_and_the_most_cut_come_first(store: CrawlStore) -> None:
    worker = await started(store, "x")
    found = [
        trapped(f"{key}-{n}", cap=2, key=key)
        for key, count in (("b", 3), ("a", 3), ("few", 2), ("most", 5))
        for n in range(count)
    ]
    await store.frontier.finish(worker, [done(await lease_one(store, worker), *found)], max_depth=None)
    assert [(trap.key, trap.known, trap.refused) for trap in await store.graph.traps()] == [
        ("most", 5, 3),
        ("a", 3, 1),
        ("b", 3, 1),
    ]


async def test_a_typed_url_is_requested_whatever_class_it_is_of(store: CrawlStore) -> None:
    await store.frontier.add([trapped(f"day-{n}", cap=1) for n in range(3)], seed=True)
    assert (await store.frontier.counts()).queued == 3
    assert await store.graph.traps() == []


async def test_links_to_urls_that_are_refused_are_kept(store: CrawlStore) -> None:
    worker = await started(store, "x")
    skipped = target("private", status=PageStatus.SKIPPED, reason="excluded")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), skipped)], max_depth=None)
    assert [link.target_url async for link in store.graph.links()] == [url("private")]
    assert (await row(store, "private")).skip_reason == "excluded"


async def test_texts_and_kinds_of_links_are_kept(store: CrawlStore) -> None:
    worker = await started(store, "x")
    [link] = to("y")
    link = link._replace(text="Text 日本 'quoted'", rel="nofollow ugc", kind=LinkKind.AREA, fragment="part", position=7)
    await store.frontier.finish(
        worker,
        [
            CompletedOutcome(
                lease=await lease_one(store, worker), facts=PageFacts(status_code=200), links=[link], targets=decided("y")
            )
        ],
        max_depth=None,
    )
    [found] = [found async for found in store.graph.links()]
    assert found == (url("x"), url("y"), "Text 日本 'quoted'", "nofollow ugc", "area", 7, "part")


async def test_a_page_of_one_host_may_lead_to_another(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), external("checked", check=True))], max_depth=0)
    leased = await store.frontier.lease(worker, {HOST: 5}, new_hosts=5, per_host=1, limit=0)
    assert [(got.host, got.purpose, got.depth) for got in leased.leases] == [("b.example", "check", 1)]


async def test_a_crawl_goes_on_as_before_when_a_store_drops_what_it_has_cached(store: CrawlStore) -> None:
    worker = await started(store, "start")
    page = await lease_one(store, worker)
    await store.frontier.finish(worker, [done(page, "x", "y")], max_depth=None)
    store.release_memory()
    x, y = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x, "y", "z"), done(y, "start")], max_depth=None)
    assert {name: (one.depth, one.status) for name, one in (await rows(store)).items()} == {
        "start": (0, "completed"),
        "x": (1, "completed"),
        "y": (1, "completed"),
        "z": (2, "queued"),
    }
