"""Runs the service under uvicorn until it is stopped: socket, processes, log and signals.

The socket is opened first, so that a port in use is reported in one message. SIGTERM and Ctrl-C let requests in flight finish; a
second signal does not wait.
"""

from __future__ import annotations

import ctypes
import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

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
from tadoru.serve.app import build_app
from tadoru.serve.auth.rate_limits import shared_bucket_file
from tadoru.serve.collector import exit_with_parent
from tadoru.serve.live import connection
from tadoru.serve.service import Service
from tadoru.signals import stop_signals
from tadoru.store.service import open_service

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
