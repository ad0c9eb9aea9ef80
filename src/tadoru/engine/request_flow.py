"""Request flows: logic that needs several requests is a generator that yields a URL and receives the answer.

`run_flow` does the sending, so a flow cannot bypass pacing and robots.txt. `follow_redirects` follows redirects hop by hop, and
sends each hop in the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from typing import TypeVar

from tadoru.model.web import Answer, Failure, FailureKind, Request, Response
from tadoru.rules.url import canonical

Send = Callable[[Request], Awaitable[Answer]]
R = TypeVar("R")


async def run_flow(flow: Generator[str, Answer, R], send: Send, template: Request) -> R:
    """Run a flow to its end; each URL it yields is sent as a copy of the template request."""
    try:
        url = next(flow)
        while True:
            url = flow.send(await follow_redirects(send, url, template))
    except StopIteration as end:
        result: R = end.value
        return result


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
