"""Single requests outside of a crawl, as polite as a crawl: a feed, a calendar, the pages that a list names.

Each request obeys robots.txt, is sent one at a time per host with a gap between two, and is retried after a temporary failure; so
is each hop of a redirect. The state of hosts is in a database, so that several workers together are as polite as one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from tadoru.clock import Clock, to_datetime
from tadoru.engine.page_fetch import HOST_DOWN
from tadoru.engine.request_flow import Expiry, HostTurn, follow_redirects, slot_hold
from tadoru.engine.robots_cache import RobotsCache
from tadoru.errors import Message
from tadoru.fetch.base import Fetcher, TurnExpired
from tadoru.fetch.credentials import NO_CREDENTIALS, Credentials, CredentialsFetcher
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Request, Response
from tadoru.rules import retry
from tadoru.rules.robots import PRODUCT_TOKEN
from tadoru.rules.url import host_key, origin
from tadoru.store.crawl.records import RobotsRecord

MAX_RETRY_WAIT = 90.0
"""Seconds to wait before a retry, at most; a host that asks for more is requested in the next run."""
MAX_HOST_WAIT = 300.0
"""Seconds to wait for the turn of a host, at most: one that asked for a longer pause is requested when it is over."""
LATE_WAIT = 0.05
"""Seconds after which a request asks for another turn that could not be sent in its own."""
UNSETTLED_ROBOTS_AGE = 60.0
"""Seconds after which a robots.txt that could not be read is requested again."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedHost(Failure):
    """No request was sent: the host asked for a pause."""

    retry_after: float


class HostStore(Protocol):
    """The state of hosts in a database. Its methods block and are called in threads."""

    def take_slot(self, worker: int, host: str, hold: float, *, gap: float) -> float: ...

    def sent(self, worker: int, host: str) -> None: ...

    def give_back(self, worker: int, host: str) -> None: ...

    def pause_host(self, host: str, seconds: float) -> None: ...

    def robots(self, origin: str) -> RobotsRecord | None: ...

    def put_robots(self, origin: str, record: RobotsRecord) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """How requests are sent."""

    gap: float
    """Minimum seconds between two requests to a host."""
    timeout: float
    max_bytes: int
    obey_robots: bool = True
    robots_token: str = PRODUCT_TOKEN
    """The product token whose group of robots.txt applies."""


class PoliteClientContext:
    """What the clients of one worker share: the database, the policy, and a lock for each host."""

    def __init__(self, store: HostStore, clock: Clock, worker: int, policy: RequestPolicy) -> None:
        self.store = store
        self.clock = clock
        self.worker = worker
        self.lease: Expiry | None = None
        """Until when nobody can have declared this worker dead."""
        self.policy = policy
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._paused: dict[str, float] = {}

    def pause(self, host: str, seconds: float) -> None:
        """Remember the pause of a host for failures that follow from it."""
        self._paused[host] = self.clock.monotonic() + seconds

    def pause_left(self, host: str) -> float:
        """Seconds until the pause of a host is over; 0 if there is none."""
        return max(self._paused.get(host, 0.0) - self.clock.monotonic(), 0.0)

    def host_lock(self, host: str) -> asyncio.Lock:
        """The lock of a host: requests of this worker wait here and do not poll the database."""
        return self._locks.setdefault(host, asyncio.Lock())

    async def call(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a blocking method in a thread."""
        return await asyncio.to_thread(call, *arguments, **named)


class PoliteClient:
    """Sends requests through one fetcher."""

    def __init__(self, context: PoliteClientContext, fetcher: Fetcher) -> None:
        self._context = context
        self._fetcher = fetcher
        self._random = random.Random()
        robots_store = _RobotsStore(context)
        policy = context.policy
        self._robots = RobotsCache(
            robots_store, self._send, context.clock, lambda: context.worker, policy.timeout, token=policy.robots_token
        )

    async def close(self) -> None:
        await self._robots.close()
        await self._fetcher.close()

    async def fetch(
        self,
        url: str,
        *,
        headers: Headers = (),
        credentials: Credentials = NO_CREDENTIALS,
        on_redirect: Callable[[Response], None] = lambda response: None,
    ) -> Answer:
        """The answer at the end of the redirects; each hop gets the credentials of its origin, and is given to `on_redirect`."""
        fetcher = CredentialsFetcher(self._fetcher, credentials)

        async def send(request: Request) -> Answer:
            answer = await self._send_with_retries(request, fetcher)
            if isinstance(answer, Response) and answer.is_redirect:
                on_redirect(answer)
            return answer

        policy = self._context.policy
        template = Request(url=url, headers=headers, timeout=policy.timeout, max_bytes=policy.max_bytes)
        return await follow_redirects(send, url, template)

    async def _send_with_retries(self, request: Request, fetcher: Fetcher) -> Answer:
        """Send a request, and retry it after temporary failures."""
        clock, attempt = self._context.clock, 0
        while True:
            gap, refusal = await self._check_robots(request.url)
            if refusal is not None:
                return refusal
            answer = await self._send(request, gap, fetcher, attempt)
            if isinstance(answer, PausedHost):
                return answer
            if isinstance(answer, Response):
                after = retry.parse_retry_after(answer.header("retry-after"), clock.now())
                chance = self._random.random()
                decision = retry.decide(status=answer.status, failure=None, attempt=attempt, retry_after=after, jitter=chance)
            else:
                chance = self._random.random()
                decision = retry.decide(status=None, failure=answer.kind, attempt=attempt, retry_after=None, jitter=chance)
            if not isinstance(decision, retry.Retry) or decision.after > MAX_RETRY_WAIT:
                return answer
            attempt += 1
            request = replace(request, timeout=self._context.policy.timeout * decision.timeout_factor)
            await clock.sleep(decision.after)

    async def _check_robots(self, url: str) -> tuple[float, Failure | None]:
        """The gap that robots.txt asks for, or the failure if it disallows the URL."""
        if not self._context.policy.obey_robots:
            return 0.0, None
        cached = await self._robots.get(origin(url))
        decision = cached.rules.allows(url)
        if decision.allowed:
            return cached.rules.paced_delay or 0.0, None
        if cached.failure in HOST_DOWN and cached.message:
            assert cached.failure is not None
            if (left := self._context.pause_left(host_key(url))) > 0:
                return 0.0, PausedHost(url=url, kind=cached.failure, message=cached.message, retry_after=left)
            return 0.0, Failure(url=url, kind=cached.failure, message=cached.message)
        return 0.0, Failure(url=url, kind=FailureKind.FORBIDDEN, message=f"Disallowed by robots.txt: {decision.reason}.")

    async def _send(self, request: Request, gap: float = 0.0, fetcher: Fetcher | None = None, attempt: int = 0) -> Answer:
        """Send one request in the slot of the host; the gap to the next one starts when it has been sent.

        An overloaded host is left alone for as long as it asks, else for 1, 2, 4 … seconds.
        """
        context, host = self._context, host_key(request.url)
        store, worker, gap = context.store, context.worker, max(gap, context.policy.gap)
        answer: Answer | None = None
        async with context.host_lock(host):
            while answer is None:
                turn = await self._take_turn(host, slot_hold(gap, request.timeout), gap)
                if not isinstance(turn, HostTurn):
                    if turn > max(MAX_HOST_WAIT, 2 * gap):
                        return self._paused(request.url, host, turn)
                    await context.clock.sleep(turn)
                    continue
                try:
                    answer = await (fetcher or self._fetcher).fetch(request, turn)
                except TurnExpired:  # Another worker may have the slot by now: the request waits for a new turn.
                    await context.clock.sleep(LATE_WAIT)
                finally:
                    await turn.end()
                    await context.call(store.give_back, worker, host)
        if isinstance(answer, Response):
            after = retry.parse_retry_after(answer.header("retry-after"), context.clock.now())
            if answer.status in (429, 503) or (after is not None and answer.status >= 300 and answer.status != 304):
                pause = after if after is not None else min(2.0**attempt, retry.MAX_BACKOFF)
                await context.call(store.pause_host, host, min(pause, retry.MAX_RETRY_AFTER))
        return answer

    async def _take_turn(self, host: str, hold: float, gap: float) -> HostTurn | float:
        """The turn of a request with a host, or the seconds after which to ask again."""
        context = self._context
        store, worker, expiry = context.store, context.worker, Expiry(context.clock, hold)
        wait = await context.call(store.take_slot, worker, host, hold, gap=gap)
        if wait > 0:
            return wait
        return HostTurn(
            expiry, lambda: context.lease is None or not context.lease.is_over, lambda: context.call(store.sent, worker, host)
        )

    def _paused(self, url: str, host: str, wait: float) -> PausedHost:
        self._context.pause(host, wait)
        until = to_datetime(self._context.clock.now() + wait)
        message = Message(
            "{host} is not requested before {time}: it asked for a pause.", host=host, time=f"{until:%Y-%m-%d %H:%M} UTC"
        )
        return PausedHost(url=url, kind=FailureKind.NETWORK, message=message, retry_after=wait)


class _RobotsStore:
    """The stored robots.txt files, for `RobotsCache`."""

    def __init__(self, context: PoliteClientContext) -> None:
        self._context = context

    async def claim(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        """The stored response, or True to request it. Two workers may do so at once; the slot of the host keeps them apart."""
        record = await self._context.call(self._context.store.robots, origin)
        limit = max_age if record is not None and record.is_settled else UNSETTLED_ROBOTS_AGE
        # An age below zero: the clock was set back since.
        return record if record is not None and 0 <= record.age < limit else True

    async def put(self, origin: str, record: RobotsRecord) -> None:
        await self._context.call(self._context.store.put_robots, origin, record)
