"""The network door: one method. Nothing else in the product opens a connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from tadoru.model.web import Answer, Failure, RenderedPage, Request

WaitForTurn = Callable[[str], Awaitable[None]]
"""Returns when a request may be sent to a host (`rules.url.host_key`)."""
MayRequest = Callable[[str], Awaitable[bool]]
"""Whether a URL may be requested."""


class Fetcher(Protocol):
    """Sends one request and returns the answer. Follows no redirect, retries nothing, paces nothing, and raises for no fault of a
    site."""

    async def fetch(self, request: Request, sent: Callable[[], None] | None = None) -> Answer:
        """`sent` is called once, at the moment the request has gone out: pacing counts from there."""
        ...

    async def close(self) -> None:
        """Close pooled connections."""
        ...


class Renderer(Protocol):
    """A browser."""

    async def render(self, url: str, *, timeout: float) -> RenderedPage | Failure:
        """The page as a visitor sees it. Raises BrowserMissing."""
        ...

    async def close(self) -> None: ...
