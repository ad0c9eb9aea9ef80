"""One connection: what it listens to, and what is sent to it, in order and each message once.

Only one coroutine sends, so that what is caught up with and what is new cannot overtake each other. Somebody who reads slowly is
not waited for by others: progress is thinned for them, the rest is sent when they take it, and who takes nothing for a while is
disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tadoru.errors import TadoruError
from tadoru.serve.auth.principal import Principal
from tadoru.serve.auth.rate_limits import RateLimit
from tadoru.serve.live.message_feed import MessageFeed, OutgoingMessage
from tadoru.serve.live.messages import (
    MAX_SUBJECTS,
    ConnectionMessage,
    ErrorMessage,
    GapMessage,
    HelloMessage,
    SubscribedMessage,
    SubscribeRequest,
    UnsubscribeRequest,
    parse_request,
    visible_kinds,
)  # fmt: skip
from tadoru.version import VERSION

GOING_AWAY, NOT_TEXT, TOO_OFTEN, INTERNAL_ERROR, TOO_SLOW, EXPIRED = 1001, 1003, 1008, 1011, 1013, 4401
CLOSE_CODES = {
    GOING_AWAY: "The service stops, or starts anew: come back in a moment.",
    NOT_TEXT: "Something else than text was sent.",
    1007: "Text was sent that is not UTF-8.",
    TOO_OFTEN: "Too many messages were sent.",
    1009: "A message was sent that is too large.",
    INTERNAL_ERROR: "Something went wrong here, or no answer to a ping came in time.",
    TOO_SLOW: "Messages were not taken for too long: come back, and go on after the last one seen.",
    EXPIRED: "The session or the key is over: sign in again.",
}
"""Why a connection may be closed by the service; the documentation lists them."""
THIN_THRESHOLD = 100
"""From so many messages on that wait for somebody, progress is told by its newest only."""


@dataclass(frozen=True, slots=True)
class CloseReason:
    """Why a connection is closed."""

    code: int

    @property
    def reason(self) -> str:
        return CLOSE_CODES[self.code]


class LiveConnection:
    """A connection that was let in."""

    def __init__(
        self, socket: WebSocket, caller: Principal, news: MessageFeed, asked: RateLimit, *, name: str, patience: float
    ) -> None:
        self._socket, self._news, self._limit, self._name = socket, news, asked, name
        self.caller = caller
        self._patience = patience
        self._kinds = visible_kinds(caller)
        self._subjects: set[str] = set()
        self._asked: list[SubscribeRequest | UnsubscribeRequest | ErrorMessage] = []
        self._position = 0
        self._stir = asyncio.Event()
        self._ending: CloseReason | None = None
        self._is_gone = False

    def wake(self) -> None:
        """There is something new."""
        self._stir.set()

    def end(self, code: int) -> None:
        """Close the connection soon."""
        self._ending = self._ending or CloseReason(code)
        self.wake()

    async def go(self) -> None:
        """Talk until one of both has enough."""
        await self._news.join(self)  # Before it is let in: a database that does not answer is a refusal in words.
        hearing: asyncio.Task[None] | None = None
        try:
            await self._socket.accept()
            hearing = asyncio.create_task(self._hear())
            self._position = self._news.last
            await self._say(HelloMessage(version=VERSION, last_id=self._position, kinds=tuple(sorted(self._kinds))))
            await self._speak()
        except TimeoutError:
            self.end(TOO_SLOW)
        except TadoruError:
            self.end(INTERNAL_ERROR)
        except WebSocketDisconnect:
            self._is_gone = True
        finally:
            self._news.leave(self)
            if hearing is not None:
                hearing.cancel()
                with suppress(asyncio.CancelledError):
                    await hearing
        await self._close()

    async def _close(self) -> None:
        if self._ending is not None and not self._is_gone and self._socket.application_state is WebSocketState.CONNECTED:
            with suppress(WebSocketDisconnect):
                await self._socket.close(self._ending.code, self._ending.reason)

    # ---- What is heard ------------------------------------------------------------------------------------------------
    async def _hear(self) -> None:
        """Take what is sent, and hand it to the one who speaks. Never raises."""
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
                self._asked.append(self._understood(text))
                self.wake()
        self.wake()

    def _understood(self, text: str) -> SubscribeRequest | UnsubscribeRequest | ErrorMessage:
        try:
            return parse_request(text)
        except ValueError as error:
            return ErrorMessage(text=str(error))

    # ---- What is said -------------------------------------------------------------------------------------------------
    async def _speak(self) -> None:
        while self._ending is None and not self._is_gone:
            self._stir.clear()
            while self._asked:
                await self._answer(self._asked.pop(0))
            await self._pass_on()
            await self._stir.wait()

    async def _answer(self, asked: SubscribeRequest | UnsubscribeRequest | ErrorMessage) -> None:
        match asked:
            case ErrorMessage():
                await self._say(asked)
            case UnsubscribeRequest():
                self._subjects.difference_update(asked.subjects)
                await self._say(SubscribedMessage(subjects=tuple(sorted(self._subjects)), after=self._position))
            case SubscribeRequest():
                await self._subscribe(asked)

    async def _subscribe(self, asked: SubscribeRequest) -> None:
        new = set(asked.subjects) - self._subjects
        if hidden := sorted(one for one in new if not self._may_hear_of(one)):
            await self._say(ErrorMessage(text=f"This key may not hear of {hidden[0]}: use one with the scope for it."))
            return
        if len(self._subjects) + len(new) > MAX_SUBJECTS:
            await self._say(
                ErrorMessage(text=f"A connection listens to {MAX_SUBJECTS} subjects at most: ask for crawl/* or source/*.")
            )
            return
        if asked.after is not None and asked.after > self._news.last:
            await self._news.look()  # Another process of the service may have been quicker.
        await self._pass_on()
        after = self._position if asked.after is None else asked.after
        missed = None if after > self._position else await self._news.since(after, self._position)
        old, self._subjects = frozenset(self._subjects), self._subjects | new
        start = after if missed is not None else self._position
        await self._say(SubscribedMessage(subjects=tuple(sorted(self._subjects)), after=start))
        if missed is None:
            await self._say(GapMessage(last_id=self._position))
        else:
            await self._send(one for one in missed if self._is_heard(one, new) and not self._is_heard(one, old))

    async def _pass_on(self) -> None:
        """Send what came since the last message that was sent, and what came while that was done."""
        while self._position < (until := self._news.last):
            lines = self._news.newer(self._position)
            if lines is None:
                lines = await self._news.since(self._position, until)
            if lines is None:
                self._position = until
                await self._say(GapMessage(last_id=until))
                continue
            if self._subjects:
                await self._send(one for one in lines if one.id <= until and self._is_heard(one, self._subjects))
            self._position = until

    def _is_heard(self, line: OutgoingMessage, subjects: set[str] | frozenset[str]) -> bool:
        return line.kind in self._kinds and (line.subject in subjects or line.every in subjects)

    def _may_hear_of(self, subject: str) -> bool:
        firsts = ("crawl.",) if subject.startswith("crawl/") else ("run.", "source.")
        return any(kind.startswith(firsts) for kind in self._kinds)

    async def _send(self, lines: Iterable[OutgoingMessage]) -> None:
        for line in thin_progress(list(lines)):
            async with asyncio.timeout(self._patience):
                await self._socket.send({"type": "websocket.send", "text": line.text})

    async def _say(self, message: ConnectionMessage) -> None:
        async with asyncio.timeout(self._patience):
            await self._socket.send({"type": "websocket.send", "text": message.model_dump_json()})


def thin_progress(lines: list[OutgoingMessage]) -> list[OutgoingMessage]:
    """All of it; of many, only the newest progress of each crawl."""
    if len(lines) < THIN_THRESHOLD:
        return lines
    newest = {line.subject: line.id for line in lines if line.is_progress}
    return [line for line in lines if not line.is_progress or newest[line.subject] == line.id]


MAX_MESSAGE_BYTES = 16 * 1024
"""Bytes of a message that is taken."""
CLOSE_TIMEOUT = 3.0
"""Seconds that a closed connection has to take what was sent."""


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One connection."""

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent:
            self.stop_keepalive()
            self._farewell(GOING_AWAY, CLOSE_CODES[GOING_AWAY])
            self.transport.close()
        else:
            super().shutdown()
        self.loop.call_later(CLOSE_TIMEOUT, self.transport.abort)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete and not self.writable.is_set():
            # Waiting until there is room could take for ever.
            if not self.close_sent and not self.disconnected:
                self._farewell(message["code"], message["reason"])
            self.loop.call_later(CLOSE_TIMEOUT, self.transport.abort)
            return
        await super().send(message)

    def _farewell(self, code: int, reason: str) -> None:
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))


WEBSOCKET_OPTIONS: dict[str, Any] = {
    "ws": WebSocketProtocol, "ws_max_size": MAX_MESSAGE_BYTES, "ws_ping_interval": 20.0, "ws_ping_timeout": 20.0, "ws_per_message_deflate": False,
}  # fmt: skip
"""What uvicorn is told. Messages are small and many: to compress them would cost more memory than it saves."""
