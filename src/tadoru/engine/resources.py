"""Checks the resources of pages once the pages are done: whether each image, script and style sheet responds, and its size."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tadoru.engine.host_queues import HostHealth, HostQueues
from tadoru.engine.job import CrawlContext, KnownCheck
from tadoru.engine.page_fetch import UNRESPONSIVE, PageFetch
from tadoru.engine.request_flow import follow_redirects
from tadoru.model.web import Answer, FailureKind, Request, Response
from tadoru.parse.complexity import PageTooComplex
from tadoru.parse.html import HtmlDocument
from tadoru.rules import request_window, retry
from tadoru.rules.bot_blocking import bot_blocker, describe_bot_block
from tadoru.rules.url import host_key, origin, remap_url
from tadoru.store.crawl.records import ResourceLease, ResourceResult
from tadoru.store.crawl.resources import FRAGMENTS

MAX_WAIT = 0.25
MAX_WAITING = 200
"""Resources that are leased and wait for their hosts."""
POSTPONEMENT = 2.0
"""Seconds after which a resource of a silent host is leased again."""


class _RobotsRefusal(Exception):
    """robots.txt disallows the resource; the argument is the reason."""


class ResourceChecker:
    """Checks resources, together with the other processes of the crawl."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch, queues: HostQueues) -> None:
        self._context = context
        self._policy = context.policy
        self._store = context.store
        self._clock = context.clock
        self._page_fetch = page_fetch
        self._queues = queues
        self._waiting: list[ResourceLease] = []
        """Leased and not started, because their hosts have enough requests in flight."""
        self._tasks: dict[asyncio.Task[ResourceResult], tuple[str, HostHealth]] = {}
        """The checks that are running, with their hosts."""

    async def run(self) -> None:
        """Check resources until none is left or the budget is spent."""
        if not self._policy.resource_budget:
            return
        try:
            if self._policy.declared_targets:
                await self._store.resources.add_declared(self._context.url_filter.target, most=self._policy.resource_budget)
            if self._policy.external_fragments:
                await self._store.resources.add_fragmented(most=self._policy.resource_budget)
            while not self._context.stopping:
                if await self._step():
                    continue
                wait = await self._store.resources.wait(budget=self._policy.resource_budget)
                if wait is None:
                    return
                await self._store.frontier.recover(self._context.worker)
                await self._clock.sleep(min(wait, MAX_WAIT))
            released = [_again(lease, 0.0) for lease in self._waiting]
            await self._store.resources.finish(self._context.worker, released + await self._results(asyncio.ALL_COMPLETED))
        finally:
            for task in self._tasks:
                task.cancel()

    async def _step(self) -> bool:
        """Start what may start and store what is finished. False when nothing is leased."""
        results, concurrency = self._start(), self._policy.concurrency
        while len(self._tasks) < concurrency and len(self._waiting) < MAX_WAITING:
            count = max(concurrency - len(self._tasks), concurrency // 2)
            leases = await self._store.resources.lease(self._context.worker, count, budget=self._policy.resource_budget)
            if not leases:
                break
            self._waiting += leases
            results += self._start()
        results = results or await self._results(asyncio.FIRST_COMPLETED)
        await self._store.resources.finish(self._context.worker, results)
        return bool(results)

    def _start(self) -> list[ResourceResult]:
        """Start the resources whose hosts have a place; the results of those that are not requested now."""
        concurrency = self._policy.concurrency
        hosts = {lease.host for lease in self._waiting} | {host for host, _ in self._tasks.values()}
        share = request_window.fair_share(concurrency, len(hosts))
        waiting, results = [], []
        for lease in self._waiting:
            health = self._queues.health(lease.host)
            if health.failure is not None and health.has_given_up(self._clock.monotonic()):
                results.append(_error(lease, health.failure.kind, UNRESPONSIVE))
            elif (asked := self._page_fetch.postponement(lease.host)) is not None:
                results.append(_error(lease, asked.kind, asked.message))
            elif len(self._tasks) < concurrency and health.has_place(share, concurrency):
                health.in_flight += 1
                self._tasks[asyncio.create_task(self._check(lease))] = lease.host, health
            elif health.failure is not None:
                results.append(_again(lease, POSTPONEMENT))
            else:
                waiting.append(lease)
        self._waiting = waiting
        return results

    async def _results(self, return_when: str) -> list[ResourceResult]:
        """The results of the first finished tasks, or of all."""
        if not self._tasks:
            return []
        done, _ = await asyncio.wait(self._tasks, return_when=return_when)
        for task in done:
            self._tasks.pop(task)[1].in_flight -= 1
        return [task.result() for task in done]

    async def _check(self, lease: ResourceLease) -> ResourceResult:
        known = self._policy.known_checks.get(lease.url)
        if known is not None:
            return _known(lease, known)
        try:
            return self._result(lease, await self._request(lease))
        except _RobotsRefusal as refused:
            return ResourceResult(resource_id=lease.resource_id, status="skipped", skip_reason=str(refused))
        except asyncio.CancelledError:
            if not self._context.stopping:
                raise
            return _again(lease, 0.0)

    async def _request(self, lease: ResourceLease) -> Answer:
        if self._context.stopping:
            raise asyncio.CancelledError
        timeout = self._policy.timeout * (2 if lease.attempt else 1)
        if lease.kind == FRAGMENTS:
            page = Request(url=lease.url, timeout=timeout, max_bytes=self._policy.max_bytes, body_types=("text/html",))
            return await follow_redirects(self._send, lease.url, page)
        head = Request(url=lease.url, method="HEAD", timeout=timeout)
        answer = await follow_redirects(self._send, lease.url, head)
        # Some servers do not support HEAD; a busy one (429, 503) is not asked again.
        if not isinstance(answer, Response) or (answer.status >= 400 and answer.status not in (429, 503)):
            get = Request(url=lease.url, timeout=timeout, max_bytes=self._policy.max_bytes, body_types=())
            answer = await follow_redirects(self._send, lease.url, get)
        return answer

    async def _send(self, request: Request) -> Answer:
        """Send one request if robots.txt allows it: a redirect may lead to another host or to a disallowed URL."""
        request = replace(request, url=remap_url(request.url, self._policy.remaps))  # Links are remapped, redirects are not.
        if self._policy.obey_robots:
            verdict = (await self._page_fetch.robots.get(origin(request.url))).rules.allows(request.url)
            if not verdict.allowed:
                raise _RobotsRefusal(verdict.reason)
        return await self._page_fetch.send_politely(request)

    def _result(self, lease: ResourceLease, answer: Answer) -> ResourceResult:
        status, failure, after = None, None, None
        if isinstance(answer, Response) and (blocker := bot_blocker(answer)) is not None:
            return _error(lease, FailureKind.BOT_BLOCKED, describe_bot_block(answer.status, blocker))
        if (asked := self._page_fetch.postponement(host_key(answer.url))) is not None:
            return _error(lease, asked.kind, asked.message)
        if isinstance(answer, Response):
            status, after = answer.status, retry.parse_retry_after(answer.header("retry-after"), self._clock.now())
        else:
            failure = answer.kind
        decision = retry.decide(
            status=status, failure=failure, attempt=lease.attempt, retry_after=after, jitter=0.5, limit=self._policy.retries
        )
        if isinstance(decision, retry.Retry):
            return _again(lease, decision.after)
        if not isinstance(answer, Response):
            return _error(lease, answer.kind, answer.message)
        length = answer.header("content-length") or ""
        return ResourceResult(
            resource_id=lease.resource_id,
            status="completed",
            status_code=answer.status,
            content_type=answer.header("content-type"),
            content_length=int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None,
            final_url=answer.url if answer.url != lease.url else None,
            anchors=_anchors(answer) if lease.kind == FRAGMENTS and answer.status == 200 and answer.body else None,
        )


def _anchors(response: Response) -> str | None:
    """What fragments of a page can point at; None if that is not known: scripts may add to a page without any text."""
    try:
        document = HtmlDocument.parse(response.body, response.header("content-type"))
    except PageTooComplex:
        return None
    found = document.stored_anchors(document.anchors())
    return "\n".join(sorted(found)) if found else None


def _known(lease: ResourceLease, known: KnownCheck) -> ResourceResult:
    if known.status_code is None:
        return _error(lease, FailureKind(known.error_type or ""), known.error_message or "")
    return ResourceResult(
        resource_id=lease.resource_id,
        status="completed",
        status_code=known.status_code,
        content_type=known.content_type,
        final_url=known.redirect_url,
    )


def _again(lease: ResourceLease, after: float) -> ResourceResult:
    return ResourceResult(resource_id=lease.resource_id, status="queued", again_after=after)


def _error(lease: ResourceLease, kind: FailureKind, message: str) -> ResourceResult:
    return ResourceResult(resource_id=lease.resource_id, status="error", error_type=kind, error_message=message)
