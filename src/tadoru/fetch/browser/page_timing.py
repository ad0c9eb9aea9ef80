"""How long a page gets: until it has settled, or until its time is over.

A page has settled when it sends no request and does not change for a while. Two kinds of pages never do, and count as settled all
the same: pages that change without requests (a carousel), and pages that request again and again without a change (polling). A
request that takes very long is a long poll, and is not waited for. The time of a page is paused while its requests wait for the
turn of their hosts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

MAX_TIMEOUTS = 4
"""The maximum time of a page, in timeouts, however long its requests wait."""


class PageTimeout:
    """The timeout of one page. It is paused while requests of the page wait."""

    def __init__(self) -> None:
        self._deadline = asyncio.timeout(None)
        self._latest_end = 0.0
        self._waiting = 0
        self._left: float | None = None
        """The seconds left when it was paused; None while it runs."""
        self.is_over = False

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncIterator[None]:
        """Cancel the body when the time is over, without an error."""
        now = asyncio.get_running_loop().time()
        self._latest_end = now + MAX_TIMEOUTS * seconds
        try:
            with suppress(TimeoutError):
                async with self._deadline:
                    self._deadline.reschedule(now + seconds)
                    yield
        finally:
            self.is_over = True

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the timeout while a request waits."""
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
            self._deadline.reschedule(self._latest_end)
        elif not self._waiting and self._left is not None:
            self._deadline.reschedule(min(now + self._left, self._latest_end))
            self._left = None


LONG_REQUEST_SECONDS = 8.0
"""Seconds after which a request counts as a long poll."""
UNCHANGED_SECONDS = 2.0
"""Seconds without a change after which a polling page has settled."""
POLL_COUNT = 3
MOVING_FACTOR = 4
"""How many quiet periods without a request settle a page that keeps changing."""


class PageActivity:
    """The requests and changes of a page. `now` is of a monotonic clock."""

    def __init__(self, quiet: float, now: float) -> None:
        self._quiet = quiet
        self._is_loaded = self._is_received = False
        self._requests: dict[str, float] = {}
        self._held: set[str] = set()
        self._last_request = self._last_change = now
        self._polls = 0
        self.changes = 0
        """The number of requests and changes."""

    @property
    def last_activity(self) -> float:
        """The time of the last request or change; of a page that never stops, the last one that mattered."""
        first, last = sorted((self._last_request, self._last_change))
        return last if last - first < self._quiet else first

    def document_loaded(self, now: float) -> None:
        """The document is loaded to its end."""
        self._is_loaded = True
        self._note_change(now)

    def document_received(self) -> None:
        """No more of the document will arrive. One that a script stopped is never reported as loaded."""
        self._is_received = True

    def document_replaced(self, keep: str, now: float) -> None:
        """Another document replaced this one; only its own request (`keep`) still counts."""
        self._is_loaded = self._is_received = False
        self._requests = {name: began for name, began in self._requests.items() if name == keep}
        self._note_change(now)

    def document_changed(self, now: float) -> None:
        """The document changed."""
        self._note_change(now)

    def request_held(self, name: str) -> None:
        """A request waits for the turn of its host."""
        self._held.add(name)

    def request_released(self, name: str, now: float) -> None:
        """A request no longer waits."""
        self._held.discard(name)
        if name in self._requests:
            self._requests[name] = now
        self._note_request(now)

    def request_started(self, name: str, now: float) -> None:
        """A request started."""
        self._requests[name] = now
        self._note_request(now)

    def request_ended(self, name: str, now: float) -> None:
        """A request ended."""
        if self._requests.pop(name, None) is not None:
            self._polls += 1
            self._note_request(now)

    def settles_at(self, now: float) -> float | None:
        """The time at which the page has settled if nothing happens until then; None when something has to happen first."""
        if not (self._is_loaded or self._is_received) or self._held:
            return None
        waited_for = [began for began in self._requests.values() if began + LONG_REQUEST_SECONDS > now]
        if not waited_for:
            quiet_period = self._quiet if self._is_loaded else MOVING_FACTOR * self._quiet
            latest = self._last_request + MOVING_FACTOR * self._quiet
            return min(max(self._last_request, self._last_change) + quiet_period, latest)
        timeout_at = max(waited_for) + LONG_REQUEST_SECONDS
        if self._polls >= POLL_COUNT:
            return min(timeout_at, self._last_change + max(UNCHANGED_SECONDS, self._quiet))
        return timeout_at

    def _note_request(self, now: float) -> None:
        self._last_request = now
        self.changes += 1

    def _note_change(self, now: float) -> None:
        self._last_change = now
        self._polls = 0
        self.changes += 1
