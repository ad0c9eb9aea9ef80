"""Redirects that are followed hop by hop, each sent in the same way; and turns, in which one request may be sent to a host."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from tadoru.clock import Clock
from tadoru.model.web import Answer, Failure, FailureKind, Request, Response
from tadoru.rules.url import canonical

Send = Callable[[Request], Awaitable[Answer]]


async def follow_redirects(send: Send, url: str, template: Request, hops: int = 5) -> Answer:
    """The answer at the end of a URL's redirects, or the failure they end in."""
    seen: set[str] = set()
    while True:
        seen.add(url)
        answer = await send(replace(template, url=url))
        if not isinstance(answer, Response) or not answer.is_redirect:
            return answer
        target = redirect_target(answer)
        if target is None:
            return Failure(
                url=url, kind=FailureKind.BAD_REDIRECT, message=f"Redirect ({answer.status}) without a valid Location header."
            )
        if target in seen:
            return Failure(url=url, kind=FailureKind.REDIRECT_LOOP, message=f"The redirects from {url} lead back to {target}.")
        if len(seen) > hops:
            return Failure(
                url=url, kind=FailureKind.TOO_MANY_REDIRECTS, message=f"More than {hops} redirects, the last one to {target}."
            )
        url = target


def redirect_target(response: Response) -> str | None:
    """The absolute, canonical URL that a redirect points to; None when it is not usable."""
    value = response.header("location")
    return canonical(value, response.url) if value else None


def slot_hold(gap: float, timeout: float) -> float:
    """Seconds for which a slot is reserved until its request is sent: names, connections and TLS have a timeout each."""
    return gap + 3 * timeout + 30


class Expiry:
    """A duration that starts before others are asked to grant it, so that it never ends after the one that they measure."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._ends = clock.monotonic() + seconds
        self._ends_at = clock.now() + seconds

    @property
    def is_over(self) -> bool:
        """By either clock: the monotonic one stands still while the machine sleeps, the other one may be put back."""
        return self._clock.monotonic() >= self._ends or self._clock.now() >= self._ends_at


class HostTurn:
    """The turn of one request with a host: it ends when the request is sent, or when others may take the slot."""

    def __init__(self, expiry: Expiry, is_alive: Callable[[], bool], mark: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """`is_alive` is whether the worker still has what it was granted; `mark` starts the gap in the store."""
        self._expiry = expiry
        self._is_alive = is_alive
        self._mark = mark
        self._marking: asyncio.Task[None] | None = None

    def is_current(self) -> bool:
        return self._marking is None and not self._expiry.is_over and self._is_alive()

    def sent(self) -> None:
        if self._marking is None:
            self._marking = asyncio.create_task(self._mark())

    async def end(self) -> None:
        """Start the gap in any case: a request that failed may have reached the host."""
        self.sent()
        assert self._marking is not None
        await self._marking
