"""Runs the service under uvicorn until it is stopped: socket, processes, log and signals; and its collector.

The socket is opened first, so that a port in use is reported in one message. SIGTERM and Ctrl-C let requests in flight finish; a
second signal does not wait.

The collector collects due sources as `tadoru events worker` does, in a process of its own. Parsing therefore never delays a
request, and a source that exhausts memory does not end the service. Each `tadoru serve` command has one; leases in the database
share the sources with other services and workers.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from tadoru.clock import SystemClock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.errors import StoreError, TadoruError, UsageError
from tadoru.log import Log
from tadoru.rules.address import Exemptions
from tadoru.serve.app import build_app
from tadoru.serve.auth.rate_limits import shared_bucket_file
from tadoru.serve.live import connection
from tadoru.serve.service import Service
from tadoru.signals import stop_signals
from tadoru.store.service import open_service

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


_NOT_ASCII = re.compile(rb"[\x80-\xff]")


class RequestLineProtocol(H11Protocol):
    """HTTP, with bytes of a request line that should have been percent-encoded encoded: people type `?city=盛岡` into scripts."""

    def data_received(self, data: bytes) -> None:
        """Receive bytes of a request."""
        super().data_received(data if data.isascii() else self._encoded(data))

    def _encoded(self, data: bytes) -> bytes:
        waiting = self.conn.trailing_data[0]
        if self.conn.their_state is not h11.IDLE or b"\n" in waiting:
            return data  # A body, or headers.
        line, end, rest = data.partition(b"\n")
        return _NOT_ASCII.sub(lambda found: b"%%%02X" % found[0][0], line) + end + rest


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """The configuration of a server process. It is pickled for the workers, so it holds plain values only."""

    options: ServeOptions
    events: EventsOptions
    crawl_defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The operator's defaults for crawls, by job."""
    limits_table: str | None = None
    """The file in which several processes share their rate limits."""
    log_format: str = "text"
    log_level: str = "info"


def open_socket(options: ServeOptions) -> socket.socket:
    """The listening socket of the service. Raises UsageError."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=1024)
    except OSError as error:
        # A host name that does not resolve has a negative number, and a text that repeats the number and the address.
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else str(error).partition("] ")[2].partition(" (while")[0]
        raise UsageError(
            "Cannot listen on {host}, port {port}: {reason}. Choose another --port or --host.",
            host=options.host,
            port=options.port,
            reason=why,
        ) from None


def create_app(start: ServerConfig) -> FastAPI:
    """The application of one process."""
    limit_malloc_arenas()
    clock = SystemClock()
    log = Log(sys.stderr, clock, form=start.log_format, level=start.log_level)
    _log_uvicorn(log)
    store = open_service(start.options.database, clock)
    service = Service(
        store=store, options=start.options, events=start.events, clock=clock, log=log, crawl_defaults=start.crawl_defaults,
        limits_table=start.limits_table,
    )  # fmt: skip
    return build_app(service)


def create_worker_app(start: ServerConfig) -> FastAPI:
    """The application of one of several processes. If it cannot start, neither can the others: the service ends."""
    threading.Thread(target=exit_with_parent, name="service", daemon=True).start()
    try:
        return create_app(start)
    except TadoruError as error:
        Log(sys.stderr, SystemClock(), form=start.log_format).write("error", str(error))
        raise SystemExit(STARTUP_FAILURE) from None


def run_server(start: ServerConfig, listening: socket.socket) -> None:
    """Serve until stopped."""
    if start.options.workers == 1:
        _run(start, listening)
        return
    with shared_bucket_file() as table:
        _run(replace(start, limits_table=table), listening)


def _run(start: ServerConfig, listening: socket.socket) -> None:
    options = start.options
    several = options.workers > 1
    config = uvicorn.Config(
        partial(create_worker_app if several else create_app, start), factory=True, lifespan="on",
        http=RequestLineProtocol, workers=options.workers,
        log_config=None, access_log=False, server_header=False, proxy_headers=bool(options.trusted_proxy),
        forwarded_allow_ips=list(options.trusted_proxy), timeout_graceful_shutdown=max(1, round(options.shutdown_timeout)),
        **connection.WEBSOCKET_OPTIONS,
        timeout_worker_healthcheck=60,  # A slow machine needs time to start a process; a short timeout would kill it each time.
    )  # fmt: skip
    if several:
        _run_several(start, config, listening)
        return
    server = uvicorn.Server(config)

    def stop() -> None:
        server.should_exit = True

    with _stop_signals_handled(stop):
        server.run(sockets=[listening])


def _run_several(start: ServerConfig, config: uvicorn.Config, listening: socket.socket) -> None:
    _log_uvicorn(Log(sys.stderr, SystemClock(), form=start.log_format))
    with _stop_signals_handled(lambda: None):
        workers = _Workers(config, sockets=[listening])
        workers.run()
    if any(one.exitcode == STARTUP_FAILURE for one in workers.processes):
        raise StoreError("The service cannot start. The log lines above show the reason.")


class _Workers(Multiprocess):
    """The processes of the service. A process that was killed is replaced at once."""

    def keep_subprocess_alive(self) -> None:
        for one in self.processes:
            # While our copy of the pipe is open, the health check of a dead process would wait for its full timeout.
            one.child_conn.close()
        super().keep_subprocess_alive()


@contextmanager
def _stop_signals_handled(stop: Callable[[], None]) -> Iterator[None]:
    """Handle stop signals here: uvicorn raises the signal that stopped it again at its end. A closed terminal stops the service
    too."""
    numbers = (signal.SIGINT, *stop_signals())
    before = {number: signal.signal(number, lambda _number, _frame: stop()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _LogHandler(logging.Handler):
    """Writes uvicorn's warnings in the format of our log, without tracebacks, which may contain user input."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = {"error": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        level = "error" if record.levelno >= logging.ERROR else "warning"
        self._log.write(level, " ".join(record.getMessage().split()).rstrip("."), **fields)


def _log_uvicorn(log: Log) -> None:
    logger = logging.getLogger("uvicorn")
    logger.handlers = [_LogHandler(log)]
    logger.setLevel(logging.WARNING)
    logger.propagate = False


_ARENAS = -8
"""`M_ARENA_MAX` of glibc's mallopt."""
MALLOC_ARENAS = 2


def limit_malloc_arenas() -> bool:
    """Limit the arenas of the allocator; call it before threads start. False on systems without this setting.

    glibc gives each thread its own arena, up to eight per core. Requests run on many threads, each leaves holes in another arena,
    and a service under load grows for hours. Two arenas are as fast here, since Python runs one thread at a time.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(set_option(_ARENAS, MALLOC_ARENAS))
