"""`tadoru cluster status | stop | resume | forget`: who works for a cluster, at what, and what is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

import click

from tadoru.cli.forms import format_option, span_text
from tadoru.cli.help import CommandGroup
from tadoru.cli.options import effective, job_options
from tadoru.cli.table import Column, clean, write_pairs, write_table
from tadoru.clock import Clock, iso
from tadoru.errors import UsageError
from tadoru.extras import not_installed
from tadoru.jobs.report.words import counted
from tadoru.options import WorkerOptions

if TYPE_CHECKING:
    from tadoru.store.postgres.cluster_values import ClusterSeen, HostSeen
    from tadoru.store.postgres.cluster_view import ClusterView

EVERY = 2.0
"""Seconds from one look to the next."""
_TROUBLE = {"robots": "no robots.txt", "slowed": "asked for patience", "": ""}
_CLEARED = "\x1b[H\x1b[2J"
Look = Callable[[], "ClusterSeen"]


def database_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which database, from the same places as `tadoru worker` has it."""
    config = click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
    return job_options("worker", WorkerOptions(), only=("database",))(config(function))


@contextmanager
def opened(config_file: str | None, given: dict[str, Any]) -> Iterator[ClusterView]:
    """The cluster of the database that was named. Raises UsageError when that is none of PostgreSQL."""
    from tadoru.store.postgres.address import is_postgresql

    options, _ = effective("worker", WorkerOptions, given, config_file)
    if not is_postgresql(options.database):
        raise UsageError("A cluster is in a database on PostgreSQL: give --database postgresql://user@host/name.")
    try:
        from tadoru.store.postgres.cluster_view import ClusterView
    except ModuleNotFoundError:
        raise UsageError(not_installed("a cluster", "cluster")) from None
    with closing(ClusterView(options.database)) as view:
        yield view


@click.group(
    cls=CommandGroup, short_help="See a cluster of workers.",
    examples=(("tadoru cluster status -d postgresql://me@db.internal/tadoru", "who does what"),),
)  # fmt: skip
def cluster() -> None:
    """Who works for the cluster in a PostgreSQL database, at what, and what is wrong. `tadoru worker` makes a cluster."""


@cluster.command(
    "status", short_help="Workers, crawls, queue, hosts in trouble.",
    examples=(
        ("tadoru cluster status -d postgresql://me@db/tadoru", "as it is now"),
        ("tadoru cluster status --watch", "again and again"),
        ("tadoru cluster status -f json | jq .queue", "for programs"),
    ),
)  # fmt: skip
@database_options
@format_option("text", "json")
@click.option("-w", "--watch", "is_watched", is_flag=True, help="Look again and again, until Ctrl-C.")
def status(config_file: str | None, form: str, is_watched: bool, **given: Any) -> int:
    """Workers (alive or gone), crawls and how far they are, the queue, and the hosts that are slow or fail.

    With --watch, json is one document a line.
    """
    write = write_line if form == "json" and is_watched else write_document if form == "json" else write_text
    with opened(config_file, given) as view:
        write(sys.stdout, view.look())
        if is_watched:
            from tadoru.clock import SystemClock
            from tadoru.jobs.launch import run_loop

            try:
                run_loop(watch(view.look, write, sys.stdout, SystemClock()))
            except KeyboardInterrupt:  # That is how watching ends.
                return 0
    return 0


async def watch(look: Look, write: Callable[[TextIO, ClusterSeen], None], out: TextIO, clock: Clock) -> None:
    """Look again every two seconds, less often where a look takes long. Ends when the database does not answer any more, by
    raising StoreError."""
    took = 0.0
    while True:
        out.flush()
        await clock.sleep(max(EVERY, 10 * took))
        began = clock.monotonic()
        found = look()
        took = clock.monotonic() - began
        if write is write_text:
            out.write(_CLEARED if out.isatty() else "\n")
        write(out, found)


def write_document(out: TextIO, found: ClusterSeen) -> None:
    """One JSON value."""
    out.write(json.dumps(found.document(), ensure_ascii=False, indent=2, default=_moment) + "\n")


def write_line(out: TextIO, found: ClusterSeen) -> None:
    """One JSON value on one line."""
    out.write(json.dumps(found.document(), ensure_ascii=False, default=_moment) + "\n")


def _moment(value: Any) -> str:
    return iso(value)


def write_text(out: TextIO, found: ClusterSeen) -> None:
    """For people: two lines about all of it, then a table of each kind."""
    queue = found.queue
    gone = len(found.workers) - found.alive
    asked = counted(sum(worker.hosts for worker in found.workers), "host")
    again = f", {queue.again:,} to be tried again" if queue.again else ""
    work = f"{queue.waiting:,} waiting{again}, {queue.running:,} running, {queue.stalled:,} stalled, {queue.failed:,} failed"
    write_pairs(out, [
        ("Workers", f"{found.alive} alive, {gone} gone; {found.rate:.1f} pages/s, {asked} asked now"), ("Queue", work),
    ])  # fmt: skip
    for table in (_workers, _crawls, _hosts):
        columns, rows = table(found)
        if rows:
            out.write("\n")
            write_table(out, columns, rows)


def _workers(found: ClusterSeen) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
    columns = (
        Column("Worker", may_shrink=True), Column("Machine", may_shrink=True), Column("State"), Column("Version"),
        Column("Since", to_right=True), Column("Seen", to_right=True), Column("Hosts", to_right=True),
        Column("Pages", to_right=True), Column("Pages/s", to_right=True),
    )  # fmt: skip
    return columns, [
        (
            one.name, one.machine, "alive" if one.is_alive else "gone", one.version,
            _age(found.at, one.started_at), _age(found.at, one.seen_at),
            f"{one.hosts:,}", f"{one.pages:,}", f"{one.rate:.1f}",
        )
        for one in found.workers
    ]  # fmt: skip


def _crawls(found: ClusterSeen) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
    numbers = ("Done", "Queued", "In flight", "Errors", "Hosts", "Age")
    columns = (Column("Crawl", may_shrink=True), Column("State"), *(Column(name, to_right=True) for name in numbers))
    rows: list[tuple[str, ...]] = []
    for one in found.crawls:
        counts = (one.done, one.queued, one.in_flight, one.errors, one.hosts_waiting)
        told = [f"{count:,}" if one.has_data else "–" for count in counts]
        rows.append((one.name, one.state, *told, _age(found.at, one.added_at)))
    if any(one.error for one in found.crawls):
        columns = (*columns, Column("Why", may_shrink=True))
        rows = [(*row, one.error) for row, one in zip(rows, found.crawls, strict=True)]
    return columns, rows


def _hosts(found: ClusterSeen) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
    columns = (
        Column("Host", may_shrink=True), Column("Crawl", may_shrink=True), Column("Trouble", may_shrink=True),
        Column("Queued", to_right=True), Column("Gap", to_right=True), Column("Answers in", to_right=True),
        Column("Next in", to_right=True),
    )  # fmt: skip
    return columns, [
        (
            one.name, one.crawl, _trouble(one), "" if one.queued is None else f"{one.queued:,}",
            _seconds(one.gap), _seconds(one.latency), "" if one.wait is None else span_text(one.wait),
        )
        for one in found.hosts
    ]  # fmt: skip


def _age(now: datetime, at: datetime) -> str:
    return span_text(max(0.0, (now - at).total_seconds()))


def _trouble(one: HostSeen) -> str:
    return f"failed {counted(one.attempts, 'time')}" if one.trouble == "failed" else _TROUBLE[one.trouble]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"


@cluster.command(
    "stop", short_help="Stop a crawl.",
    examples=(("tadoru cluster stop shops", "what it found stays; `tadoru cluster resume shops` goes on"),),
)  # fmt: skip
@click.argument("crawl")
@database_options
def stop(crawl: str, config_file: str | None, **given: Any) -> int:
    """Stop a crawl: no more of it is begun, and what is being asked for is finished. What it found stays."""
    with opened(config_file, given) as view:
        view.stop(crawl)
    sys.stderr.write(f"Stopped {clean(crawl)}; workers end what they have of it within a minute.\n")
    return 0


@cluster.command("resume", short_help="Go on with a crawl.", examples=(("tadoru cluster resume shops", "where it was stopped"),))
@click.argument("crawl")
@database_options
def resume(crawl: str, config_file: str | None, **given: Any) -> int:
    """Go on with a crawl that was stopped, or that failed."""
    with opened(config_file, given) as view:
        view.resume(crawl)
        alive = view.look().alive
    hint = "the workers go on with it" if alive else "there is no worker now: start one with `tadoru worker`"
    sys.stderr.write(f"Opened {clean(crawl)} again; {hint}.\n")
    return 0


@cluster.command(
    "forget", short_help="Take a crawl out of the cluster.", examples=(("tadoru cluster forget shops", "what it found stays"),)
)
@click.argument("crawl")
@database_options
def forget(crawl: str, config_file: str | None, **given: Any) -> int:
    """Take a crawl that is stopped, done or failed out of the list. What it found stays, for `tadoru report` and the others."""
    with opened(config_file, given) as view:
        view.forget(crawl)
    sys.stderr.write(f"The cluster has forgotten {clean(crawl)}; what it found is still in the database.\n")
    return 0
