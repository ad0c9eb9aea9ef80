"""Rendering: a page as a browser shows it. The only place that knows Playwright, which is imported when the first page needs it.

One browser process for all pages, restarted when it dies; a few pages at a time, each in a context of its own that forgets
everything, unless a profile folder is given to keep a session in. Everything it requests goes through `fetch.browser.proxy`. What
happens inside one page is `fetch.browser.tab`'s, which program is started `fetch.browser.chromium`'s.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tadoru.clock import Clock, SystemClock
from tadoru.errors import BrowserMissing
from tadoru.extras import not_installed
from tadoru.fetch.browser import chromium
from tadoru.fetch.browser.page_timing import MAX_TIMEOUTS
from tadoru.fetch.browser.proxy import CLIENT_BYTES, GuardedProxy, ProxyClient
from tadoru.fetch.browser.relay import Dialer, UpstreamProxy
from tadoru.fetch.browser.request_filter import BrowserPolicy, RequestAdmission
from tadoru.fetch.browser.tab import CommandRejected, Event, SessionEnded, Tab
from tadoru.fetch.guard import AddressGuard, DnsCache, ResolveHost
from tadoru.model.web import Failure, FailureKind, Headers, RenderedPage
from tadoru.rules.address import Exemptions
from tadoru.rules.url import canonical, origin

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, CDPSession, Page, Playwright

QUIET_SECONDS = 0.5
"""Seconds in which nothing may move before a page counts as settled."""
HANG_MARGIN = 30.0
"""Seconds beyond a page's own time after which the browser itself is taken for hung."""
PAGES_PER_PROCESS = 500
"""Pages after which another process takes over: the browser keeps a little of every page it has seen."""
CLOSE_TIMEOUT = 10.0
"""Seconds for a page or the browser to close."""
_CONTEXT_OPTIONS: dict[str, Any] = {
    # Tall, because many pages load what is further down only when it comes into view.
    "viewport": {"width": 1280, "height": 2400},
    "reduced_motion": "reduce",
    "service_workers": "block",
    "accept_downloads": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserOptions:
    """How pages are shown."""

    pages: int = 2
    """So many at a time."""
    headed: bool = False
    """For somebody to look at."""
    profile: Path | None = None
    """A folder that keeps the session: all pages share it, and so do later runs."""
    max_bytes: int = CLIENT_BYTES
    """What one page may load in all."""
    quiet: float = QUIET_SECONDS
    """Seconds in which nothing may move before a page counts as settled; pages that are slow to come to life need more."""


_DEFAULT_OPTIONS = BrowserOptions()
_DEFAULT_POLICY = BrowserPolicy()


class _BrowserEnded(Exception):
    """The browser died, or hangs, with the page in it."""


@dataclass(eq=False, slots=True)
class _BrowserProcess:
    """A browser process with what belongs to it."""

    driver: Playwright
    browser: Chromium | None
    kept: BrowserContext | None = None
    """The one context of a kept session, which all pages share."""
    door: tuple[ProxyClient, RequestAdmission] | None = None
    """And its way out."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    seen: int = 0
    """Pages it was given."""
    open: int = 0
    """Pages it has open."""

    @property
    def is_spent(self) -> bool:
        """Whether the next page is better given to another process. A kept session can not be in two of them."""
        return self.gone.is_set() or (self.seen >= PAGES_PER_PROCESS and self.kept is None)

    async def close(self) -> None:
        window = self.kept or self.browser
        if window is not None:
            await window.close()


class Browser:
    """Renders pages. Create it anywhere; it starts with its first page.

    With a `proxy` (`http://user:password@host:port`) the proxy resolves names, once the guard has checked what they mean here.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        exemptions: Exemptions,
        manners: BrowserPolicy = _DEFAULT_POLICY,
        window: BrowserOptions = _DEFAULT_OPTIONS,
        proxy: str | None = None,
        verify_tls: bool = True,
        resolver: ResolveHost | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._manners = manners
        self._window = window
        self._look = {"user_agent": user_agent, "ignore_https_errors": not verify_tls, **_CONTEXT_OPTIONS}
        self._names = DnsCache(self._clock, resolver)
        upstream = UpstreamProxy.parse(proxy) if proxy else None
        self._proxy = GuardedProxy(Dialer(AddressGuard(exemptions), self._names, upstream))
        self._places = asyncio.Semaphore(window.pages)
        self._starting = asyncio.Lock()
        self._running: _BrowserProcess | None = None
        self._retired: set[_BrowserProcess] = set()
        self._missing: BrowserMissing | None = None
        self._listening = False

    async def start(self) -> None:
        """Start the browser now. Raises BrowserMissing."""
        await self._up()

    async def render(
        self, url: str, *, timeout: float = 30.0, wait: float | None = None, headers: Headers = ()
    ) -> RenderedPage | Failure:
        """The page at this URL after it has settled, or what it had become after `timeout` seconds. Raises BrowserMissing.

        `wait` takes the place of the window's `quiet`. `headers` go to the origin of the URL and nowhere else.
        """
        target = canonical(url)
        if target is None:
            return Failure(url=url, kind=FailureKind.PROTOCOL, message="Only http and https pages are rendered.")
        manners = self._manners
        if headers:
            manners = replace(manners, credentials=manners.credentials.with_headers((origin(target),), headers))
        async with self._places:
            for _ in range(2):
                running = await self._up()
                running.seen += 1
                running.open += 1
                try:
                    return await self._visit(running, target, manners, timeout, self._window.quiet if wait is None else wait)
                except _BrowserEnded:
                    running.gone.set()  # Perhaps through another page than this one, which therefore gets a second chance.
                finally:
                    running.open -= 1
                    await self._tidy()
        return Failure(url=url, kind=FailureKind.UNPARSABLE, message="The browser ended while it rendered the page, twice.")

    async def close(self) -> None:
        """End the browser."""
        async with self._starting:
            for running in (*self._retired, *filter(None, (self._running,))):
                await self._stop(running)
            self._running = None
            self._retired.clear()
        await self._proxy.close()
        await self._names.close()

    # -- the process ------------------------------------------------------------------------------------------------

    async def _up(self) -> _BrowserProcess:
        """The process for the next page."""
        async with self._starting:
            if self._missing is not None:
                raise self._missing
            if self._running is not None and self._running.is_spent:
                self._retired.add(self._running)
                self._running = None
                await self._tidy()
            if self._running is None:
                if not self._listening:
                    await self._proxy.start()
                    self._listening = True
                try:
                    self._running = await self._launch()
                except BrowserMissing as missing:
                    self._missing = missing
                    raise
            return self._running

    async def _tidy(self) -> None:
        """End the processes that get no more pages and have none left."""
        for running in [running for running in self._retired if running.gone.is_set() or not running.open]:
            self._retired.discard(running)
            await self._stop(running)

    async def _stop(self, running: _BrowserProcess) -> None:
        running.gone.set()
        if running.door is not None:
            await self._proxy.dismiss(running.door[0])
        # Kindly first, so that it can clean up after itself; then its driver ends it by force. What they say about that is of no
        # interest any more.
        for end in (running.close, running.driver.stop):
            with suppress(Exception):
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await end()

    async def _launch(self) -> _BrowserProcess:
        program = chromium.find_program(os.environ)
        try:
            from playwright.async_api import Error, async_playwright
        except ImportError:
            raise BrowserMissing(not_installed("rendering pages", "render")) from None
        driver = await async_playwright().start()
        try:
            if program is None and not await asyncio.to_thread(os.path.exists, driver.chromium.executable_path):
                raise BrowserMissing(f"Pages can not be rendered without a browser: {chromium.HOW_TO_INSTALL}.")
            return await self._open(driver, program)
        except Error as error:
            await driver.stop()
            raise BrowserMissing(f"The browser did not start: {chromium.start_failure_reason(error.message)}.") from None
        except BaseException:
            await driver.stop()
            raise

    async def _open(self, driver: Playwright, program: str | None) -> _BrowserProcess:
        options: dict[str, Any] = {
            "executable_path": program,
            "args": chromium.command_line_switches(self._proxy.address),
            "ignore_default_args": list(chromium.DROPPED_SWITCHES),
            "chromium_sandbox": chromium.may_use_sandbox(),
            "headless": not self._window.headed,
            "env": {name: value for name, value in os.environ.items() if not name.startswith(("TADORU_", "LT_"))},
            # A signal is for us to answer: what is in flight is let finish.
            **dict.fromkeys(("handle_sigint", "handle_sigterm", "handle_sighup"), False),
        }
        if self._window.profile is None:
            browser = await driver.chromium.launch(**options)
            running = _BrowserProcess(driver, browser)
            browser.on("disconnected", lambda _: running.gone.set())
            return running
        context = await driver.chromium.launch_persistent_context(self._window.profile, **options, **self._look)
        entrance = RequestAdmission(self._manners)
        running = _BrowserProcess(
            driver, context.browser, context, (self._proxy.invite(entrance.connection, self._window.max_bytes), entrance)
        )
        context.on("close", lambda _: running.gone.set())
        return running

    # -- one page ---------------------------------------------------------------------------------------------------

    async def _visit(
        self, running: _BrowserProcess, url: str, manners: BrowserPolicy, timeout: float, quiet: float
    ) -> RenderedPage | Failure:
        from playwright.async_api import Error

        crashed = asyncio.Event()
        try:
            async with asyncio.timeout(MAX_TIMEOUTS * timeout + HANG_MARGIN), self._page(running) as (page, guest, entrance):
                page.on("crash", lambda _: crashed.set())
                page.on("popup", _close_soon)
                line = _CdpSession(await page.context.new_cdp_session(page), Error)
                visit = Tab(line, guest, manners, entrance, self._clock).visit(url, timeout=timeout, quiet=quiet)
                answer = await _run_unless(visit, (crashed, running.gone))
        except (Error, SessionEnded, TimeoutError):
            answer = None
        if answer is not None:
            return answer
        if crashed.is_set() and not running.gone.is_set():
            return Failure(url=url, kind=FailureKind.UNPARSABLE, message="The page made its part of the browser crash.")
        raise _BrowserEnded

    @asynccontextmanager
    async def _page(self, running: _BrowserProcess) -> AsyncIterator[tuple[Page, ProxyClient, RequestAdmission]]:
        """An empty page and its way out; both are gone afterwards, whatever the page does."""
        if running.kept is not None and running.door is not None:
            guest, entrance = running.door
            guest.bytes_left = self._window.max_bytes
            page = await running.kept.new_page()
            try:
                yield page, guest, entrance
            finally:
                await _close_or_mark_hung(running, page.close)
            return
        assert running.browser is not None
        entrance = RequestAdmission(self._manners)
        guest = self._proxy.invite(entrance.connection, self._window.max_bytes)
        try:
            context = await running.browser.new_context(**self._look)
            try:
                yield await context.new_page(), guest, entrance
            finally:
                await _close_or_mark_hung(running, context.close)
        finally:
            await self._proxy.dismiss(guest)


class _CdpSession:
    """The driver's line to a page, as a `Session`."""

    def __init__(self, session: CDPSession, error: type[Exception]) -> None:
        self._session = session
        self._error = error

    async def send(self, method: str, /, **parameters: Any) -> Event:
        try:
            answer: Event = await self._session.send(method, parameters)
        except self._error as error:
            raise (CommandRejected if "Protocol error" in str(error) else SessionEnded)(
                f"{method}: {_first_line(str(error))}"
            ) from None
        return answer

    def on(self, event: str, call: Callable[[Event], None]) -> None:
        def hear(data: Event) -> None:  # A function of its own: the driver writes on the object that a method belongs to.
            call(data)

        self._session.on(event, hear)


async def _close_or_mark_hung(running: _BrowserProcess, close: Callable[[], Awaitable[None]]) -> None:
    """A page that can not be closed is a sign that the browser hangs."""
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT):
            await close()
    except Exception:
        running.gone.set()


async def _run_unless(
    visit: Coroutine[Any, Any, RenderedPage | Failure], ends: Iterable[asyncio.Event]
) -> RenderedPage | Failure | None:
    """The outcome of a visit; None when one of these ends came first."""
    work = asyncio.create_task(visit)
    others = [asyncio.create_task(end.wait()) for end in ends]
    try:
        await asyncio.wait([work, *others], return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, *others):
            task.cancel()
        await asyncio.gather(work, *others, return_exceptions=True)


_closing: set[asyncio.Task[None]] = set()


def _close_soon(popup: Page) -> None:
    """Windows that a page opens are not for us."""
    task = asyncio.ensure_future(popup.close())
    _closing.add(task)
    task.add_done_callback(_closing.discard)


def _first_line(message: str) -> str:
    """The first line of what the driver says; the rest is its log."""
    return message.strip().partition("\n")[0][:300]
