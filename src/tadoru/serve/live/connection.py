"""Connections: their route and limits, the subscriptions of each, the messages sent to it, and the WebSocket protocol below.

Only one coroutine sends, so that old and new messages stay in order. A slow client does not delay others: its progress messages
are thinned, and it is disconnected if it reads nothing for a while.

The permissions of all connections of a process are checked again every half minute, once per API key and session: a revoked one
is disconnected. Old messages are removed here as well.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tadoru.errors import Message, TadoruError, UsageError, message_of
from tadoru.i18n.translation import N_, translator
from tadoru.serve.auth.authentication import Credential, principal_of
from tadoru.serve.auth.principal import Principal
from tadoru.serve.auth.rate_limits import RateLimit
from tadoru.serve.live.messages import (
    MAX_SUBJECTS,
    ConnectionMessage,
    ErrorMessage,
    GapMessage,
    HelloMessage,
    MessageFeed,
    OutgoingMessage,
    SubscribedMessage,
    SubscribeRequest,
    UnsubscribeRequest,
    error_message,
    parse_request,
    visible_kinds,
)  # fmt: skip
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.serve.web.request_input import api_language
from tadoru.version import VERSION

GOING_AWAY, NOT_TEXT, TOO_OFTEN, INTERNAL_ERROR, TOO_SLOW, EXPIRED = 1001, 1003, 1008, 1011, 1013, 4401
CLOSE_CODES = {
    GOING_AWAY: N_("The service is shutting down or restarting. Reconnect in a moment."),
    NOT_TEXT: N_("Only text messages are accepted."),
    1007: N_("The message is not valid UTF-8."),
    TOO_OFTEN: N_("Rate limit exceeded."),
    1009: N_("The message is too large."),
    INTERNAL_ERROR: N_("Something went wrong on our side, or a ping was not answered in time."),
    TOO_SLOW: N_("The client reads too slowly. Reconnect and resume after the last message received."),
    EXPIRED: N_("The session or API key has expired. Sign in again."),
}
"""The close codes of the service and their reasons; a reason has at most 123 bytes, also in other languages."""
THIN_THRESHOLD = 100
"""With this many pending messages, only the newest progress of each crawl is sent."""


@dataclass(frozen=True, slots=True)
class CloseReason:
    """The reason for closing a connection."""

    code: int

    @property
    def reason(self) -> str:
        return CLOSE_CODES[self.code]


class LiveConnection:
    """A connection with permission."""

    def __init__(
        self, socket: WebSocket, caller: Principal, feed: MessageFeed, limit: RateLimit, *, name: str, timeout: float
    ) -> None:
        self._socket, self._feed, self._limit, self._name = socket, feed, limit, name
        self.caller = caller
        self._timeout = timeout
        self._lang = api_language(socket)
        self._messages = translator(self._lang)
        self._kinds = visible_kinds(caller)
        self._subjects: set[str] = set()
        self._requests: list[SubscribeRequest | UnsubscribeRequest | ErrorMessage] = []
        self._position = 0
        self._wakeup = asyncio.Event()
        self._ending: CloseReason | None = None
        self._is_gone = False

    def wake(self) -> None:
        """Continue: there are new messages or requests."""
        self._wakeup.set()

    def end(self, code: int) -> None:
        """Close the connection soon."""
        self._ending = self._ending or CloseReason(code)
        self.wake()

    async def run(self) -> None:
        """Serve the connection until either side closes it."""
        await self._feed.join(self)  # Before accepting: a database error is then an HTTP response.
        receiving: asyncio.Task[None] | None = None
        try:
            await self._socket.accept()
            receiving = asyncio.create_task(self._receive())
            self._position = self._feed.last
            await self._send_own(HelloMessage(version=VERSION, last_id=self._position, kinds=tuple(sorted(self._kinds))))
            await self._send_all()
        except TimeoutError:
            self.end(TOO_SLOW)
        except TadoruError:
            self.end(INTERNAL_ERROR)
        except WebSocketDisconnect:
            self._is_gone = True
        finally:
            self._feed.leave(self)
            if receiving is not None:
                receiving.cancel()
                with suppress(asyncio.CancelledError):
                    await receiving
        await self._close()

    async def _close(self) -> None:
        if self._ending is not None and not self._is_gone and self._socket.application_state is WebSocketState.CONNECTED:
            with suppress(WebSocketDisconnect):
                await self._socket.close(self._ending.code, self._messages.gettext(self._ending.reason))

    # ---- Receiving ----------------------------------------------------------------------------------------------------
    async def _receive(self) -> None:
        """Receive requests and pass them to the sending coroutine. Never raises."""
        while self._ending is None:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                self._is_gone = True
                break
            if not self._limit.take(self._name).allowed:
                self.end(TOO_OFTEN)
            elif (text := message.get("text")) is None:
                self.end(NOT_TEXT)
            else:
                self._requests.append(self._parse(text))
                self.wake()
        self.wake()

    def _parse(self, text: str) -> SubscribeRequest | UnsubscribeRequest | ErrorMessage:
        try:
            return parse_request(text)
        except UsageError as error:
            return error_message(message_of(error), "bad_request", self._messages)

    # ---- Sending ------------------------------------------------------------------------------------------------------
    async def _send_all(self) -> None:
        while self._ending is None and not self._is_gone:
            self._wakeup.clear()
            while self._requests:
                await self._handle_request(self._requests.pop(0))
            await self._send_new()
            await self._wakeup.wait()

    async def _handle_request(self, request: SubscribeRequest | UnsubscribeRequest | ErrorMessage) -> None:
        match request:
            case ErrorMessage():
                await self._send_own(request)
            case UnsubscribeRequest():
                self._subjects.difference_update(request.subjects)
                await self._send_own(SubscribedMessage(subjects=tuple(sorted(self._subjects)), after=self._position))
            case SubscribeRequest():
                await self._subscribe(request)

    async def _subscribe(self, request: SubscribeRequest) -> None:
        new = set(request.subjects) - self._subjects
        if hidden := sorted(one for one in new if not self._may_receive(one)):
            text = Message("No permission for {subject}. Use an API key with the scope for it.", subject=hidden[0])
            await self._send_own(error_message(text, "forbidden", self._messages))
            return
        if len(self._subjects) + len(new) > MAX_SUBJECTS:
            text = Message("At most {limit} subscriptions per connection. Subscribe to crawl/* or source/*.", limit=MAX_SUBJECTS)
            await self._send_own(error_message(text, "too_many_subscriptions", self._messages))
            return
        if request.after is not None and request.after > self._feed.last:
            await self._feed.look()  # Another process of the service may have read further.
        await self._send_new()
        after = self._position if request.after is None else request.after
        missed = None if after > self._position else await self._feed.since(after, self._position)
        old, self._subjects = frozenset(self._subjects), self._subjects | new
        start = after if missed is not None else self._position
        await self._send_own(SubscribedMessage(subjects=tuple(sorted(self._subjects)), after=start))
        if missed is None:
            await self._send_own(GapMessage(last_id=self._position))
        else:
            await self._send(one for one in missed if self._is_subscribed(one, new) and not self._is_subscribed(one, old))

    async def _send_new(self) -> None:
        """Send the messages since the last one that was sent."""
        while self._position < (until := self._feed.last):
            lines = self._feed.newer(self._position)
            if lines is None:
                lines = await self._feed.since(self._position, until)
            if lines is None:
                self._position = until
                await self._send_own(GapMessage(last_id=until))
                continue
            if self._subjects:
                await self._send(one for one in lines if one.id <= until and self._is_subscribed(one, self._subjects))
            self._position = until

    def _is_subscribed(self, line: OutgoingMessage, subjects: set[str] | frozenset[str]) -> bool:
        return line.kind in self._kinds and (line.subject in subjects or line.every in subjects)

    def _may_receive(self, subject: str) -> bool:
        firsts = ("crawl.",) if subject.startswith("crawl/") else ("run.", "source.")
        return any(kind.startswith(firsts) for kind in self._kinds)

    async def _send(self, lines: Iterable[OutgoingMessage]) -> None:
        for line in thin_progress(list(lines)):
            async with asyncio.timeout(self._timeout):
                await self._socket.send({"type": "websocket.send", "text": line.text_in(self._lang)})

    async def _send_own(self, message: ConnectionMessage) -> None:
        async with asyncio.timeout(self._timeout):
            await self._socket.send({"type": "websocket.send", "text": message.model_dump_json()})


def thin_progress(lines: list[OutgoingMessage]) -> list[OutgoingMessage]:
    """The messages; if they are many, only with the newest progress of each crawl."""
    if len(lines) < THIN_THRESHOLD:
        return lines
    newest = {line.subject: line.id for line in lines if line.is_progress}
    return [line for line in lines if not line.is_progress or newest[line.subject] == line.id]


MAX_MESSAGE_BYTES = 16 * 1024
"""Maximum size of a request."""
CLOSE_TIMEOUT = 3.0
"""Seconds until a closed connection is aborted."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """The protocol of uvicorn, with two differences.

    At shutdown the close code is 1001 (going away), not 1012 (service restart); and a client that does not read, not even the
    close frame, is aborted, so that the service can always end.
    """

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent:
            self.stop_keepalive()
            self._send_close(GOING_AWAY, CLOSE_CODES[GOING_AWAY])
            self.transport.close()
        else:
            super().shutdown()
        self.loop.call_later(CLOSE_TIMEOUT, self.transport.abort)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete and not self.writable.is_set():
            # Waiting for the send buffer could take forever.
            if not self.close_sent and not self.disconnected:
                self._send_close(message["code"], message["reason"])
            self.loop.call_later(CLOSE_TIMEOUT, self.transport.abort)
            return
        await super().send(message)

    def _send_close(self, code: int, reason: str) -> None:
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))


WEBSOCKET_OPTIONS: dict[str, Any] = {
    "ws": WebSocketProtocol, "ws_max_size": MAX_MESSAGE_BYTES, "ws_ping_interval": 20.0, "ws_ping_timeout": 20.0,
    "ws_per_message_deflate": False,
}  # fmt: skip
"""Options of uvicorn. Messages are small and many: compression would cost more memory than it saves."""


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
