"""What the queue costs: handing out one slice, by how many wait, and looking for hosts that want one. A part of `bench.costs`.

Through Procrastinate's own methods, as its workers use them. Whether a long queue is dear decides how many slices may wait in it.
"""

from __future__ import annotations

import time
from typing import Any

import procrastinate
from procrastinate.jobs import Status

from bench.costs import server_cpu
from tadoru.clock import SystemClock
from tadoru.cluster import queue
from tadoru.cluster.worker import MAX_QUEUED_SLICES
from tadoru.store.cluster.registry import SCHEMA, ClusterRegistry
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import LinkTarget, PageStatus
from tests.support.postgres import PostgresServer

LENGTHS = (200, 2_000, 20_000)
ROUNDS = 60
WAITING = (1_000, 20_000)
_FILL = """INSERT INTO procrastinate_jobs(queue_name, task_name, lock, queueing_lock)
    SELECT 'slices', 'bench.slice', 'host-' || n || '.example', 'slice/bench/host-' || n || '.example'
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n"""


async def queue_parts(server: PostgresServer) -> dict[str, Any]:
    """For every length of the queue: seconds of the database's CPU, of ours, and of the wall, for one slice."""
    cluster = ClusterRegistry(server.new_database())
    queue.prepare_schema(cluster)
    found: dict[str, Any] = {"look": await _look(cluster, server)}  # With an empty queue.
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=cluster.dsn, kwargs={"options": f"-c search_path={SCHEMA}"})
    )

    @app.task(name="bench.slice")
    def do_nothing(crawl: str, host: str) -> None: ...

    async with app.open_async():
        manager = app.job_manager
        worker = await manager.register_worker()
        waiting = 0

        async def put(host: str) -> None:
            task = app.configure_task("bench.slice", queue="slices", lock=host, queueing_lock=f"slice/bench/{host}")
            await task.defer_async(crawl="bench", host=host)

        for length in LENGTHS:
            await app.connector.execute_query_async(_FILL, first=waiting, last=length - 1)
            waiting = length
            await app.connector.execute_query_async("ANALYZE")
            before = time.process_time(), server_cpu(server.pid), time.perf_counter()
            for _ in range(ROUNDS):
                job = await manager.fetch_job(queues=["slices"], worker_id=worker)
                assert job is not None
                assert job.lock is not None
                await manager.finish_job(job, Status.SUCCEEDED, delete_job=True)
                await put(job.lock)
            after = time.process_time(), server_cpu(server.pid), time.perf_counter()
            worker_cpu, database, wall = ((then - now) / ROUNDS for now, then in zip(before, after, strict=True))
            found[str(length)] = {"worker": worker_cpu, "database": database, "wall": wall}
            print(
                f"  a slice, {length:6} waiting            worker {worker_cpu * 1e6:8.1f} µs  database {database * 1e6:8.1f} µs"
            )
    cluster.close()
    return found


async def _look(cluster: ClusterRegistry, server: PostgresServer) -> dict[str, float]:
    """What it costs to find hosts that want a slice, of many: seconds of the database's CPU, for each number of hosts."""
    found = {}
    for number in WAITING:
        store = PostgresStore(f"{cluster.dsn}&crawl=wide{number}", SystemClock())
        targets = [LinkTarget(f"https://host-{n}.example/", f"host-{n}.example", PageStatus.QUEUED) for n in range(number)]
        for at in range(0, number, 1_000):
            await store.frontier.add(targets[at : at + 1_000], seed=False)
        await store.close()
        before = server_cpu(server.pid)
        for _ in range(ROUNDS):
            cluster.waiting_hosts(f"wide{number}", MAX_QUEUED_SLICES)
        found[str(number)] = (server_cpu(server.pid) - before) / ROUNDS
        print(f"  a look at {number:6} hosts              database {found[str(number)] * 1e6:8.1f} µs")
    return found
