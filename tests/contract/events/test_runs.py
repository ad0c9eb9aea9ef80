"""Run logs, snapshots, incidents, and what time does to them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tadoru.errors import UsageError
from tadoru.model.event import RunStatus
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.runs import RunClosed
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector, LetPass
from tests.contract.events.matching import FIRST, draft, many, series, whole_days
from tests.support.clock import FakeClock

DAY = 86400.0


def test_a_run_has_the_fields_of_the_seed(store: CalendarStore, collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    run = store.runs.start(source.id)
    assert (run.status, run.finished_at) == (None, None)
    clock.advance(5)
    counts = {"fetched": 1, "parsed": 4, "upserted": 3, "quarantined": 1, "merged": 0, "review": 1}
    done = store.runs.finish(run, RunStatus.PARTIAL, counts=counts, error="one row", snapshot_paths=["a/b.ics"])
    assert store.runs.get(run.id) == done
    assert (done.fetched_count, done.parsed_count, done.upserted_count) == (1, 4, 3)
    assert (done.counts, done.snapshot_paths, done.error_summary) == (counts, ("a/b.ics",), "one row")
    assert done.finished_at is not None
    assert done.finished_at - done.started_at == timedelta(seconds=5)


def test_a_run_is_finished_once(store: CalendarStore, collect: Collector) -> None:
    run = store.runs.start(collect.source().id)
    store.runs.finish(run, RunStatus.SUCCESS, counts={})
    with pytest.raises(RunClosed):
        store.runs.finish(run, RunStatus.FAIL, counts={})
    assert store.runs.get(run.id).status is RunStatus.SUCCESS


def test_runs_are_listed_newest_first_and_in_pages(store: CalendarStore, collect: Collector) -> None:
    one, other = collect.source("A"), collect.source("B")
    ids = [store.runs.start(source.id).id for source in (one, other, one)]
    assert [run.id for run in store.runs.list()] == ids[::-1]
    assert [run.id for run in store.runs.list(limit=1, before=ids[2])] == [ids[1]]
    assert [run.id for run in store.runs.list(source_id=one.id)] == [ids[2], ids[0]]
    with pytest.raises(UsageError, match="Run 99 not found"):
        store.runs.get(99)


def test_the_same_snapshot_is_remembered_once(store: CalendarStore, collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    first = store.runs.add_snapshot(source.id, source.url, "a.ics", store.db.now(), etag=b'"1"', last_modified=b"x")
    clock.advance(9)
    again = store.runs.add_snapshot(source.id, source.url, "a.ics", store.db.now(), etag=b'"2"')
    assert first.id == again.id
    assert store.runs.snapshots(source.id) == (again,)
    assert (again.etag, again.fetched_at) == (b'"2"', store.db.now())


def test_old_snapshots_may_go_but_the_newest_of_each_source_stays(
    store: CalendarStore, collect: Collector, clock: FakeClock
) -> None:
    one, other = collect.source("A"), collect.source("B")
    for source, path in ((one, "a1"), (one, "a2"), (other, "b1")):
        store.runs.add_snapshot(source.id, source.url, path, store.db.now())
        clock.advance(DAY)
    clock.advance(100 * DAY)
    store.runs.add_snapshot(other.id, other.url, "b2", store.db.now())
    old = store.retention.old_snapshots()
    assert [path for _, path in old] == ["a1", "b1"]
    store.retention.forget_snapshots(tuple(number for number, _ in old))
    assert [one.content_path for one in (*store.runs.snapshots(one.id), *store.runs.snapshots(other.id))] == ["a2", "b2"]
    assert store.retention.old_snapshots() == ()


def test_old_run_logs_are_forgotten_but_not_one_that_is_under_way(
    store: CalendarStore, collect: Collector, clock: FakeClock
) -> None:
    source = collect.source()
    open_one, closed = store.runs.start(source.id), store.runs.start(source.id)
    store.runs.finish(closed, RunStatus.SUCCESS, counts={})
    clock.advance(89 * DAY)
    assert store.retention.forget_runs() == ()
    clock.advance(2 * DAY)
    assert store.retention.forget_runs() == ((closed.id, closed.started_at),)
    assert [one.id for one in store.runs.list()] == [open_one.id]


ENDS = [
    pytest.param(draft(), 1, id="an hour: the midnight after its day"),
    pytest.param(draft(occurrence=whole_days(FIRST, 3)), 3, id="three days"),
    pytest.param(draft(at=FIRST.replace(hour=23, minute=30)), 1, id="an hour across midnight ends in the next day at 0:30"),
    pytest.param(series(weeks=3), 15, id="a series: its last time"),
]


@pytest.mark.parametrize("given, days", ENDS)
def test_events_are_archived_180_days_after_their_end_and_still_found(
    collect: Collector, clock: FakeClock, given: object, days: int
) -> None:
    assert isinstance(given, type(draft()))
    collect.run(collect.source(), [given])
    if given.occurrence.starts_at.hour == 23:
        days += 1
    over = FIRST.replace(hour=0, minute=0).timestamp() + days * DAY
    clock.advance(over + 180 * DAY - clock.now() - 1)
    assert collect.store.retention.archive() == 0
    clock.advance(1)
    assert collect.store.retention.archive() == 1
    assert collect.store.retention.archive() == 0
    assert collect.titles() == []
    assert len(collect.store.events.list(EventFilter(archived=None)).items) == 1
    assert len(collect.store.events.list(EventFilter(archived=True, q=given.title)).items) == 1


def test_an_archived_event_that_gets_a_new_date_comes_back(collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    collect.run(source, [draft(uid="1")])
    clock.advance(300 * DAY)
    collect.store.retention.archive()
    collect.run(source, [draft(uid="1", at=FIRST + timedelta(days=365))])
    assert collect.titles() == ["星まつり"]


def test_a_trouble_is_told_once_and_its_end_once(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    first = store.incidents.open(source.id, "failure", {"error": "HTTP 500"})
    assert store.incidents.open(source.id, "failure", {"error": "HTTP 502"}).id == first.id
    (claimed,) = store.incidents.claim_notices()
    assert (claimed.kind, claimed.detail) == ("failure", {"error": "HTTP 500"})
    assert store.incidents.claim_notices() == (), "somebody is at it"
    store.incidents.mark_notified(claimed)
    assert store.incidents.claim_notices() == ()
    closed = store.incidents.close(source.id, "failure")
    assert closed is not None
    assert store.incidents.close(source.id, "failure") is None
    (over,) = store.incidents.claim_notices()
    assert over.closed_at is not None
    store.incidents.mark_notified(over)
    assert store.incidents.claim_notices() == ()
    assert store.incidents.open(source.id, "failure", {}).id != first.id
    assert [one.id for one in store.incidents.list(is_open=False)] == [first.id]


def test_a_notice_that_was_not_sent_is_tried_again(store: CalendarStore, collect: Collector, let_pass: LetPass) -> None:
    store.incidents.open(collect.source().id, "drop", {})
    (claimed,) = store.incidents.claim_notices(hold=60)
    store.incidents.release_notice(claimed)
    assert store.incidents.claim_notices(hold=60) == (claimed,)
    let_pass(-7200)
    assert store.incidents.claim_notices(hold=60) == (claimed,), "no claim is so long: the clock was set back"
    let_pass(61)
    assert store.incidents.claim_notices(hold=60) == (claimed,), "who claimed it is dead"


def test_a_trouble_that_was_over_before_anybody_heard_of_it_is_not_told(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    store.incidents.open(source.id, "failure", {})
    store.incidents.close(source.id, "failure")
    assert store.incidents.claim_notices() == ()


def test_health_counts_runs_rows_and_trouble(store: CalendarStore, collect: Collector, let_pass: LetPass) -> None:
    source = collect.source()
    collect.run(source, many(4))
    run = store.runs.start(source.id)
    store.runs.finish(run, RunStatus.FAIL, counts={}, error="HTTP 500")
    store.incidents.open(source.id, "failure", {})
    let_pass(50)
    (one,) = store.statistics.source_health()
    assert (one.rows, one.runs, one.failed_runs, one.failures, one.open_incidents) == (4, 2, 1, 1, 1)
    assert one.late >= 50
    totals = store.statistics.totals()
    assert (totals.rows, totals.merged_rows, totals.sources) == (4, 0, 1)


def test_health_has_what_the_last_run_fetched_and_how_long_it_took(
    store: CalendarStore, collect: Collector, let_pass: LetPass
) -> None:
    source = collect.source()
    (before,) = store.statistics.source_health()
    assert (before.fetched, before.parsed, before.publishing_delay) == (None, None, None)
    run = store.runs.start(source.id)
    let_pass(12)
    store.runs.finish(run, RunStatus.SUCCESS, counts={"fetched": 3, "parsed": 40})
    (after,) = store.statistics.source_health()
    assert (after.fetched, after.parsed) == (3, 40)
    assert after.publishing_delay is not None
    assert after.publishing_delay >= 12
