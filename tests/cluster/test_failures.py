"""What fails is tried again a few times, ends with a reason that everybody sees, and stops nothing else."""

from __future__ import annotations

from contextlib import closing

import pytest

from tadoru.store.cluster.status import ClusterStatusReader
from tests.cluster.hamlets import build
from tests.cluster.harness import ClusterHarness, until
from tests.cluster.test_identity import access
from tests.support.planted_server import ProxiedSite

BARE = ("--sitemap", "off", "--resources", "0")
# The number of a sequence is not rolled back with the transaction that took it.
_CUT_OFF = """CREATE SEQUENCE "crawl_site".times;
    CREATE FUNCTION "crawl_site".cut_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('"crawl_site".times') <= {times} THEN {fault}; END IF;
        RETURN NEW; END $$;
    CREATE TRIGGER cut_off BEFORE INSERT OR UPDATE ON "crawl_site".crawl_meta
        FOR EACH ROW WHEN (NEW.key = 'finished_at' AND NEW.value <> '') EXECUTE FUNCTION "crawl_site".cut_off()"""
CONNECTION = "PERFORM pg_terminate_backend(pg_backend_pid())"
DATA = "RAISE 'no more numbers'"
WORK = "SELECT status::text, attempts FROM procrastinate_jobs WHERE args ->> 'crawl' = 'site'"


def fail_finish(harness: ClusterHarness, times: int, fault: str) -> None:
    """Let the first attempts to finish the crawl `site` fail."""
    harness.sql(_CUT_OFF.format(times=times, fault=fault))


@pytest.mark.parametrize("fault", [CONNECTION, DATA], ids=["connection", "data"])
def test_a_crawl_whose_finish_fails_is_finished_by_a_later_attempt(
    fault: str, town: ProxiedSite, harness: ClusterHarness
) -> None:
    [start] = build(town, hosts=1, pages=3)
    harness.submit("site", *access(town), *BARE, start)
    fail_finish(harness, 3, fault)
    for _ in range(2):
        harness.start_timed_worker()
    harness.until_done("site")
    until(lambda: harness.sql(WORK) == [], "the end of its work")


@pytest.mark.parametrize("fault", [CONNECTION, DATA], ids=["connection", "data"])
def test_a_crawl_that_cannot_be_finished_fails_with_the_reason_until_it_is_resumed(
    fault: str, town: ProxiedSite, harness: ClusterHarness
) -> None:
    [start] = build(town, hosts=1, pages=3)
    harness.submit("site", *access(town), *BARE, start)
    fail_finish(harness, 5, fault)
    for _ in range(2):
        harness.start_timed_worker()
    until(lambda: harness.cluster.crawl("site").state == "failed", f"giving up {harness.logs}")
    reason = harness.cluster.crawl("site").error
    assert ("terminating connection" if fault == CONNECTION else "no more numbers") in reason
    assert f"crawl failed crawl=site error={reason}" in harness.logs
    until(lambda: harness.sql(WORK) == [("failed", 5)], "the end of its work")
    shown = harness.tadoru("cluster", "status", "-d", harness.database, env={"COLUMNS": "600"})
    assert reason in shown.out
    assert harness.tadoru("cluster", "resume", "site", "-d", harness.database).code == 0
    harness.until_done("site")
    until(lambda: harness.sql(WORK) == [], "the end of its work")


@pytest.mark.parametrize("harm", ["DROP SCHEMA crawl_broken CASCADE", "DROP TABLE crawl_broken.hosts CASCADE"])
def test_a_crawl_whose_tables_are_gone_fails_and_the_others_go_on(harm: str, town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=2, pages=3)
    harness.submit("broken", *access(town), *BARE, *starts)
    harness.submit("site", *access(town), *BARE, *starts)
    harness.sql(harm)
    workers = [harness.start_timed_worker(), harness.start_timed_worker()]
    harness.until_done("site")
    until(lambda: harness.cluster.crawl("broken").state == "failed", f"the end of the other {harness.logs}")
    assert "does not exist" in harness.cluster.crawl("broken").error
    assert "crawl failed crawl=broken" in harness.logs
    assert harness.logs.count("worker started") <= len(workers), "nobody had to begin again"
    assert [worker.poll() for worker in workers] == [None, None]


def test_a_crawl_whose_tables_go_while_it_runs_fails_and_the_others_go_on(town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=2, pages=3)
    gate = town.hold(f"{starts[0]}1")
    harness.submit("broken", *access(town), *BARE, starts[0])
    workers = [harness.start_timed_worker(), harness.start_timed_worker()]
    town.wait_for(lambda town: town.hits(f"{starts[0]}1") > 0)
    harness.sql("DROP SCHEMA crawl_broken CASCADE")
    gate.release()
    harness.submit("site", *access(town), *BARE, starts[1])
    harness.until_done("site")
    until(lambda: harness.cluster.crawl("broken").state == "failed", f"the end of the other {harness.logs}")
    assert [worker.poll() for worker in workers] == [None, None]
    assert harness.logs.count("worker started") == len(workers), "nobody had to begin again"


def test_a_slice_whose_end_cannot_be_recorded_at_first_is_recorded_or_repeated(
    town: ProxiedSite, harness: ClusterHarness
) -> None:
    [start] = build(town, hosts=1, pages=3)
    gate = town.hold(f"{start}2")
    harness.submit("site", *access(town), *BARE, start)
    harness.start_timed_worker()
    town.wait_for(lambda town: town.hits(f"{start}2") > 0)
    cut = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'tadoru-queue'"""
    assert len(harness.sql(cut)) > 0
    gate.release()
    harness.until_done("site")
    until(lambda: harness.sql(WORK) == [], "the end of its work")


def test_a_sweep_that_failed_is_not_counted_for_ever(town: ProxiedSite, harness: ClusterHarness) -> None:
    harness.sql("""INSERT INTO procrastinate_jobs(queue_name, task_name, status, args)
        VALUES ('chores', 'tadoru.sweep', 'failed', '{}') RETURNING id""")
    with closing(ClusterStatusReader(harness.database)) as view:
        assert view.look().queue.failed == 0


def test_a_sweep_that_fails_leaves_nothing_behind(town: ProxiedSite, harness: ClusterHarness) -> None:
    harness.sql(
        """CREATE SEQUENCE sweeps; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('tadoru_cluster.sweeps') < 4 THEN RAISE 'not now'; END IF; RETURN NULL; END $$;
        CREATE TRIGGER refuse BEFORE DELETE ON workers FOR EACH STATEMENT EXECUTE FUNCTION refuse()"""
    )
    harness.start_timed_worker()
    until(lambda: harness.sql("SELECT last_value > 4 FROM sweeps") == [(True,)], f"some sweeps {harness.logs}")
    assert harness.sql("SELECT count(*) FROM procrastinate_jobs WHERE status = 'failed'") == [(0,)]
    assert "not now" in harness.logs


def test_a_worker_that_connects_again_is_one_worker(town: ProxiedSite, harness: ClusterHarness) -> None:
    worker = harness.start_timed_worker(name="den-1")
    for times in range(1, 4):
        until(lambda times=times: harness.logs.count("worker started") == times, "a beginning")  # type: ignore[misc]
        until(
            lambda: harness.sql("SELECT count(*) FROM workers WHERE seen_at > clock_timestamp() - interval '5 s'") > [(0,)],
            "a beat",
        )
        harness.sql("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()""")
    until(lambda: harness.logs.count("worker started") == 4, "the last beginning")
    assert harness.sql("SELECT name, pid FROM workers") == [("den-1", worker.pid)]
