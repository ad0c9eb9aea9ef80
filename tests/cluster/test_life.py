"""The life of a worker: it waits for work, leaves in good order, says in one sentence why it cannot begin, and gives up what
cannot be done."""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import closing

import pytest

from tadoru.clock import SystemClock
from tadoru.store.cluster.status import ClusterStatusReader
from tadoru.store.crawl.open import open_existing
from tests.acceptance.command import Tadoru, finished
from tests.cluster.hamlets import build
from tests.cluster.harness import ClusterHarness, until, worker_threads
from tests.cluster.test_identity import access
from tests.support.planted_server import ProxiedSite
from tests.support.postgres import server

BARE = ("--sitemap", "off", "--resources", "0")
SLICES = "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'tadoru.slice' AND status = 'doing'"


def test_a_worker_that_is_told_to_stop_leaves_everything_in_order(town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=2, pages=3)
    gate = town.hold(f"{starts[0]}2")
    worker = harness.start_worker()
    until(lambda: harness.sql("SELECT count(*) FROM workers") == [(1,)], "a worker without anything to do")
    harness.submit("site", *access(town), *BARE, *starts)
    town.wait_for(lambda town: town.hits(f"{starts[0]}2") > 0)
    worker.send_signal(signal.SIGTERM)
    assert worker.stderr is not None
    while "Finishing" not in worker.stderr.readline():
        assert worker.poll() is None
    gate.release()
    done = finished(worker)
    assert (done.code, "All results are written" in done.err) == (0, True), done.err
    assert harness.sql("SELECT count(*) FROM workers") == [(0,)]
    assert harness.sql('SELECT count(*) FROM "crawl_site".workers') == [(0,)]
    assert harness.sql("""SELECT count(*) FROM "crawl_site".pages WHERE status = 'processing'""") == [(0,)]
    assert harness.sql("SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing'") == [(0,)]
    assert harness.sql("SELECT count(*) FROM procrastinate_workers") == [(0,)]
    page = f"""SELECT status FROM "crawl_site".pages WHERE url = '{starts[0]}2'"""
    assert harness.sql(page) == [("completed",)], "what was in flight is written"
    with worker_threads(harness.database):
        harness.until_done("site")
    assert town.hits(f"{starts[0]}2") == 1


def test_what_an_engine_that_is_gone_held_is_done_by_others_when_nothing_else_waits(
    town: ProxiedSite, harness: ClusterHarness
) -> None:
    [start] = build(town, hosts=1, pages=2)
    harness.submit("site", *access(town), *BARE, start)

    async def lease_and_go() -> None:
        # Its process lives on, as that of a worker which lost its database: only time can tell that nobody is there.
        store = open_existing(harness.address("site"), SystemClock())
        worker = await store.frontier.join(3.0)
        found = await store.frontier.lease(worker, {}, new_hosts=1, per_host=1, limit=0)
        assert [lease.url for lease in found.leases] == [start]
        await store.close()

    asyncio.run(lease_and_go())
    assert harness.cluster.counts("site")["queued"] == 0
    with worker_threads(harness.database):
        harness.until_done("site")
    assert town.hits(start) == 1


def test_a_second_signal_stops_a_worker_at_once(town: ProxiedSite, harness: ClusterHarness) -> None:
    [start] = build(town, hosts=1, pages=2)
    town.hold(start)
    harness.submit("site", *access(town), *BARE, start)
    worker = harness.start_worker()
    town.wait_for(lambda town: town.hits(start) > 0)
    worker.send_signal(signal.SIGTERM)
    assert worker.stderr is not None
    while "Finishing" not in worker.stderr.readline():
        assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    done = finished(worker)
    assert (done.code, done.err.count("\n")) == (130, 1), done.err
    assert "Stopped immediately" in done.err


def test_a_crawl_that_is_stopped_rests_until_it_is_resumed(town: ProxiedSite, harness: ClusterHarness) -> None:
    [start] = build(town, hosts=1, pages=9)
    last = f"{start}8"
    harness.submit("site", "--proxy", town.proxy, "--allow-private", "--delay", "0.5", *BARE, start)
    with closing(ClusterStatusReader(harness.database)) as view, worker_threads(harness.database, seconds=600.0):
        town.wait_for(lambda town: town.hits(f"{start}1") > 0)
        view.stop("site")
        until(lambda: harness.sql(SLICES) == [(0,)], "the end of its slice")
        assert town.hits(last) == 0, "it ends long before its time"
        view.resume("site")
        harness.until_done("site")
        doing = "SELECT count(*) FROM procrastinate_jobs WHERE args ? 'crawl' AND status = 'doing'"
        until(lambda: harness.sql(doing) == [(0,)], "the end of its last work")
        view.forget("site")
    assert (town.hits(f"{start}1"), town.hits(last)) == (1, 1)


def test_a_slice_of_a_crawl_that_was_forgotten_is_nothing_to_do(town: ProxiedSite, harness: ClusterHarness) -> None:
    [start] = build(town, hosts=1, pages=2)
    harness.submit("site", *access(town), *BARE, start)
    harness.submit("gone", *access(town), *BARE, start)
    harness.sql("""INSERT INTO procrastinate_jobs(queue_name, task_name, lock, queueing_lock, args) VALUES
        ('slices', 'tadoru.slice', 'x', 'x', '{"crawl": "gone", "host": "x"}') RETURNING id""")
    harness.sql("DELETE FROM crawls WHERE name = 'gone' RETURNING name")
    with worker_threads(harness.database):
        harness.until_done("site")
        until(lambda: harness.sql("SELECT count(*) FROM procrastinate_jobs WHERE lock = 'x'") == [(0,)], "the slice")


def test_a_crawl_whose_work_fails_every_time_is_given_up_with_the_reason(town: ProxiedSite, harness: ClusterHarness) -> None:
    [start] = build(town, hosts=1, pages=2)
    harness.submit("site", *access(town), *BARE, start)
    harness.cluster.put_crawl("site", "audit", {**harness.cluster.crawl("site").options, "threshold": ["none-such=1"]})
    with worker_threads(harness.database):
        until(lambda: harness.cluster.crawl("site").state == "failed", "giving up")
    assert "none-such" in harness.cluster.crawl("site").error
    attempts = harness.sql("SELECT status::text, attempts FROM procrastinate_jobs WHERE task_name = 'tadoru.slice'")
    assert attempts == [("failed", 5)]
    assert town.hits(start) == 0


SENTENCES = {
    "crawl.db": (2, "A worker needs PostgreSQL"),
    "postgresql://ann:secret@127.0.0.1:1/none": (1, "Cannot connect to the database"),
    "postgresql://127.0.0.1:port/none": (2, "Invalid database URL"),
}


@pytest.mark.parametrize("database", SENTENCES)
def test_a_database_that_is_none_is_one_sentence(database: str, tadoru: Tadoru) -> None:
    code, words = SENTENCES[database]
    done = tadoru("worker", "-d", database)
    assert (done.code, done.out) == (code, "")
    assert words in done.sentence
    assert "secret" not in done.err


def test_a_user_who_may_make_no_tables_is_told_in_one_sentence(tadoru: Tadoru) -> None:
    database = server().new_database()
    with server().connect() as sql:
        sql.execute("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN")
    try:
        done = tadoru("worker", "-d", database.replace("tadoru@", "guest@"))
        assert (done.code, done.out) == (1, "")
        assert "permission denied for database" in done.sentence
        assert "lacks a permission" in done.sentence
    finally:
        server().drop(database)


def test_a_package_that_is_missing_is_one_sentence(tadoru: Tadoru, harness: ClusterHarness) -> None:
    program = (
        "import sys; sys.modules['procrastinate'] = None; sys.argv = ['tadoru', *sys.argv[1:]]\n"
        "from tadoru.__main__ import main; main()"
    )
    for arguments in (("worker", "-d", harness.database), ("audit", "--detach", "-d", harness.address("a"), "https://a.example")):
        done = tadoru.python(program, *arguments)
        assert (done.code, done.out) == (2, ""), done.err
        assert re.match(r"Packages for [a-z ]+ are not installed\. Install them with `", done.sentence)
        assert "[cluster]'" in done.sentence


def test_a_crawl_with_credentials_is_not_left_to_workers(tadoru: Tadoru, harness: ClusterHarness) -> None:
    secret = ("--auth-type", "bearer", "--auth-token", "secret")
    done = tadoru("audit", "--detach", "-d", harness.address("a"), *secret, "https://a.example")
    assert (done.code, done.out) == (2, ""), done.err
    assert "Run it without --detach" in done.sentence
    assert "secret" not in done.err
    assert harness.cluster.crawls() == []
