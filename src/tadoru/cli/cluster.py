"""`tadoru worker`, and `tadoru cluster status | stop | resume | forget | delete`: workers on PostgreSQL and their crawls."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

import click

from tadoru.cli.help import CommandGroup, DocumentedCommand
from tadoru.cli.options import events_options, job_options, print_config, resolve_options
from tadoru.cli.output import N_, _, format_duration, format_option, ngettext
from tadoru.cli.table import TableColumn, single_line, table_columns, write_pairs, write_table
from tadoru.clock import Clock, iso
from tadoru.config.options import JOB_SETTINGS, EventsOptions, WorkerOptions
from tadoru.errors import Interrupted, UsageError
from tadoru.extras import not_installed
from tadoru.log import Log

if TYPE_CHECKING:
    from tadoru.store.cluster.records import ClusterStatus, HostStatus
    from tadoru.store.cluster.status import ClusterStatusReader


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["worker"], short_help="Run a worker of a cluster (PostgreSQL).",
    examples=(
        ("tadoru worker -d postgresql://me@db.internal/tadoru", "on any number of machines"),
        ("tadoru audit -d 'postgresql://me@db.internal/tadoru?crawl=site' --detach https://example.com", "submit a crawl"),
        ("tadoru cluster status -d postgresql://me@db.internal/tadoru", "workers, crawls and queue"),
    ),
)  # fmt: skip
@job_options("worker")
@click.option("--config", "config_file", metavar="FILE", help="Configuration file.")
@click.option("--show-config", is_flag=True, help="Print the resolved configuration, secrets hidden.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="Format of log lines.")
@click.option("-v", "--verbose", is_flag=True, help="More output: every task.")
@click.option("-q", "--quiet", is_flag=True, help="Only warnings and errors.")
def worker(config_file: str | None, show_config: bool, log_format: str, verbose: bool, quiet: bool, **given: Any) -> int:
    """Run a worker until it is stopped. It crawls hosts of the crawls in a PostgreSQL database, one time slice after the other,
    and collects event sources. Any number of workers on any machines share the work; each can be stopped or killed at any time.
    """
    options, settled = resolve_options("worker", WorkerOptions, given, config_file)
    if show_config:
        return print_config("worker", options, settled)
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql

    if not is_postgresql(options.database):
        raise UsageError("A worker needs PostgreSQL. Give --database postgresql://user@host/name.")
    collecting = events_options(options.database, config_file)
    level = "warning" if quiet else "debug" if verbose else "info"
    _run_worker(options, collecting, log_format, level)
    return 0


def _run_worker(options: WorkerOptions, events: EventsOptions, log_format: str, level: str) -> None:
    import asyncio

    from tadoru.clock import SystemClock
    from tadoru.jobs import launch

    try:
        from tadoru.cluster.metrics import metrics_endpoint
        from tadoru.cluster.queue import log_engine_messages
        from tadoru.cluster.worker import BackgroundTask, Worker
    except ModuleNotFoundError:
        raise UsageError(not_installed("workers", "cluster")) from None
    clock = SystemClock()
    log = Log(sys.stderr, clock, form=log_format, level=level)
    log_engine_messages(log)
    sides: tuple[BackgroundTask, ...] = ()
    if options.events:
        from tadoru.cluster.worker import calendar_task

        sides = (calendar_task(events, clock, log),)

    async def main() -> None:
        worker = Worker(options, clock, log, sides)

        def stop() -> None:
            log.write("info", _("Finishing in-flight work. Press Ctrl-C again to stop immediately."))
            worker.stop()

        with launch.stop_on_signals(stop):
            async with metrics_endpoint(worker.metrics, options.metrics):
                await worker.run()

    launch.tune_process()
    try:
        launch.run_loop(main())
    except asyncio.CancelledError:
        raise Interrupted("Stopped immediately. Another worker repeats the requests in flight.") from None
    log.write("info", _("Stopped. All results are written."))


WATCH_INTERVAL = 2.0
"""Seconds between two updates of --watch."""
_PROBLEMS = {"robots": N_("no robots.txt"), "slowed": N_("slowed down"), "": ""}
_CLEAR_SCREEN = "\x1b[H\x1b[2J"
Look = Callable[[], "ClusterStatus"]


def database_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command with the database options of `tadoru worker`."""
    config = click.option("--config", "config_file", metavar="FILE", help="Configuration file.")
    return job_options("worker", only=("database",))(config(function))


@contextmanager
def open_cluster(config_file: str | None, given: dict[str, Any]) -> Iterator[ClusterStatusReader]:
    """The cluster in the chosen database. Raises UsageError if that is not on PostgreSQL."""
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql

    options, _settled = resolve_options("worker", WorkerOptions, given, config_file)
    if not is_postgresql(options.database):
        raise UsageError("A cluster needs PostgreSQL. Give --database postgresql://user@host/name.")
    try:
        from tadoru.store.cluster.status import ClusterStatusReader
    except ModuleNotFoundError:
        raise UsageError(not_installed("clusters", "cluster")) from None
    with closing(ClusterStatusReader(options.database)) as view:
        yield view


@click.group(
    cls=CommandGroup, short_help="Show and manage the crawls of a cluster.",
    examples=(("tadoru cluster status -d postgresql://me@db.internal/tadoru", "workers, crawls and queue"),),
)  # fmt: skip
def cluster() -> None:
    """Show and manage the crawls of the cluster in a PostgreSQL database. `tadoru worker` starts a worker."""


@cluster.command(
    "status", short_help="Show workers, crawls, the queue and problem hosts.",
    examples=(
        ("tadoru cluster status -d postgresql://me@db/tadoru", "current state"),
        ("tadoru cluster status --watch", "updated every two seconds"),
        ("tadoru cluster status -f json | jq .queue", "as JSON"),
    ),
)  # fmt: skip
@database_options
@format_option("text", "json")
@click.option("-w", "--watch", "is_watched", is_flag=True, help="Update until Ctrl-C.")
def status(config_file: str | None, form: str, is_watched: bool, **given: Any) -> None:
    """Show workers (alive or gone), crawls with their progress, the queue, and hosts that are slow or fail.

    With --watch, json is one document per line.
    """
    write = write_line if form == "json" and is_watched else write_document if form == "json" else write_status
    with open_cluster(config_file, given) as view:
        write(sys.stdout, view.look())
        if is_watched:
            from tadoru.clock import SystemClock
            from tadoru.jobs.launch import run_loop

            try:
                run_loop(watch(view.look, write, sys.stdout, SystemClock()))
            except KeyboardInterrupt:  # The usual end of --watch.
                return


async def watch(look: Look, write: Callable[[TextIO, ClusterStatus], None], out: TextIO, clock: Clock) -> None:
    """Write the status every two seconds, less often if a query takes long. Raises StoreError if the database is unavailable."""
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
    """Write the status as JSON."""
    out.write(json.dumps(found.document(), ensure_ascii=False, indent=2, default=_json_default) + "\n")


def write_line(out: TextIO, found: ClusterStatus) -> None:
    """Write the status as JSON on one line."""
    out.write(json.dumps(found.document(), ensure_ascii=False, default=_json_default) + "\n")


def _json_default(value: Any) -> str:
    return iso(value)


def write_status(out: TextIO, found: ClusterStatus) -> None:
    """Write the status as text: totals, then tables of workers, crawls and problem hosts."""
    queue = found.queue
    gone = len(found.workers) - found.alive
    hosts = ngettext("{count} host active", "{count} hosts active", sum(worker.hosts for worker in found.workers))
    workers = _(
        "{alive} alive, {gone} gone; {rate} pages/s, {hosts}", alive=found.alive, gone=gone, rate=f"{found.rate:.1f}", hosts=hosts
    )
    work = [_("{count} waiting", count=f"{queue.waiting:,}")]
    if queue.again:
        work.append(_("{count} to retry", count=f"{queue.again:,}"))
    work.append(_("{count} running", count=f"{queue.running:,}"))
    work.append(_("{count} stalled", count=f"{queue.stalled:,}"))
    work.append(_("{count} failed", count=f"{queue.failed:,}"))
    write_pairs(out, [(_("Workers"), workers), (_("Queue"), ", ".join(work))])
    for table in (_workers, _crawls, _hosts):
        columns, rows = table(found)
        if rows:
            out.write("\n")
            write_table(out, columns, rows)


def _workers(found: ClusterStatus) -> tuple[tuple[TableColumn, ...], list[tuple[str, ...]]]:
    columns = table_columns("Worker~", "Machine~", "State", "Version", "Since>", "Seen>", "Hosts>", "Pages>", "Pages/s>")
    return columns, [
        (
            one.name, one.machine, _("alive") if one.is_alive else _("gone"), one.version,
            _age(found.at, one.started_at), _age(found.at, one.seen_at),
            f"{one.hosts:,}", f"{one.pages:,}", f"{one.rate:.1f}",
        )
        for one in found.workers
    ]  # fmt: skip


def _crawls(found: ClusterStatus) -> tuple[tuple[TableColumn, ...], list[tuple[str, ...]]]:
    columns = table_columns("Crawl~", "State", "Done>", "Queued>", "In flight>", "Errors>", "Hosts>", "Age>")
    rows: list[tuple[str, ...]] = []
    for one in found.crawls:
        counts = (one.done, one.queued, one.in_flight, one.errors, one.hosts_waiting)
        shown = [f"{count:,}" if one.has_data else "–" for count in counts]
        rows.append((one.name, one.state, *shown, _age(found.at, one.added_at)))
    if any(one.error for one in found.crawls):
        columns += table_columns("Reason~")
        rows = [(*row, one.error) for row, one in zip(rows, found.crawls, strict=True)]
    return columns, rows


def _hosts(found: ClusterStatus) -> tuple[tuple[TableColumn, ...], list[tuple[str, ...]]]:
    columns = table_columns("Host~", "Crawl~", "Problem~", "Queued>", "Delay>", "Responds in>", "Next in>")
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
    if one.trouble == "failed":
        return ngettext("failed {count} time", "failed {count} times", one.attempts)
    return _(_PROBLEMS[one.trouble])


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"


@cluster.command(
    "stop", short_help="Stop a crawl.",
    examples=(("tadoru cluster stop shops", "keeps its results; resume it with `tadoru cluster resume shops`"),),
)  # fmt: skip
@click.argument("crawl")
@database_options
def stop(crawl: str, config_file: str | None, **given: Any) -> None:
    """Stop a crawl: requests in flight are finished, and no new ones start. Its results are kept."""
    with open_cluster(config_file, given) as view:
        view.stop(crawl)
    sys.stderr.write(_("Stopped {crawl}. Workers finish their part within a minute.", crawl=single_line(crawl)) + "\n")


@cluster.command("resume", short_help="Resume a crawl.", examples=(("tadoru cluster resume shops", "continue a stopped crawl"),))
@click.argument("crawl")
@database_options
def resume(crawl: str, config_file: str | None, **given: Any) -> None:
    """Resume a crawl that was stopped or has failed."""
    with open_cluster(config_file, given) as view:
        view.resume(crawl)
        alive = view.look().alive
    if alive:
        text = _("Resumed {crawl}.", crawl=single_line(crawl))
    else:
        text = _("Resumed {crawl}, but no worker is running. Start one with `tadoru worker`.", crawl=single_line(crawl))
    sys.stderr.write(text + "\n")


@cluster.command(
    "forget", short_help="Remove a crawl from the cluster.", examples=(("tadoru cluster forget shops", "keeps its results"),)
)
@click.argument("crawl")
@database_options
def forget(crawl: str, config_file: str | None, **given: Any) -> None:
    """Remove a crawl that is stopped, done or failed from the list. Its results are kept, for `tadoru report` and others."""
    with open_cluster(config_file, given) as view:
        view.forget(crawl)
    sys.stderr.write(
        _("Removed {crawl} from the cluster. Its results are still in the database.", crawl=single_line(crawl)) + "\n"
    )


@cluster.command(
    "delete", short_help="Delete a crawl and its results.",
    examples=(
        ("tadoru cluster delete shops", "after a confirmation"),
        ("tadoru cluster delete shops --yes", "in scripts"),
    ),
)  # fmt: skip
@click.argument("crawl")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@database_options
def delete(crawl: str, yes: bool, config_file: str | None, **given: Any) -> None:
    """Delete a crawl that is stopped, done or failed, or whose tables are gone: its results, its tasks and its entry in the list.
    This cannot be undone; `tadoru cluster forget` keeps the results."""
    with open_cluster(config_file, given) as view:
        view.check_deletion(crawl)
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("Deleting crawl {name} and its results cannot be undone. Confirm with --yes.", name=crawl)
            click.confirm(_("Delete crawl {name} and all its results?", name=single_line(crawl)), abort=True, err=True)
        view.delete(crawl)
    sys.stderr.write(_("Deleted {crawl} and its results.", crawl=single_line(crawl)) + "\n")
