"""What is over is taken away by the service itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from starlette.testclient import TestClient

from tadoru.serve.app import clean_up
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.accounts.users import PruneResult
from tests.support.clock import FakeClock
from tests.support.serving import BASE, ServiceHarness

BY = Actor(who="test")
DAY = 24 * 3600.0


def test_old_lines_ended_sessions_and_unused_links_go_and_the_rest_stays(tmp_path: Path) -> None:
    clock = FakeClock()
    harness = ServiceHarness(tmp_path / "events.db", clock=clock)
    store = harness.store
    mia = store.users.add("mia", "editor", BY)
    store.users.make_link("mia", BY)
    store.sessions.start(mia, BY)
    assert store.sessions.prune(timedelta(days=400)) == PruneResult()
    clock.advance(399 * DAY)
    kept = store.sessions.start(mia, BY)
    store.users.make_link("mia", BY)
    assert store.sessions.prune(timedelta(days=400)) == PruneResult(), "what the sign-in took away is gone already"
    clock.advance(2 * DAY)
    assert store.sessions.prune(timedelta(days=400)) == PruneResult(lines=5, links=1)
    assert [one.what for one in store.audit.entries()] == ["audit.prune", "user.link", "session.start"]
    assert store.sessions.get(kept) is not None
    clock.advance(8 * DAY)
    assert store.sessions.prune(timedelta(days=400)) == PruneResult(sessions=1)
    assert store.sessions.prune(None) == PruneResult()
    harness.close()


def test_the_service_does_it_when_it_starts(tmp_path: Path) -> None:
    clock = FakeClock()
    harness = ServiceHarness(tmp_path / "events.db", clock=clock, audit_days=10)
    harness.store.users.add("mia", "editor", BY)
    clock.advance(11 * DAY)
    with TestClient(harness.app, base_url=BASE):
        pass
    opened = ServiceHarness(tmp_path / "events.db", clock=clock)
    assert "user.add" not in {one.what for one in opened.store.audit.entries()}
    opened.close()


def test_the_log_of_changes_is_kept_for_ever_when_asked(tmp_path: Path) -> None:
    clock = FakeClock()
    harness = ServiceHarness(tmp_path / "events.db", clock=clock, audit_days=0)
    harness.store.users.add("mia", "editor", BY)
    clock.advance(5000 * DAY)
    clean_up(harness.service)
    assert "user.add" in {one.what for one in harness.store.audit.entries()}
    harness.close()
