"""A line to one page of the browser: commands go out, answers and events come in, in the words of the browser's own protocol.

`fetch.browser` has the real one; `fetch.tab` and `fetch.taking` speak over it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Event = dict[str, Any]


class SessionEnded(Exception):
    """The page, or its browser, is gone."""


class Declined(Exception):
    """The browser can not do what it was told, mostly because the page has moved on meanwhile."""


class Session(Protocol):
    """Commands and events."""

    async def send(self, method: str, /, **parameters: Any) -> Event:
        """Raises SessionEnded or Declined."""
        ...

    def on(self, event: str, call: Callable[[Event], None]) -> None:
        """Call it for every event of this name."""
        ...
