"""Whatever happens to workers and database, the crawl ends with the right result: nothing is lost, nothing is there twice."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

from tests.acceptance.command import Tadoru
from tests.cluster.hamlets import build, host_of
from tests.cluster.harness import ClusterHarness, cluster_on, gaps, kill, until
from tests.cluster.networks import OpenTown, separate_network
from tests.cluster.test_identity import access, alone, assert_same
from tests.support.planted_server import ProxiedSite
from tests.support.postgres import PostgresServer

KILLS = 15


def test_workers_that_are_killed_again_and_again_lose_nothing(tadoru: Tadoru, town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=20, pages=6)
    expected = alone(tadoru, town, "quiet", *starts)
    first = len(town.requests)
    harness.submit("site", *access(town), *starts)
    rng = random.Random(7)
    workers = [harness.start_timed_worker() for _ in range(3)]
    for moment in sorted(rng.sample(range(5, first - 40), KILLS)):
        until(lambda moment=moment: len(town.requests) - first >= moment, f"{moment} requests")  # type: ignore[misc]
        victim = rng.randrange(3)
        kill(workers[victim])
        workers[victim] = harness.start_timed_worker()
    harness.until_done("site")
    assert_same(harness.results("site"), expected, "what was killed")
    asked = Counter(seen.path for seen in town.requests[first:])
    assert set(asked) == {seen.path for seen in town.requests[:first]}
    assert max(asked.values()) <= 1 + KILLS
    assert sum(asked.values()) <= first + KILLS * 40, "what was in flight is asked for again, and little more"
    assert {host_of(seen) for seen in town.requests} == {start.split("/")[2] for start in starts}


def test_a_database_that_restarts_and_crashes_is_waited_for(tadoru: Tadoru, town: ProxiedSite, tmp_path: Path) -> None:
    starts = build(town, hosts=6, pages=4)
    expected = alone(tadoru, town, "quiet", *starts)
    first = len(town.requests)
    folder = Path(tempfile.mkdtemp(prefix="tadoru-pg-"))
    postgres = PostgresServer(folder)
    try:
        with cluster_on(postgres, tadoru, town.environment) as harness:
            harness.submit("site", *access(town), *starts)
            workers = [harness.start_timed_worker() for _ in range(2)]
            for mode, moment in (("fast", 5), ("immediate", first // 2)):
                until(lambda moment=moment: len(town.requests) - first >= moment, f"{moment} requests")  # type: ignore[misc]
                postgres.restart(mode)
                harness.reconnect()
            harness.until_done("site")
            assert_same(harness.results("site"), expected, "what was interrupted")
            assert [worker.poll() for worker in workers] == [None, None], "they went on by themselves"
    finally:
        postgres.stop()


def test_clocks_that_are_minutes_off_change_nothing(tadoru: Tadoru, town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=5, pages=3)
    expected = alone(tadoru, town, "quiet", *starts)
    first = len(town.requests)
    polite = ("--proxy", town.proxy, "--allow-private", "--delay", "0.2")
    harness.submit("site", *polite, *starts)
    ahead, behind = harness.start_timed_worker(clock_off=300.0, hosts=2), harness.start_timed_worker(clock_off=-300.0, hosts=2)
    until(lambda: len(town.requests) - first >= 10, "some requests")
    kill(ahead)
    harness.start_timed_worker(clock_off=300.0, hosts=2)
    harness.until_done("site")
    assert behind.poll() is None
    assert_same(harness.results("site"), expected, "what was done by wrong clocks")
    shortest = gaps(town.requests[first:], host_of)
    assert min(shortest.values()) > 0.1, shortest


def test_a_worker_that_is_cut_off_is_replaced_and_comes_back(tadoru: Tadoru, tmp_path: Path) -> None:
    with separate_network() as network, OpenTown(tmp_path, "bakery.example") as town:
        starts = build(town, hosts=5, pages=4)
        expected = alone(tadoru, town, "quiet", "--proxy", f"http://{network.site}:{town.port}", *starts)
        first = len(town.requests)
        folder = Path(tempfile.mkdtemp(prefix="tadoru-pg-"))
        postgres = PostgresServer(folder, listen_addresses=network.database)
        try:
            with (folder / "data" / "pg_hba.conf").open("a") as rules:
                rules.write("host all all 10.0.0.0/8 trust\n")
            with postgres.connect() as sql:
                sql.execute("SELECT pg_reload_conf()")
            with cluster_on(postgres, tadoru, town.environment) as harness:
                polite = ("--proxy", f"http://{network.site}:{town.port}", "--allow-private", "--delay", "0.2")
                harness.submit("site", *polite, *starts)
                name = harness.database.partition("@/")[2].partition("?")[0]
                from_there = f"postgresql://tadoru@{network.database}:5432/{name}?tcp_user_timeout=2000&connect_timeout=2"
                harness.start_timed_worker(prefix=network.inside, database=from_there, hosts=2, name="cut-off")
                until(
                    lambda: harness.sql("SELECT count(*) FROM workers WHERE pages > 0") == [(1,)],
                    f"first pages {harness.logs}",
                )
                network.cut()
                other = harness.start_timed_worker(hosts=4, name="other")
                harness.until_done("site")
                network.heal()
                back = "SELECT count(*) FROM workers WHERE name = 'cut-off' AND seen_at > clock_timestamp() - interval '1 second'"
                until(lambda: harness.sql(back) == [(1,)], f"its coming back {harness.logs}")
                assert other.poll() is None
                assert_same(harness.results("site"), expected, "what was taken over")
                shortest = gaps(town.requests[first:], host_of)
                assert min(shortest.values()) > 0.1, shortest
        finally:
            postgres.stop()
