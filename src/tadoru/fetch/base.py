"""The interfaces of network access: a fetcher sends requests, a renderer renders pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tadoru.model.web import Answer, Failure, RenderedPage, Request

WaitForTurn = Callable[[str], Awaitable[None]]
"""Returns when a request may be sent to a host (`rules.url.host_key`)."""
MayRequest = Callable[[str], Awaitable[bool]]
"""Whether a URL may be requested."""


PAGE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserOptions:
    """How the browser renders pages."""

    pages: int = 2
    """Pages at a time."""
    headed: bool = False
    """Show the browser window."""
    profile: Path | None = None
    """A profile folder that keeps the session: all pages and later runs share it."""
    max_bytes: int = PAGE_BYTES
    """Maximum bytes that one page may load in total."""
    quiet: float = 0.5
    """Seconds without any activity after which a page counts as settled; slow pages need more."""
    wait_for: str = ""
    """A selector: a page has not settled before an element matches it, unless its time is over."""


class TurnExpired(Exception):
    """The turn of a request with its host was over before the request was sent. Nothing was sent."""


class RequestTurn(Protocol):
    """The turn of one request with its host."""

    def is_current(self) -> bool:
        """Whether the request may be sent now: nobody else can have the host's slot yet."""
        ...

    def sent(self) -> None:
        """The request has been sent: the gap to the next one starts."""
        ...


class Fetcher(Protocol):
    """Sends one request and returns the answer. It follows no redirect, does not retry or pace, and raises no error for what a
    site does wrong."""

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        """Send a request. With a turn, each sending is checked right before it, and raises `TurnExpired` if the turn is over."""
        ...

    async def close(self) -> None:
        """Close pooled connections."""
        ...


class Renderer(Protocol):
    """A browser."""

    async def render(self, url: str, *, timeout: float) -> RenderedPage | Failure:
        """The page as a browser shows it. Raises BrowserMissing."""
        ...

    async def close(self) -> None: ...
