"""Several processes on one file: no URL is shared, none is lost, and a killed process is noticed at once."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.store.crawl.open import open_store
from tests.contract.crawls import HOST, TTL, lease, rows, target, url
from tests.store import process
from tests.store.audited import SITE, audited

Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


@pytest.fixture
def start(checkout: Path, database: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def begin(mode: str) -> subprocess.Popen[str]:
        running.append(process.start(checkout, mode, database))
        return running[-1]

    yield begin
    for each in running:
        each.kill()
        each.communicate()


def line(of: subprocess.Popen[str]) -> str:
    assert of.stdout is not None
    return of.stdout.readline().strip()


def go(each: subprocess.Popen[str]) -> None:
    assert each.stdin is not None
    each.stdin.write("go\n")
    each.stdin.flush()


def kill_unburied(victim: subprocess.Popen[str]) -> None:
    """Kill, and wait until it has died, but leave it in the table of processes."""
    victim.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOWAIT)


async def seeded(database: Path, *paths: str) -> None:
    store = open_store(str(database), SystemClock())
    await store.frontier.add([target(path) for path in paths], seed=True)
    await store.close()


async def test_processes_that_lease_at_once_never_share_a_url(database: Path, start: Start) -> None:
    await seeded(database, *map(str, range(1, 50)))
    two = [start("drain"), start("drain")]
    assert [line(each) for each in two] == ["leased", "leased"]
    for each in two:
        go(each)
    said = [each.communicate()[0].split() for each in two]
    assert [each.returncode for each in two] == [0, 0]
    assert all(said)
    everything = said[0] + said[1]
    assert len(everything) == len(set(everything))
    assert set(everything) == {url(str(number)) for number in range(1, 200)}
    store = open_store(str(database), SystemClock())
    counts = await store.frontier.counts()
    assert (counts.completed, counts.known, counts.processing) == (199, 199, 0)
    await store.close()


async def test_processes_that_create_the_file_at_once_agree(database: Path, start: Start) -> None:
    several = [start("open") for _ in range(6)]
    assert [line(each) for each in several] == ["ready"] * 6
    for each in several:
        go(each)
    assert [each.communicate()[0].strip() for each in several] == ["written"] * 6


async def test_the_leases_slots_and_claims_of_a_killed_process_return_at_once(database: Path, start: Start) -> None:
    await seeded(database, "1", "2", "3")
    victim = start("hold")
    assert line(victim) == f"{url('1')} {url('2')}"
    store = open_store(str(database), SystemClock())
    worker = await store.frontier.join(TTL)
    assert await store.frontier.recover() == 0
    assert [got.url for got in await lease(store, worker, 9)] == [url("3")]
    assert await store.hosts.take_slot(worker, HOST, TTL) > 0
    assert await store.robots.claim(worker, f"https://{HOST}", hold=TTL, max_age=TTL) is False
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert await store.frontier.recover() == 2
    assert [got.url for got in await lease(store, worker, 9)] == [url("1"), url("2")]
    assert await store.hosts.take_slot(worker, HOST, TTL) == 0.0
    assert await store.robots.claim(worker, f"https://{HOST}", hold=TTL, max_age=TTL) is True
    await store.close()


async def test_a_process_that_is_killed_but_not_yet_buried_is_dead_too(database: Path, start: Start) -> None:
    await seeded(database, "1")
    victim = start("hold")
    line(victim)
    kill_unburied(victim)
    store = open_store(str(database), SystemClock())
    assert await store.frontier.recover() == 1
    await store.close()


@pytest.mark.parametrize("after", [1, 7, 40, 120])
async def test_a_process_killed_in_the_middle_of_its_work_loses_nothing(database: Path, start: Start, after: int) -> None:
    await seeded(database, "1")
    victim = start("drain")
    assert line(victim) == "leased"
    go(victim)
    said = [line(victim) for _ in range(after)]
    victim.send_signal(signal.SIGKILL)
    said += victim.communicate()[0].split()
    store = open_store(str(database), SystemClock())
    await store.frontier.recover()
    done = {page.url for page in (await rows(store)).values() if page.status == "completed"}
    assert set(said) <= done
    await store.close()
    heir = start("drain")
    line(heir)
    finished = heir.communicate("go\n")[0].split()
    assert set(finished) & done == set()
    assert len(finished) + len(done) == 199
    store = open_store(str(database), SystemClock())
    counts = await store.frontier.counts()
    assert (counts.completed, counts.counted, counts.known, counts.processing) == (199, 199, 199, 0)
    sources = [link.source_url async for link in store.graph.links()]
    assert len(sources) == sum(len(process.children(url(str(number)))) for number in range(1, 200))
    await store.close()


async def test_of_processes_that_recrawl_at_once_one_begins_and_all_share_the_work(database: Path, start: Start) -> None:
    await audited(database, SITE)
    workers = [start("recrawl") for _ in range(3)]
    assert [line(each) for each in workers] == ["ready"] * 3
    for each in workers:
        go(each)
    assert sorted(line(each) for each in workers) == ["2", "None", "None"]
    for each in workers:
        go(each)
    assert sum(int(line(each)) for each in workers) == len(SITE), "every page once"
