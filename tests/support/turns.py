"""Turns of requests with their hosts, for tests of fetchers."""

from __future__ import annotations

from collections.abc import Callable


class SingleTurn:
    """A turn in which one request may be sent."""

    def __init__(self, on_sent: Callable[[], None] = lambda: None) -> None:
        self.sendings = 0
        self._on_sent = on_sent

    def is_current(self) -> bool:
        return not self.sendings

    def sent(self) -> None:
        self.sendings += 1
        self._on_sent()
