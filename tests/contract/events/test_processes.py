"""Real processes on one database at once: nothing is doubled, nothing is lost, also when one is killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import many

WORK = """
import sys
from tadoru.store.calendar.store import open_calendar
from tests.contract.events.matching import PlainMatcher, many
address, source, stop_after = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = open_calendar(address)
run = store.runs.start(source, store.schedule.join(3600))
print("ready", flush=True)
sys.stdin.readline()

def progress(done):
    if done >= stop_after:
        print("here", flush=True)
        sys.stdin.readline()

applied = store.results.apply(run, many(40), (), PlainMatcher(), chunk=4, progress=progress)
store.runs.finish(run, "success", counts={"parsed": 40})
store.close()
print(applied.inserted, applied.merged, applied.unchanged, flush=True)
"""


def start(address: str, source: int, checkout: Path, *, stop_after: int = 1000) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK, address, str(source), str(stop_after)]
    path = os.pathsep.join([str(checkout / "src"), str(checkout)])
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_processes_that_find_the_same_events_store_them_once(
    store: CalendarStore, database: str, collect: Collector, checkout: Path
) -> None:
    started = [start(database, collect.source(name).id, checkout) for name in "AB"]
    for one in started:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    counts = [[int(part) for part in one.communicate()[0].split()] for one in started]
    assert [sum(column) for column in zip(*counts, strict=True)] == [40, 40, 0]
    assert store.events.count() == 40
    assert store.statistics.totals().rows == 80


def test_a_run_that_was_killed_in_the_middle_is_done_again_without_doubling(
    store: CalendarStore, database: str, collect: Collector, checkout: Path
) -> None:
    source = collect.source()
    with start(database, source.id, checkout, stop_after=12) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "here\n"
        os.kill(process.pid, signal.SIGKILL)
    assert store.events.count() == 12
    assert store.schedule.reap() == 1
    assert [one.error_summary for one in store.runs.list()] == ["The worker stopped before this run was finished."]
    applied = collect.run(source, many(40), sweep=True)
    assert (applied.inserted, applied.unchanged) == (28, 12)
    assert (store.events.count(), store.statistics.totals().rows) == (40, 40)
