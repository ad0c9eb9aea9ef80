"""Reads the status of a cluster at one moment, and changes its crawls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from psycopg import sql as names

from tadoru.errors import StoreError, UsageError
from tadoru.i18n.translation import N_
from tadoru.store.cluster.records import ClusterCrawlStatus, ClusterStatus, HostStatus, QueueStatus, WorkerStatus
from tadoru.store.cluster.registry import DROP_TASKS, SCHEMA, STALLED
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.postgres.crawl_url import parse
from tadoru.store.errors import ConnectionLost, translated

MOST_CRAWLS = 50
MOST_HOSTS = 10
MOST_WORKERS = 500
GONE = 30.0
"""Seconds after which a worker that says nothing counts as gone."""
SLOW_GAP = 5.0
"""Seconds between two requests from which on a host is worth naming."""
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '10s'; SET LOCAL timezone = 'UTC'"
# A table that an older program made has no column `rate`: read as JSON, what is not there is null.
_WORKERS = """SELECT name, machine, pid, version, started_at, seen_at,
        clock_timestamp() - seen_at < make_interval(secs => %s), hosts, pages,
        coalesce((to_jsonb(w) ->> 'rate')::double precision,
            pages / greatest(extract(epoch FROM seen_at - started_at), 1)::double precision)
    FROM workers w ORDER BY name, id LIMIT %s"""
_CRAWLS = """SELECT name, job, state, error, added_at, ended_at FROM crawls
    ORDER BY (state = 'open') DESC, coalesce(ended_at, added_at) DESC, name LIMIT %s"""
# A crawl without these tables is shown without figures, and keeps nobody from seeing the others.
_WRITTEN = """SELECT nspname FROM pg_namespace WHERE nspname = ANY(%s)
    AND to_regclass(quote_ident(nspname) || '.counters') IS NOT NULL
    AND to_regclass(quote_ident(nspname) || '.hosts') IS NOT NULL
    AND to_regclass(quote_ident(nspname) || '.robots') IS NOT NULL"""
_COUNTS = """SELECT {name}, name, sum(value)::bigint FROM {crawl}.counters
    WHERE name IN ('counted', 'queued', 'processing', 'error') GROUP BY name"""
_HOSTS = "SELECT {name}, 'hosts', count(*) FROM {crawl}.hosts WHERE queued > 0"
_SLOW = """(SELECT {name}, name, strikes, queued, gap, latency, next_at - {crawl}.shared_now() FROM {crawl}.hosts
    WHERE queued > 0 AND (strikes > 0 OR gap >= {slow} OR gap > 1.5 * coalesce(base, 0))
    ORDER BY strikes > 0 DESC, gap DESC NULLS LAST LIMIT {most})"""
_SILENT = """(SELECT {name}, split_part(origin, '://', 2) FROM {crawl}.robots
    WHERE fetched_at IS NOT NULL AND (status IS NULL OR status >= 500 OR status = 429) ORDER BY fetched_at DESC LIMIT {most})"""
_QUEUE = """SELECT
        count(*) FILTER (WHERE status = 'todo' AND attempts = 0), count(*) FILTER (WHERE status = 'todo' AND attempts > 0),
        count(*) FILTER (WHERE status = 'doing' AND NOT is_stalled), count(*) FILTER (WHERE status = 'doing' AND is_stalled),
        count(*) FILTER (WHERE status = 'failed')
    FROM (SELECT j.status, j.attempts,
            coalesce(w.last_heartbeat < clock_timestamp() - make_interval(secs => %s), true) AS is_stalled
        FROM procrastinate_jobs j LEFT JOIN procrastinate_workers w ON w.id = j.worker_id
        WHERE j.task_name <> 'tadoru.sweep') jobs"""
_FAILED = """SELECT args ->> 'crawl', args ->> 'host', max(attempts) FROM procrastinate_jobs
    WHERE args ? 'host' AND (status = 'failed' OR (status = 'todo' AND attempts > 0)) GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT %s"""
# Tasks of lost workers do not count: where no worker is left, nobody would take them over.
_RUNNING = """SELECT count(*) FROM procrastinate_jobs j JOIN procrastinate_workers w ON w.id = j.worker_id
    WHERE j.args ->> 'crawl' = %s AND j.status = 'doing' AND w.last_heartbeat > clock_timestamp() - make_interval(secs => %s)"""
_ALIVE = "SELECT count(*) FROM {crawl}.workers WHERE expires_at > {crawl}.shared_now()"
_BEGIN_DELETION = "BEGIN; SET LOCAL lock_timeout = '10s'"


class ClusterStatusReader:
    """A connection that reads the status of a cluster; not for several threads at the same time."""

    def __init__(self, database: str) -> None:
        """Raises UsageError for an address that is none, StoreError when the database cannot be reached."""
        self._link = PgConnection(parse(database.replace("postgresql+psycopg://", "postgresql://", 1)), schema=SCHEMA)
        self.shown = self._link.shown.rpartition("?crawl=")[0]

    def close(self) -> None:
        self._link.close()

    def is_there(self) -> bool:
        """Whether this database has a cluster."""
        row = self._link.run("SELECT to_regclass(%s), to_regclass(%s)", [f"{SCHEMA}.crawls", f"{SCHEMA}.procrastinate_jobs"])
        return None not in row.fetchall()[0]

    def look(self, *, most_hosts: int = MOST_HOSTS) -> ClusterStatus:
        """The cluster at this moment. Raises UsageError when there is none."""
        if not self.is_there():
            raise UsageError("No cluster in {path}. Create one with `tadoru worker --database postgresql://…`.", path=self.shown)
        with self._link.transaction(_BEGIN):
            at = self._rows("SELECT clock_timestamp()")[0][0]
            workers = tuple(self._workers())
            crawls = tuple(self._crawls())
            queue = QueueStatus(*self._rows(_QUEUE, [STALLED])[0])
            return ClusterStatus(at, workers, crawls, queue, tuple(self._hosts(crawls, most_hosts)))

    def _workers(self) -> Iterator[WorkerStatus]:
        for row in self._rows(_WORKERS, [GONE, MOST_WORKERS]):
            worker = WorkerStatus(*row)
            yield replace(worker, rate=round(worker.rate, 3)) if worker.is_alive else replace(worker, hosts=0, rate=0.0)

    def _crawls(self) -> Iterator[ClusterCrawlStatus]:
        known = self._rows(_CRAWLS, [MOST_CRAWLS])
        written = {row[0] for row in self._rows(_WRITTEN, [[f"crawl_{row[0]}" for row in known]])}
        here = [row[0] for row in known if f"crawl_{row[0]}" in written]
        still_open = [row[0] for row in known if row[2] == "open" and row[0] in here]
        counts: dict[str, dict[str, int]] = {name: {} for name in here}
        for crawl, what, value in [*self._each(_COUNTS, here), *self._each(_HOSTS, still_open)]:
            counts[crawl][what] = value
        for name, job, state, error, added_at, ended_at in known:
            found = counts.get(name, {})
            yield ClusterCrawlStatus(
                name, job, state, error, added_at, ended_at, name in counts, found.get("counted", 0), found.get("queued", 0),
                found.get("processing", 0), found.get("error", 0), found.get("hosts", 0),
            )  # fmt: skip

    def _hosts(self, crawls: Sequence[ClusterCrawlStatus], most: int) -> list[HostStatus]:
        """What failed, then what gives no answer, then what is slow; each host of a crawl once."""
        crawled = [crawl.name for crawl in crawls if crawl.state == "open" and crawl.has_data]
        bounds = {"most": names.Literal(most), "slow": names.Literal(SLOW_GAP)}
        slow = {(row[0], row[1]): row[2:] for row in self._each(_SLOW, crawled, **bounds)}
        failed = {(crawl or "", host): attempts for crawl, host, attempts in self._rows(_FAILED, [most])}
        silent = {(crawl, host) for crawl, host in self._each(_SILENT, crawled, **bounds)}
        found = []
        for crawl, host in dict.fromkeys([*failed, *sorted(silent), *slow]):
            strikes, queued, gap, latency, wait = slow.get((crawl, host), (0, None, None, None, None))
            trouble = (
                "failed" if (crawl, host) in failed else "robots" if (crawl, host) in silent else "slowed" if strikes else ""
            )
            wait = None if wait is None else max(0.0, wait)
            found.append(HostStatus(host, crawl, trouble, queued, gap, latency, wait, failed.get((crawl, host), 0)))
        ranks = ("failed", "robots", "slowed", "")
        return sorted(found, key=lambda one: (ranks.index(one.trouble), -one.attempts, -(one.gap or 0.0), one.name))[:most]

    # ---- changes
    def stop(self, crawl: str) -> None:
        """No more of a crawl is begun: workers end the slices they have, and what waits is taken out of the queue."""
        self._change(crawl, "open", "stopped", "clock_timestamp()", N_("Cannot stop crawl {name}: it is {state}, not open."))

    def resume(self, crawl: str) -> None:
        """Go on with a crawl: a worker sees it with its next sweep."""
        message = N_("Cannot resume crawl {name}: it is {state}, not stopped or failed. Start it again with `tadoru audit`.")
        self._change(crawl, "stopped failed", "open", "NULL", message)

    def forget(self, crawl: str) -> None:
        """The cluster has nothing to do with a crawl any more; what it found stays in the database."""
        with self._link.transaction():
            if self._state_of(crawl) == "open":
                raise UsageError("Crawl {name} is open. Stop it first with `tadoru cluster stop {name}`.", name=crawl)
            self._refuse_running(crawl)
            self._remove(crawl)

    def check_deletion(self, crawl: str) -> None:
        """Raises UsageError for a crawl that cannot be deleted: there is none, or it is open or running."""
        with self._link.transaction(_BEGIN_DELETION):
            self._check_deletion(crawl)

    def delete(self, crawl: str) -> None:
        """Delete a crawl with its results, also one that is no longer in the list or whose tables are gone. Raises UsageError."""
        with self._link.transaction(_BEGIN_DELETION):
            if self._check_deletion(crawl):
                with translated(self._link.shown):
                    self._link.driver.execute(names.SQL("DROP SCHEMA {} CASCADE").format(names.Identifier(f"crawl_{crawl}")))
            self._remove(crawl)

    def _check_deletion(self, crawl: str) -> bool:
        """Whether the crawl has a schema. Raises UsageError."""
        # As text: PostgreSQL would cut off the end of a long name.
        has_schema = bool(self._rows("SELECT 1 FROM pg_namespace WHERE nspname::text = %s", [f"crawl_{crawl}"]))
        is_crawl = has_schema and bool(self._rows(_WRITTEN, [[f"crawl_{crawl}"]]))
        if not self.is_there() or not self._rows("SELECT 1 FROM crawls WHERE name = %s", [crawl]):
            if not is_crawl:
                raise UsageError("Crawl {name} not found in the cluster. `tadoru cluster status` lists them.", name=crawl)
        elif self._state_of(crawl) == "open" and is_crawl:
            raise UsageError("Crawl {name} is open. Stop it first with `tadoru cluster stop {name}`.", name=crawl)
        if self.is_there():
            self._refuse_running(crawl)
        if is_crawl and self._has_processes(crawl):
            raise UsageError("Workers still process crawl {name}. Try again in a minute.", name=crawl)
        return has_schema

    def _has_processes(self, crawl: str) -> bool:
        """Whether a process has the crawl open to work on it, such as `tadoru audit` without --detach."""
        self._link.run("SAVEPOINT processes")
        try:
            return bool(self._each(_ALIVE, [crawl])[0][0])
        except ConnectionLost:
            raise
        except StoreError:  # Its tables are damaged.
            self._link.run("ROLLBACK TO processes")
            return False

    def _refuse_running(self, crawl: str) -> None:
        if self._rows(_RUNNING, [crawl, STALLED])[0][0]:
            raise UsageError("Workers still process crawl {name}. Try again in a minute.", name=crawl)

    def _remove(self, crawl: str) -> None:
        """Remove a crawl and its tasks from the cluster."""
        if self.is_there():
            self._link.run("DELETE FROM procrastinate_jobs WHERE args ->> 'crawl' = %s", [crawl])
            self._link.run("DELETE FROM crawls WHERE name = %s", [crawl])

    def _change(self, crawl: str, of: str, to: str, ended: str, refusal: str) -> None:
        with self._link.transaction():
            if (state := self._state_of(crawl)) not in of.split():
                raise UsageError(refusal, name=crawl, state=state)
            text = f"UPDATE crawls SET state = %s, error = '', ended_at = {ended} WHERE name = %s"
            self._link.run(text, [to, crawl])
            self._link.run(DROP_TASKS, [crawl])

    def _state_of(self, crawl: str) -> str:
        """The state of a crawl, which nobody else changes until the transaction ends. Raises UsageError."""
        rows = self._rows("SELECT state FROM crawls WHERE name = %s FOR UPDATE", [crawl]) if self.is_there() else []
        if not rows:
            raise UsageError("Crawl {name} not found in the cluster. `tadoru cluster status` lists them.", name=crawl)
        return str(rows[0][0])

    # ---- asking
    def _rows(self, text: str, values: Sequence[object] = ()) -> list[Any]:
        return self._link.run(text, values).fetchall()

    def _each(self, text: str, crawls: Sequence[str], **more: names.Composable) -> list[Any]:
        """The rows of a statement about each of these crawls, in one question."""
        if not crawls:
            return []
        each = [
            names.SQL(text).format(name=names.Literal(crawl), crawl=names.Identifier(f"crawl_{crawl}"), **more)
            for crawl in crawls
        ]  # fmt: skip
        with translated(self._link.shown):
            return self._link.driver.execute(names.SQL(" UNION ALL ").join(each)).fetchall()
