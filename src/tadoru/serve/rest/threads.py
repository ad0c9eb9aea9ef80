"""A few threads for what is asked thousands of times a second.

Python runs one thread at a time, so that a thread for each request only makes them wait for one another: with four a request
for the list of events costs a fifth less than with forty. The way there and back is as short as it can be.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Task = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]]


class Threads:
    """So many threads, started with the first call. They end with `close`, or with the process."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._started: list[threading.Thread] = []

    async def run(self, call: Callable[..., T], *given: Any) -> T:
        """What a function gives back, or what it raises."""
        if not self._started:
            self._start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._tasks.put((loop, future, call, given))
        return await future

    def close(self) -> None:
        """Let the threads end when they have done what they were given."""
        for _ in self._started:
            self._tasks.put(None)
        for thread in self._started:
            thread.join()
        self._started = []

    def _start(self) -> None:
        self._started = [threading.Thread(target=self._work, name=f"list {n}", daemon=True) for n in range(self._count)]
        for thread in self._started:
            thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            loop, future, call, given = task
            try:
                result, error = call(*given), None
            except BaseException as raised:
                result, error = None, raised
            with suppress(RuntimeError):  # The loop has ended, and nobody waits.
                loop.call_soon_threadsafe(_settle, future, result, error)
            del task, loop, future, call, given, result, error


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():  # Who asked has gone.
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
