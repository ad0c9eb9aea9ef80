"""The route of the WebSocket, and the connections of a process: their limits, their reader, and their permissions.

Permissions are checked again every half minute, once per API key and session: a revoked one is disconnected. Old messages are
removed here as well.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket

from tadoru.errors import TadoruError
from tadoru.serve.auth.authentication import Credential, principal_of
from tadoru.serve.auth.principal import Principal
from tadoru.serve.auth.rate_limits import RateLimit
from tadoru.serve.live.connection import EXPIRED, LiveConnection
from tadoru.serve.live.messages import MessageFeed
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service

MESSAGE_RETENTION = timedelta(days=1)
"""How long messages are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLimits:
    """Limits and intervals of live connections. Tests and benchmarks use their own."""

    every: float = 0.4
    """Seconds between two polls of the database while someone listens."""
    check: float = 30.0
    """Seconds between two checks of permissions."""
    read_timeout: float = 20.0
    """Seconds after which a client that reads nothing is disconnected."""
    forget: float = 3600.0
    """Seconds between two removals of old messages."""
    messages: int = 120
    """Maximum requests per minute on one connection."""
    in_all: int = 2000
    for_each: int = 50
    """Maximum connections of a user or an API key."""
    from_address: int = 200


class LiveHub:
    """All connections of one process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.set_limits(LiveLimits())
        self._connections: dict[LiveConnection, Credential] = {}
        self._slots: Counter[str] = Counter()
        self._checked = service.clock.monotonic()
        self._numbers = 0

    def set_limits(self, limits: LiveLimits) -> None:
        """Set the limits, before the first connection."""
        self.limits = limits
        self.feed = MessageFeed(self._service, every=limits.every, upkeep=self._check)
        self._request_limit = RateLimit(limits.messages, 60, self._service.clock)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Remove old messages while the service runs."""
        forgetting = asyncio.create_task(self._forget())
        try:
            yield
        finally:
            forgetting.cancel()
            with suppress(asyncio.CancelledError):
                await forgetting

    @contextmanager
    def connection_slot(self, caller: Principal, address: str) -> Iterator[None]:
        """Take the slot of one connection. Raises HttpProblem."""
        limits = self.limits
        whose = f"key {caller.key_id}" if caller.is_key else f"user {caller.user_id}"
        wanted = {"all": limits.in_all, whose: limits.for_each, f"from {address}": limits.from_address}
        if any(self._slots[name] >= most for name, most in wanted.items()):
            raise HttpProblem(429, "Too many open connections. Close some, or try again later.", {"Retry-After": "30"})
        self._slots.update(wanted.keys())
        try:
            yield
        finally:
            for name in wanted:
                self._slots[name] -= 1
                if not self._slots[name]:
                    del self._slots[name]

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection until it ends."""
        caller: Principal = socket.state.caller
        self._numbers += 1
        limits, name = self.limits, str(self._numbers)
        connection = LiveConnection(socket, caller, self.feed, self._request_limit, name=name, timeout=limits.read_timeout)
        self._connections[connection] = socket.state.credential
        try:
            await connection.run()
        finally:
            del self._connections[connection]

    async def _check(self) -> None:
        """Disconnect principals whose credential or permissions changed."""
        now = self._service.clock.monotonic()
        if now - self._checked < self.limits.check:
            return
        self._checked = now
        holders = {
            one: await run_in_threadpool(principal_of, self._service.store, one)
            for one in dict.fromkeys(self._connections.values())
        }
        for connection, credential in list(self._connections.items()):
            if credential in holders and holders[credential] != connection.caller:
                connection.end(EXPIRED)

    async def _forget(self) -> None:
        store = self._service.store
        while True:
            try:
                await run_in_threadpool(lambda: store.messages.delete_old(store.db.now() - MESSAGE_RETENTION))
            except TadoruError as error:
                self._service.log.write("error", "old live messages not removed", why=str(error))
            await asyncio.sleep(self.limits.forget)


async def live_endpoint(socket: WebSocket) -> None:
    """The endpoint of live messages."""
    hub: LiveHub = socket.app.state.live
    await hub.serve(socket)


router = APIRouter(include_in_schema=False)
# Not FastAPI's own type of route: the guard of requests does not cover WebSockets (see `handshake`).
router.add_websocket_route("/ws", live_endpoint)
