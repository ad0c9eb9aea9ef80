"""Running the service until it is stopped: the socket, the processes, what they say, and how they end.

The socket is opened before anything else, so that a port that is taken is one sentence. SIGTERM and Ctrl-C let the requests that
are under way end; a second one does not wait.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from tadoru.clock import SystemClock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.errors import StoreError, TadoruError, UsageError
from tadoru.log import Log
from tadoru.serve.app import build_app
from tadoru.serve.auth.rate_limits import shared_bucket_file
from tadoru.serve.live import connection
from tadoru.serve.service import Service
from tadoru.signals import stop_signals
from tadoru.store.service import open_service


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """All that a process needs to know to answer. It is handed to the workers, so that it holds plain values only."""

    options: ServeOptions
    events: EventsOptions
    crawl_defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the operator's configuration says of crawls, by job."""
    limits_table: str | None = None
    """Where several processes count requests together."""
    log_format: str = "text"
    log_level: str = "info"


def open_socket(options: ServeOptions) -> socket.socket:
    """The socket of the service."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=1024)
    except OSError as error:
        # A name that does not resolve has a number below 0, and words with the number and the address around them.
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
    _hear_uvicorn(log)
    store = open_service(start.options.database, clock)
    service = Service(
        store=store, options=start.options, events=start.events, clock=clock, log=log, crawl_defaults=start.crawl_defaults,
        limits_table=start.limits_table,
    )  # fmt: skip
    return build_app(service)


def create_worker_app(start: ServerConfig) -> FastAPI:
    """The application of one process of several. What hinders it hinders the others too: the service ends."""
    threading.Thread(target=_outlive_nobody, name="service", daemon=True).start()
    try:
        return create_app(start)
    except TadoruError as error:
        Log(sys.stderr, SystemClock(), form=start.log_format).write("error", str(error))
        raise SystemExit(STARTUP_FAILURE) from None


def _outlive_nobody() -> None:
    """When the process that started this one is gone, killed even, this one ends too: nobody else would ever end it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def run_server(start: ServerConfig, listening: socket.socket) -> None:
    """Answer until stopped."""
    if start.options.workers == 1:
        _run(start, listening)
        return
    with shared_bucket_file() as table:
        _run(replace(start, limits_table=table), listening)


def _run(start: ServerConfig, listening: socket.socket) -> None:
    options = start.options
    several = options.workers > 1
    config = uvicorn.Config(
        partial(create_worker_app if several else create_app, start), factory=True, lifespan="on", workers=options.workers,
        log_config=None, access_log=False, server_header=False, proxy_headers=bool(options.trusted_proxy),
        forwarded_allow_ips=list(options.trusted_proxy), timeout_graceful_shutdown=max(1, round(options.shutdown_timeout)),
        **connection.WEBSOCKET_OPTIONS,
        timeout_worker_healthcheck=60,  # A slow machine needs a while to start one; a short patience would kill it each time.
    )  # fmt: skip
    if several:
        _run_several(start, config, listening)
        return
    server = uvicorn.Server(config)

    def stop() -> None:
        server.should_exit = True

    with _quietly(stop):
        server.run(sockets=[listening])


def _run_several(start: ServerConfig, config: uvicorn.Config, listening: socket.socket) -> None:
    _hear_uvicorn(Log(sys.stderr, SystemClock(), form=start.log_format))
    with _quietly(lambda: None):
        workers = _Workers(config, sockets=[listening])
        workers.run()
    if any(one.exitcode == STARTUP_FAILURE for one in workers.processes):
        raise StoreError("The service cannot start. The log lines above show the reason.")


class _Workers(Multiprocess):
    """Processes of the service, of which one that was killed is missed at once."""

    def keep_subprocess_alive(self) -> None:
        for one in self.processes:
            # While our copy of its end is open, one that dies while it is asked how it is would be waited for all the time.
            one.child_conn.close()
        super().keep_subprocess_alive()


@contextmanager
def _quietly(stop: Callable[[], None]) -> Iterator[None]:
    """uvicorn repeats the signal that stopped it when it has ended; nobody needs to hear it again. A terminal that is gone stops
    the service as well."""
    numbers = (signal.SIGINT, *stop_signals())
    before = {number: signal.signal(number, lambda _number, _frame: stop()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _ToLog(logging.Handler):
    """What uvicorn has to say, in the form of our own lines. Not its tracebacks: they may show what somebody typed."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = {"error": record.exc_info[0].__name__} if record.exc_info and record.exc_info[0] else {}
        level = "error" if record.levelno >= logging.ERROR else "warning"
        self._log.write(level, " ".join(record.getMessage().split()).rstrip("."), **fields)


def _hear_uvicorn(log: Log) -> None:
    logger = logging.getLogger("uvicorn")
    logger.handlers = [_ToLog(log)]
    logger.setLevel(logging.WARNING)
    logger.propagate = False


_ARENAS = -8
"""`M_ARENA_MAX` of glibc's mallopt."""
MALLOC_ARENAS = 2


def limit_malloc_arenas() -> bool:
    """Ask the allocator for few stores; before the threads begin. False where it has no such setting."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(set_option(_ARENAS, MALLOC_ARENAS))
