"""Crawls of the service in its database: who takes one, what is wanted of it, how it ends, when it is due, what is told."""

from __future__ import annotations

import pytest

from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import WorkerIdentity, current, machine_name
from tadoru.store.served_crawls.register import CRASHED, HEARTBEAT_TIMEOUT, MAX_CRASHES, CrawlBusy, CrawlLost, CrawlNotFound
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tadoru.store.service import ServiceStore, open_service
from tests.contract.served.conftest import LetPass
from tests.support.clock import FakeClock

ME = current()
HERE = machine_name()
ELSEWHERE = WorkerIdentity("another machine", 7, "1")
DEAD = WorkerIdentity(HERE, 2**22 + 5, "1")
URL = "https://example.org/"


def added(store: ServiceStore, by: Actor, job: str = "audit", **more: object) -> ServedCrawl:
    return store.crawls.add("Site", job, [URL], {"depth": 2}, by, **more)  # type: ignore[arg-type]


def claimed(store: ServiceStore, worker: WorkerIdentity = ME) -> ServedCrawl:
    found = store.claims.claim(worker, at_once=9)
    assert found is not None
    return found


def test_a_new_crawl_waits_and_has_a_place_of_its_own(store: ServiceStore, by: Actor) -> None:
    audit, docs = added(store, by, every=3600, webhook="https://example.org/hook"), added(store, by, "docs")
    assert (audit.state, audit.place, audit.starts, audit.options) == (
        CrawlState.QUEUED,
        "crawls/1/crawl.db",
        (URL,),
        {"depth": 2},
    )
    assert (audit.every, audit.webhook, audit.created_by) == (3600, "https://example.org/hook", "mika")
    assert docs.place == "docs/2"
    assert [one.id for one in store.crawls.list()] == [2, 1]
    assert [one.id for one in store.crawls.list(job="audit")] == [1]
    assert [one.id for one in store.crawls.list(before=2)] == [1]


def test_each_crawl_is_taken_once_and_only_so_many_at_a_time(store: ServiceStore, by: Actor, clock: FakeClock) -> None:
    for _ in range(3):
        added(store, by)
    other = open_service(store.db.database, clock)
    taken = [one.claims.claim(ME, at_once=2) for one in (store, other, store, other)]
    other.close()
    assert [one and one.id for one in taken] == [1, 2, None, None]
    assert [run.outcome for run in store.crawls.runs(1)] == [""]


def test_a_crawl_is_handed_to_the_process_that_was_started_for_it(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    claimed(store)
    store.claims.transfer(1, ME, ELSEWHERE)
    assert store.claims.holds(1, ELSEWHERE)
    for call in (
        lambda: store.claims.beat(1, ME, {}),
        lambda: store.claims.transfer(1, ME, ELSEWHERE),
        lambda: store.claims.mark_restarted(1, ME),
    ):
        with pytest.raises(CrawlLost):
            call()


def test_what_is_wanted_is_heard_at_the_next_beat(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    claimed(store)
    assert store.claims.beat(1, ME, {"pages": 3}) == ""
    assert store.crawls.get(1).progress == {"pages": 3}
    store.crawls.pause(1, by)
    assert store.claims.beat(1, ME, {"pages": 4}) == "pause"
    store.crawls.stop(1, by)
    assert store.claims.beat(1, ME, {"pages": 4}) == "stop"
    with pytest.raises(CrawlBusy, match="is ending"):
        store.crawls.run(1, by)
    with pytest.raises(CrawlBusy, match="Stop it first"):
        store.crawls.remove(1, by)
    ended = store.claims.end(1, ME, CrawlState.STOPPED, figures={"pages": 4})
    assert (ended.state, ended.wanted) == (CrawlState.STOPPED, "")
    assert [(run.outcome, run.figures) for run in store.crawls.runs(1)] == [("stopped", {"pages": 4})]


def test_a_crawl_that_waits_is_paused_or_stopped_at_once(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    assert store.crawls.pause(1, by).state is CrawlState.PAUSED
    assert store.claims.claim(ME, at_once=9) is None
    assert store.crawls.stop(1, by).state is CrawlState.STOPPED
    for call in (store.crawls.pause, store.crawls.stop):
        with pytest.raises(CrawlBusy, match=r"Cannot (pause|stop) crawl 1"):
            call(1, by)
    assert store.crawls.run(1, by).state is CrawlState.QUEUED
    with pytest.raises(CrawlBusy, match="already queued"):
        store.crawls.run(1, by)


@pytest.mark.parametrize(
    "state, anew",
    [(CrawlState.FINISHED, True), (CrawlState.FAILED, True), (CrawlState.STOPPED, True), (CrawlState.PAUSED, False)],
)
def test_a_paused_crawl_goes_on_and_one_that_finished_failed_or_was_stopped_begins_anew(
    store: ServiceStore, by: Actor, state: CrawlState, anew: bool
) -> None:
    added(store, by)
    claimed(store)
    store.claims.end(1, ME, state, error="why" if state is CrawlState.FAILED else "")
    assert store.crawls.run(1, by).again is anew
    assert claimed(store).again is anew
    store.claims.mark_restarted(1, ME)
    store.claims.end(1, ME, CrawlState.QUEUED)
    assert not claimed(store).again, "what was begun anew is gone on with when it was interrupted"


def test_a_crawl_of_a_dead_process_is_queued_by_whoever_looks(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    claimed(store, DEAD)
    assert store.claims.queue_due(HERE) == 1
    assert store.crawls.get(1).state is CrawlState.QUEUED
    assert [run.outcome for run in store.crawls.runs(1)] == ["failed"]
    assert store.claims.queue_due(HERE) == 0


def test_on_another_machine_silence_tells_that_a_process_is_gone(store: ServiceStore, by: Actor, let_pass: LetPass) -> None:
    added(store, by)
    claimed(store, ELSEWHERE)
    let_pass(HEARTBEAT_TIMEOUT.total_seconds() - 5)
    assert store.claims.queue_due(HERE) == 0
    store.claims.beat(1, ELSEWHERE, {})
    let_pass(HEARTBEAT_TIMEOUT.total_seconds() - 5)
    assert store.claims.queue_due(HERE) == 0
    let_pass(10)
    assert store.claims.queue_due(HERE) == 1


@pytest.mark.parametrize("wanted", ["pause", "stop"])
def test_a_crawl_that_was_to_end_anyway_is_not_begun_again(store: ServiceStore, by: Actor, wanted: str) -> None:
    added(store, by)
    claimed(store, DEAD)
    (store.crawls.pause if wanted == "pause" else store.crawls.stop)(1, by)
    store.claims.queue_due(HERE)
    assert store.crawls.get(1).state is {"pause": CrawlState.PAUSED, "stop": CrawlState.STOPPED}[wanted]


def test_a_crawl_that_kills_its_processes_fails_in_the_end(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    for _ in range(MAX_CRASHES):
        assert store.crawls.get(1).state is CrawlState.QUEUED
        claimed(store, DEAD)
        store.claims.beat(1, DEAD, {"pages": 5})
        store.claims.beat(1, DEAD, {"pages": 5})
        store.claims.queue_due(HERE)
    assert (store.crawls.get(1).state, store.crawls.get(1).error) == (CrawlState.FAILED, CRASHED)
    assert [run.changes["reasons"] for run in store.claims.unnotified_runs()] == [[CRASHED]]
    assert store.crawls.run(1, by).error == ""


def test_deaths_are_forgotten_when_a_crawl_gets_on(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    for pages in range(MAX_CRASHES * 2):
        claimed(store, DEAD)
        store.claims.beat(1, DEAD, {"pages": pages})
        store.claims.beat(1, DEAD, {"pages": pages + 1})
        store.claims.queue_due(HERE)
    assert store.crawls.get(1).state is CrawlState.QUEUED


def test_a_crawl_that_repeats_itself_is_due_after_its_end_and_once(store: ServiceStore, by: Actor, let_pass: LetPass) -> None:
    added(store, by, every=3600)
    claimed(store)
    let_pass(50)
    ended = store.claims.end(1, ME, CrawlState.FINISHED)
    assert ended.next_at is not None
    assert ended.ended_at is not None
    assert (ended.next_at - ended.ended_at).total_seconds() == 3600
    let_pass(3500)
    assert store.claims.queue_due(HERE) == 0
    let_pass(30 * 3600)  # The service was down meanwhile: what was missed runs once.
    assert store.claims.queue_due(HERE) == 1
    due = claimed(store)
    assert (due.again, due.next_at) == (True, None)
    assert store.claims.queue_due(HERE) == 0


@pytest.mark.parametrize("state", [CrawlState.STOPPED, CrawlState.FAILED])
def test_one_run_that_fails_or_is_stopped_does_not_end_the_rhythm(store: ServiceStore, by: Actor, state: CrawlState) -> None:
    added(store, by, every=3600)
    claimed(store)
    assert store.claims.end(1, ME, state, error="no answer" if state is CrawlState.FAILED else "").next_at is not None


def test_a_paused_crawl_is_not_due(store: ServiceStore, by: Actor, let_pass: LetPass) -> None:
    added(store, by, every=3600)
    claimed(store)
    store.claims.end(1, ME, CrawlState.PAUSED)
    let_pass(9000)
    assert store.claims.queue_due(HERE) == 0


def test_name_rhythm_and_webhook_are_changed(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    changed = store.crawls.change(1, by, name="New", every=7200, webhook="https://example.org/x")
    assert (changed.name, changed.every, changed.webhook) == ("New", 7200, "https://example.org/x")
    assert changed.next_at is not None
    changed = store.crawls.change(1, by, repeats=False, webhook="")
    assert (changed.name, changed.every, changed.next_at, changed.webhook) == ("New", None, None, "")


def test_everything_waits_while_there_is_no_room(store: ServiceStore, by: Actor) -> None:
    for _ in range(2):
        added(store, by)
    claimed(store)
    assert store.claims.pause_all("The disk is full.") == 2
    assert store.claims.beat(1, ME, {}) == "pause"
    assert (store.crawls.get(2).state, store.crawls.get(2).error) == (CrawlState.PAUSED, "The disk is full.")
    assert store.claims.pause_all("The disk is full.") == 0
    ended = store.claims.end(1, ME, CrawlState.PAUSED)
    assert ended.error == "The disk is full."
    assert store.crawls.run(1, by).error == ""


def test_a_regression_is_told_by_one_and_a_quiet_run_by_nobody(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    for changes in ({}, {"regression": True, "reasons": ["1 page broke."]}, {"regression": False, "recovered": True}):
        claimed(store)
        store.claims.end(1, ME, CrawlState.FINISHED, changes=changes)
        store.crawls.run(1, by)
    assert [run.id for run in store.claims.unnotified_runs()] == [2, 3]
    assert store.claims.mark_notified(2)
    assert not store.claims.mark_notified(2)
    store.claims.mark_unnotified(2)
    assert [run.id for run in store.claims.unnotified_runs()] == [2, 3]
    assert all(store.claims.mark_notified(number) for number in (2, 3))
    assert store.claims.unnotified_runs() == ()


def test_a_removed_crawl_is_gone_with_its_runs(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    claimed(store)
    store.claims.end(1, ME, CrawlState.FINISHED)
    assert store.crawls.remove(1, by).name == "Site"
    assert store.crawls.runs(1) == ()
    with pytest.raises(CrawlNotFound, match="Crawl 1 not found"):
        store.crawls.get(1)
    with pytest.raises(CrawlLost):
        store.claims.end(1, ME, CrawlState.FINISHED)
    assert added(store, by).id == 2, "no number is given twice"


def test_every_change_is_told_and_every_persons_deed_recorded(store: ServiceStore, by: Actor) -> None:
    added(store, by)
    claimed(store)
    store.claims.beat(1, ME, {"pages": 1})
    store.crawls.pause(1, by)
    store.claims.end(1, ME, CrawlState.PAUSED)
    store.crawls.remove(1, by)
    told = store.messages.list(0)
    assert [one.kind for one in told] == [
        "crawl.state", "crawl.state", "crawl.progress", "crawl.state", "crawl.state", "crawl.removed",
    ]  # fmt: skip
    assert [one.body.get("state") for one in told] == ["queued", "running", None, "running", "paused", None]
    assert told[3].body["wanted"] == "pause"
    assert {one.subject for one in told} == {"crawl/1"}
    assert [one.what for one in store.audit.entries()][::-1] == ["crawl.add", "crawl.pause", "crawl.remove"]
