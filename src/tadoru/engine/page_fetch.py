"""From an answer to the columns of the `pages` table."""

from __future__ import annotations

import asyncio
import json
import random
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

from tadoru.engine.context import CrawlContext
from tadoru.engine.host_queues import HostQueue
from tadoru.engine.job import ExtraRequest, FetchedPage, PageResult
from tadoru.engine.notifications import (
    HostSlowed,
    PageDone,
    PageFailed,
    PageHandlerFailed,
    PageNotRendered,
    PageRefused,
    PageRetried,
    PageTruncated,
    SiteMoved,
)
from tadoru.engine.request_flow import follow_redirects, redirect_target
from tadoru.engine.robots_cache import RobotsCache
from tadoru.errors import BrowserMissing
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Request, Response
from tadoru.parse.bounds import PageTooComplex
from tadoru.rules import pace as pacing
from tadoru.rules import retry
from tadoru.rules.url import host_key, origin
from tadoru.store.crawl.caches import BoundedCache
from tadoru.store.crawl.interface import (
    NOT_ARRIVED,
    CompletedOutcome,
    FailedOutcome,
    FoundLink,
    Lease,
    LinkTarget,
    Outcome,
    PageFacts,
    RefusedOutcome,
    RetryOutcome,
    UnchangedOutcome,
    UrlPurpose,
)
from tadoru.store.crawl.records import PageRecords


def page_facts(response: Response, found: PageResult) -> PageFacts:
    """What the response and the job said about a page."""
    headers = {name.lower(): value for name, value in reversed(response.headers)}
    timings = response.timings
    return PageFacts(
        status_code=response.status,
        title=found.title,
        meta_description=found.meta_description,
        meta_robots=found.meta_robots,
        canonical_url=found.canonical_url,
        content_hash=found.content_hash,
        dns_ms=_ms(timings.dns),
        connect_ms=_ms(timings.connect),
        tls_ms=_ms(timings.tls),
        ttfb_ms=_ms(timings.ttfb),
        download_time_ms=_ms(timings.download),
        response_size_bytes=len(response.body) if response.body_read else None,
        content_type=headers.get("content-type"),
        content_length=_number(headers.get("content-length")),
        last_modified=_utc(headers.get("last-modified")),
        server=headers.get("server"),
        content_encoding=headers.get("content-encoding"),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def _number(text: str | None) -> int | None:
    """A length, unless it is nonsense: a database holds 63 bits."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


@lru_cache(maxsize=1024)
def _utc(text: str | None) -> str | None:
    """An HTTP date as the UTC text that SQLite's date functions read; None when it is not one."""
    if not text:
        return None
    try:
        date = parsedate_to_datetime(text)
        return (date.astimezone(UTC) if date.tzinfo else date).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


HOST_DOWN = NOT_ARRIVED
"""Failures of robots.txt that say that no page of the host can be had either."""


class PageFetch:
    """How this crawl visits a URL."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._policy = context.policy
        self._store = context.store
        self._fetcher = context.fetcher
        self._clock = context.clock
        self._url_filter = context.url_filter
        self._notify = context.notify
        self.robots = RobotsCache(self._store, self.send_politely, self._clock, lambda: context.worker, self._policy.timeout)
        self._random = random.Random()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._beside: BoundedCache[str, HostQueue] = BoundedCache(1_000)
        """The hosts that were asked for something else than a page."""
        self._reading = asyncio.Lock()
        self.unread = 0
        """Pages that have arrived and wait to be read."""

    def interrupt(self) -> None:
        """Cancel the visits that only wait: for a robots.txt, or for their host's next slot. What is sent is let finish."""
        for task in list(self._waiting):
            task.cancel()

    async def close(self) -> None:
        """Leave nothing running."""
        await self.robots.close()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            yield
        finally:
            self._waiting.discard(task)

    def hold(self, pace: pacing.Pace) -> float:
        """For how long a taken slot keeps others away while its request is on its way out."""
        return pace.gap + self._policy.timeout

    def is_ready(self, queue: HostQueue, lease: Lease) -> bool:
        """Whether nothing has to be asked before this URL: its host has a pace, its robots.txt is at hand."""
        return queue.pace is not None and (not self._policy.obey_robots or self.robots.known(origin(lease.url)) is not None)

    def refusal(self, lease: Lease) -> Outcome | None:
        """What robots.txt, already at hand, refuses: no slot is spent on it."""
        asked = self.robots.known(origin(lease.url)) if self._policy.obey_robots else None
        if asked is None:
            return None
        verdict = asked.rules.allows(lease.url)
        if verdict.allowed:
            return None
        if asked.failure in HOST_DOWN and asked.message:
            return self._after_failure(lease, asked.failure, asked.message)
        self._notify(PageRefused(url=lease.url, reason=verdict.reason))
        remark = self._context.job.remark(lease.url, None, verdict.reason) if lease.purpose is UrlPurpose.PAGE else None
        return RefusedOutcome(lease=lease, reason=verdict.reason, records=remark)

    async def visit(self, queue: HostQueue, lease: Lease, *, took_slot: bool, on_sent: Callable[[], None]) -> Outcome:
        """`on_sent` is called as soon as the next request of the queue may line up."""
        if not took_slot and not self.is_ready(queue, lease):
            crawl_delay = None
            if self._policy.obey_robots:
                with self._interruptible():
                    crawl_delay = (await self.robots.ask(origin(lease.url))).rules.paced_delay
                refusal = self.refusal(lease)
                if refusal is not None:
                    return refusal
            queue.pace = await self._store.begin_pace(queue.host, pacing.start(self._policy.delay, crawl_delay))
        began = self._clock.monotonic()
        answer = await self._ask(queue, lease, on_sent, took_slot)
        await self._observe(queue, answer, began)
        return await self._outcome(lease, answer)

    async def _ask(self, queue: HostQueue, lease: Lease, on_sent: Callable[[], None], took_slot: bool) -> Answer:
        timeout = self._policy.timeout * (2 if lease.attempt else 1)
        if lease.purpose is UrlPurpose.CHECK:
            head = Request(url=lease.url, method="HEAD", timeout=timeout, max_bytes=self._policy.max_bytes)
            answer = await self._send(queue, head, on_sent, took_slot)
            # Some servers know no HEAD; one that is too busy for it wants to be left alone.
            if isinstance(answer, Response) and (answer.status < 400 or answer.status in (429, 503)):
                return answer
            get = Request(url=lease.url, timeout=timeout, max_bytes=self._policy.max_bytes, body_types=())
            return await self._send(queue, get, on_sent, took_slot=False)
        request = Request(
            url=lease.url,
            timeout=timeout,
            max_bytes=self._policy.max_bytes,
            body_types=self._context.job.body_types,
            headers=await self._conditions(lease) if self._policy.revalidate else (),
        )
        answer = await self._send(queue, request, on_sent, took_slot)
        if (
            isinstance(answer, Response)
            and answer.is_redirect
            and (cookies := _cookies_set(answer))
            and redirect_target(answer) == lease.url
        ):
            # "Come back with this cookie": done once, for this page only; a session is something the person asks for.
            with_cookies = replace(request, headers=(*request.headers, ("Cookie", cookies)))
            answer = await self._send(queue, with_cookies, on_sent, took_slot=False)
        return answer

    async def _conditions(self, lease: Lease) -> Headers:
        """Header fields that ask a server to send a page only if it changed."""
        known = await self._store.validators(lease.page_id)
        fields = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified))
        return tuple((name, value) for name, value in fields if value)

    async def wait_turn(self, host: str) -> None:
        """Return when somebody else than us (a browser) may send one request to a host."""
        pace = await self._store.begin_pace(host, pacing.start(self._policy.delay, None))
        if pace.gap <= 0:
            return
        while (wait := await self._store.take_slot(self._context.worker, host, self.hold(pace))) > 0:
            with self._interruptible():
                await self._clock.sleep(wait)
        await self._store.sent(self._context.worker, host)

    async def may_request(self, url: str) -> bool:
        """Whether robots.txt lets somebody else than us (a browser) ask for a URL."""
        return not self._policy.obey_robots or (await self.robots.ask(origin(url))).rules.allows(url).allowed

    async def send_politely(self, request: Request) -> Answer:
        """Send outside of any queue (robots.txt, a sitemap, a resource): in the host's pace, which the answer may change."""
        host = host_key(request.url)
        queue = self._beside.get(host) or HostQueue(host)
        self._beside[host] = queue
        queue.pace = await self._store.begin_pace(host, pacing.start(self._policy.delay, self._crawl_delay(request.url)))
        began = self._clock.monotonic()
        answer = await self._send(queue, request, lambda: None, took_slot=False)
        await self._observe(queue, answer, began)
        return answer

    async def ask(self, ask: ExtraRequest) -> Answer:
        """What a job wants besides pages: as politely as a page, each redirect again. Never conditional, never retried."""

        async def send(request: Request) -> Answer:
            if not await self.may_request(request.url):
                return Failure(url=request.url, kind=FailureKind.FORBIDDEN, message="robots.txt forbids it.")
            return await self.send_politely(request)

        template = Request(
            url=ask.url,
            method=ask.method,
            headers=(("Accept", ask.accept),) if ask.accept else (),
            timeout=self._policy.timeout,
            max_bytes=self._policy.max_bytes,
        )
        return await follow_redirects(send, ask.url, template)

    def _crawl_delay(self, url: str) -> float | None:
        asked = self.robots.known(origin(url)) if self._policy.obey_robots else None
        return asked.rules.paced_delay if asked is not None else None

    async def _send(self, queue: HostQueue, request: Request, on_sent: Callable[[], None], took_slot: bool) -> Answer:
        """One request in its slot; the gap to the next one starts when it has gone out."""
        assert queue.pace is not None
        if queue.pace.gap <= 0:
            on_sent()
            return await self._fetcher.fetch(request)
        worker = self._context.worker
        while not took_slot:
            wait = await self._store.take_slot(worker, queue.host, self.hold(queue.pace))
            took_slot = wait <= 0
            if not took_slot:
                with self._interruptible():
                    await self._clock.sleep(wait)
        marks: list[asyncio.Task[None]] = []

        async def mark() -> None:
            await self._store.sent(worker, queue.host)
            on_sent()

        def went_out() -> None:
            if not marks:
                marks.append(asyncio.create_task(mark()))

        try:
            return await self._fetcher.fetch(request, went_out)
        finally:
            went_out()
            await marks[0]

    async def _outcome(self, lease: Lease, answer: Answer) -> Outcome:
        if not isinstance(answer, Response):
            return self._after_failure(lease, answer.kind, answer.message)
        after = retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
        decision = retry.decide(
            status=answer.status, failure=None, attempt=lease.attempt, retry_after=after, jitter=self._random.random()
        )
        if isinstance(decision, retry.Retry):
            self._notify(PageRetried(url=lease.url, kind=f"http_{answer.status}", after=decision.after))
            return RetryOutcome(
                lease=lease, after=decision.after, kind=f"http_{answer.status}", message=f"Answered {answer.status}."
            )
        if answer.is_redirect:
            return await self._redirected(lease, answer)
        if answer.status == 304 and self._policy.revalidate:
            self._notify(PageDone(url=lease.url, status=304, depth=lease.depth, links=0, seconds=answer.timings.ttfb or 0.0))
            return UnchangedOutcome(lease=lease)
        return await self._completed(lease, answer)

    async def _observe(self, queue: HostQueue, answer: Answer, began: float) -> None:
        """Let the answer change the host's pace, and tell everybody when it did."""
        assert queue.pace is not None
        status, latency, after = None, None, None
        if isinstance(answer, Response):
            status, latency = answer.status, answer.timings.ttfb
            after = retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
        changed, pause = pacing.observe(queue.pace, status=status, latency=latency, retry_after=after)
        if began < queue.throttled_at:  # Asked before the slow-down: the same trouble seen once more, or what was before it.
            changed, pause = queue.pace, pause if after is not None else 0.0
        elif status in (429, 503):
            queue.throttled_at = self._clock.monotonic()
        if changed == queue.pace and not pause:
            return
        was, queue.pace = queue.pace.gap, changed
        if changed.base > 0 or changed.gap != was or pause:
            await self._store.set_pace(queue.host, changed, pause)
        if pause:
            queue.due = max(queue.due, self._clock.monotonic() + pause)
        if changed.gap > was or pause:
            self._notify(HostSlowed(host=queue.host, gap=changed.gap, pause=pause))

    def _after_failure(self, lease: Lease, kind: FailureKind, message: str) -> Outcome:
        decision = retry.decide(status=None, failure=kind, attempt=lease.attempt, retry_after=None, jitter=self._random.random())
        if isinstance(decision, retry.Retry):
            self._notify(PageRetried(url=lease.url, kind=kind, after=decision.after))
            return RetryOutcome(lease=lease, after=decision.after, kind=kind, message=message)
        self._notify(PageFailed(url=lease.url, kind=kind, message=message))
        failure = Failure(url=lease.url, kind=kind, message=message)
        return FailedOutcome(lease=lease, kind=kind, message=message, records=self._remark(lease, failure))

    def _remark(self, lease: Lease, answer: Answer) -> PageRecords | None:
        return self._context.job.remark(lease.url, answer, None) if lease.purpose is UrlPurpose.PAGE else None

    async def _redirected(self, lease: Lease, response: Response) -> Outcome:
        url = redirect_target(response)
        if url is None:
            message = f"Redirect ({response.status}) without a usable Location."
            return self._after_failure(lease, FailureKind.BAD_REDIRECT, message)
        if lease.hops >= self._policy.max_redirects:
            message = f"More than {self._policy.max_redirects} redirects, the last one to {url}."
            return self._after_failure(lease, FailureKind.TOO_MANY_REDIRECTS, message)
        seconds = response.timings.ttfb or 0.0
        self._notify(PageDone(url=lease.url, status=response.status, depth=lease.depth, links=0, seconds=seconds))
        return CompletedOutcome(
            lease=lease,
            facts=page_facts(response, PageResult()),
            redirect=await self._redirect_target(lease, url),
            records=self._remark(lease, response),
        )

    async def _redirect_target(self, lease: Lease, url: str) -> LinkTarget:
        if not lease.seed or lease.purpose is not UrlPurpose.PAGE:
            return self._url_filter.target(url)
        scope = self._url_filter.scope
        # A start that went to https first, say, is no longer the URL that was given, but it is on the same site.
        start = next((site for site in scope.sites if site == lease.url or host_key(site) == host_key(lease.url)), lease.url)
        moved = scope.moved(start, url)
        if moved != scope:
            self._url_filter.change_scope(moved)
            await self._store.set_meta("scope", json.dumps(moved.to_dict()))
            # Another start may have led there before it was known to be a site of this crawl.
            await self._store.reconsider(self._admitted_now, max_depth=self._policy.budget.max_depth)
            if not scope.is_internal(url):
                self._notify(SiteMoved(old=lease.url, new=url))
        return self._url_filter.seed(url)

    def _admitted_now(self, url: str, seed: bool) -> LinkTarget | None:
        target = self._url_filter.anew(url, seed)
        return target if target.internal else None

    async def _completed(self, lease: Lease, response: Response) -> Outcome:
        try:
            found = PageResult() if lease.purpose is UrlPurpose.CHECK else await self._read(lease, response)
        except PageTooComplex as error:
            return self._after_failure(lease, FailureKind.UNPARSABLE, f"The page can not be read: {error}.")
        except Exception:
            self._notify(PageHandlerFailed(url=lease.url, trace=traceback.format_exc()))
            message = "The page could not be read; this is a fault of Tadoru."
            return FailedOutcome(lease=lease, kind=FailureKind.UNPARSABLE, message=message)
        target, resource = self._url_filter.target, self._url_filter.resource
        links = [
            FoundLink(target(url), kind, text, rel, position, fragment)
            for url, kind, text, rel, position, fragment in found.links
        ]
        if found.left_out:
            self._notify(PageTruncated(url=lease.url, reasons=tuple(found.left_out)))
        seconds = (response.timings.ttfb or 0.0) + (response.timings.download or 0.0)
        self._notify(PageDone(url=lease.url, status=response.status, depth=lease.depth, links=len(links), seconds=seconds))
        return CompletedOutcome(
            lease=lease,
            facts=page_facts(response, found),
            links=links,
            anchors=found.anchors,
            records=found.records,
            resources=[resource(link) for link in found.resources],
            left_out=found.left_out,
        )

    async def _read(self, lease: Lease, response: Response) -> PageResult:
        page = FetchedPage(url=lease.url, depth=lease.depth, response=response)
        found = await self._handle(page)
        while found.twin is not None:
            page = replace(page, twin=await self.ask(found.twin))
            found = await self._handle(page)
        renderer = self._context.renderer
        if not found.render or renderer is None:
            return found
        try:
            rendered = await renderer.render(lease.url, timeout=self._policy.timeout)
        except BrowserMissing as missing:
            return self._unrendered(found, lease, str(missing), browser_missing=True)
        if isinstance(rendered, Failure):
            return self._unrendered(found, lease, rendered.message, browser_missing=False)
        return await self._handle(replace(page, rendered=rendered))

    async def _handle(self, page: FetchedPage) -> PageResult:
        """One page at a time, and a look at the network between two: what arrives meanwhile would seem to have come late."""
        self.unread += 1
        try:
            async with self._reading:
                await asyncio.sleep(0)
                return self._context.job.handle(page)
        finally:
            self.unread -= 1

    def _unrendered(self, found: PageResult, lease: Lease, why: str, *, browser_missing: bool) -> PageResult:
        """The page as it was sent, with a word about what it lacks."""
        self._notify(PageNotRendered(url=lease.url, reason=why, browser_missing=browser_missing))
        if found.records is None:
            return found
        lacking = {"wanted": found.render, "failed": why, "browser_missing": browser_missing}
        return replace(found, records=replace(found.records, rendering=lacking))


def _cookies_set(response: Response) -> str:
    """The cookies of a response as a request sends them back."""
    pairs = (line.partition(";")[0].strip() for line in response.header_all("set-cookie"))
    return "; ".join(pair for pair in pairs if "=" in pair and pair.isprintable())
