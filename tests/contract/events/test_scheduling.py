"""Whose turn it is: due sources, leases, dependencies, and workers that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from tadoru.model.event import RunStatus
from tadoru.store.calendar.records import EventSource
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector, LetPass, OpenEvents


def finish(store: CalendarStore, source: EventSource, status: RunStatus = RunStatus.SUCCESS, *, after: float = 3600) -> None:
    run = store.runs.start(source.id)
    store.schedule.set_due(source.id, after)
    store.runs.finish(run, status, counts={"parsed": 3})


def names(found: tuple[EventSource, ...]) -> list[str]:
    return [one.name for one in found]


def test_a_new_source_is_due_at_once_and_then_when_its_time_has_come(
    store: CalendarStore, collect: Collector, let_pass: LetPass
) -> None:
    source = collect.source()
    assert names(store.schedule.due()) == ["City"]
    assert store.schedule.seconds_until_due() == 0
    finish(store, source, after=3600)
    assert store.schedule.due() == ()
    wait = store.schedule.seconds_until_due()
    assert wait is not None
    assert 3500 < wait <= 3600
    let_pass(3601)
    assert names(store.schedule.due()) == ["City"]


def test_without_sources_nothing_is_ever_due(store: CalendarStore, collect: Collector) -> None:
    assert store.schedule.seconds_until_due() is None
    store.sources.disable(collect.source().id, by="mika")
    assert (store.schedule.due(), store.schedule.seconds_until_due()) == ((), None)


def test_priority_goes_before_waiting(store: CalendarStore, collect: Collector, let_pass: LetPass) -> None:
    collect.source("first")
    let_pass(10)
    collect.source("second")
    collect.source("urgent", priority=5)
    worker = store.schedule.join(60)
    assert names(store.schedule.lease_due(worker, limit=2)) == ["urgent", "first"]
    assert names(store.schedule.lease_due(worker, limit=9)) == ["second"]
    assert store.schedule.lease_due(worker) == ()


def test_two_workers_never_lease_one_source(handles: OpenEvents, store: CalendarStore, collect: Collector) -> None:
    from concurrent.futures import ThreadPoolExecutor

    for number in range(40):
        collect.source(str(number))

    def take(_: int) -> list[str]:
        mine = handles()
        worker, taken = mine.schedule.join(60), []
        while found := mine.schedule.lease_due(worker, limit=3):
            taken += names(found)
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [name for part in pool.map(take, range(4)) for name in part]
    assert sorted(taken, key=int) == [str(number) for number in range(40)]


def test_a_leased_source_can_not_be_leased_by_another(store: CalendarStore, collect: Collector) -> None:
    source, one, other = collect.source(), store.schedule.join(60), store.schedule.join(60)
    assert store.schedule.lease(one, source.id)
    assert store.schedule.lease(one, source.id)
    assert not store.schedule.lease(other, source.id)
    store.schedule.release(other, source.id)
    assert not store.schedule.lease(other, source.id)
    store.schedule.release(one, source.id)
    assert store.schedule.lease(other, source.id)


@pytest.mark.parametrize("status, is_due", [(RunStatus.SUCCESS, True), (RunStatus.PARTIAL, True), (RunStatus.FAIL, False)])
def test_a_source_waits_for_the_success_of_the_one_it_depends_on(
    store: CalendarStore, collect: Collector, let_pass: LetPass, status: RunStatus, is_due: bool
) -> None:
    first = collect.source("first")
    collect.source("second", depends_on=first.id)
    assert names(store.schedule.due()) == ["first"]
    finish(store, first, status)
    assert names(store.schedule.due()) == (["second"] if is_due else [])


def test_it_waits_for_a_success_after_its_own_last_run(store: CalendarStore, collect: Collector, let_pass: LetPass) -> None:
    first = collect.source("first")
    second = collect.source("second", depends_on=first.id)
    finish(store, first, after=0)
    let_pass(1)
    finish(store, second, after=0)
    let_pass(1)
    assert names(store.schedule.due()) == ["first"]
    finish(store, first, after=60)
    assert names(store.schedule.due()) == ["second"]


def test_one_that_fails_is_waited_for_a_day(store: CalendarStore, collect: Collector, let_pass: LetPass) -> None:
    first = collect.source("first")
    collect.source("second", depends_on=first.id)
    finish(store, first, RunStatus.FAIL, after=7 * 24 * 3600)
    let_pass(23 * 3600)
    assert names(store.schedule.due()) == []
    let_pass(2 * 3600)
    assert names(store.schedule.due()) == ["second"]


def test_a_clock_that_is_set_back_makes_sources_due(store: CalendarStore, collect: Collector, let_pass: LetPass) -> None:
    first = collect.source("first")
    second = collect.source("second", depends_on=first.id)
    for source in (first, second):
        finish(store, source, after=12 * 3600)
    assert names(store.schedule.due()) == []
    let_pass(-3600)
    assert sorted(names(store.schedule.due())) == ["first", "second"]
    for source in (first, second):
        finish(store, source, after=12 * 3600)
    assert names(store.schedule.due()) == []


def test_one_that_is_switched_off_is_not_waited_for(store: CalendarStore, collect: Collector) -> None:
    first = collect.source("first")
    collect.source("second", depends_on=first.id)
    store.sources.disable(first.id, by="mika")
    assert names(store.schedule.due()) == ["second"]


def test_a_silent_worker_loses_its_source_and_its_run_is_closed(
    store: CalendarStore, collect: Collector, let_pass: LetPass
) -> None:
    source, worker = collect.source(), store.schedule.join(60)
    store.schedule.lease_due(worker)
    run = store.runs.start(source.id, worker)
    store.schedule.set_due(source.id, 3600)
    let_pass(59)
    assert store.schedule.reap() == 0
    assert store.schedule.renew(worker, 60)
    let_pass(59)
    assert store.schedule.reap() == 0
    let_pass(2)
    assert store.schedule.reap() == 1
    assert not store.schedule.renew(worker, 60)
    closed = store.runs.get(run.id)
    assert (closed.status, closed.error_summary) == (RunStatus.FAIL, "The worker stopped before this run was finished.")
    assert names(store.schedule.due()) == ["City"]
    assert store.schedule.state(source.id).failures == 1


def test_a_source_that_takes_its_worker_down_each_time_waits_its_turn(
    store: CalendarStore, collect: Collector, let_pass: LetPass
) -> None:
    source = collect.source()
    for _ in range(2):
        worker = store.schedule.join(60)
        store.schedule.lease(worker, source.id)
        store.runs.start(source.id, worker)
        store.schedule.set_due(source.id, 3600)
        let_pass(61)
        store.schedule.reap()
    assert store.schedule.due() == ()
    let_pass(3600)
    assert names(store.schedule.due()) == ["City"]


def test_a_worker_that_ends_in_the_middle_of_a_run_leaves_its_source_due_and_without_a_failure(
    store: CalendarStore, collect: Collector
) -> None:
    source = collect.source()
    worker = store.schedule.join(60)
    store.schedule.lease(worker, source.id)
    store.runs.start(source.id, worker)
    store.schedule.set_due(source.id, 3600)
    store.schedule.leave(worker)
    assert names(store.schedule.due()) == ["City"]
    assert store.schedule.state(source.id).failures == 0
    assert [run.status for run in store.runs.list()] == ["fail"]


WORK = """
import sys
from tadoru.store.calendar.store import open_calendar
store = open_calendar(sys.argv[1])
worker = store.schedule.join(3600)
(source,) = store.schedule.lease_due(worker)
store.runs.start(source.id, worker)
store.hosts.take_slot(worker, "example.org", 3600, gap=0.0)
print("working", flush=True)
sys.stdin.readline()
"""


def test_a_worker_that_was_killed_here_is_noticed_at_once(
    store: CalendarStore, database: str, collect: Collector, checkout: Path
) -> None:
    source = collect.source()
    with store.db.write() as sql:  # The other process has the real time; here it is 2023.
        sql.execute(text("UPDATE source_state SET next_run_at = '2001-01-01 00:00:00.000000'"))
    command = [sys.executable, "-c", WORK, database]
    with subprocess.Popen(command, cwd=checkout / "src", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        assert store.schedule.reap() == 0
        assert store.schedule.due() == ()
        os.kill(process.pid, signal.SIGKILL)
    assert store.schedule.reap() == 1
    assert names(store.schedule.due()) == ["City"]
    assert store.hosts.take_slot(store.schedule.join(60), "example.org", 60, gap=0.0) == 0
    assert store.runs.list()[0].source_id == source.id


def test_failures_are_counted_until_a_success(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    for status in (RunStatus.FAIL, RunStatus.FAIL):
        run = store.runs.start(source.id)
        store.runs.finish(run, status, counts={}, error="HTTP 500")
    state = store.schedule.state(source.id)
    assert (state.failures, state.last_error, state.last_success) == (2, "HTTP 500", None)
    finish(store, source)
    state = store.schedule.state(source.id)
    assert (state.failures, state.last_error, state.last_count) == (0, "", 3)
    assert state.last_success is not None


def test_what_the_job_wants_to_remember_is_kept(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    store.schedule.remember(source.id, kept={"ttl": 3600, "pages": ["a"]})
    assert store.schedule.state(source.id).kept == {"ttl": 3600, "pages": ["a"]}
