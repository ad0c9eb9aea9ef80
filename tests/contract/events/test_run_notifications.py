"""Collecting is told of while it happens, whoever collects, and nothing is told of what did not happen."""

from __future__ import annotations

from typing import Any

import pytest

from tadoru.model.event import RunStatus
from tadoru.store.calendar.runs import RunClosed
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import LetPass


@pytest.fixture
def source(store: CalendarStore) -> int:
    return store.sources.add({"name": "Town", "type": "ics", "url": "https://town.example/"}, "test").id


def told(store: CalendarStore) -> list[tuple[str, dict[str, Any]]]:
    return [(one.kind, dict(one.body)) for one in store.messages.list(0)]


def test_a_run_is_told_of_when_it_begins_and_when_it_ends(store: CalendarStore, source: int) -> None:
    run = store.runs.start(source)
    assert [one.subject for one in store.messages.list(0)] == [f"source/{source}"]
    store.runs.finish(run, RunStatus.SUCCESS, counts={"parsed": 4})
    about = {"run_id": run.id, "source_id": source}
    assert told(store) == [
        ("run.started", about | {"status": "running", "counts": {}, "error": ""}),
        ("run.ended", about | {"status": "success", "counts": {"parsed": 4}, "error": ""}),
        ("source.health", {"source_id": source, "name": "Town", "status": "well", "failures": 0, "incidents": 0, "error": ""}),
    ]


def test_that_a_source_does_as_before_is_not_told(store: CalendarStore, source: int) -> None:
    statuses = [RunStatus.SUCCESS, RunStatus.SUCCESS, RunStatus.FAIL, RunStatus.FAIL, RunStatus.PARTIAL, RunStatus.SUCCESS]
    health = []
    for status in statuses:
        before = len(told(store))
        store.runs.finish(store.runs.start(source), status, counts={}, error="x" * 999 if status is RunStatus.FAIL else "")
        health.append([(body["status"], body["failures"]) for kind, body in told(store)[before:] if kind == "source.health"])
    assert health == [[("well", 0)], [], [("failing", 1)], [("failing", 2)], [("well", 0)], []]
    assert max(len(body["error"]) for _, body in told(store)) == 500


def test_a_run_that_is_closed_already_tells_nothing(store: CalendarStore, source: int) -> None:
    run = store.runs.start(source)
    store.runs.finish(run, RunStatus.SUCCESS, counts={})
    before = told(store)
    with pytest.raises(RunClosed):
        store.runs.finish(run, RunStatus.FAIL, counts={})
    assert told(store) == before


def test_what_a_dead_worker_left_behind_is_told_to_have_failed(store: CalendarStore, source: int, let_pass: LetPass) -> None:
    worker = store.schedule.join(60)
    store.schedule.lease_due(worker)
    run = store.runs.start(source, worker)
    let_pass(61)
    assert store.schedule.reap() == 1
    assert [(kind, body["status"]) for kind, body in told(store)[1:]] == [("run.ended", "fail"), ("source.health", "failing")]
    assert told(store)[1][1]["run_id"] == run.id


def test_a_trouble_is_told_of_once_when_it_begins_and_once_when_it_ends(store: CalendarStore, source: int) -> None:
    for _ in range(2):
        store.incidents.open(source, "drop", {})
    for _ in range(2):
        store.incidents.close(source, "drop")
    assert [(kind, body["incidents"]) for kind, body in told(store)] == [("source.health", 1), ("source.health", 0)]


def test_a_source_that_is_switched_or_renamed_is_told_of(store: CalendarStore, source: int) -> None:
    store.sources.disable(source, "test")
    store.sources.edit(source, {"notes": "nothing to tell"}, "test")
    store.sources.edit(source, {"name": "City"}, "test")
    store.sources.enable(source, "test")
    assert [(body["name"], body["status"]) for _, body in told(store)] == [("Town", "off"), ("City", "off"), ("City", "new")]
