"""Errands: single requests outside of a crawl, as polite as one. A feed, a calendar, the pages that a list names.

Each goes out with robots.txt obeyed, one at a time for each host, a gap between two, and again after a passing fault; each hop of
a redirect passes all of that anew. What is known about hosts is in a database, so that several workers are as polite as one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from tadoru.clock import Clock
from tadoru.engine.page_fetch import HOST_DOWN
from tadoru.engine.request_flow import follow_redirects
from tadoru.engine.robots_cache import RobotsCache
from tadoru.fetch.base import Fetcher
from tadoru.fetch.credentials import NO_CREDENTIALS, Credentials, CredentialsFetcher
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Request, Response
from tadoru.rules import retry
from tadoru.rules.url import host_key, origin
from tadoru.store.crawl.interface import RobotsRecord

MAX_RETRY_WAIT = 90.0
"""Seconds that an errand waits before it asks again; a host that wants more is asked at its next turn."""
OVERLOAD_PAUSE = 60.0
"""Seconds to leave a host alone that is overloaded and does not say for how long."""
UNSETTLED_ROBOTS_AGE = 60.0
"""Seconds after which a robots.txt is asked for again that could not be had."""
T = TypeVar("T")


class HostStore(Protocol):
    """What is remembered about hosts. Its methods block, and are called in threads."""

    def take_slot(self, worker: int, host: str, hold: float, *, gap: float) -> float: ...

    def sent(self, worker: int, host: str) -> None: ...

    def give_back(self, worker: int, host: str) -> None: ...

    def pause_host(self, host: str, seconds: float) -> None: ...

    def robots(self, origin: str) -> RobotsRecord | None: ...

    def put_robots(self, origin: str, record: RobotsRecord) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """How errands are run."""

    gap: float
    """Seconds between two requests to a host, at least."""
    timeout: float
    max_bytes: int
    obey_robots: bool = True


class PoliteClientContext:
    """What the errands of one worker share: whose turn it is at each host."""

    def __init__(self, desk: HostStore, clock: Clock, worker: int, manners: RequestPolicy) -> None:
        self.desk = desk
        self.clock = clock
        self.worker = worker
        self.manners = manners
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, host: str) -> asyncio.Lock:
        """Held by the errand that is at a host; others of this worker line up here, and do not ask the database."""
        return self._turns.setdefault(host, asyncio.Lock())

    async def ask(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        return await asyncio.to_thread(call, *arguments, **named)


class PoliteClient:
    """Requests through one fetcher, which knows where it may connect."""

    def __init__(self, errands: PoliteClientContext, fetcher: Fetcher) -> None:
        self._errands = errands
        self._fetcher = fetcher
        self._random = random.Random()
        shelf = _RobotsStore(errands)
        self._robots = RobotsCache(shelf, self._send, errands.clock, lambda: errands.worker, errands.manners.timeout)

    async def close(self) -> None:
        await self._robots.close()
        await self._fetcher.close()

    async def fetch(self, url: str, *, headers: Headers = (), credentials: Credentials = NO_CREDENTIALS) -> Answer:
        """The answer at the end of the redirects; each hop gets the credentials of its origin."""
        fetcher = CredentialsFetcher(self._fetcher, credentials)

        async def send(request: Request) -> Answer:
            return await self._patiently(request, fetcher)

        manners = self._errands.manners
        template = Request(url=url, headers=headers, timeout=manners.timeout, max_bytes=manners.max_bytes)
        return await follow_redirects(send, url, template)

    async def _patiently(self, request: Request, fetcher: Fetcher) -> Answer:
        """Ask, and again after what passes."""
        clock, attempt = self._errands.clock, 0
        while True:
            gap, refused = await self._permission(request.url)
            if refused is not None:
                return refused
            answer = await self._send(request, gap, fetcher)
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
            request = replace(request, timeout=self._errands.manners.timeout * decision.timeout_factor)
            await clock.sleep(decision.after)

    async def _permission(self, url: str) -> tuple[float, Failure | None]:
        """The gap that robots.txt asks for, or why it may not be asked at all."""
        if not self._errands.manners.obey_robots:
            return 0.0, None
        asked = await self._robots.ask(origin(url))
        verdict = asked.rules.allows(url)
        if verdict.allowed:
            return asked.rules.paced_delay or 0.0, None
        if asked.failure in HOST_DOWN and asked.message:
            assert asked.failure is not None
            return 0.0, Failure(url=url, kind=asked.failure, message=asked.message)
        return 0.0, Failure(url=url, kind=FailureKind.FORBIDDEN, message=f"robots.txt does not allow it: {verdict.reason}.")

    async def _send(self, request: Request, gap: float = 0.0, fetcher: Fetcher | None = None) -> Answer:
        """One request, when it is the host's turn; the gap to the next one counts from its sending."""
        errands, host = self._errands, host_key(request.url)
        desk, worker, manners = errands.desk, errands.worker, errands.manners
        gap = max(gap, manners.gap)
        async with errands.turn(host):
            while (wait := await errands.ask(desk.take_slot, worker, host, request.timeout * 3 + 30, gap=gap)) > 0:
                await errands.clock.sleep(wait)
            marks: list[asyncio.Task[None]] = []

            def went_out() -> None:
                if not marks:
                    marks.append(asyncio.create_task(errands.ask(desk.sent, worker, host)))

            try:
                answer = await (fetcher or self._fetcher).fetch(request, went_out)
            finally:
                went_out()
                await marks[0]
                await errands.ask(desk.give_back, worker, host)
        if isinstance(answer, Response):
            after = retry.parse_retry_after(answer.header("retry-after"), errands.clock.now())
            if after is not None or answer.status in (429, 503):
                await errands.ask(
                    desk.pause_host, host, min(after if after is not None else OVERLOAD_PAUSE, retry.MAX_RETRY_AFTER)
                )
        return answer


class _RobotsStore:
    """robots.txt as the database keeps it, for the cache."""

    def __init__(self, errands: PoliteClientContext) -> None:
        self._errands = errands

    async def claim_robots(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        """What is known, or True: ask. Two workers may ask at once; each host's slot keeps them apart."""
        record = await self._errands.ask(self._errands.desk.robots, origin)
        return record if record is not None and record.age < (max_age if record.is_settled else UNSETTLED_ROBOTS_AGE) else True

    async def put_robots(self, origin: str, record: RobotsRecord) -> None:
        await self._errands.ask(self._errands.desk.put_robots, origin, record)
