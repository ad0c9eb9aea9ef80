"""Fetching one leased URL: from the robots.txt check to the outcome that the store writes."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import random
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from tadoru.engine import notifications
from tadoru.engine.host_queues import SILENCES, HostQueue, HostQueues
from tadoru.engine.job import CrawlContext, ExtraRequest, FetchedPage, PageResult
from tadoru.engine.request_flow import Expiry, HostTurn, follow_redirects, redirect_target, slot_hold
from tadoru.engine.robots_cache import RobotsCache
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import BrowserMissing
from tadoru.fetch.base import TurnExpired
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Link, LinkKind, Request, Response
from tadoru.parse.complexity import PageTooComplex
from tadoru.rules import pace as pacing
from tadoru.rules import retry
from tadoru.rules.bot_blocking import bot_blocker, describe_bot_block
from tadoru.rules.url import host_key, origin, remap_url
from tadoru.store.crawl import records
from tadoru.store.crawl.caches import BoundedCache


def page_facts(response: Response, found: PageResult) -> records.PageFacts:
    """The columns of the `pages` table, from the response and the result of the job."""
    headers = {name.lower(): value for name, value in reversed(response.headers)}
    timings = response.timings
    return records.PageFacts(
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


def link_targets(links: Sequence[Link], url_filter: UrlFilter) -> dict[str, records.LinkTarget]:
    """The decision about each URL that the links of a page lead to, in their order."""
    decide, style = url_filter.target, url_filter.style_target
    kinds = {link[0]: link[1] for link in links}
    return {url: style(url) if kind is LinkKind.STYLE else decide(url) for url, kind in kinds.items()}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def _number(text: str | None) -> int | None:
    """A content length, if it is a number that fits into 63 bits."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


@lru_cache(maxsize=1024)
def _utc(text: str | None) -> str | None:
    """An HTTP date as UTC text in the format of SQLite's date functions; None if it is no date."""
    if not text:
        return None
    try:
        date = parsedate_to_datetime(text)
        return (date.astimezone(UTC) if date.tzinfo else date).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


LARGE_PAGE = 1024 * 1024
"""Bytes of a body before and after which memory is returned to the system: its tree may take more than all other pages."""
HUGE_PAGE = 4 * LARGE_PAGE
"""Bytes of a body before which caches are emptied too: a tree of 150 MiB and caches of 90 would be there at once."""
HOST_DOWN = records.NOT_ARRIVED
"""Failures of robots.txt that mean that no page of the host can be reached either."""
BROWSER_TURNS = 3
"""Turns that a request of the browser takes, at most, when the gap is over before it can be sent."""
UNRESPONSIVE = f"Not requested: the host has not responded for more than {pacing.GIVE_UP_AFTER:.0f} seconds."


def release_memory() -> None:
    """Return memory to the system: of a large page or source before the next one, of a crawl before its report is written."""
    gc.collect()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):
            libc.malloc_trim(0)


class PageFetch:
    """Fetches URLs for a crawl in one process."""

    def __init__(self, context: CrawlContext, queues: HostQueues) -> None:
        self._context = context
        self._queues = queues
        self._policy = context.policy
        self._store = context.store
        self._fetcher = context.fetcher
        self._clock = context.clock
        self._url_filter = context.url_filter
        self._notify = context.notify
        self.robots = RobotsCache(
            self._store.robots,
            self.send_politely,
            self._clock,
            lambda: context.worker,
            self._policy.timeout,
            token=self._policy.robots_token,
            replacement=self._robots_replacement,
        )
        self._random = random.Random()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._other_queues: BoundedCache[str, HostQueue] = BoundedCache(1_000)
        """Hosts of requests that are not for a page (robots.txt, sitemaps, resources)."""
        self._reading = asyncio.Lock()
        self.unread = 0
        """Pages that have arrived and wait to be parsed."""

    def _robots_replacement(self, site: str) -> bytes | None:
        """The robots.txt of the user, for the origins of the crawled sites."""
        text = self._policy.robots_text
        return text if text is not None and self._url_filter.scope.is_internal(f"{site}/") else None

    def interrupt(self) -> None:
        """Cancel the fetches that wait for a robots.txt or for the next slot of their host. Requests in flight are finished."""
        for task in list(self._waiting):
            task.cancel()

    async def close(self) -> None:
        """Cancel background tasks."""
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

    async def take_turn(self, host: str, gap: float, on_sent: Callable[[], None] = lambda: None) -> HostTurn | float:
        """The turn of a request with a paced host, or the seconds after which to ask again."""
        context, hosts, hold = self._context, self._store.hosts, slot_hold(gap, self._policy.timeout)
        worker, expiry = context.worker, Expiry(self._clock, hold)

        def is_alive() -> bool:
            return context.worker == worker and (context.lease is None or not context.lease.is_over)

        async def mark() -> None:
            await hosts.sent(worker, host)
            on_sent()

        wait = await hosts.take_slot(worker, host, hold)
        return wait if wait > 0 else HostTurn(expiry, is_alive, mark)

    def is_ready(self, queue: HostQueue, lease: records.Lease) -> bool:
        """Whether this URL can be requested immediately: the pace of its host is known and its robots.txt is cached."""
        return queue.pace is not None and (not self._policy.obey_robots or self.robots.cached(origin(lease.url)) is not None)

    def refusal(self, lease: records.Lease) -> records.Outcome | None:
        """The outcome if the cached robots.txt disallows the URL: it takes no slot."""
        cached = self.robots.cached(origin(lease.url)) if self._policy.obey_robots else None
        if cached is None:
            return None
        decision = cached.rules.allows(lease.url)
        if decision.allowed:
            return None
        if cached.failure in HOST_DOWN and cached.message:
            return self._failure_outcome(lease, cached.failure, cached.message)
        self._notify(notifications.PageRefused(url=lease.url, reason=decision.reason))
        recorded = (
            self._context.job.handle_non_page(lease.url, None, decision.reason)
            if lease.purpose is records.UrlPurpose.PAGE
            else None
        )
        return records.RefusedOutcome(lease=lease, reason=decision.reason, records=recorded)

    def known_outcome(self, lease: records.Lease) -> records.Outcome | None:
        """The outcome of an external URL that is not requested: its result is known, or its host asked to wait for long."""
        if lease.purpose is not records.UrlPurpose.CHECK:
            return None
        if (asked := self.postponement(lease.host)) is not None:
            return self._final_failure(lease, asked.kind, asked.message)
        known = self._policy.known_checks.get(lease.url)
        if known is None:
            return None
        if known.status_code is None:
            return self._final_failure(lease, FailureKind(known.error_type or ""), known.error_message or "")
        self._notify(notifications.PageDone(url=lease.url, status=known.status_code, depth=lease.depth, links=0, seconds=0.0))
        redirect = self._url_filter.target(known.redirect_url) if known.redirect_url else None
        facts = records.PageFacts(status_code=known.status_code, content_type=known.content_type)
        return records.CompletedOutcome(lease=lease, facts=facts, redirect=redirect)

    def postponement(self, host: str) -> Failure | None:
        """The failure of what is checked on a host that asked to wait for longer than a check does."""
        health = self._queues.health(host)
        return health.postponed if health.postponed_until > self._clock.monotonic() else None

    async def fetch(
        self, queue: HostQueue, lease: records.Lease, *, turn: HostTurn | None, on_sent: Callable[[], None]
    ) -> records.Outcome:
        """Fetch a URL. `on_sent` is called as soon as the next request of the queue may wait for the slot."""
        if turn is None and not self.is_ready(queue, lease):
            crawl_delay = None
            if self._policy.obey_robots:
                with self._interruptible():
                    crawl_delay = (await self.robots.get(origin(lease.url))).rules.paced_delay
                refusal = self.refusal(lease)
                if refusal is not None:
                    return refusal
            queue.pace = await self._begin_pace(queue.host, crawl_delay)
        began = self._clock.monotonic()
        answer = await self._request(queue, lease, on_sent, turn)
        await self._observe(queue, answer, began)
        return await self._outcome(lease, answer)

    async def _request(
        self, queue: HostQueue, lease: records.Lease, on_sent: Callable[[], None], turn: HostTurn | None
    ) -> Answer:
        timeout = self._policy.timeout * (2 if lease.attempt else 1)
        if lease.purpose is records.UrlPurpose.CHECK:
            head = Request(url=lease.url, method="HEAD", timeout=timeout, max_bytes=self._policy.max_bytes)
            answer = await self._send_with_cookies(queue, head, on_sent, turn)
            # Some servers do not support HEAD; a busy one (429, 503) is not requested again.
            if isinstance(answer, Response) and (answer.status < 400 or answer.status in (429, 503)):
                return answer
            get = Request(url=lease.url, timeout=timeout, max_bytes=self._policy.max_bytes, body_types=())
            return await self._send_with_cookies(queue, get, on_sent)
        request = Request(
            url=lease.url,
            timeout=timeout,
            max_bytes=self._policy.max_bytes,
            body_types=self._context.job.body_types,
            headers=await self._conditions(lease) if self._policy.revalidate else (),
        )
        return await self._send_with_cookies(queue, request, on_sent, turn)

    async def _send_with_cookies(
        self, queue: HostQueue, request: Request, on_sent: Callable[[], None], turn: HostTurn | None = None
    ) -> Answer:
        """Send a request. If its response sets a cookie and redirects back to the URL, directly or by a page that is to return
        there, the cookie is sent back once, for this URL only: the crawl keeps no session."""
        answer = await self._send(queue, request, on_sent, turn)
        if isinstance(answer, Response) and answer.is_redirect and (cookies := _cookies_set(answer)) and _leads_back(answer):
            with_cookies = replace(request, headers=(*request.headers, ("Cookie", cookies)))
            return await self._send(queue, with_cookies, on_sent)
        return answer

    async def _conditions(self, lease: records.Lease) -> Headers:
        """Header fields of a conditional request."""
        known = await self._store.graph.validators(lease.page_id)
        fields = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified))
        return tuple((name, value) for name, value in fields if value)

    async def wait_turn(self, host: str) -> None:
        """Return when the browser may send one request to a host."""
        pace = await self._begin_pace(host, None)
        if pace.gap <= 0:
            return
        # The browser sends when this returns: a process that stood still for a whole gap asks again. Not for ever, because a gap
        # may be shorter than the store takes.
        for _ in range(BROWSER_TURNS):
            turn = await self._wait_for_turn(host, pace.gap)
            gap = Expiry(self._clock, pace.gap)
            await turn.end()
            if not gap.is_over:
                return

    async def _begin_pace(self, host: str, crawl_delay: float | None) -> pacing.Pace:
        """The pace of a host, which begins with the delay of the crawl or of its robots.txt."""
        delay = 0.0 if host == self._policy.local_host else self._policy.delay
        return await self._store.hosts.begin_pace(host, pacing.start(delay, crawl_delay))

    async def may_request(self, url: str) -> bool:
        """Whether robots.txt allows a URL, for requests that are not leased (of the browser, of a probe)."""
        return not self._policy.obey_robots or (await self.robots.get(origin(url))).rules.allows(url).allowed

    async def send_politely(self, request: Request) -> Answer:
        """Send a request outside of any queue (robots.txt, a sitemap, a resource), at the pace of the host."""
        host = host_key(request.url)
        queue = self._other_queues.get(host) or HostQueue(host, self._queues.health(host))
        self._other_queues[host] = queue
        queue.pace = await self._begin_pace(host, self._crawl_delay(request.url))
        began = self._clock.monotonic()
        answer = await self._send(queue, request, lambda: None)
        await self._observe(queue, answer, began)
        return answer

    async def fetch_extra(self, extra: ExtraRequest) -> Answer:
        """Send an extra request of a job, paced like a page on each redirect. It is neither conditional nor retried."""

        async def send(request: Request) -> Answer:
            if not await self.may_request(request.url):
                return Failure(url=request.url, kind=FailureKind.FORBIDDEN, message="Disallowed by robots.txt.")
            return await self.send_politely(request)

        template = Request(
            url=extra.url,
            method=extra.method,
            headers=(("Accept", extra.accept),) if extra.accept else (),
            timeout=self._policy.timeout,
            max_bytes=self._policy.max_bytes,
        )
        return await follow_redirects(send, extra.url, template)

    def _crawl_delay(self, url: str) -> float | None:
        cached = self.robots.cached(origin(url)) if self._policy.obey_robots else None
        return cached.rules.paced_delay if cached is not None else None

    async def _send(
        self, queue: HostQueue, request: Request, on_sent: Callable[[], None], turn: HostTurn | None = None
    ) -> Answer:
        """Send one request in its turn; the gap to the next one starts when the request has been sent."""
        assert queue.pace is not None
        if turn is None and queue.pace.gap <= 0:
            on_sent()
            return await self._fetcher.fetch(request)
        while True:
            turn = turn or await self._wait_for_turn(queue.host, queue.pace.gap, on_sent)
            try:
                return await self._fetcher.fetch(request, turn)
            except TurnExpired:
                pass  # Another worker may have the slot by now: the request waits for a new turn.
            finally:
                await turn.end()
            turn = None

    async def _wait_for_turn(self, host: str, gap: float, on_sent: Callable[[], None] = lambda: None) -> HostTurn:
        while not isinstance(turn := await self.take_turn(host, gap, on_sent), HostTurn):
            with self._interruptible():
                await self._clock.sleep(turn)
        return turn

    async def _outcome(self, lease: records.Lease, answer: Answer) -> records.Outcome:
        if not isinstance(answer, Response):
            return self._failure_outcome(lease, answer.kind, answer.message)
        if lease.purpose is records.UrlPurpose.CHECK and (blocker := bot_blocker(answer)) is not None:
            return self._final_failure(lease, FailureKind.BOT_BLOCKED, describe_bot_block(answer.status, blocker))
        if lease.purpose is records.UrlPurpose.CHECK and (asked := self.postponement(lease.host)) is not None:
            return self._final_failure(lease, asked.kind, asked.message)
        after = retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
        decision = retry.decide(
            status=answer.status,
            failure=None,
            attempt=lease.attempt,
            retry_after=after,
            jitter=self._random.random(),
            limit=self._policy.retries,
        )
        if isinstance(decision, retry.Retry):
            self._notify(notifications.PageRetried(url=lease.url, kind=f"http_{answer.status}", after=decision.after))
            return records.RetryOutcome(
                lease=lease, after=decision.after, kind=f"http_{answer.status}", message=f"Answered {answer.status}."
            )
        if answer.is_redirect:
            return await self._redirect_outcome(lease, answer)
        if answer.status == 304 and self._policy.revalidate:
            self._notify(
                notifications.PageDone(url=lease.url, status=304, depth=lease.depth, links=0, seconds=answer.timings.ttfb or 0.0)
            )
            return records.UnchangedOutcome(lease=lease)
        return await self._page_outcome(lease, answer)

    async def _observe(self, queue: HostQueue, answer: Answer, began: float) -> None:
        """Update the pace of the host after an answer, in the store too."""
        assert queue.pace is not None
        health, now = queue.health, self._clock.monotonic()
        status, latency, after, silent = None, None, None, False
        if isinstance(answer, Response):
            status, latency = answer.status, answer.timings.ttfb
            after = retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
        else:
            silent = health.is_silence(answer, began)
        is_check = not self._url_filter.scope.is_internal(answer.url)
        changed, pause = pacing.observe(
            queue.pace, status=status, latency=latency, retry_after=after, silent=silent, is_check=is_check
        )
        if is_check and pause > pacing.LONGEST_CHECK_WAIT:
            # What is checked on the host fails without a request, so that nothing waits for it.
            message = f"Answered {status}: the host asked to wait for {pause:.0f} seconds."
            health.postponed = Failure(url=answer.url, kind=FailureKind.BOT_BLOCKED, message=message)
            health.postponed_until, pause = now + pause, 0.0
        if began < health.slowed_at:  # Sent before the slow-down: it says nothing new about the host.
            changed, pause = queue.pace, pause if after is not None else 0.0
        elif status in (429, 503):
            health.slowed_at = now
        if silent:
            assert isinstance(answer, Failure)
            self._queues.mark_silent(queue, answer, began, now)
        elif isinstance(answer, Response) or answer.kind not in SILENCES:
            self._queues.mark_answered(queue, now)
        if changed == queue.pace and not pause:
            return
        was, queue.pace = queue.pace.gap, changed
        if changed.base > 0 or changed.gap != was or pause:
            await self._store.hosts.set_pace(queue.host, changed, pause)
        if pause:
            queue.due = max(queue.due, self._clock.monotonic() + pause)
        if changed.gap > was or pause:
            self._notify(notifications.HostSlowed(host=queue.host, gap=changed.gap, pause=pause, silent=silent))

    def unresponsive_outcome(self, queue: HostQueue, lease: records.Lease) -> records.Outcome:
        """The outcome of a URL that is not requested, because its host has been silent for too long."""
        failure = queue.health.failure
        assert failure is not None
        return self._final_failure(lease, failure.kind, UNRESPONSIVE)

    def _failure_outcome(self, lease: records.Lease, kind: FailureKind, message: str) -> records.Outcome:
        decision = retry.decide(
            status=None,
            failure=kind,
            attempt=lease.attempt,
            retry_after=None,
            jitter=self._random.random(),
            limit=self._policy.retries,
        )
        if isinstance(decision, retry.Retry):
            self._notify(notifications.PageRetried(url=lease.url, kind=kind, after=decision.after))
            return records.RetryOutcome(lease=lease, after=decision.after, kind=kind, message=message)
        return self._final_failure(lease, kind, message)

    def _final_failure(self, lease: records.Lease, kind: FailureKind, message: str) -> records.Outcome:
        self._notify(notifications.PageFailed(url=lease.url, kind=kind, message=message))
        failure = Failure(url=lease.url, kind=kind, message=message)
        return records.FailedOutcome(lease=lease, kind=kind, message=message, records=self._non_page_records(lease, failure))

    def _non_page_records(self, lease: records.Lease, answer: Answer) -> records.PageRecords | None:
        return self._context.job.handle_non_page(lease.url, answer, None) if lease.purpose is records.UrlPurpose.PAGE else None

    async def _redirect_outcome(self, lease: records.Lease, response: Response) -> records.Outcome:
        url = redirect_target(response)
        url = url and remap_url(url, self._policy.remaps)
        if url is None:
            message = f"Redirect ({response.status}) without a valid Location header."
            return self._failure_outcome(lease, FailureKind.BAD_REDIRECT, message)
        if lease.hops >= self._policy.max_redirects:
            message = f"More than {self._policy.max_redirects} redirects, the last one to {url}."
            return self._failure_outcome(lease, FailureKind.TOO_MANY_REDIRECTS, message)
        seconds = response.timings.ttfb or 0.0
        self._notify(notifications.PageDone(url=lease.url, status=response.status, depth=lease.depth, links=0, seconds=seconds))
        return records.CompletedOutcome(
            lease=lease,
            facts=page_facts(response, PageResult()),
            redirect=await self._redirect_target(lease, url),
            records=self._non_page_records(lease, response),
        )

    async def _redirect_target(self, lease: records.Lease, url: str) -> records.LinkTarget:
        if not lease.seed or lease.purpose is not records.UrlPurpose.PAGE:
            return self._url_filter.target(url)
        scope = self._url_filter.scope
        # A start URL that was redirected to https, for example, is not the URL that was given, but it is on the same site.
        start = next((site for site in scope.sites if site == lease.url or host_key(site) == host_key(lease.url)), lease.url)
        moved = scope.moved(start, url)
        if moved != scope:
            self._url_filter.change_scope(moved)
            await self._store.meta.set("scope", json.dumps(moved.to_dict()))
            # Another start URL may have led there before it was a site of this crawl.
            await self._store.rescope.reconsider(self._internal_target, max_depth=self._policy.budget.max_depth)
            if not scope.is_internal(url):
                self._notify(notifications.SiteMoved(old=lease.url, new=url))
        return self._url_filter.start_target(url)

    def _internal_target(self, url: str, seed: bool) -> records.LinkTarget | None:
        target = self._url_filter.decide_again(url, seed)
        return target if target.internal else None

    async def _page_outcome(self, lease: records.Lease, response: Response) -> records.Outcome:
        try:
            found = PageResult() if lease.purpose is records.UrlPurpose.CHECK else await self._handle_page(lease, response)
        except PageTooComplex as error:
            return self._failure_outcome(lease, FailureKind.UNPARSABLE, f"The page cannot be parsed: {error}.")
        except Exception:
            self._notify(notifications.PageHandlerFailed(url=lease.url, trace=traceback.format_exc()))
            message = "The page could not be parsed because of a bug in Tadoru."
            return records.FailedOutcome(lease=lease, kind=FailureKind.UNPARSABLE, message=message)
        resource = self._url_filter.resource
        if found.left_out:
            self._notify(notifications.PageTruncated(url=lease.url, reasons=tuple(found.left_out)))
        seconds = (response.timings.ttfb or 0.0) + (response.timings.download or 0.0)
        self._notify(
            notifications.PageDone(
                url=lease.url, status=response.status, depth=lease.depth, links=len(found.links), seconds=seconds
            )
        )
        return records.CompletedOutcome(
            lease=lease,
            facts=page_facts(response, found),
            links=found.links,
            targets=link_targets(found.links, self._url_filter),
            anchors=found.anchors,
            records=found.records,
            resources=[resource(link) for link in found.resources],
            left_out=found.left_out,
        )

    async def _handle_page(self, lease: records.Lease, response: Response) -> PageResult:
        page = FetchedPage(url=lease.url, depth=lease.depth, response=response)
        found = await self._handle(page)
        while found.alternate_request is not None:
            page = replace(page, alternate_answer=await self.fetch_extra(found.alternate_request))
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
        """Handle one page at a time, and let the network run in between: otherwise response times would include the parsing."""
        self.unread += 1
        try:
            async with self._reading:
                await asyncio.sleep(0)
                size = len(page.response.body)
                if size >= HUGE_PAGE:
                    self._url_filter.forget()
                    self._store.release_memory()
                if is_large := size >= LARGE_PAGE:
                    release_memory()
                try:
                    return self._context.job.handle(page)
                finally:
                    if is_large:
                        release_memory()
        finally:
            self.unread -= 1

    def _unrendered(self, found: PageResult, lease: records.Lease, reason: str, *, browser_missing: bool) -> PageResult:
        """The result for the page as it was sent, with the reason why it was not rendered."""
        self._notify(notifications.PageNotRendered(url=lease.url, reason=reason, browser_missing=browser_missing))
        if found.records is None:
            return found
        rendering = {"wanted": found.render, "failed": reason, "browser_missing": browser_missing}
        return replace(found, records=replace(found.records, rendering=rendering))


def _leads_back(response: Response) -> bool:
    """Whether a redirect leads to the same URL, or to one of the same host whose parameters name it."""
    target = redirect_target(response) or ""
    if target == response.url:
        return True
    path = response.url.removeprefix(origin(response.url))
    query = unquote(target.partition("?")[2])
    return len(path) > 1 and path in query and host_key(target) == host_key(response.url)


def _cookies_set(response: Response) -> str:
    """The cookies that a response sets, as a Cookie header."""
    pairs = (line.partition(";")[0].strip() for line in response.header_all("set-cookie"))
    return "; ".join(pair for pair in pairs if "=" in pair and pair.isprintable())
