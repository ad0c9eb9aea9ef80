"""Renders one page: navigates to it, waits until it has settled, and reads its document.

It uses the Chrome DevTools Protocol over a `CdpSession`, and does not know how the browser was started (`fetch.browser.browser`).
`request_filter` decides which requests are sent, `page_timing` when the page has settled and how much time it has.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from tadoru.clock import Clock
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

WORLD = "tadoru"
BINDING = "tadoruChanged"
MAX_CHARACTERS = 20_000_000

HIDE_SERVICE_WORKERS = "delete Navigator.prototype.serviceWorker;"
"""Service workers would outlive the page and send requests that bypass the filter."""

WATCH_CHANGES = f"""
(() => {{
  let reported = false;
  new MutationObserver(() => {{
    if (reported) return;
    reported = true;
    {BINDING}("");
    setTimeout(() => {{ reported = false; }}, 50);
  }}).observe(document, {{childList: true, subtree: true, characterData: true}});
}})();
"""
"""Reports changes of the document, at most twenty times a second. Changes of attributes are ignored: animations use them."""

READ_DOCUMENT = f"""
(() => {{
  const root = document.documentElement;
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\\n" : "";
  // In a document without a window no element can run code of the page.
  const inert = document.implementation.createHTMLDocument("");
  const copy = (node) => {{
    if (node.localName === "template") return inert.importNode(node, true);
    const clone = inert.importNode(node, false);
    const slotted = node.localName === "slot" && node.assignedNodes ? node.assignedNodes() : [];
    for (const child of slotted.length ? slotted : (node.shadowRoot || node).childNodes) clone.appendChild(copy(child));
    return clone;
  }};
  let shown = root;
  try {{
    for (const element of document.querySelectorAll("*")) {{
      if (element.shadowRoot) {{ shown = copy(root); break; }}
    }}
  }} catch (tooDeep) {{}}
  const html = type + (shown ? shown.outerHTML : "");
  return {{url: document.URL, html: html.length > {MAX_CHARACTERS} ? null : html}};
}})()
"""
"""The current document with the content of open shadow trees; null when it is too large."""


Event = dict[str, Any]


class SessionEnded(Exception):
    """The page or its browser is gone."""


class CommandRejected(Exception):
    """The browser rejected a command, mostly because the page has navigated meanwhile."""


class CdpSession(Protocol):
    """A Chrome DevTools Protocol session with one page: commands and events."""

    async def send(self, method: str, /, **parameters: Any) -> Event:
        """Send a command. Raises SessionEnded or CommandRejected."""
        ...

    def on(self, event: str, call: Callable[[Event], None]) -> None:
        """Call a function for every event of this name."""
        ...


ELEMENT_POLL = 0.1
"""Seconds between two looks for the element that is waited for."""
READ_TIMEOUT = 5.0
"""Seconds for each attempt."""


async def read_document(session: CdpSession, frame: str, *, is_quiet: bool) -> Event | None:
    """`url` and `html` of the document of a frame; None when the page does not respond."""
    for undisturbed in (is_quiet, False):
        if not undisturbed:
            await _freeze_page(session)
        with suppress(TimeoutError, CommandRejected):
            async with asyncio.timeout(READ_TIMEOUT):
                world = await session.send("Page.createIsolatedWorld", frameId=frame, worldName=WORLD)
                context = world["executionContextId"]
                document_read = await session.send(
                    "Runtime.evaluate", expression=READ_DOCUMENT, contextId=context, returnByValue=True
                )
                if "value" in document_read["result"]:
                    value: Event = document_read["result"]["value"]
                    return value
    return None


async def _freeze_page(session: CdpSession) -> None:
    """Stop the scripts and the events of a page that does not settle."""
    send = session.send
    with suppress(TimeoutError, CommandRejected):
        async with asyncio.timeout(READ_TIMEOUT):
            await send("Emulation.setScriptExecutionDisabled", value=True)
            await send("Runtime.terminateExecution")
            # Without a running script it terminates the next one: let it be this one.
            await asyncio.gather(
                *(send(f"{domain}.disable") for domain in ("Network", "Log")), send("Runtime.evaluate", expression="0")
            )


_HTML = frozenset({"text/html", "application/xhtml+xml"})
_BACKGROUND = frozenset({"EventSource", "Ping", "Media", "Prefetch", "CSPViolationReport"})
"""Types of requests that do not change the document."""


class Tab:
    """Renders one page, once."""

    def __init__(
        self, session: CdpSession, client: ProxyClient, policy: BrowserPolicy, admission: RequestAdmission, clock: Clock
    ) -> None:
        self._session = session
        self._client = client
        self._policy = policy
        self._admission = admission
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._timeout = PageTimeout()
        self._began: float | None = None
        self._loaded: float | None = None
        self._settled: float | None = None
        self._error: BaseException | None = None
        self._navigation_failure: Failure | None = None

    async def render(self, url: str, *, timeout: float, quiet: float, wait_for: str = "") -> RenderedPage | Failure:
        """The rendered page, or why it could not be rendered; once an element matches `wait_for`, if the page gets one in time.
        Raises SessionEnded."""
        self._wait_for = wait_for
        frame = (await self._session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        self._filter = RequestFilter(self._policy, self._admission, frame, url)
        self._report = PageReport(frame)
        self._activity = PageActivity(quiet, self._clock.monotonic())
        await self._listen()
        try:
            async with self._timeout.limit(timeout):
                self._spawn(self._navigate(url))
                await self._settle()
            return await self._result(url, timeout)
        finally:
            await self._end()

    async def _navigate(self, url: str) -> None:
        try:
            answer = await self._session.send("Page.navigate", url=url)
        except CommandRejected:
            answer = {"errorText": "net::ERR_INVALID_URL"}
        if answer.get("errorText"):
            self._navigation_failure = self._failure(url, answer["errorText"], download=bool(answer.get("isDownload")))
            self._changed.set()

    async def _listen(self) -> None:
        """Subscribe to all events before the page loads."""
        on, send = self._session.on, self._session.send
        on("Fetch.requestPaused", lambda event: self._spawn(self._handle_request(event)))
        on("Fetch.authRequired", lambda event: self._spawn(self._authenticate(event)))
        on("Network.requestWillBeSent", self._on_request)
        on("Network.responseReceived", self._report.on_response)
        on("Network.loadingFinished", self._on_ended)
        on("Network.loadingFailed", self._on_ended)
        on("Page.frameNavigated", self._on_navigated)
        on("Page.domContentEventFired", self._on_readable)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Runtime.bindingCalled", lambda _: self._note(self._activity.document_changed))
        on("Runtime.consoleAPICalled", self._on_console)
        on("Runtime.exceptionThrown", self._on_thrown)
        on("Log.entryAdded", self._report.on_log_entry)
        await asyncio.gather(
            *(send(f"{domain}.enable") for domain in ("Page", "Network", "Runtime", "Log")),
            send("Runtime.addBinding", name=BINDING, executionContextName=WORLD),
            send("Page.addScriptToEvaluateOnNewDocument", source=HIDE_SERVICE_WORKERS),
            send("Page.addScriptToEvaluateOnNewDocument", source=WATCH_CHANGES, worldName=WORLD),
            send("Fetch.enable", patterns=[{"urlPattern": "*"}], handleAuthRequests=True),
        )

    # -- events -----------------------------------------------------------------------------------------------------

    def _note(self, what: Callable[[float], None]) -> None:
        what(self._clock.monotonic())
        self._changed.set()

    def _on_request(self, event: Event) -> None:
        self._report.on_request(event)
        # The end of a worker script is never reported; such a request has no loader.
        if event.get("type") not in _BACKGROUND and event.get("loaderId"):
            self._note(lambda now: self._activity.request_started(event["requestId"], now))

    def _on_ended(self, event: Event) -> None:
        self._report.on_request_end(event)
        self._note(lambda now: self._activity.request_ended(event["requestId"], now))

    def _on_console(self, event: Event) -> None:
        self._report.on_console(event)
        self._changed.set()

    def _on_thrown(self, event: Event) -> None:
        self._report.on_exception(event)
        self._changed.set()

    def _on_navigated(self, event: Event) -> None:
        if self._report.on_navigation(event["frame"]):
            self._note(lambda now: self._activity.document_replaced(self._report.loader, now))

    def _on_stopped(self, event: Event) -> None:
        """The document is complete, or a script has stopped loading it."""
        if event["frameId"] == self._report.frame and self._report.loader:
            self._activity.document_received()
            self._note(lambda now: self._activity.request_ended(self._report.loader, now))

    def _on_readable(self, _: Event) -> None:
        self._loaded = self._clock.monotonic()
        self._note(self._activity.document_loaded)

    # -- requests ---------------------------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # Cancelled from outside: the crawl stops and does not wait for the turn of a host.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, SessionEnded | CommandRejected):
            self._error = self._error or error
            self._changed.set()

    async def _handle_request(self, event: Event) -> None:
        if self._timeout.is_over:
            return  # It stays paused and is dropped with the page.
        name: str = event.get("networkId") or event["requestId"]
        self._activity.request_held(name)
        try:
            with self._timeout.paused():
                decision = await self._filter.decide(event)
        finally:
            self._note(lambda now: self._activity.request_released(name, now))
        request = event["requestId"]
        match decision:
            case RequestDecision.GO:
                if self._began is None:
                    self._began = self._clock.monotonic()
                await self._session.send("Fetch.continueRequest", requestId=request, **await self._headers(event))
            case RequestDecision.BLANK:
                await self._session.send("Fetch.fulfillRequest", **blank_image(request))
            case RequestDecision.ABORT:
                await self._session.send("Fetch.failRequest", requestId=request, errorReason="Aborted")
            case _:
                await self._session.send("Fetch.failRequest", requestId=request, errorReason="BlockedByClient")

    async def _headers(self, event: Event) -> dict[str, Any]:
        """The parameters of `continueRequest`: headers if there are secrets for this hop."""
        secrets = self._filter.secrets(event)
        if not secrets:
            return {}
        if any(name.lower() == "cookie" for name, _ in secrets):
            jar = await self._session.send("Network.getCookies", urls=[event["request"]["url"]])
            secrets = _with_site_cookies(secrets, jar["cookies"])
        ours = {name.lower() for name, _ in secrets}
        own = ((name, value) for name, value in event["request"]["headers"].items() if name.lower() not in ours)
        return {"headers": [{"name": name, "value": value} for name, value in (*own, *secrets)]}

    async def _authenticate(self, event: Event) -> None:
        """Authenticate with the proxy. Authentication requests of sites are cancelled."""
        answer = {"response": "CancelAuth"}
        if event["authChallenge"].get("source") == "Proxy":
            answer = {"response": "ProvideCredentials", "username": self._client.name, "password": self._client.password}
        await self._session.send("Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse=answer)

    # -- settling and taking ----------------------------------------------------------------------------------------

    def _is_finished(self) -> bool:
        """Whether waiting for the page is of no use."""
        report = self._report
        document = report.documents.get(report.loader)
        return (
            self._error is not None
            or self._navigation_failure is not None
            or self._filter.navigations > MAX_NAVIGATIONS
            or report.noise > MAX_NOISE
            or report.requests > MAX_REQUESTS
            or bool(report.broken)
            or (document is not None and document.media_type not in _HTML)
        )

    async def _settle(self) -> None:
        while not self._is_finished():
            self._changed.clear()
            changes = self._activity.changes
            now = self._clock.monotonic()
            at = self._activity.settles_at(now)
            if at is None or at > now:
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if at is None else at - now):
                        await self._changed.wait()
                continue
            await self._wait_for_page()
            if self._activity.changes == changes and not self._is_finished():
                if self._wait_for and not await self._has_element():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(ELEMENT_POLL):
                            await self._changed.wait()
                    continue
                self._settled = self._activity.last_activity
                return

    async def _has_element(self) -> bool:
        """Whether the element that is waited for is there."""
        expression = f"document.querySelector({json.dumps(self._wait_for)}) !== null"
        try:
            reply = await self._session.send("Runtime.evaluate", expression=expression, returnByValue=True)
        except CommandRejected:
            return False
        return reply["result"].get("value") is True

    async def _wait_for_page(self) -> None:
        """Wait for a reply of the page: a busy script delays events, which have all arrived when the reply has."""
        reply = asyncio.create_task(self._session.send("Runtime.evaluate", expression="0"))
        reply.add_done_callback(lambda _: self._changed.set())
        try:
            while not reply.done() and not self._is_finished():
                self._changed.clear()
                await self._changed.wait()
        finally:
            reply.cancel()
            await asyncio.gather(reply, return_exceptions=True)

    async def _result(self, url: str, timeout: float) -> RenderedPage | Failure:
        if self._error is not None:
            raise self._error
        if self._navigation_failure is not None:
            return self._navigation_failure
        report = self._report
        if self._filter.navigations > MAX_NAVIGATIONS:
            message = f"The page redirects more than {MAX_NAVIGATIONS} times."
            return Failure(url=url, kind=FailureKind.TOO_MANY_REDIRECTS, message=message)
        if report.unreachable:
            return self._failure(url, "net::ERR_FAILED")
        if report.broken:
            return self._failure(url, report.broken)
        document = report.document
        if document is None or not report.loader:
            message = f"No page from {host_key(self._filter.page)} within {timeout:g} s."
            return Failure(url=url, kind=FailureKind.RESPONSE_TIMEOUT, message=message)
        if document.media_type not in _HTML:
            message = f"The browser was redirected to a file that is not a page ({document.media_type})."
            return Failure(url=url, kind=FailureKind.UNPARSABLE, message=message)
        document_read = await read_document(self._session, report.frame, is_quiet=self._settled is not None)
        if document_read is None:
            message = f"The page was still busy after {timeout:g} s and its document could not be read."
            return Failure(url=url, kind=FailureKind.UNPARSABLE, message=message)
        if document_read["html"] is None:
            message = f"The document has more than {MAX_CHARACTERS} characters."
            return Failure(url=url, kind=FailureKind.TOO_LARGE, message=message)
        return self._rendered(url, document, document_read)

    def _rendered(self, url: str, document: DocumentResponse, document_read: Event) -> RenderedPage:
        report, began = self._report, self._began or 0.0
        return RenderedPage(
            url=canonical(document_read["url"]) or url,
            status=document.status,
            html=document_read["html"].encode("utf-8", "replace"),
            console_errors=tuple(report.console_errors),
            page_errors=tuple(report.page_errors),
            failed_resources=tuple(report.failed),
            refused_resources=tuple(self._filter.refused),
            loaded=None if self._loaded is None else self._loaded - began,
            settled=None if self._settled is None else max(0.0, self._settled - began),
            headers=document.headers,
            is_redirected=len(report.documents) > 1,
        )

    def _failure(self, url: str, error: str, *, download: bool = False) -> Failure:
        place = host_key(self._filter.page)
        failure = self._client.failures.get(place)
        if self._filter.refused and error in ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY_CLIENT"):
            refused_url = next(reversed(self._filter.refused))
            kind, message = FailureKind.BAD_REDIRECT, f"The page leads to {refused_url}, which may not be requested."
        elif download:
            kind, message = FailureKind.UNPARSABLE, "The URL is a download, not a page."
        elif error == "net::ERR_ABORTED":
            kind, message = FailureKind.UNPARSABLE, "The server responded without a page."
        else:
            kind, message = describe_browser_error(error)
            if failure is not None and kind in (FailureKind.NETWORK, FailureKind.INCOMPLETE):
                kind, message = failure.kind, str(failure)
        return Failure(url=url, kind=kind, message=message)

    async def _end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _with_site_cookies(secrets: Headers, jar: list[Event]) -> Headers:
    """The headers with one Cookie header: a cookie that the site set replaces one of the user."""
    set_here = {cookie["name"]: cookie["value"] for cookie in jar}
    given = [pair for name, value in secrets if name.lower() == "cookie" for pair in value.split("; ")]
    pairs = [pair for pair in given if pair.partition("=")[0] not in set_here]
    pairs += [f"{name}={value}" for name, value in set_here.items()]
    return (*((name, value) for name, value in secrets if name.lower() != "cookie"), ("Cookie", "; ".join(pairs)))
