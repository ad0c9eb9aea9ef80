"""Streams around those of the MCP library, for a pipe that ends: it drops what it is still answering when its input ends, and so
the end is kept from it until everything that was asked is answered.

Nothing here knows the library: its messages are told apart by what they have.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

LASTING = "subscriptions/listen"
"""The one request that is answered only when the client leaves."""


class Unanswered:
    """The requests that were read, and have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._none = asyncio.Event()
        self._none.set()

    def read(self, item: Any) -> None:
        """Something came in: a request, a notification, or an error of who read it."""
        message = getattr(item, "message", None)
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method == "notifications/cancelled":
            # Nobody waits for it, and it gets no answer.
            self._ids.discard(str((getattr(message, "params", None) or {}).get("requestId")))
        elif method is not None and number is not None and method != LASTING:
            self._ids.add(str(number))
        self._tell()

    def written(self, item: Any) -> None:
        """Something went out: an answer, or something that nobody asked for."""
        if getattr(item.message, "method", None) is None:
            self._ids.discard(str(getattr(item.message, "id", None)))
        self._tell()

    async def none(self) -> None:
        """Wait until there are none."""
        await self._none.wait()

    def _tell(self) -> None:
        if self._ids:
            self._none.clear()
        else:
            self._none.set()


class _Stream:
    """What both sides have."""

    def __init__(self, inner: Any, unanswered: Unanswered) -> None:
        self._inner = inner
        self._unanswered = unanswered

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Asked(_Stream):
    """What the client says. It ends when that has ended and is answered."""

    @property
    def last_context(self) -> Any:
        """What the library carries from who read a message to who answers it."""
        return self._inner.last_context

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await anext(self._inner)
        except StopAsyncIteration:
            await self._unanswered.none()
            raise
        self._unanswered.read(item)
        return item

    async def receive(self) -> Any:
        return await anext(self)


class Answers(_Stream):
    """What the client is told."""

    async def send(self, item: Any) -> None:
        await self._inner.send(item)
        self._unanswered.written(item)
