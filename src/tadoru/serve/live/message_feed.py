"""The live messages of one process: one reader of the database for all connections, and a cache of the newest messages.

There are no queues per connection. A connection remembers the last message it sent and takes later ones from the cache, or from
the database if it is far behind; so many or slow connections take no memory. A message is serialized once for each language.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.concurrency import run_in_threadpool

from tadoru.errors import TadoruError
from tadoru.i18n.translation import LANGUAGES
from tadoru.serve.live.messages import PROGRESS_KIND, serialize_message
from tadoru.serve.service import Service
from tadoru.store.served_crawls.live_messages import message_texts
from tadoru.store.served_crawls.schema import LiveMessage

CACHED_MESSAGES = 2000
"""Messages in the cache."""
READ_BATCH = 500
"""Messages per query."""
MAX_BACKLOG = 5000
"""Maximum messages that a client can catch up on."""
WAKE_BATCH = 25
"""Listeners woken in a row before other tasks run."""
RETRY_SECONDS = 5.0
"""Seconds before a retry after a database error."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message as it is sent."""

    id: int
    kind: str
    subject: str
    every: str
    """The wildcard of its subject, such as `crawl/*`."""
    text: str
    translations: Mapping[str, str] = field(default_factory=dict)
    """The text in other languages, if it has messages for people."""

    def text_in(self, lang: str) -> str:
        """The text in a language."""
        return self.translations.get(lang, self.text)

    @property
    def is_progress(self) -> bool:
        return self.kind == PROGRESS_KIND


class FeedListener(Protocol):
    """A connection that is woken when there are new messages."""

    def wake(self) -> None: ...


class MessageFeed:
    """The newest messages."""

    def __init__(self, service: Service, *, every: float, upkeep: Callable[[], Awaitable[None]]) -> None:
        self._service = service
        self.every = every
        """Seconds between two polls of the database while someone listens."""
        self._upkeep = upkeep
        self._listeners: set[FeedListener] = set()
        self._lines: deque[OutgoingMessage] = deque(maxlen=CACHED_MESSAGES)
        self._known_from = self.last = 0
        """The cache has every message after the first ID up to the second."""
        self._reader: asyncio.Task[None] | None = None
        self._looking = asyncio.Lock()
        self._has_begun = False

    @property
    def listening(self) -> int:
        return len(self._listeners)

    async def join(self, listener: FeedListener) -> None:
        """Add a listener."""
        if not self._listeners:
            await self.look()  # First, so that older messages are not sent.
        self._listeners.add(listener)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read())

    def leave(self, listener: FeedListener) -> None:
        """Remove a listener; the reader stops with the last one."""
        self._listeners.discard(listener)
        if not self._listeners and self._reader is not None:
            self._reader.cancel()
            self._reader = None

    async def look(self) -> None:
        """Read new messages now."""
        async with self._looking:
            if not self._has_begun:
                await self._begin()
            while True:
                found = await run_in_threadpool(self._service.store.messages.list, self.last, limit=READ_BATCH)
                if found:
                    self._add(found)
                    await self._wake()
                if len(found) < READ_BATCH:
                    return

    async def since(self, after: int, until: int) -> list[OutgoingMessage] | None:
        """The messages after one ID up to another; None if they are no longer stored, or too many."""
        if after >= self._known_from:
            return [line for line in self._lines if after < line.id <= until]
        first, last = await run_in_threadpool(self._service.store.messages.span)
        if after < first - 1 or until - after > MAX_BACKLOG or last < after:
            return None
        lines: list[OutgoingMessage] = []
        while after < until:
            found = await run_in_threadpool(self._service.store.messages.list, after, limit=READ_BATCH)
            lines += (line for one in found if one.id <= until and (line := self._line(one)) is not None)
            if len(found) < READ_BATCH:
                break
            after = found[-1].id
        return lines

    def newer(self, after: int) -> list[OutgoingMessage] | None:
        """The cached messages after an ID, oldest first; None if the cache does not reach back so far."""
        if after < self._known_from:
            return None
        found: list[OutgoingMessage] = []
        for line in reversed(self._lines):
            if line.id <= after:
                break
            found.append(line)
        found.reverse()
        return found

    async def _begin(self) -> None:
        first, last = await run_in_threadpool(self._service.store.messages.span)
        self._known_from = self.last = max(0, first - 1, last - CACHED_MESSAGES)
        self._has_begun = True

    def _add(self, found: tuple[LiveMessage, ...]) -> None:
        for one in found:
            self.last = one.id
            line = self._line(one)
            if line is not None:
                if len(self._lines) == CACHED_MESSAGES:
                    self._known_from = self._lines[0].id
                self._lines.append(line)

    async def _wake(self) -> None:
        for number, listener in enumerate(list(self._listeners), 1):
            listener.wake()
            if number % WAKE_BATCH == 0:
                await asyncio.sleep(0)

    def _line(self, one: LiveMessage) -> OutgoingMessage | None:
        text = serialize_message(one)
        if text is None:
            self._service.log.write("warning", "unknown live message", kind=one.kind, message=one.id)
            return None
        others = {lang: serialize_message(one, lang) or text for lang in LANGUAGES[1:]} if message_texts(one.body) else {}
        return OutgoingMessage(one.id, one.kind, one.subject, f"{one.subject.partition('/')[0]}/*", text, others)

    async def _read(self) -> None:
        while self._listeners:
            try:
                await self.look()
                await self._upkeep()
            except Exception as error:  # All listeners depend on this loop.
                why = str(error) if isinstance(error, TadoruError) else type(error).__name__
                self._service.log.write("error", "live messages cannot be read", why=why)
                await asyncio.sleep(RETRY_SECONDS)
            await asyncio.sleep(self.every)
