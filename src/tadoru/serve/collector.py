"""The collector of the service: collects due sources as `tadoru events worker` does, in a process of its own.

Parsing therefore never delays a request, and a source that exhausts memory does not end the service. Each `tadoru serve` command
has one; leases in the database share the sources with other services and workers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tadoru.clock import SystemClock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.errors import TadoruError
from tadoru.log import Log
from tadoru.rules.address import Exemptions

if TYPE_CHECKING:
    from tadoru.jobs.events.collect.collector import SourceRun

RESTART_DELAY = 5.0
"""Seconds before a collector that ended is started again."""
ERROR_STAGES = frozenset({"fault", "notify", "worker", "enrich", "search"})
"""Stages of a run whose errors are logged as errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorConfig:
    """The configuration of the collector's process. It is pickled, so it holds plain values only."""

    events: EventsOptions
    private: tuple[str, ...] = ()
    """Private addresses that the service allows, beside those that are stored with a source."""
    log_format: str = "text"
    log_level: str = "info"

    def log(self) -> Log:
        return Log(sys.stderr, SystemClock(), form=self.log_format, level=self.log_level)


@contextmanager
def running_collector(config: CollectorConfig, options: ServeOptions) -> Iterator[None]:
    """Run the collector beside the service, unless it is left to workers."""
    if not options.collector:
        yield
        return
    supervisor = CollectorSupervisor(config, options.shutdown_timeout)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


class CollectorSupervisor:
    """Starts the process of the collector, and starts it again if it ends."""

    def __init__(self, config: CollectorConfig, shutdown_timeout: float) -> None:
        self._config, self._timeout = config, shutdown_timeout
        self._stopping, self._starting = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="collector", daemon=True)

    def start(self) -> None:
        self._process = self._started()
        self._thread.start()

    def stop(self) -> None:
        """Let the runs in progress finish within the timeout; a killed run is collected again later."""
        self._stopping.set()
        with self._starting:
            self._process.terminate()
        self._process.join(self._timeout)
        self._process.kill()
        self._process.join()
        self._thread.join()

    def _started(self) -> multiprocessing.context.SpawnProcess:
        process = multiprocessing.get_context("spawn").Process(target=collect_until_stopped, args=(self._config,))
        process.start()
        return process

    def _watch(self) -> None:
        while True:
            self._process.join()
            if self._stopping.is_set():
                return
            self._config.log().write("warning", "collector ended; starting it again", exit_code=self._process.exitcode)
            self._stopping.wait(RESTART_DELAY)
            with self._starting:
                if self._stopping.is_set():
                    return
                self._process = self._started()


def exit_with_parent() -> None:
    """End this process when its parent ends, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def collect_until_stopped(config: CollectorConfig) -> None:
    """Collect due sources until SIGTERM; Ctrl-C in the terminal is for the service, which stops its processes."""
    from tadoru.jobs.launch import run_loop, tune_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError):  # Windows has no SIGHUP.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=exit_with_parent, name="parent", daemon=True).start()
    tune_process()
    try:
        run_loop(_collect(config))
    except TadoruError as error:
        config.log().write("error", "collector failed", error=str(error))
        raise SystemExit(1) from None


async def _collect(config: CollectorConfig) -> None:
    import asyncio

    from tadoru.jobs.events.collect.worker_pool import WorkerPool
    from tadoru.jobs.launch import handle_stop_signals
    from tadoru.store.calendar.store import open_calendar
    from tadoru.store.files import beside, open_files

    log, options = config.log(), config.events

    def log_stage(stage: str, *, trace: bool = False, **fields: Any) -> None:
        is_error = bool(fields.get("error")) and stage in ERROR_STAGES
        log.write("error" if is_error else "debug", f"stage {stage}", stage=stage, **fields)

    def log_run(collected: SourceRun) -> None:
        run = collected.run
        fields: dict[str, Any] = {"source_id": collected.source.id, "run_id": run.id, "status": str(run.status), **run.counts}
        error = {"error": run.error_summary} if run.error_summary else {}
        log.write("warning" if collected.failed else "info", f"collected {collected.source.name}", **fields, **error)

    with closing(await asyncio.to_thread(open_calendar, options.database)) as store:
        files = open_files(options.files or beside(options.database))
        pool = WorkerPool(
            store, files, SystemClock(), options, log_stage, also_allowed=Exemptions.from_list(config.private)
        )  # fmt: skip
        with handle_stop_signals(pool.stop, interrupts=False):
            async with pool.running():
                await pool.run_due(log_run, forever=True)
