"""The time a page has: it stands still while the page's requests wait for their hosts' turn, for that is our doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

MAX_TIMEOUTS = 4
"""However long its requests wait, no page gets more than so many timeouts."""


class PageTimeout:
    """Good for one page."""

    def __init__(self) -> None:
        self._deadline = asyncio.timeout(None)
        self._last_moment = 0.0
        self._waiting = 0
        self._left: float | None = None
        """What was left when the time began to stand still; None while it runs."""
        self.is_over = False

    @asynccontextmanager
    async def of(self, seconds: float) -> AsyncIterator[None]:
        """Cut short what takes longer. That is no error."""
        now = asyncio.get_running_loop().time()
        self._last_moment = now + MAX_TIMEOUTS * seconds
        try:
            with suppress(TimeoutError):
                async with self._deadline:
                    self._deadline.reschedule(now + seconds)
                    yield
        finally:
            self.is_over = True

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Something waits, and it is not the page's fault."""
        self._waiting += 1
        self._adjust()
        try:
            yield
        finally:
            self._waiting -= 1
            self._adjust()

    def _adjust(self) -> None:
        when = self._deadline.when()
        if self.is_over or when is None or self._deadline.expired():
            return
        now = asyncio.get_running_loop().time()
        if self._waiting and self._left is None:
            self._left = when - now
            self._deadline.reschedule(self._last_moment)
        elif not self._waiting and self._left is not None:
            self._deadline.reschedule(min(now + self._left, self._last_moment))
            self._left = None


LONG_REQUEST_SECONDS = 8.0
"""Seconds after which a request is taken for one that the server keeps open."""
UNCHANGED_SECONDS = 2.0
"""Seconds without a change that end the wait for a page which polls."""
POLL_COUNT = 3
MOVING_FACTOR = 4
"""So many times as quiet a network, when the page itself does not stand still."""


class PageActivity:
    """What moves in a page. `now` is any clock that does not go back."""

    def __init__(self, quiet: float, now: float) -> None:
        self._quiet = quiet
        self._readable = self._received = False
        self._on_their_way: dict[str, float] = {}
        self._held: set[str] = set()
        self._asked = self._changed = now
        self._polls = 0
        self.moves = 0
        """How often something moved."""

    @property
    def last(self) -> float:
        """When something moved last; of a page that never stands still, when it last mattered."""
        first, last = sorted((self._asked, self._changed))
        return last if last - first < self._quiet else first

    def readable(self, now: float) -> None:
        """The document is there to its end."""
        self._readable = True
        self._change(now)

    def received(self) -> None:
        """Nothing more comes of the document. One whose reading is cut short by a script is never said to be readable."""
        self._received = True

    def replaced(self, keep: str, now: float) -> None:
        """Another document took the place of this one; only its own request (`keep`) is still of interest."""
        self._readable = self._received = False
        self._on_their_way = {name: began for name, began in self._on_their_way.items() if name == keep}
        self._change(now)

    def changed(self, now: float) -> None:
        """The document changed."""
        self._change(now)

    def held(self, name: str) -> None:
        """A request waits for its turn: that is not the site's time."""
        self._held.add(name)

    def let_go(self, name: str, now: float) -> None:
        """It waits no longer."""
        self._held.discard(name)
        if name in self._on_their_way:
            self._on_their_way[name] = now
        self._ask(now)

    def asked(self, name: str, now: float) -> None:
        """A request began."""
        self._on_their_way[name] = now
        self._ask(now)

    def answered(self, name: str, now: float) -> None:
        """A request is over."""
        if self._on_their_way.pop(name, None) is not None:
            self._polls += 1
            self._ask(now)

    def settles_at(self, now: float) -> float | None:
        """The moment at which the page rests if nothing moves until then; None when something has to happen first."""
        if not (self._readable or self._received) or self._held:
            return None
        waited_for = [began for began in self._on_their_way.values() if began + LONG_REQUEST_SECONDS > now]
        if not waited_for:
            patience = self._quiet if self._readable else MOVING_FACTOR * self._quiet
            return min(max(self._asked, self._changed) + patience, self._asked + MOVING_FACTOR * self._quiet)
        news = max(waited_for) + LONG_REQUEST_SECONDS
        if self._polls >= POLL_COUNT:
            return min(news, self._changed + max(UNCHANGED_SECONDS, self._quiet))
        return news

    def _ask(self, now: float) -> None:
        self._asked = now
        self.moves += 1

    def _change(self, now: float) -> None:
        self._changed = now
        self._polls = 0
        self.moves += 1
