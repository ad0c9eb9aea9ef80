"""A line to one page of the browser: commands go out, answers and events come in, in the words of the browser's own protocol.

`fetch.browser.browser` has the real one; `fetch.browser.tab` and `fetch.browser.tab` speak over it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from tadoru.clock import Clock
from tadoru.fetch.browser import page_scripts
from tadoru.fetch.browser.page_report import MAX_NOISE, DocumentResponse, PageReport, describe_browser_error
from tadoru.fetch.browser.page_timing import PageActivity, PageTimeout
from tadoru.fetch.browser.proxy import ProxyClient
from tadoru.fetch.browser.request_filter import (
    MAX_NAVIGATIONS,
    MAX_REQUESTS,
    BrowserPolicy,
    RequestAdmission,
    RequestDecision,
    RequestFilter,
    blank_image,
)
from tadoru.model.web import Failure, FailureKind, Headers, RenderedPage
from tadoru.rules.url import canonical, host_key

Event = dict[str, Any]


class SessionEnded(Exception):
    """The page, or its browser, is gone."""


class CommandRejected(Exception):
    """The browser can not do what it was told, mostly because the page has moved on meanwhile."""


class CdpSession(Protocol):
    """Commands and events."""

    async def send(self, method: str, /, **parameters: Any) -> Event:
        """Raises SessionEnded or Declined."""
        ...

    def on(self, event: str, call: Callable[[Event], None]) -> None:
        """Call it for every event of this name."""
        ...


READ_TIMEOUT = 5.0
"""Seconds for each attempt."""


async def read_document(session: CdpSession, frame: str, *, is_quiet: bool) -> Event | None:
    """`url` and `html` of a frame's document; None when the page does not let go of it."""
    for undisturbed in (is_quiet, False):
        if not undisturbed:
            await _freeze_page(session)
        with suppress(TimeoutError, CommandRejected):
            async with asyncio.timeout(READ_TIMEOUT):
                world = await session.send("Page.createIsolatedWorld", frameId=frame, worldName=page_scripts.WORLD)
                context = world["executionContextId"]
                taken = await session.send(
                    "Runtime.evaluate", expression=page_scripts.READ_DOCUMENT, contextId=context, returnByValue=True
                )
                if "value" in taken["result"]:
                    value: Event = taken["result"]["value"]
                    return value
    return None


async def _freeze_page(session: CdpSession) -> None:
    """Let nothing more happen in a page that does not stop by itself, and hear no more of it."""
    send = session.send
    with suppress(TimeoutError, CommandRejected):
        async with asyncio.timeout(READ_TIMEOUT):
            await send("Emulation.setScriptExecutionDisabled", value=True)
            await send("Runtime.terminateExecution")
            # It ends the next script when none is running: better this one than ours.
            await asyncio.gather(
                *(send(f"{domain}.disable") for domain in ("Network", "Log")), send("Runtime.evaluate", expression="0")
            )


_HTML = frozenset({"text/html", "application/xhtml+xml"})
_BACKGROUND = frozenset({"EventSource", "Ping", "Media", "Prefetch", "CSPViolationReport"})
"""Requests that no document is made of."""


class Tab:
    """Good for one visit."""

    def __init__(
        self, session: CdpSession, guest: ProxyClient, manners: BrowserPolicy, entrance: RequestAdmission, clock: Clock
    ) -> None:
        self._session = session
        self._guest = guest
        self._manners = manners
        self._entrance = entrance
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._allowance = PageTimeout()
        self._began: float | None = None
        self._loaded: float | None = None
        self._settled: float | None = None
        self._trouble: BaseException | None = None
        self._unloaded: Failure | None = None

    async def visit(self, url: str, *, timeout: float, quiet: float) -> RenderedPage | Failure:
        """Go there and come back with the page, or with what went wrong. Raises SessionEnded."""
        frame = (await self._session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        self._sieve = RequestFilter(self._manners, self._entrance, frame, url)
        self._observed = PageReport(frame)
        self._stir = PageActivity(quiet, self._clock.monotonic())
        await self._listen()
        try:
            async with self._allowance.of(timeout):
                self._spawn(self._go(url))
                await self._settle()
            return await self._result(url, timeout)
        finally:
            await self._end()

    async def _go(self, url: str) -> None:
        try:
            answer = await self._session.send("Page.navigate", url=url)
        except CommandRejected:
            answer = {"errorText": "net::ERR_INVALID_URL"}
        if answer.get("errorText"):
            self._unloaded = self._failure(url, answer["errorText"], download=bool(answer.get("isDownload")))
            self._news.set()

    async def _listen(self) -> None:
        """Hear of everything before the page begins."""
        on, send = self._session.on, self._session.send
        on("Fetch.requestPaused", lambda event: self._spawn(self._pause(event)))
        on("Fetch.authRequired", lambda event: self._spawn(self._introduce(event)))
        on("Network.requestWillBeSent", self._on_request)
        on("Network.responseReceived", self._observed.responded)
        on("Network.loadingFinished", self._on_ended)
        on("Network.loadingFailed", self._on_ended)
        on("Page.frameNavigated", self._on_navigated)
        on("Page.domContentEventFired", self._on_readable)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Runtime.bindingCalled", lambda _: self._move(self._stir.changed))
        on("Runtime.consoleAPICalled", self._on_console)
        on("Runtime.exceptionThrown", self._on_thrown)
        on("Log.entryAdded", self._observed.logged)
        await asyncio.gather(
            *(send(f"{domain}.enable") for domain in ("Page", "Network", "Runtime", "Log")),
            send("Runtime.addBinding", name=page_scripts.BINDING, executionContextName=page_scripts.WORLD),
            send("Page.addScriptToEvaluateOnNewDocument", source=page_scripts.HIDE_SERVICE_WORKERS),
            send("Page.addScriptToEvaluateOnNewDocument", source=page_scripts.WATCH_CHANGES, worldName=page_scripts.WORLD),
            send("Fetch.enable", patterns=[{"urlPattern": "*"}], handleAuthRequests=True),
        )

    # -- what happens -----------------------------------------------------------------------------------------------

    def _move(self, what: Callable[[float], None]) -> None:
        what(self._clock.monotonic())
        self._news.set()

    def _on_request(self, event: Event) -> None:
        self._observed.asked(event)
        # The browser never tells when the script of a worker has come; such a request names no loader.
        if event.get("type") not in _BACKGROUND and event.get("loaderId"):
            self._move(lambda now: self._stir.asked(event["requestId"], now))

    def _on_ended(self, event: Event) -> None:
        self._observed.ended(event)
        self._move(lambda now: self._stir.answered(event["requestId"], now))

    def _on_console(self, event: Event) -> None:
        self._observed.console(event)
        self._news.set()

    def _on_thrown(self, event: Event) -> None:
        self._observed.thrown(event)
        self._news.set()

    def _on_navigated(self, event: Event) -> None:
        if self._observed.navigated(event["frame"]):
            self._move(lambda now: self._stir.replaced(self._observed.loader, now))

    def _on_stopped(self, event: Event) -> None:
        """Nothing more comes of the document, be it that a script has stopped it."""
        if event["frameId"] == self._observed.frame and self._observed.loader:
            self._stir.received()
            self._move(lambda now: self._stir.answered(self._observed.loader, now))

    def _on_readable(self, _: Event) -> None:
        self._loaded = self._clock.monotonic()
        self._move(self._stir.readable)

    # -- requests ---------------------------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # Cancelled by somebody else: the crawl is asked to stop, and does not want to wait for its turn any more.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, SessionEnded | CommandRejected):
            self._trouble = self._trouble or error
            self._news.set()

    async def _pause(self, event: Event) -> None:
        if self._allowance.is_over:
            return  # It stays where it is, and goes with the page.
        name: str = event.get("networkId") or event["requestId"]
        self._stir.held(name)
        try:
            with self._allowance.paused():
                verdict = await self._sieve.judge(event)
        finally:
            self._move(lambda now: self._stir.let_go(name, now))
        request = event["requestId"]
        match verdict:
            case RequestDecision.GO:
                if self._began is None:
                    self._began = self._clock.monotonic()
                await self._session.send("Fetch.continueRequest", requestId=request, **await self._headers(event))
            case RequestDecision.BLANK:
                await self._session.send("Fetch.fulfillRequest", **blank_image(request))
            case RequestDecision.STAY:
                await self._session.send("Fetch.failRequest", requestId=request, errorReason="Aborted")
            case _:
                await self._session.send("Fetch.failRequest", requestId=request, errorReason="BlockedByClient")

    async def _headers(self, event: Event) -> dict[str, Any]:
        """What `continueRequest` has to be told: nothing, unless there are secrets for this hop."""
        secrets = self._sieve.secrets(event)
        if not secrets:
            return {}
        if any(name.lower() == "cookie" for name, _ in secrets):
            jar = await self._session.send("Network.getCookies", urls=[event["request"]["url"]])
            secrets = _with_jar(secrets, jar["cookies"])
        ours = {name.lower() for name, _ in secrets}
        own = ((name, value) for name, value in event["request"]["headers"].items() if name.lower() not in ours)
        return {"headers": [{"name": name, "value": value} for name, value in (*own, *secrets)]}

    async def _introduce(self, event: Event) -> None:
        """Tell the proxy who we are. What a site asks for by itself it is not given."""
        answer = {"response": "CancelAuth"}
        if event["authChallenge"].get("source") == "Proxy":
            answer = {"response": "ProvideCredentials", "username": self._guest.name, "password": self._guest.password}
        await self._session.send("Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse=answer)

    # -- settling and taking ----------------------------------------------------------------------------------------

    def _is_hopeless(self) -> bool:
        """Whether there is nothing to wait for."""
        observed = self._observed
        document = observed.documents.get(observed.loader)
        return (
            self._trouble is not None
            or self._unloaded is not None
            or self._sieve.navigations > MAX_NAVIGATIONS
            or observed.noise > MAX_NOISE
            or observed.requests > MAX_REQUESTS
            or bool(observed.broken)
            or (document is not None and document.media_type not in _HTML)
        )

    async def _settle(self) -> None:
        while not self._is_hopeless():
            self._news.clear()
            moves = self._stir.moves
            now = self._clock.monotonic()
            at = self._stir.settles_at(now)
            if at is None or at > now:
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if at is None else at - now):
                        await self._news.wait()
                continue
            await self._hear_from_page()
            if self._stir.moves == moves and not self._is_hopeless():
                self._settled = self._stir.last
                return

    async def _hear_from_page(self) -> None:
        """A busy script lets nothing be heard from the page: ask it, so that what has moved is known when the answer comes."""
        asking = asyncio.create_task(self._session.send("Runtime.evaluate", expression="0"))
        asking.add_done_callback(lambda _: self._news.set())
        try:
            while not asking.done() and not self._is_hopeless():
                self._news.clear()
                await self._news.wait()
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _result(self, url: str, timeout: float) -> RenderedPage | Failure:
        if self._trouble is not None:
            raise self._trouble
        if self._unloaded is not None:
            return self._unloaded
        observed = self._observed
        if self._sieve.navigations > MAX_NAVIGATIONS:
            message = f"The page sends its visitor on more than {MAX_NAVIGATIONS} times."
            return Failure(url=url, kind=FailureKind.TOO_MANY_REDIRECTS, message=message)
        if observed.unreachable:
            return self._failure(url, "net::ERR_FAILED")
        if observed.broken:
            return self._failure(url, observed.broken)
        document = observed.document
        if document is None or not observed.loader:
            message = f"No page from {host_key(self._sieve.page)} within {timeout:g} s."
            return Failure(url=url, kind=FailureKind.RESPONSE_TIMEOUT, message=message)
        if document.media_type not in _HTML:
            message = f"The browser was sent on to what is no page ({document.media_type})."
            return Failure(url=url, kind=FailureKind.UNPARSABLE, message=message)
        taken = await read_document(self._session, observed.frame, is_quiet=self._settled is not None)
        if taken is None:
            message = f"The page was still busy after {timeout:g} s, and did not let go of its document."
            return Failure(url=url, kind=FailureKind.UNPARSABLE, message=message)
        if taken["html"] is None:
            message = f"The document has more than {page_scripts.MAX_CHARACTERS} characters."
            return Failure(url=url, kind=FailureKind.TOO_LARGE, message=message)
        return self._rendered(url, document, taken)

    def _rendered(self, url: str, document: DocumentResponse, taken: Event) -> RenderedPage:
        observed, began = self._observed, self._began or 0.0
        return RenderedPage(
            url=canonical(taken["url"]) or url,
            status=document.status,
            html=taken["html"].encode("utf-8", "replace"),
            console_errors=tuple(observed.console_errors),
            page_errors=tuple(observed.page_errors),
            failed_resources=tuple(observed.failed),
            refused_resources=tuple(self._sieve.refused),
            loaded=None if self._loaded is None else self._loaded - began,
            settled=None if self._settled is None else max(0.0, self._settled - began),
            headers=document.headers,
        )

    def _failure(self, url: str, error: str, *, download: bool = False) -> Failure:
        place = host_key(self._sieve.page)
        fault = self._guest.faults.get(place)
        if self._sieve.refused and error in ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY_CLIENT"):
            where = next(reversed(self._sieve.refused))
            kind, message = FailureKind.BAD_REDIRECT, f"The page leads to {where}, which may not be visited."
        elif download:
            kind, message = FailureKind.UNPARSABLE, "The address is a download and not a page."
        elif error == "net::ERR_ABORTED":
            kind, message = FailureKind.UNPARSABLE, "The server answered without a page."
        else:
            kind, message = describe_browser_error(error)
            if fault is not None and kind in (FailureKind.NETWORK, FailureKind.INCOMPLETE):
                kind, message = fault.kind, str(fault)
        return Failure(url=url, kind=kind, message=message)

    async def _end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _with_jar(secrets: Headers, jar: list[Event]) -> Headers:
    """One Cookie header of the person's cookies and those the site has set; where both have one, the site's is the newer."""
    set_here = {cookie["name"]: cookie["value"] for cookie in jar}
    given = [pair for name, value in secrets if name.lower() == "cookie" for pair in value.split("; ")]
    pairs = [pair for pair in given if pair.partition("=")[0] not in set_here]
    pairs += [f"{name}={value}" for name, value in set_here.items()]
    return (*((name, value) for name, value in secrets if name.lower() != "cookie"), ("Cookie", "; ".join(pairs)))
