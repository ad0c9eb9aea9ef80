"""Which hosts one process may ask, when others decide that: a host joins, is asked for a while, and leaves.

Without a roster a process takes whatever hosts there are. With one it takes nothing by itself, does not end when there is nothing
to do, and gives back what it holds of a host that leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Roster:
    """The hosts of one process, as those who add and remove them see it, and as the loop does."""

    def __init__(self) -> None:
        self._hosts: dict[str, asyncio.Event] = {}
        """Each host with what tells that there is nothing left to ask it."""
        self._leaving: dict[str, asyncio.Event] = {}
        self._wake: Callable[[], None] = lambda: None

    def on_change(self, wake: Callable[[], None]) -> None:
        """Who is to be woken when a host joins or leaves."""
        self._wake = wake

    # ---- for those who decide
    def join(self, host: str) -> asyncio.Event:
        """May be asked from now on. The event is set when there is nothing to ask it for now, or the process ends."""
        self._hosts[host] = spent = asyncio.Event()
        self._wake()
        return spent

    async def leave(self, host: str) -> None:
        """Ask it no more; returns when what was in flight is written and the rest is given back."""
        if self._hosts.pop(host, None) is None:
            return
        self._leaving[host] = gone = asyncio.Event()
        self._wake()
        await gone.wait()

    # ---- for the loop
    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(self._hosts)

    @property
    def leaving(self) -> frozenset[str]:
        return frozenset(self._leaving)

    def left(self, host: str) -> None:
        """Nothing of it is held any more."""
        if (gone := self._leaving.pop(host, None)) is not None:
            gone.set()

    def spent(self, host: str) -> None:
        """There is nothing to ask it for now."""
        if host in self._hosts:
            self._hosts[host].set()

    def close(self) -> None:
        """The process asks nobody any more."""
        for event in (*self._hosts.values(), *self._leaving.values()):
            event.set()
        self._hosts.clear()
        self._leaving.clear()
