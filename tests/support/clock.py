"""Time under a test's control: nothing waits, and sleeping is what makes time pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

START = 1_700_000_000.0


class FakeClock:
    """A clock that stands still until somebody sleeps on it or moves it."""

    def __init__(self, start: float = START, *, background: float | None = None) -> None:
        """Who sleeps for `background` seconds waits for the time that others let pass."""
        self._background = background
        self._waiting: list[tuple[float, asyncio.Event, asyncio.Task[object] | None]] = []
        self._at_work: dict[asyncio.Task[object] | None, asyncio.Event] = {}
        """Those in the background whose wait is over, with what tells that they wait again or have ended."""
        self.longest = float("inf")
        """Seconds after which a wait has no end."""
        self._passed = 0.0
        self._start = start
        self.on_change: Callable[[], None] = lambda: None
        """Told when the time is another: somebody may have to know it who cannot ask."""

    def now(self) -> float:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        if seconds > self.longest:
            await asyncio.Event().wait()
        task = asyncio.current_task()
        if seconds == self._background:
            self._is_done(task)
            mine = (self._passed + seconds, asyncio.Event(), task)
            self._waiting.append(mine)
            try:
                await mine[1].wait()
            finally:
                self._waiting = [one for one in self._waiting if one is not mine]
            return
        end = self._passed + seconds
        while (until := min((at for at, _, _ in self._waiting), default=end)) < end:
            self.advance(until - self._passed)
            await self._background_is_done(task)
        self.advance(end - self._passed)
        await asyncio.sleep(0)

    async def _background_is_done(self, but: asyncio.Task[object] | None) -> None:
        """Nobody lets more time pass before those in the background did what they waited for, in a thread perhaps."""
        for is_done in [is_done for task, is_done in self._at_work.items() if task is not but]:
            await is_done.wait()

    def _is_done(self, task: asyncio.Task[object] | None) -> None:
        """Somebody in the background waits again, or has ended."""
        if (is_done := self._at_work.pop(task, None)) is not None:
            is_done.set()

    def put_back(self, seconds: float) -> None:
        """The time of day is corrected; what has passed has passed."""
        self._start -= seconds
        self.on_change()

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
        self._passed += max(0.0, seconds)
        for _, over, task in [one for one in self._waiting if one[0] <= self._passed]:
            over.set()
            if task is not None:
                self._at_work[task] = asyncio.Event()
                task.add_done_callback(self._is_done)
        self._waiting = [one for one in self._waiting if one[0] > self._passed]
        self.on_change()
