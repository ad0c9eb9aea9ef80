"""`kill -9` of a collection at twenty moments: no event is lost, none is there twice, and every run log is closed."""

from __future__ import annotations

import json
import random
import signal

from tests.acceptance.calendar import Calendar, ics, meeting
from tests.acceptance.command import finished
from tests.support.site import Site

SOURCES = 30
EVENTS = 40
KILLS = 20


def publish(site: Site) -> None:
    for number in range(SOURCES):
        events = [meeting(100 * number + one, SUMMARY=f"Talk {number}-{one} by {names(number, one)}") for one in range(EVENTS)]
        site.reply(f"/{number}.ics", body=ics(*events), content_type="text/calendar", headers={"ETag": f'"{number}"'})


def names(number: int, one: int) -> str:
    return hex(random.Random(number * 1000 + one).getrandbits(64))


def test_twenty_kills_lose_nothing_and_double_nothing(calendar: Calendar, site: Site) -> None:
    publish(site)
    for number in range(SOURCES):
        calendar.add(site.url(f"/{number}.ics"), "ics", name=f"source {number}")
    moments = random.Random(7)
    killed = 0
    for _ in range(KILLS):
        seen = len(site.requests)
        process = calendar.tadoru.start("events", "-d", calendar.database, "run", "--all", "--delay", "0", "-q")
        until = seen + moments.randrange(1, SOURCES)
        site.wait_for(lambda site, until=until: len(site.requests) >= until)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        finished(process)
        killed += process.returncode == -signal.SIGKILL
    assert killed >= KILLS // 2, "most runs were over before they were killed"
    done = calendar.run()
    assert done.code == 0, done.err
    wanted = sorted(f"Talk {number}-{one} by {names(number, one)}" for number in range(SOURCES) for one in range(EVENTS))
    assert calendar.titles() == wanted
    runs = calendar.runs()
    assert all(run.finished_at is not None and run.status is not None for run in runs)
    assert any(run.error_summary == "The worker stopped before this run was finished." for run in runs)
    logs = {json.loads(file.read_text("utf-8"))["id"] for file in calendar.files("runlogs")}
    assert logs == {run.id for run in runs}
    with calendar.store() as store:
        assert all(store.schedule.state(one.id).lease_worker is None for one in store.sources.list())


def test_one_of_two_workers_killed_leaves_its_sources_to_the_other(calendar: Calendar, site: Site) -> None:
    publish(site)
    for number in range(SOURCES):
        calendar.add(site.url(f"/{number}.ics"), "ics", name=f"source {number}")
    gates = [site.hold(f"/{number}.ics") for number in range(SOURCES)]
    first = calendar.tadoru.start("events", "-d", calendar.database, "run", "--due", "--delay", "0", "-q")
    site.wait_for(lambda site: any(path.endswith(".ics") for path in site.paths))
    first.send_signal(signal.SIGKILL)
    finished(first)
    for gate in gates:
        gate.release()
    assert calendar.run("--due").code == 0
    assert len(calendar.titles()) == SOURCES * EVENTS


def test_a_signal_lets_what_was_begun_finish_and_keeps_the_rest_for_later(calendar: Calendar, site: Site) -> None:
    site.reply("/0.ics", body=ics(meeting(1)), content_type="text/calendar")
    gate = site.hold("/0.ics")
    calendar.add(site.url("/0.ics"), "ics", name="a")
    calendar.add(site.url("/1.ics"), "ics", name="b")
    process = calendar.tadoru.start("events", "-d", calendar.database, "run", "--all", "--delay", "0", "--concurrency", "1")
    site.wait_for(lambda site: "/0.ics" in site.paths)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    while "Finishing in-flight work" not in (line := process.stderr.readline()):
        assert line, "the command ended by itself"
    gate.release()
    done = finished(process)
    assert done.code == 130
    assert [run.status for run in calendar.runs()] == ["success"]
    assert site.hits("/1.ics") == 0


def test_of_two_runs_at_once_the_second_says_that_the_first_has_the_source(calendar: Calendar, site: Site) -> None:
    site.reply("/0.ics", body=ics(meeting(1)), content_type="text/calendar")
    gate = site.hold("/0.ics")
    calendar.add(site.url("/0.ics"), "ics")
    process = calendar.tadoru.start("events", "-d", calendar.database, "run", "--all", "--delay", "0")
    site.wait_for(lambda site: "/0.ics" in site.paths)
    again, due = calendar.run(), calendar.run("--due")
    gate.release()
    assert (again.code, again.err) == (0, "tadoru: Another worker is collecting source 1.\n")
    assert (due.code, due.out) == (0, "No source is due. `tadoru events status` shows when each will be.\n")
    assert finished(process).code == 0
    assert site.hits("/0.ics") == 1
    assert [run.status for run in calendar.runs()] == ["success"]
