"""The time a page has: it stands still while the page's requests wait for their hosts' turn, for that is our doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

PATIENCE = 4
"""However long its requests wait, no page gets more than so many timeouts."""


class Allowance:
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
        self._last_moment = now + PATIENCE * seconds
        try:
            with suppress(TimeoutError):
                async with self._deadline:
                    self._deadline.reschedule(now + seconds)
                    yield
        finally:
            self.is_over = True

    @contextmanager
    def standing_still(self) -> Iterator[None]:
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
