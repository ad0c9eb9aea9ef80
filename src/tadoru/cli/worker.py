"""`tadoru worker`: one more hand for the crawls and the calendar of a PostgreSQL database."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tadoru import config
from tadoru.cli.help import GroupedCommand
from tadoru.cli.options import effective, job_options, print_config
from tadoru.errors import Interrupted, UsageError
from tadoru.extras import not_installed
from tadoru.log import Log
from tadoru.options import EventsOptions, WorkerOptions
from tadoru.settings import JOBS


@click.command(
    cls=GroupedCommand, groups=JOBS["worker"], short_help="Crawl and collect for a cluster of machines.",
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
    options, settled = effective("worker", WorkerOptions, given, config_file)
    if show_config:
        return print_config("worker", options, settled)
    from tadoru.store.postgres.address import is_postgresql

    if not is_postgresql(options.database):
        raise UsageError("A worker needs a database on PostgreSQL: give --database postgresql://user@host/name.")
    events = config.resolve("events", {}, os.environ, Path(config_file) if config_file else None, Path.cwd())
    collecting = replace(config.build(EventsOptions, events), database=options.database)
    level = "warning" if quiet else "debug" if verbose else "info"
    _work(options, collecting, log_format, level)
    return 0


def _work(options: WorkerOptions, events: EventsOptions, log_format: str, level: str) -> None:
    from tadoru.clock import SystemClock
    from tadoru.jobs import launch

    try:
        from tadoru.cluster.metrics_door import answering
        from tadoru.cluster.queue import speak_through
        from tadoru.cluster.worker import Duty, Side, Worker
    except ModuleNotFoundError:
        raise UsageError(not_installed("a worker", "cluster")) from None
    clock = SystemClock()
    log = Log(sys.stderr, clock, form=log_format, level=level)
    speak_through(log)
    sides: tuple[Side, ...] = ()
    if options.events:
        from tadoru.cluster.calendar import collecting

        sides = (collecting(events, clock, log),)

    async def main() -> None:
        worker = Worker(
            Duty(database=options.database, hosts=options.hosts, seconds=options.slice, name=options.name), clock, log, sides
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

        with launch.on_signals(stop):
            async with answering(worker.metrics, options.metrics):
                await worker.run()

    launch.tune()
    try:
        launch.run_loop(main())
    except asyncio.CancelledError:
        raise Interrupted("Stopped at once; what was in flight is asked for again by another worker.") from None
    log.write("info", "Stopped; everything is written.")
