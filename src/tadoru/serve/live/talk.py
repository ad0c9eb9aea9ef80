"""One connection: what it listens to, and what is sent to it, in order and each message once.

Only one coroutine sends, so that what is caught up with and what is new can not overtake each other. Somebody who reads slowly is
not waited for by others: progress is thinned for them, the rest is sent when they take it, and who takes nothing for a while is
disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from tadoru.errors import TadoruError
from tadoru.serve.access.limits import Limit
from tadoru.serve.access.who import Caller
from tadoru.serve.live.messages import (
    MOST_SUBJECTS,
    Gap,
    Hello,
    Mistake,
    Said,
    Subscribe,
    Subscribed,
    Unsubscribe,
    kinds_for,
    understood,
)  # fmt: skip
from tadoru.serve.live.news import Line, News
from tadoru.version import VERSION

GOING_AWAY, NOT_TEXT, TOO_OFTEN, FAULT, TOO_SLOW, OVER = 1001, 1003, 1008, 1011, 1013, 4401
CODES = {
    GOING_AWAY: "The service stops, or starts anew: come back in a moment.",
    NOT_TEXT: "Something else than text was sent.",
    1007: "Text was sent that is not UTF-8.",
    TOO_OFTEN: "Too many messages were sent.",
    1009: "A message was sent that is too large.",
    FAULT: "Something went wrong here, or no answer to a ping came in time.",
    TOO_SLOW: "Messages were not taken for too long: come back, and go on after the last one seen.",
    OVER: "The session or the key is over: sign in again.",
}
"""Why a connection may be closed by the service; the documentation lists them."""
THIN = 100
"""From so many messages on that wait for somebody, progress is told by its newest only."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a connection is closed."""

    code: int

    @property
    def reason(self) -> str:
        return CODES[self.code]


class Talk:
    """A connection that was let in."""

    def __init__(self, socket: WebSocket, caller: Caller, news: News, asked: Limit, *, name: str, patience: float) -> None:
        self._socket, self._news, self._limit, self._name = socket, news, asked, name
        self.caller = caller
        self._patience = patience
        self._kinds = kinds_for(caller)
        self._subjects: set[str] = set()
        self._asked: list[Subscribe | Unsubscribe | Mistake] = []
        self._position = 0
        self._stir = asyncio.Event()
        self._ending: Ending | None = None
        self._is_gone = False

    def wake(self) -> None:
        """There is something new."""
        self._stir.set()

    def end(self, code: int) -> None:
        """Close the connection soon."""
        self._ending = self._ending or Ending(code)
        self.wake()

    async def go(self) -> None:
        """Talk until one of both has enough."""
        await self._news.join(self)  # Before it is let in: a database that does not answer is a refusal in words.
        hearing: asyncio.Task[None] | None = None
        try:
            await self._socket.accept()
            hearing = asyncio.create_task(self._hear())
            self._position = self._news.last
            await self._say(Hello(version=VERSION, last_id=self._position, kinds=tuple(sorted(self._kinds))))
            await self._speak()
        except TimeoutError:
            self.end(TOO_SLOW)
        except TadoruError:
            self.end(FAULT)
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

    def _understood(self, text: str) -> Subscribe | Unsubscribe | Mistake:
        try:
            return understood(text)
        except ValueError as error:
            return Mistake(text=str(error))

    # ---- What is said -------------------------------------------------------------------------------------------------
    async def _speak(self) -> None:
        while self._ending is None and not self._is_gone:
            self._stir.clear()
            while self._asked:
                await self._answer(self._asked.pop(0))
            await self._pass_on()
            await self._stir.wait()

    async def _answer(self, asked: Subscribe | Unsubscribe | Mistake) -> None:
        match asked:
            case Mistake():
                await self._say(asked)
            case Unsubscribe():
                self._subjects.difference_update(asked.subjects)
                await self._say(Subscribed(subjects=tuple(sorted(self._subjects)), after=self._position))
            case Subscribe():
                await self._subscribe(asked)

    async def _subscribe(self, asked: Subscribe) -> None:
        new = set(asked.subjects) - self._subjects
        if hidden := sorted(one for one in new if not self._may_hear_of(one)):
            await self._say(Mistake(text=f"This key may not hear of {hidden[0]}: use one with the scope for it."))
            return
        if len(self._subjects) + len(new) > MOST_SUBJECTS:
            await self._say(
                Mistake(text=f"A connection listens to {MOST_SUBJECTS} subjects at most: ask for crawl/* or source/*.")
            )
            return
        if asked.after is not None and asked.after > self._news.last:
            await self._news.look()  # Another process of the service may have been quicker.
        await self._pass_on()
        after = self._position if asked.after is None else asked.after
        missed = None if after > self._position else await self._news.since(after, self._position)
        old, self._subjects = frozenset(self._subjects), self._subjects | new
        start = after if missed is not None else self._position
        await self._say(Subscribed(subjects=tuple(sorted(self._subjects)), after=start))
        if missed is None:
            await self._say(Gap(last_id=self._position))
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
                await self._say(Gap(last_id=until))
                continue
            if self._subjects:
                await self._send(one for one in lines if one.id <= until and self._is_heard(one, self._subjects))
            self._position = until

    def _is_heard(self, line: Line, subjects: set[str] | frozenset[str]) -> bool:
        return line.kind in self._kinds and (line.subject in subjects or line.every in subjects)

    def _may_hear_of(self, subject: str) -> bool:
        firsts = ("crawl.",) if subject.startswith("crawl/") else ("run.", "source.")
        return any(kind.startswith(firsts) for kind in self._kinds)

    async def _send(self, lines: Iterable[Line]) -> None:
        for line in thinned(list(lines)):
            async with asyncio.timeout(self._patience):
                await self._socket.send({"type": "websocket.send", "text": line.text})

    async def _say(self, message: Said) -> None:
        async with asyncio.timeout(self._patience):
            await self._socket.send({"type": "websocket.send", "text": message.model_dump_json()})


def thinned(lines: list[Line]) -> list[Line]:
    """All of it; of many, only the newest progress of each crawl."""
    if len(lines) < THIN:
        return lines
    newest = {line.subject: line.id for line in lines if line.is_progress}
    return [line for line in lines if not line.is_progress or newest[line.subject] == line.id]
