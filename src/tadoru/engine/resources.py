"""Checks the resources of pages once the pages are done: whether each image, script and style sheet responds, and its size."""

from __future__ import annotations

import asyncio

from tadoru.engine.job import CrawlContext
from tadoru.engine.page_fetch import PageFetch
from tadoru.engine.request_flow import follow_redirects
from tadoru.model.web import Answer, Request, Response
from tadoru.rules import retry
from tadoru.rules.url import origin
from tadoru.store.crawl.interface import ResourceLease, ResourceResult

MAX_WAIT = 0.25


class _RobotsRefusal(Exception):
    """robots.txt disallows the resource; the argument is the reason."""


class ResourceChecker:
    """Checks resources, together with the other processes of the crawl."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch) -> None:
        self._context = context
        self._policy = context.policy
        self._store = context.store
        self._clock = context.clock
        self._page_fetch = page_fetch

    async def run(self) -> None:
        """Check resources until none is left or the budget is spent."""
        budget = self._policy.resource_budget
        while budget and not self._context.stopping:
            leases = await self._store.resources.lease(self._context.worker, self._policy.concurrency, budget=budget)
            if leases:
                results = await asyncio.gather(*[self._check(lease) for lease in leases])
                await self._store.resources.finish(self._context.worker, results)
                continue
            wait = await self._store.resources.wait(budget=budget)
            if wait is None:
                return
            await self._store.frontier.recover(self._context.worker)
            await self._clock.sleep(min(wait, MAX_WAIT))

    async def _check(self, lease: ResourceLease) -> ResourceResult:
        try:
            return self._result(lease, await self._request(lease))
        except _RobotsRefusal as refused:
            return ResourceResult(resource_id=lease.resource_id, status="skipped", skip_reason=str(refused))
        except asyncio.CancelledError:
            if not self._context.stopping:
                raise
            return ResourceResult(resource_id=lease.resource_id, status="queued", again_after=0.0)

    async def _request(self, lease: ResourceLease) -> Answer:
        if self._context.stopping:
            raise asyncio.CancelledError
        timeout = self._policy.timeout * (2 if lease.attempt else 1)
        head = Request(url=lease.url, method="HEAD", timeout=timeout)
        answer = await follow_redirects(self._send, lease.url, head)
        # Some servers do not support HEAD; a busy one (429, 503) is not asked again.
        if not isinstance(answer, Response) or (answer.status >= 400 and answer.status not in (429, 503)):
            get = Request(url=lease.url, timeout=timeout, max_bytes=self._policy.max_bytes, body_types=())
            answer = await follow_redirects(self._send, lease.url, get)
        return answer

    async def _send(self, request: Request) -> Answer:
        """Send one request if robots.txt allows it: a redirect may lead to another host or to a disallowed URL."""
        if self._policy.obey_robots:
            verdict = (await self._page_fetch.robots.get(origin(request.url))).rules.allows(request.url)
            if not verdict.allowed:
                raise _RobotsRefusal(verdict.reason)
        return await self._page_fetch.send_politely(request)

    def _result(self, lease: ResourceLease, answer: Answer) -> ResourceResult:
        status, failure, after = None, None, None
        if isinstance(answer, Response):
            status, after = answer.status, retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
        else:
            failure = answer.kind
        decision = retry.decide(status=status, failure=failure, attempt=lease.attempt, retry_after=after, jitter=0.5)
        if isinstance(decision, retry.Retry):
            return ResourceResult(resource_id=lease.resource_id, status="queued", again_after=decision.after)
        if not isinstance(answer, Response):
            return ResourceResult(
                resource_id=lease.resource_id, status="error", error_type=answer.kind, error_message=answer.message
            )
        length = answer.header("content-length") or ""
        return ResourceResult(
            resource_id=lease.resource_id,
            status="completed",
            status_code=answer.status,
            content_type=answer.header("content-type"),
            content_length=int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None,
            final_url=answer.url if answer.url != lease.url else None,
        )
