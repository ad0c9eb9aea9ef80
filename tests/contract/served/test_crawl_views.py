"""What pages ask of the register of crawls: what is busy, the last finished runs, the runs of the last days, the last notices."""

from __future__ import annotations

from datetime import timedelta

from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.schema import CrawlState
from tadoru.store.service import ServiceStore

ME = current()
URL = "https://example.org/"


def run_once(store: ServiceStore, state: CrawlState, **figures: int) -> int:
    """Run the crawl that waits longest to its end."""
    crawl = store.claims.claim(ME, at_once=9)
    assert crawl is not None
    store.claims.end(crawl.id, ME, state, figures=figures)
    return crawl.id


def test_the_last_finished_run_of_each_crawl_is_found_at_once(store: ServiceStore, by: Actor) -> None:
    first, second, third = (store.crawls.add(name, "audit", [URL], {}, by).id for name in "abc")
    run_once(store, CrawlState.FINISHED, pages=1)
    run_once(store, CrawlState.FAILED)
    run_once(store, CrawlState.FINISHED, pages=3)
    store.crawls.run(first, by)
    run_once(store, CrawlState.FINISHED, pages=2)
    store.crawls.run(first, by)
    run_once(store, CrawlState.STOPPED, pages=9)
    found = store.crawls.finished_runs([first, second])
    assert {number: run.figures["pages"] for number, run in found.items()} == {first: 2}
    assert store.crawls.finished_runs([third])[third].figures == {"pages": 3}
    assert store.crawls.finished_runs([]) == {}


def test_busy_crawls_are_those_that_run_or_wait(store: ServiceStore, by: Actor) -> None:
    numbers = [store.crawls.add(name, "audit", [URL], {}, by).id for name in "abc"]
    run_once(store, CrawlState.FINISHED)
    store.claims.claim(ME, at_once=9)
    assert [(one.id, one.state.value) for one in store.crawls.busy()] == [(numbers[1], "running"), (numbers[2], "queued")]
    assert [one.id for one in store.crawls.busy(limit=1)] == [numbers[1]]


def test_the_runs_of_the_last_days_are_those_that_ended_since(store: ServiceStore, by: Actor) -> None:
    for name in "ab":
        store.crawls.add(name, "audit", [URL], {}, by)
    numbers = [run_once(store, CrawlState.FINISHED), run_once(store, CrawlState.FAILED)]
    ended = [run.ended_at for number in numbers for run in store.crawls.runs(number)]
    last = max(at for at in ended if at is not None)
    assert [run.crawl_id for run in store.crawls.runs_since(last - timedelta(days=1))] == [2, 1]
    assert [run.crawl_id for run in store.crawls.runs_since(last - timedelta(days=1), limit=1)] == [2]
    assert store.crawls.runs_since(last + timedelta(seconds=1)) == ()


def test_the_last_notices_about_a_crawl_are_in_their_order(store: ServiceStore, by: Actor) -> None:
    assert store.messages.notices_about("crawl/1") == ()
    for number in range(4):
        store.messages.publish("crawl.notice", "crawl/1", {"text": str(number)})
        store.messages.publish("crawl.notice", "crawl/2", {"text": "another"})
        store.messages.publish("crawl.progress", "crawl/1", {"pages": number})
    assert [one.body["text"] for one in store.messages.notices_about("crawl/1", limit=3)] == ["1", "2", "3"]
    assert [one.body["text"] for one in store.messages.notices_about("crawl/1", among=6)] == ["2", "3"]
