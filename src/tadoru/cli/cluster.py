"""`tadoru cluster status | stop | resume | forget`: who works for a cluster, at what, and what is wrong."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from tadoru.cli.help import CommandGroup, DocumentedCommand
from tadoru.cli.options import job_options, print_config, resolve_options
from tadoru.cli.output import format_duration, format_option
from tadoru.cli.table import Column, single_line, write_pairs, write_table
from tadoru.clock import Clock, iso
from tadoru.config import resolve
from tadoru.config.options import EventsOptions, WorkerOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import Interrupted, UsageError
from tadoru.extras import not_installed
from tadoru.jobs.reporting.formatting import format_count
from tadoru.log import Log

if TYPE_CHECKING:
    from tadoru.store.cluster.status import ClusterStatus, HostStatus
    from tadoru.store.cluster.status_reader import ClusterStatusReader


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["worker"], short_help="Crawl and collect for a cluster of machines.",
    examples=(
        ("tadoru worker -d postgresql://me@db.internal/tadoru", "on as many machines as you like"),
        ("tadoru audit -d 'postgresql://me@db.internal/tadoru?crawl=site' --detach https://example.com", "something to do"),
        ("tadoru cluster status -d postgresql://me@db.internal/tadoru", "who does what"),
    ),
)  # fmt: skip
@job_options("worker", WorkerOptions())
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
@click.option("--show-config", is_flag=True, help="Print the effective configuration, secrets hidden.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="How to write log lines.")
@click.option("-v", "--verbose", is_flag=True, help="Say more: each piece of work.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what is wrong.")
def worker(config_file: str | None, show_config: bool, log_format: str, verbose: bool, quiet: bool, **given: Any) -> int:
    """Work for a cluster until stopped: take hosts of the crawls in a PostgreSQL database, one slice after the other, and the
    sources of its calendar. Any number of workers on any machines share the work; each may be stopped or killed at any time.
    """
    options, settled = resolve_options("worker", WorkerOptions, given, config_file)
    if show_config:
        return print_config("worker", options, settled)
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql

    if not is_postgresql(options.database):
        raise UsageError("A worker needs a database on PostgreSQL: give --database postgresql://user@host/name.")
    events = resolve.resolve_config("events", {}, os.environ, Path(config_file) if config_file else None, Path.cwd())
    collecting = replace(resolve.build_options(EventsOptions, events), database=options.database)
    level = "warning" if quiet else "debug" if verbose else "info"
    _run_worker(options, collecting, log_format, level)
    return 0


def _run_worker(options: WorkerOptions, events: EventsOptions, log_format: str, level: str) -> None:
    from tadoru.clock import SystemClock
    from tadoru.jobs import launch

    try:
        from tadoru.cluster.metrics import metrics_endpoint
        from tadoru.cluster.queue import log_engine_messages
        from tadoru.cluster.worker import BackgroundTask, Worker, WorkerSettings
    except ModuleNotFoundError:
        raise UsageError(not_installed("a worker", "cluster")) from None
    clock = SystemClock()
    log = Log(sys.stderr, clock, form=log_format, level=level)
    log_engine_messages(log)
    sides: tuple[BackgroundTask, ...] = ()
    if options.events:
        from tadoru.cluster.calendar import calendar_task

        sides = (calendar_task(events, clock, log),)

    async def main() -> None:
        worker = Worker(
            WorkerSettings(database=options.database, hosts=options.hosts, seconds=options.slice, name=options.name),
            clock,
            log,
            sides,
        )
        task = asyncio.current_task()
        assert task is not None
        signals = 0

        def stop() -> None:
            nonlocal signals
            signals += 1
            if signals > 1:
                task.cancel()
            else:
                log.write("info", "Stopping: what is begun is written first; once more to stop now.")
                worker.stop()

        with launch.handle_stop_signals(stop):
            async with metrics_endpoint(worker.metrics, options.metrics):
                await worker.run()

    launch.tune_process()
    try:
        launch.run_loop(main())
    except asyncio.CancelledError:
        raise Interrupted("Stopped at once; what was in flight is asked for again by another worker.") from None
    log.write("info", "Stopped; everything is written.")


WATCH_INTERVAL = 2.0
"""Seconds from one look to the next."""
_PROBLEMS = {"robots": "no robots.txt", "slowed": "asked for patience", "": ""}
_CLEAR_SCREEN = "\x1b[H\x1b[2J"
Look = Callable[[], "ClusterStatus"]


def database_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which database, from the same places as `tadoru worker` has it."""
    config = click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
    return job_options("worker", WorkerOptions(), only=("database",))(config(function))


@contextmanager
def open_cluster(config_file: str | None, given: dict[str, Any]) -> Iterator[ClusterStatusReader]:
    """The cluster of the database that was named. Raises UsageError when that is none of PostgreSQL."""
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql

    options, _ = resolve_options("worker", WorkerOptions, given, config_file)
    if not is_postgresql(options.database):
        raise UsageError("A cluster is in a database on PostgreSQL: give --database postgresql://user@host/name.")
    try:
        from tadoru.store.cluster.status_reader import ClusterStatusReader
    except ModuleNotFoundError:
        raise UsageError(not_installed("a cluster", "cluster")) from None
    with closing(ClusterStatusReader(options.database)) as view:
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
    write = write_line if form == "json" and is_watched else write_document if form == "json" else write_status
    with open_cluster(config_file, given) as view:
        write(sys.stdout, view.look())
        if is_watched:
            from tadoru.clock import SystemClock
            from tadoru.jobs.launch import run_loop

            try:
                run_loop(watch(view.look, write, sys.stdout, SystemClock()))
            except KeyboardInterrupt:  # That is how watching ends.
                return 0
    return 0


async def watch(look: Look, write: Callable[[TextIO, ClusterStatus], None], out: TextIO, clock: Clock) -> None:
    """Look again every two seconds, less often where a look takes long. Ends when the database does not answer any more, by
    raising StoreError."""
    took = 0.0
    while True:
        out.flush()
        await clock.sleep(max(WATCH_INTERVAL, 10 * took))
        began = clock.monotonic()
        found = look()
        took = clock.monotonic() - began
        if write is write_status:
            out.write(_CLEAR_SCREEN if out.isatty() else "\n")
        write(out, found)


def write_document(out: TextIO, found: ClusterStatus) -> None:
    """One JSON value."""
    out.write(json.dumps(found.document(), ensure_ascii=False, indent=2, default=_json_default) + "\n")


def write_line(out: TextIO, found: ClusterStatus) -> None:
    """One JSON value on one line."""
    out.write(json.dumps(found.document(), ensure_ascii=False, default=_json_default) + "\n")


def _json_default(value: Any) -> str:
    return iso(value)


def write_status(out: TextIO, found: ClusterStatus) -> None:
    """For people: two lines about all of it, then a table of each kind."""
    queue = found.queue
    gone = len(found.workers) - found.alive
    asked = format_count(sum(worker.hosts for worker in found.workers), "host")
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


def _workers(found: ClusterStatus) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
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


def _crawls(found: ClusterStatus) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
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


def _hosts(found: ClusterStatus) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
    columns = (
        Column("Host", may_shrink=True), Column("Crawl", may_shrink=True), Column("Trouble", may_shrink=True),
        Column("Queued", to_right=True), Column("Gap", to_right=True), Column("Answers in", to_right=True),
        Column("Next in", to_right=True),
    )  # fmt: skip
    return columns, [
        (
            one.name, one.crawl, _problem(one), "" if one.queued is None else f"{one.queued:,}",
            _seconds(one.gap), _seconds(one.latency), "" if one.wait is None else format_duration(one.wait),
        )
        for one in found.hosts
    ]  # fmt: skip


def _age(now: datetime, at: datetime) -> str:
    return format_duration(max(0.0, (now - at).total_seconds()))


def _problem(one: HostStatus) -> str:
    return f"failed {format_count(one.attempts, 'time')}" if one.trouble == "failed" else _PROBLEMS[one.trouble]


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
    with open_cluster(config_file, given) as view:
        view.stop(crawl)
    sys.stderr.write(f"Stopped {single_line(crawl)}; workers end what they have of it within a minute.\n")
    return 0


@cluster.command("resume", short_help="Go on with a crawl.", examples=(("tadoru cluster resume shops", "where it was stopped"),))
@click.argument("crawl")
@database_options
def resume(crawl: str, config_file: str | None, **given: Any) -> int:
    """Go on with a crawl that was stopped, or that failed."""
    with open_cluster(config_file, given) as view:
        view.resume(crawl)
        alive = view.look().alive
    hint = "the workers go on with it" if alive else "there is no worker now: start one with `tadoru worker`"
    sys.stderr.write(f"Opened {single_line(crawl)} again; {hint}.\n")
    return 0


@cluster.command(
    "forget", short_help="Take a crawl out of the cluster.", examples=(("tadoru cluster forget shops", "what it found stays"),)
)
@click.argument("crawl")
@database_options
def forget(crawl: str, config_file: str | None, **given: Any) -> int:
    """Take a crawl that is stopped, done or failed out of the list. What it found stays, for `tadoru report` and the others."""
    with open_cluster(config_file, given) as view:
        view.forget(crawl)
    sys.stderr.write(f"The cluster has forgotten {single_line(crawl)}; what it found is still in the database.\n")
    return 0
