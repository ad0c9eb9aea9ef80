"""Connections of the HTTP client: each address is checked when it is connected to, and each phase is timed separately.

A `RequestAttempt` is one attempt at a request. The parts that aiohttp calls find the attempt they belong to in `CURRENT_ATTEMPT`.
Sending and reading is in `fetch.http`, the rules for addresses are in `fetch.guard`.
"""

from __future__ import annotations

import asyncio
import socket
from contextvars import ContextVar
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection

from tadoru.clock import Clock
from tadoru.fetch.base import RequestTurn, TurnExpired
from tadoru.fetch.guard import AddressGuard, DnsCache
from tadoru.model.web import FailureKind, Request, Timings

MAX_IDLE_HOSTS = 128
"""Hosts with idle connections in the pool; beyond this number the oldest ones are closed."""


class RequestAttempt:
    """One attempt at a request: its current phase, the deadline of that phase, and how long the others took."""

    __slots__ = ("_clock", "_since", "_timings", "_turn", "address", "deadline", "fresh", "request", "timeout_kind")

    def __init__(self, request: Request, turn: RequestTurn | None, clock: Clock, fresh: bool) -> None:
        self.request = request
        self.fresh = fresh
        """Whether the connection is, or must be, a new one."""
        self.address: str | None = None
        self.deadline = asyncio.timeout(None)
        self.timeout_kind = FailureKind.CONNECT_TIMEOUT
        self._turn = turn
        self._clock = clock
        self._since = 0.0
        self._timings: dict[str, float] = {}

    def enter(self, timeout_kind: FailureKind) -> None:
        """Start a phase, which has the whole timeout for itself."""
        self.timeout_kind = timeout_kind
        self.deadline.reschedule(asyncio.get_running_loop().time() + self.request.timeout)
        self._since = self._clock.monotonic()

    def record(self, phase: str) -> None:
        """Record the time since the last mark for a phase."""
        now = self._clock.monotonic()
        self._timings[phase] = now - self._since
        self._since = now

    def start_timer(self) -> None:
        """Start to time the next phase."""
        self._since = self._clock.monotonic()

    def request_sent(self, connection: Connection) -> None:
        """The request was sent; the time to the first byte starts."""
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        self.address = peer[0] if peer else None
        self.enter(FailureKind.RESPONSE_TIMEOUT)
        if self._turn is not None:
            self._turn.sent()

    def check_turn(self) -> None:
        """Raise TurnExpired if the request may not be sent any more: the process may have stood still since its turn began."""
        if self._turn is not None and not self._turn.is_current():
            raise TurnExpired

    @property
    def answered(self) -> bool:
        """Whether the response headers have arrived."""
        return "ttfb" in self._timings

    @property
    def timings(self) -> Timings:
        """The duration of each phase so far."""
        return Timings(**self._timings)

    def new_attempt(self) -> RequestAttempt:
        """Another attempt at the same request, over a new connection."""
        return RequestAttempt(self.request, self._turn, self._clock, fresh=True)


CURRENT_ATTEMPT: ContextVar[RequestAttempt] = ContextVar("attempt")


class CheckedResolver(AbstractResolver):
    """Resolves names to the addresses that the guard allows."""

    def __init__(self, dns: DnsCache, guard: AddressGuard) -> None:
        self._dns = dns
        self._guard = guard

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        addresses = self._dns.cached(host)
        if not addresses:
            attempt = CURRENT_ATTEMPT.get()
            attempt.start_timer()
            addresses = await self._dns.resolve(host)
            attempt.record("dns")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST)
            for address in self._guard.allowed_addresses(host, port, addresses)
        ]

    async def close(self) -> None:
        """Nothing to do: the fetcher owns the DNS cache."""


class GuardedConnector(aiohttp.TCPConnector):
    """Checks each address right before it is connected to, and times connecting and the TLS handshake separately.

    It overrides three private methods because no public hook knows both the requested name and the address. A fourth limits the
    idle connections: aiohttp limits only those in use, and a crawl of very many hosts would run out of sockets.
    """

    def __init__(self, guard: AddressGuard, **options: Any) -> None:
        super().__init__(**options)
        self._guard = guard

    async def connect(self, req: aiohttp.ClientRequest, traces: Any, timeout: aiohttp.ClientTimeout) -> Connection:
        """A connection on which the request may be sent now: nothing waits between here and the sending."""
        connection = await super().connect(req, traces, timeout)
        try:
            CURRENT_ATTEMPT.get().check_turn()
        except TurnExpired:
            connection.release()
            raise
        return connection

    async def _get(self, key: ConnectionKey, traces: list[Any]) -> Connection | None:
        return None if CURRENT_ATTEMPT.get().fresh else await super()._get(key, traces)

    def _release(self, key: ConnectionKey, protocol: Any, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        while len(self._conns) > MAX_IDLE_HOSTS:
            for idle, _ in self._conns.pop(next(iter(self._conns))):
                idle.close()

    async def _create_connection(self, req: aiohttp.ClientRequest, traces: Any, timeout: Any) -> Any:
        attempt = CURRENT_ATTEMPT.get()
        attempt.fresh = True
        attempt.enter(FailureKind.CONNECT_TIMEOUT)
        protocol = await super()._create_connection(req, traces, timeout)
        if req.is_ssl():
            attempt.record("tls")
        return protocol

    async def _wrap_create_connection(self, *args: Any, addr_infos: Any, req: aiohttp.ClientRequest, **options: Any) -> Any:
        for _, _, _, _, (address, port, *_) in addr_infos:
            self._guard.allowed_addresses(req.url.raw_host or "", port, [address])
        attempt = CURRENT_ATTEMPT.get()
        attempt.start_timer()

        def connected() -> Any:
            attempt.record("connect")
            return args[0]()

        return await super()._wrap_create_connection(connected, *args[1:], addr_infos=addr_infos, req=req, **options)


class TimedResponse(aiohttp.ClientResponse):
    """Notes the moment at which a request was sent: aiohttp starts to wait for the response then."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        CURRENT_ATTEMPT.get().request_sent(connection)
        return await super().start(connection)
