"""Making connections: every address is checked at the moment it is connected to, and every phase is timed apart.

A `RequestAttempt` is one attempt at a request; the pieces that the HTTP client calls from its depths find the visit they work for in
`CURRENT_ATTEMPT`. What is sent and read over a connection is `fetch.http`'s; which addresses are refused is `fetch.guard`'s.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection

from tadoru.clock import Clock
from tadoru.fetch.guard import AddressGuard, DnsCache
from tadoru.model.web import FailureKind, Request, Timings

MAX_IDLE_HOSTS = 128
"""Hosts that a connection is kept open to after its use; beyond them those go that were first kept."""


class RequestAttempt:
    """One attempt at a request: the phase it is in, when that phase must end, and how long the others took."""

    __slots__ = ("_clock", "_sent", "_since", "_timings", "address", "deadline", "fresh", "request", "timeout_kind")

    def __init__(self, request: Request, sent: Callable[[], None] | None, clock: Clock, fresh: bool) -> None:
        self.request = request
        self.fresh = fresh
        """Whether the connection is, or has to be, a new one."""
        self.address: str | None = None
        self.deadline = asyncio.timeout(None)
        self.timeout_kind = FailureKind.CONNECT_TIMEOUT
        self._sent = sent
        self._clock = clock
        self._since = 0.0
        self._timings: dict[str, float] = {}

    def enter(self, timeout_kind: FailureKind) -> None:
        """A phase begins, with the whole timeout for itself."""
        self.timeout_kind = timeout_kind
        self.deadline.reschedule(asyncio.get_running_loop().time() + self.request.timeout)
        self._since = self._clock.monotonic()

    def took(self, phase: str) -> None:
        """What took the time since the last mark."""
        now = self._clock.monotonic()
        self._timings[phase] = now - self._since
        self._since = now

    def mark(self) -> None:
        """What is timed next begins now."""
        self._since = self._clock.monotonic()

    def request_sent(self, connection: Connection) -> None:
        """The request has left; the site's time begins."""
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        self.address = peer[0] if peer else None
        self.enter(FailureKind.RESPONSE_TIMEOUT)
        if self._sent is not None:
            self._sent()
            self._sent = None

    @property
    def answered(self) -> bool:
        """Whether the response headers have come in."""
        return "ttfb" in self._timings

    @property
    def timings(self) -> Timings:
        """How long each phase took that has happened so far."""
        return Timings(**self._timings)

    def again(self) -> RequestAttempt:
        """The same request once more, over a new connection."""
        return RequestAttempt(self.request, self._sent, self._clock, fresh=True)


CURRENT_ATTEMPT: ContextVar[RequestAttempt] = ContextVar("visit")


class CheckedResolver(AbstractResolver):
    """Hands the client only addresses that the guard allows."""

    def __init__(self, names: DnsCache, guard: AddressGuard) -> None:
        self._names = names
        self._guard = guard

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        addresses = self._names.known(host)
        if not addresses:
            visit = CURRENT_ATTEMPT.get()
            visit.mark()
            addresses = await self._names.ask(host)
            visit.took("dns")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST)
            for address in self._guard.allowed(host, port, addresses)
        ]

    async def close(self) -> None:
        """Nothing to do: the names are the fetcher's."""


class GuardedConnector(aiohttp.TCPConnector):
    """Asks the guard about every address right before it is connected to, and tells connecting from the TLS handshake.

    It overrides three private methods because no public hook knows both the name that was asked for and the address. A fourth
    bounds the connections that are kept open for later: the client bounds only those that are in use, and a crawl of very many
    hosts would run out of sockets.
    """

    def __init__(self, guard: AddressGuard, **options: Any) -> None:
        super().__init__(**options)
        self._guard = guard

    async def _get(self, key: ConnectionKey, traces: list[Any]) -> Connection | None:
        return None if CURRENT_ATTEMPT.get().fresh else await super()._get(key, traces)

    def _release(self, key: ConnectionKey, protocol: Any, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        while len(self._conns) > MAX_IDLE_HOSTS:
            for kept, _ in self._conns.pop(next(iter(self._conns))):
                kept.close()

    async def _create_connection(self, req: aiohttp.ClientRequest, traces: Any, timeout: Any) -> Any:
        visit = CURRENT_ATTEMPT.get()
        visit.fresh = True
        visit.enter(FailureKind.CONNECT_TIMEOUT)
        protocol = await super()._create_connection(req, traces, timeout)
        if req.is_ssl():
            visit.took("tls")
        return protocol

    async def _wrap_create_connection(self, *args: Any, addr_infos: Any, req: aiohttp.ClientRequest, **options: Any) -> Any:
        for _, _, _, _, (address, port, *_) in addr_infos:
            self._guard.allowed(req.url.raw_host or "", port, [address])
        visit = CURRENT_ATTEMPT.get()
        visit.mark()

        def connected() -> Any:
            visit.took("connect")
            return args[0]()

        return await super()._wrap_create_connection(connected, *args[1:], addr_infos=addr_infos, req=req, **options)


class TimedResponse(aiohttp.ClientResponse):
    """Tells the visit the moment its request is out: the client starts to wait for the response then."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        CURRENT_ATTEMPT.get().request_sent(connection)
        return await super().start(connection)
