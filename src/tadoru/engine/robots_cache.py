"""The robots.txt of each origin: requested once for all workers of a crawl, stored for at most a day, cached here as rules."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol

from tadoru.clock import Clock
from tadoru.engine.request_flow import Expiry, Send, follow_redirects
from tadoru.model.web import Failure, FailureKind, Request, Response
from tadoru.rules import retry, robots
from tadoru.rules.url import host_key
from tadoru.store.crawl.caches import BoundedCache
from tadoru.store.crawl.records import RobotsRecord

POLL_INTERVAL = 0.02
"""Seconds between two looks for the answer of a sibling process."""


class CachedRobots(NamedTuple):
    """The rules of an origin, and why they could not be read if so."""

    rules: robots.Robots
    failure: FailureKind | None
    """Why there was no response, if there was none."""
    message: str = ""
    """What is wrong with the host; empty when robots.txt redirects to another host and that one fails."""


class RobotsStore(Protocol):
    """Where responses are stored for all workers."""

    async def claim(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        """The stored response; True: request it and store it; False: another worker is requesting it."""
        ...

    async def put(self, origin: str, record: RobotsRecord) -> None: ...


class RobotsCache:
    """Rules by origin. All pages that wait for the same robots.txt share one task."""

    def __init__(
        self,
        store: RobotsStore,
        send: Send,
        clock: Clock,
        worker: Callable[[], int],
        timeout: float,
        *,
        token: str = robots.PRODUCT_TOKEN,
        replacement: Callable[[str], bytes | None] = lambda origin: None,
    ) -> None:
        """`token` chooses the group; `replacement` is the text that stands for the robots.txt of an origin, if there is one."""
        self._store = store
        self._send = send
        self._clock = clock
        self._worker = worker
        self._timeout = timeout
        self._token = token
        self._replacement = replacement
        self._rules: BoundedCache[str, tuple[CachedRobots, Expiry]] = BoundedCache(2_000)
        self._requests: dict[str, asyncio.Task[CachedRobots]] = {}

    def cached(self, origin: str) -> CachedRobots | None:
        """The rules, if they are cached and fresh."""
        held = self._rules.get(origin)
        return held[0] if held is not None and not held[1].is_over else None

    async def get(self, origin: str) -> CachedRobots:
        """The rules of an origin, requested when no worker has them."""
        held = self.cached(origin)
        if held is not None:
            return held
        task = self._requests.get(origin)
        if task is None:
            task = self._requests[origin] = asyncio.create_task(self._load(origin))
            task.add_done_callback(lambda _: self._requests.pop(origin, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel the requests that are under way."""
        requests = list(self._requests.values())
        for task in requests:
            task.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    async def _load(self, origin: str) -> CachedRobots:
        text = self._replacement(origin)
        record = await self._stored(origin) if text is None else RobotsRecord(200, None, "", text, 0.0)
        failure = FailureKind(record.failure) if record.failure else None
        rules = robots.read(status=record.status, failure=failure, body=record.body, token=self._token)
        cached = CachedRobots(rules, failure, record.message)
        max_age = robots.MAX_AGE if record.is_settled else 60.0
        self._rules[origin] = (cached, Expiry(self._clock, max_age - min(max(record.age, 0.0), max_age)))
        return cached

    async def _stored(self, origin: str) -> RobotsRecord:
        """The response of an origin: that of another worker, or else requested and stored for all."""
        hold = self._timeout * 4 + 30
        while (claim := await self._store.claim(self._worker(), origin, hold=hold, max_age=robots.MAX_AGE)) is False:
            await self._clock.sleep(POLL_INTERVAL)
        if isinstance(claim, RobotsRecord):
            return claim
        record = await self._fetch(origin)
        await self._store.put(origin, record)
        return record

    async def _fetch(self, origin: str) -> RobotsRecord:
        """Request the file, with redirects and retries as for any page."""
        template = Request(url=origin, timeout=self._timeout, max_bytes=robots.MAX_BYTES, truncate=True)
        attempt = 0
        while True:
            answer = await follow_redirects(self._send, f"{origin}/robots.txt", template, robots.MAX_REDIRECTS)
            if isinstance(answer, Response):
                after = retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
                decision = retry.decide(status=answer.status, failure=None, attempt=attempt, retry_after=after, jitter=0.5)
            else:
                decision = retry.decide(status=None, failure=answer.kind, attempt=attempt, retry_after=None, jitter=0.5)
            if not isinstance(decision, retry.Retry) or decision.after > self._timeout:
                return _record(answer, origin)
            attempt += 1
            await self._clock.sleep(decision.after)


def _record(answer: Response | Failure, origin: str) -> RobotsRecord:
    if isinstance(answer, Response):
        return RobotsRecord(answer.status, None, "", answer.body[: robots.MAX_BYTES], 0.0)
    if answer.kind in (FailureKind.TOO_MANY_REDIRECTS, FailureKind.REDIRECT_LOOP, FailureKind.BAD_REDIRECT):
        return RobotsRecord(302, None, answer.message, b"", 0.0)
    is_own = host_key(answer.url) == host_key(f"{origin}/")
    return RobotsRecord(None, answer.kind, answer.message if is_own else "", b"", 0.0)
