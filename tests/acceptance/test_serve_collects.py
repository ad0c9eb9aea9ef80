"""`tadoru serve` collects what is due by itself, beside other services and workers, and ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.calendar import Calendar, ics, meeting
from tests.acceptance.command import PATIENCE, Tadoru, finished
from tests.acceptance.serving import RunningService, serving
from tests.support.site import Site

CALENDAR = "text/calendar"


@pytest.fixture
def town(tadoru: Tadoru, site: Site) -> Calendar:
    """A calendar with three sources that are due."""
    calendar = Calendar(tadoru, "events.db")
    for number in range(3):
        site.reply(f"/{number}.ics", body=ics(meeting(number)), content_type=CALENDAR)
        calendar.add(site.url(f"/{number}.ics"), "ics", name=f"Town {number}")
    return calendar


def until(reached: Callable[[], bool], service: RunningService) -> None:
    """Ask the service again until it is so: it answers all the time, and what it collects is in its database."""
    last = time.monotonic() + PATIENCE
    while not reached():
        assert service.ask("/healthz").status == 200
        assert time.monotonic() < last


def leases(calendar: Calendar) -> set[int | None]:
    with calendar.store() as store:
        return {store.schedule.state(one.id).lease_worker for one in store.sources.list()}


def test_the_service_collects_what_is_due_and_ends_cleanly(town: Calendar, tadoru: Tadoru) -> None:
    with serving(tadoru, "--log-format", "json", env={"TADORU_DELAY": "0"}, collects=True) as service:
        until(lambda: len(town.titles()) == 3, service)
        until(lambda: leases(town) == {None}, service)
        done = service.stop()
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert {line["event"] for line in lines} == {"collected Town 0", "collected Town 1", "collected Town 2"}
    assert {line["level"] for line in lines} == {"info"}
    with town.store() as store:
        assert not store.schedule.has_worker()


def test_without_the_collector_nothing_is_collected_and_the_pages_say_so(town: Calendar, tadoru: Tadoru, site: Site) -> None:
    with town.store() as store:
        for source in store.sources.list():
            store.schedule.set_due(source.id, -3600.0)
    tadoru("serve", "-d", "events.db", "users", "add", "root", "--role", "admin", "--password-stdin", stdin="correct horse\n")
    with serving(tadoru, "--quiet") as service:
        form = "application/x-www-form-urlencoded"
        signed = service.ask("/sign-in", "POST", "name=root&password=correct+horse", content_type=form)
        cookie = signed.headers["set-cookie"].partition(";")[0]
        for path in ("/manage", "/manage/sources", "/manage/sources/1"):
            page = service.ask(path, accept="text/html", cookie=cookie).text
            assert "No collector is running" in page, path
            assert "tadoru events worker" in page
    assert site.hits("/0.ics") == 0


def test_services_and_a_worker_share_the_sources(town: Calendar, tadoru: Tadoru, site: Site) -> None:
    for number in range(3, 24):
        site.reply(f"/{number}.ics", body=ics(meeting(number)), content_type=CALENDAR)
        town.add(site.url(f"/{number}.ics"), "ics")
    worker = tadoru.start("events", "-d", "events.db", "worker", "--delay", "0", "-q")
    env = {"TADORU_DELAY": "0"}
    with serving(tadoru, "--workers", "2", env=env, collects=True) as first, serving(tadoru, env=env, collects=True) as second:
        until(lambda: len(town.titles()) == 24, first)
        assert (first.stop().code, second.stop().code) == (0, 0)
    worker.send_signal(signal.SIGTERM)
    assert finished(worker).code == 0
    assert sorted(one.source_id for one in town.runs()) == list(range(1, 25))
    assert {site.hits(f"/{number}.ics") for number in range(24)} == {1}


def test_a_collector_that_is_killed_starts_again_and_one_whose_service_is_killed_ends(
    town: Calendar, tadoru: Tadoru, site: Site
) -> None:
    gate = site.hold("/slow.ics")
    slow = town.add(site.url("/slow.ics"), "ics", name="Slow")
    with serving(tadoru, collects=True) as service:
        site.wait_for(lambda seen: seen.hits("/slow.ics") == 1)
        os.kill(collector_of(service), signal.SIGKILL)
        gate.release()
        until(lambda: any(one.source_id == slow and one.finished_at and one.worker_id for one in town.runs()), service)
        until(lambda: len(town.titles()) == 3, service)
        service.process.kill()
        # Its output ends when the last of those who can write to it has ended.
        assert finished(service.process).code == -signal.SIGKILL


def collector_of(service: RunningService) -> int:
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
    (found,) = (int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes())
    return found
