"""The state that the workers of a cluster share: crawls, workers, and hosts that wait for a worker.

It is a schema of its own beside the crawls, together with the tables of the task engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from tadoru.errors import StoreError, UsageError
from tadoru.i18n.translation import N_
from tadoru.store.cluster import schema
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.postgres.crawl_url import CrawlUrl, parse

SCHEMA = schema.SCHEMA
OPEN = "open"
STALLED = 20.0
"""Seconds without a heartbeat after which a worker counts as gone, and what it was doing is for others."""
CALENDAR = "public.tadoru_events_version"
"""The table that a calendar has."""
LOOKING = 0x7AD0_0014
"""The advisory lock of whoever fills the queue."""
SLICE = "tadoru.slice"
"""What the task engine calls asking one host of a crawl for a while."""
# By two indexes of the task engine's table: what waits is unique by one, what is done now by the other.
_WAITING = """SELECT h.name FROM {crawl}.hosts h WHERE h.queued > 0
    AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j WHERE j.status = 'todo' AND j.queueing_lock = %(prefix)s || h.name)
    AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j WHERE j.status = 'doing' AND j.lock = h.name)
    AND EXISTS (SELECT 1 FROM {crawl}.pages p WHERE p.host_id = h.id AND p.status = 'queued'
        AND p.not_before <= {crawl}.shared_now())
    ORDER BY greatest(h.next_at, h.turn_at), h.id LIMIT (
        SELECT %(most)s - least(%(most)s, count(*)) FROM procrastinate_jobs j
        WHERE j.status = 'todo' AND starts_with(j.queueing_lock, %(prefix)s))"""
# Pages a second lately: each beat moves it towards what was done since the one before, the more the longer that is ago.
_BEAT = """UPDATE workers SET seen_at = clock_timestamp(), hosts = %(hosts)s, pages = %(pages)s,
    rate = rate + (1 - exp(-passed.seconds / 15)) * (greatest(%(pages)s - pages, 0) / passed.seconds - rate)
    FROM (SELECT greatest(extract(epoch FROM clock_timestamp() - seen_at)::float8, 0.001) AS seconds
        FROM workers WHERE id = %(worker)s) passed
    WHERE id = %(worker)s"""
_COUNTS = """SELECT name, sum(value)::bigint FROM {crawl}.counters GROUP BY name UNION ALL
    SELECT 'lined up', count(*) FROM procrastinate_jobs WHERE status = 'todo' AND starts_with(queueing_lock, %s)"""
_FINISHING = """SELECT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status = 'todo' AND queueing_lock = %(lock)s)
    OR EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status = 'doing' AND lock = %(lock)s)"""
DROP_TASKS = "DELETE FROM procrastinate_jobs WHERE args ->> 'crawl' = %s AND status IN ('todo', 'failed')"
"""Removes the tasks of a crawl that nobody is doing."""
LATER = "SELECT clock_timestamp() + make_interval(secs => %(seconds)s) AS at"
"""The moment in so many seconds."""
_DAMAGED = ("3F", "42", "XX001", "XX002")
"""How the error codes of missing schemas, tables, columns and functions begin, and of damaged data and indexes."""
_NO_PERMISSION = "42501"
_CRAWLS = """SELECT name, job, options, state, error, added_at, ended_at,
    extract(epoch FROM clock_timestamp() - added_at)::float8 FROM crawls ORDER BY added_at, name"""


def slice_prefix(crawl: str) -> str:
    """How the queueing locks of a crawl's slices begin."""
    return f"slice/{crawl}/"


def finish_lock(crawl: str) -> str:
    """The lock and the queueing lock of the task that finishes a crawl."""
    return f"finish/{crawl}"


class UnusableCrawl(StoreError):
    """Tables of a crawl are missing or damaged: nobody can go on with it."""


@contextmanager
def _tables_of(crawl: str) -> Iterator[None]:
    """Raises UnusableCrawl for errors that do not go away by themselves; a missing permission is a problem of one worker."""
    try:
        yield
    except StoreError as error:
        state = getattr(error.__cause__, "sqlstate", None) or ""
        if state == _NO_PERMISSION or not state.startswith(_DAMAGED):
            raise
        message = N_("Tables of the crawl are missing or damaged ({reason}). Delete it with `tadoru cluster delete {name}`.")
        raise UnusableCrawl(message, reason=str(error.__cause__).partition("\n")[0], name=crawl) from error


class ClusterCrawl(NamedTuple):
    """A crawl that is assigned to the cluster."""

    name: str
    job: str
    options: Mapping[str, Any]
    state: str
    """`open`, `done` or `failed`."""
    error: str
    added_at: datetime
    ended_at: datetime | None
    age: float
    """Seconds since it was handed to the workers."""

    @property
    def is_out_of_time(self) -> bool:
        most = self.options.get("max_time")
        return most is not None and self.age >= float(most)


class ClusterRegistry:
    """The tables of a cluster, in one database."""

    def __init__(self, database: str) -> None:
        found = parse(database)
        self.dsn = found.dsn
        self._link = PgConnection(CrawlUrl(found.dsn, found.crawl), schema=SCHEMA)
        self.shown = self._link.shown
        self._engine = ""

    def close(self) -> None:
        self._link.close()

    def prepare(self, engine: schema.TaskEngineSchema) -> None:
        """Make the tables that are missing, ours and the task engine's, and bring older ones up. Raises StoreError."""
        schema.prepare(self._link, engine)
        self._engine = engine.last

    # ---- crawls
    def put_crawl(self, name: str, job: str, options: Mapping[str, Any]) -> None:
        """A crawl for the workers; one that was done is open again."""
        self._link.run(DROP_TASKS, [name])
        self._link.run(
            """INSERT INTO crawls(name, job, options) VALUES (%s, %s, %s) ON CONFLICT (name) DO UPDATE
            SET options = EXCLUDED.options, state = 'open', error = '', added_at = clock_timestamp(), ended_at = NULL""",
            [name, job, json.dumps(options)],
        )

    def crawl(self, name: str) -> ClusterCrawl:
        """Raises UsageError."""
        for crawl in self.crawls():
            if crawl.name == name:
                return crawl
        raise UsageError("Crawl {name} not found in the cluster. `tadoru cluster status` lists them.", name=name)

    def crawls(self) -> list[ClusterCrawl]:
        rows = self._link.run(_CRAWLS).fetchall()
        return [ClusterCrawl(name, job, json.loads(options), *rest) for name, job, options, *rest in rows]

    def end_crawl(self, name: str, state: str, error: str = "") -> bool:
        """End an open crawl; False if it was stopped or ended meanwhile."""
        text = "UPDATE crawls SET state = %s, error = %s, ended_at = clock_timestamp() WHERE name = %s AND state = 'open'"
        return self._link.run(text, [state, error, name]).rowcount > 0

    def is_finishing(self, crawl: str) -> bool:
        """Whether the task that finishes a crawl is queued or running."""
        return bool(self._link.run(_FINISHING, {"lock": finish_lock(crawl)}).fetchall()[0][0])

    def waiting_hosts(self, crawl: str, most: int) -> list[str]:
        """Hosts of a crawl that have something to ask for, and that nobody has or is to have; those that wait longest first. No
        more than `most` of the crawl wait in the queue then. Raises UnusableCrawl."""
        text = _WAITING.format(crawl=f'"crawl_{crawl}"')
        values = {"prefix": slice_prefix(crawl), "most": most}
        with _tables_of(crawl):
            return [row[0] for row in self._link.run(text, values).fetchall()]

    @contextmanager
    def looking(self) -> Iterator[bool]:
        """Whether nobody else looks for waiting hosts now: what several find at once only one can put into the queue."""
        is_alone: bool = self._link.run("SELECT pg_try_advisory_lock(%s)", [LOOKING]).fetchall()[0][0]
        try:
            yield is_alone
        finally:
            if is_alone:
                self._link.run("SELECT pg_advisory_unlock(%s)", [LOOKING])

    def counts(self, crawl: str) -> dict[str, int]:
        """The counters of a crawl, and how many of its slices are `lined up` in the queue. Raises UnusableCrawl."""
        with _tables_of(crawl):
            return dict(self._link.run(_COUNTS.format(crawl=f'"crawl_{crawl}"'), [slice_prefix(crawl)]).fetchall())

    def has_calendar(self) -> bool:
        """Whether there is a calendar in the same database."""
        found = self._link.run("SELECT to_regclass(%s)", [CALENDAR]).fetchall()
        return found[0][0] is not None

    # ---- workers
    def register(self, name: str, machine: str, pid: int, version: str) -> int:
        """A worker begins; its number."""
        rows = self._link.run(
            "INSERT INTO workers(name, machine, pid, version, engine) VALUES (%s, %s, %s, %s, %s) RETURNING id",
            [name, machine, pid, version, self._engine],
        )
        number: int = rows.fetchall()[0][0]
        return number

    def beat(self, worker: int, hosts: int, pages: int) -> bool:
        """A worker lives, has so many hosts, and did so many pages; whether it is still known."""
        return self._link.run(_BEAT, {"worker": worker, "hosts": hosts, "pages": pages}).rowcount > 0

    def leave(self, worker: int) -> None:
        self._link.run("DELETE FROM workers WHERE id = %s", [worker])

    def forget_workers(self) -> None:
        """Those that were not heard of for an hour."""
        self._link.run("DELETE FROM workers WHERE seen_at < clock_timestamp() - interval '1 hour'")
