"""The route of the WebSocket, and what all its connections share: places, the reader, and who may stay.

Whether somebody may stay is asked again every half minute, once for each key and session: one that was revoked hears no more.
Old messages are forgotten here as well.
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
from tadoru.serve.live.message_feed import MessageFeed
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service

MESSAGE_RETENTION = timedelta(days=1)
"""How long messages are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLimits:
    """How much, and how often. Tests and measurements bring their own."""

    every: float = 0.4
    """Seconds between two looks into the database, while somebody listens."""
    check: float = 30.0
    """Seconds after which it is asked again whether somebody may stay."""
    patience: float = 20.0
    """Seconds that somebody may take nothing of what is sent."""
    forget: float = 3600.0
    """Seconds between two times that old messages are forgotten."""
    messages: int = 120
    """A minute, that somebody may send on one connection."""
    in_all: int = 2000
    for_each: int = 50
    """Connections of a person, and of a key."""
    from_address: int = 200


class LiveHub:
    """All connections of one process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.settle(LiveLimits())
        self._talks: dict[LiveConnection, Credential] = {}
        self._places: Counter[str] = Counter()
        self._checked = service.clock.monotonic()
        self._numbers = 0

    def settle(self, terms: LiveLimits) -> None:
        """Choose other terms, before anybody listens."""
        self.terms = terms
        self.news = MessageFeed(self._service, every=terms.every, upkeep=self._check)
        self._asked = RateLimit(terms.messages, 60, self._service.clock)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """For as long as the service runs."""
        forgetting = asyncio.create_task(self._forget())
        try:
            yield
        finally:
            forgetting.cancel()
            with suppress(asyncio.CancelledError):
                await forgetting

    @contextmanager
    def connection_slot(self, caller: Principal, address: str) -> Iterator[None]:
        """One more connection. Raises HttpProblem."""
        terms = self.terms
        whose = f"key {caller.key_id}" if caller.is_key else f"user {caller.user_id}"
        wanted = {"all": terms.in_all, whose: terms.for_each, f"from {address}": terms.from_address}
        if any(self._places[name] >= most for name, most in wanted.items()):
            raise HttpProblem(429, "Too many open connections. Close some, or try again later.", {"Retry-After": "30"})
        self._places.update(wanted.keys())
        try:
            yield
        finally:
            for name in wanted:
                self._places[name] -= 1
                if not self._places[name]:
                    del self._places[name]

    async def talk(self, socket: WebSocket) -> None:
        """One connection, from its first message to its end."""
        caller: Principal = socket.state.caller
        self._numbers += 1
        talk = LiveConnection(socket, caller, self.news, self._asked, name=str(self._numbers), patience=self.terms.patience)
        self._talks[talk] = socket.state.credential
        try:
            await talk.go()
        finally:
            del self._talks[talk]

    async def _check(self) -> None:
        """End the connections of those who are not, or are no longer quite, who they were."""
        now = self._service.clock.monotonic()
        if now - self._checked < self.terms.check:
            return
        self._checked = now
        holders = {
            one: await run_in_threadpool(principal_of, self._service.store, one) for one in dict.fromkeys(self._talks.values())
        }
        for talk, credential in list(self._talks.items()):
            if credential in holders and holders[credential] != talk.caller:
                talk.end(EXPIRED)

    async def _forget(self) -> None:
        store = self._service.store
        while True:
            try:
                await run_in_threadpool(lambda: store.delete_old_messages(store.now() - MESSAGE_RETENTION))
            except TadoruError as error:
                self._service.log.write("error", "old live messages could not be forgotten", why=str(error))
            await asyncio.sleep(self.terms.forget)


async def live_endpoint(socket: WebSocket) -> None:
    """Hear what happens while it happens."""
    live: LiveHub = socket.app.state.live
    await live.talk(socket)


router = APIRouter(include_in_schema=False)
# Not FastAPI's own kind of route: the guard of requests is no guard of these (see `handshake`).
router.add_websocket_route("/ws", live_endpoint)
