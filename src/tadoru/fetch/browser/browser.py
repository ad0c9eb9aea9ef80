"""Runs the browser that renders pages. This is the only module that knows Playwright, which is imported with the first page.

One browser process renders all pages and is restarted when it dies. It renders a few pages at a time, each in its own empty
context, unless a profile folder is given that keeps a session. All its requests go through `fetch.browser.proxy`.
`fetch.browser.tab` renders a page.

The switches of the browser leave it one way to the network, the proxy: also for loopback, for DNS (it resolves no names itself)
and for protocols other than HTTP (QUIC, WebRTC). Background requests of the browser itself are switched off.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tadoru.clock import Clock, SystemClock
from tadoru.config.resolve import BROWSER_VARIABLE
from tadoru.errors import BrowserMissing
from tadoru.extras import not_installed
from tadoru.fetch.base import BrowserOptions
from tadoru.fetch.browser.page_timing import MAX_TIMEOUTS
from tadoru.fetch.browser.proxy import Dialer, GuardedProxy, ProxyClient, UpstreamProxy
from tadoru.fetch.browser.request_filter import BrowserPolicy, RequestAdmission
from tadoru.fetch.browser.tab import CommandRejected, Event, SessionEnded, Tab
from tadoru.fetch.guard import AddressGuard, DnsCache, ResolveHost
from tadoru.model.web import Failure, FailureKind, Headers, RenderedPage
from tadoru.rules.address import Exemptions
from tadoru.rules.url import canonical, origin

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DROPPED_SWITCHES = ("--disable-popup-blocking",)
"""Switches of Playwright that are not used: popups stay blocked."""


_MAX_REASON = 200
_DISABLED_FEATURES = (
    # Frames in separate processes and prefetched pages bypass `fetch.browser.request_filter`.
    "IsolateSandboxedIframes",
    "Prerender2",
    "SpeculationRulesPrefetchFuture",
    "LoadingPredictorPrefetch",
    # The rest is what Playwright disables: a second list replaces the first.
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "AimEnabled",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "Translate",
)


def find_program(environment: Mapping[str, str]) -> str | None:
    """The path of the program; None for the one of Playwright. Raises BrowserMissing when the configured one does not exist."""
    named = environment.get(BROWSER_VARIABLE)
    path = environment.get("PATH")
    if named:
        found = shutil.which(named, path=path)
        if found is None:
            raise BrowserMissing(
                "{variable} is {path}, which is not an executable program.", variable=BROWSER_VARIABLE, path=named
            )
        return found
    return next((found for name in PROGRAM_NAMES if (found := shutil.which(name, path=path))), None)


def command_line_switches(proxy: str) -> list[str]:
    """The switches to start the browser with; `proxy` is `host:port`."""
    host = proxy.rpartition(":")[0]
    return [
        f"--proxy-server=http://{proxy}",
        "--proxy-bypass-list=<-loopback>",
        f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {host}",
        "--disable-quic",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--dns-prefetch-disable",
        "--no-pings",
        "--disable-domain-reliability",
        "--disable-client-side-phishing-detection",
        f"--disable-features={','.join(_DISABLED_FEATURES)}",
    ]


def may_use_sandbox() -> bool:
    """Whether the sandbox of the browser works: it does not for root."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def start_failure_reason(log: str) -> str:
    """Why the browser did not start, from the log of Playwright."""
    if "sandboxing failed" in log:
        return "its sandbox does not work here; in a container, allow user namespaces"
    if "XServer" in log or "Missing X server" in log:
        return "there is no display for a window; run it without a window, or use xvfb-run"
    errors = [line.partition("[err]")[2].strip() for line in log.splitlines() if "[err]" in line and "crashpad" not in line]
    return errors[-1][:_MAX_REASON] if errors else "it exited immediately"


if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, CDPSession, Page, Playwright

HANG_MARGIN = 30.0
"""Seconds beyond the timeout of a page after which the browser counts as hung."""
PAGES_PER_PROCESS = 500
"""Pages after which the process is replaced: the browser keeps some memory of each page."""
CLOSE_TIMEOUT = 10.0
"""Seconds for a page or the browser to close."""
_CONTEXT_OPTIONS: dict[str, Any] = {
    # Tall, because many pages load content only when it is scrolled into view.
    "viewport": {"width": 1280, "height": 2400},
    "reduced_motion": "reduce",
    "service_workers": "block",
    "accept_downloads": False,
}


_DEFAULT_OPTIONS = BrowserOptions()
_DEFAULT_POLICY = BrowserPolicy()


class _BrowserEnded(Exception):
    """The browser died or hangs with the page in it."""


@dataclass(eq=False, slots=True)
class _BrowserProcess:
    """A browser process and its state."""

    driver: Playwright
    browser: Chromium | None
    persistent_context: BrowserContext | None = None
    """The context of a persistent_context session, which all pages share."""
    persistent_client: tuple[ProxyClient, RequestAdmission] | None = None
    """The proxy client of that context."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    seen: int = 0
    """Pages it has rendered."""
    open: int = 0
    """Pages it renders now."""

    @property
    def is_spent(self) -> bool:
        """Whether the next page needs another process. A persistent_context session cannot be in two of them."""
        return self.gone.is_set() or (self.seen >= PAGES_PER_PROCESS and self.persistent_context is None)

    async def close(self) -> None:
        closable = self.persistent_context or self.browser
        if closable is not None:
            await closable.close()


class Browser:
    """Renders pages. The process is started with the first page.

    With a `proxy` (`http://user:password@host:port`) the proxy resolves names, after the guard has checked what they resolve to
    here.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        exemptions: Exemptions,
        policy: BrowserPolicy = _DEFAULT_POLICY,
        options: BrowserOptions = _DEFAULT_OPTIONS,
        proxy: str | None = None,
        verify_tls: bool = True,
        resolver: ResolveHost | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._policy = policy
        self._options = options
        self._context_options = {"user_agent": user_agent, "ignore_https_errors": not verify_tls, **_CONTEXT_OPTIONS}
        self._dns = DnsCache(self._clock, resolver)
        upstream = UpstreamProxy.parse(proxy) if proxy else None
        self._proxy = GuardedProxy(Dialer(AddressGuard(exemptions), self._dns, upstream))
        self._slots = asyncio.Semaphore(options.pages)
        self._starting = asyncio.Lock()
        self._running: _BrowserProcess | None = None
        self._retired: set[_BrowserProcess] = set()
        self._missing: BrowserMissing | None = None
        self._listening = False

    async def start(self) -> None:
        """Start the browser now. Raises BrowserMissing."""
        await self._ensure_process()

    async def render(
        self, url: str, *, timeout: float = 30.0, wait: float | None = None, headers: Headers = ()
    ) -> RenderedPage | Failure:
        """The page at this URL after it has settled, or its state after `timeout` seconds. Raises BrowserMissing.

        `wait` replaces the option `quiet`. `headers` are sent to the origin of the URL only.
        """
        target = canonical(url)
        if target is None:
            return Failure(url=url, kind=FailureKind.PROTOCOL, message="Only http and https pages can be rendered.")
        policy = self._policy
        if headers:
            policy = replace(policy, credentials=policy.credentials.with_headers((origin(target),), headers))
        async with self._slots:
            for _ in range(2):
                running = await self._ensure_process()
                running.seen += 1
                running.open += 1
                try:
                    return await self._render(running, target, policy, timeout, self._options.quiet if wait is None else wait)
                except _BrowserEnded:
                    running.gone.set()  # Another page may be the cause, so this one gets a second attempt.
                finally:
                    running.open -= 1
                    await self._stop_retired()
        return Failure(url=url, kind=FailureKind.UNPARSABLE, message="The browser ended twice while it rendered the page.")

    async def close(self) -> None:
        """Stop the browser."""
        async with self._starting:
            for running in (*self._retired, *filter(None, (self._running,))):
                await self._stop(running)
            self._running = None
            self._retired.clear()
        await self._proxy.close()
        await self._dns.close()

    # -- the process ------------------------------------------------------------------------------------------------

    async def _ensure_process(self) -> _BrowserProcess:
        """The process for the next page, started if there is none."""
        async with self._starting:
            if self._missing is not None:
                raise self._missing
            if self._running is not None and self._running.is_spent:
                self._retired.add(self._running)
                self._running = None
                await self._stop_retired()
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

    async def _stop_retired(self) -> None:
        """Stop the retired processes that have no open page."""
        for running in [running for running in self._retired if running.gone.is_set() or not running.open]:
            self._retired.discard(running)
            await self._stop(running)

    async def _stop(self, running: _BrowserProcess) -> None:
        running.gone.set()
        if running.persistent_client is not None:
            await self._proxy.remove_client(running.persistent_client[0])
        # Close it first, so that it can clean up; then the driver kills it. Errors no longer matter.
        for end in (running.close, running.driver.stop):
            with suppress(Exception):
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await end()

    async def _launch(self) -> _BrowserProcess:
        program = find_program(os.environ)
        try:
            from playwright.async_api import Error, async_playwright
        except ImportError:
            raise BrowserMissing(not_installed("rendering pages", "render")) from None
        driver = await async_playwright().start()
        try:
            if program is None and not await asyncio.to_thread(os.path.exists, driver.chromium.executable_path):
                raise BrowserMissing(
                    "No browser found to render pages. Install one with `apt-get install chromium`, or set {name} to its path.",
                    name=BROWSER_VARIABLE,
                )
            return await self._open(driver, program)
        except Error as error:
            await driver.stop()
            raise BrowserMissing("The browser did not start: {reason}.", reason=start_failure_reason(error.message)) from None
        except BaseException:
            await driver.stop()
            raise

    async def _open(self, driver: Playwright, program: str | None) -> _BrowserProcess:
        launch_options: dict[str, Any] = {
            "executable_path": program,
            "args": command_line_switches(self._proxy.address),
            "ignore_default_args": list(DROPPED_SWITCHES),
            "chromium_sandbox": may_use_sandbox(),
            "headless": not self._options.headed,
            "env": {name: value for name, value in os.environ.items() if not name.startswith(("TADORU_", "LT_"))},
            # Tadoru handles signals: pages in flight are finished.
            **dict.fromkeys(("handle_sigint", "handle_sigterm", "handle_sighup"), False),
        }
        if self._options.profile is None:
            browser = await driver.chromium.launch(**launch_options)
            running = _BrowserProcess(driver, browser)
            browser.on("disconnected", lambda _: running.gone.set())
            return running
        context = await driver.chromium.launch_persistent_context(
            self._options.profile, **launch_options, **self._context_options
        )
        admission = RequestAdmission(self._policy)
        running = _BrowserProcess(
            driver,
            context.browser,
            context,
            (self._proxy.add_client(admission.admit_connection, self._options.max_bytes), admission),
        )
        context.on("close", lambda _: running.gone.set())
        return running

    # -- one page ---------------------------------------------------------------------------------------------------

    async def _render(
        self, running: _BrowserProcess, url: str, policy: BrowserPolicy, timeout: float, quiet: float
    ) -> RenderedPage | Failure:
        from playwright.async_api import Error

        crashed = asyncio.Event()
        try:
            async with asyncio.timeout(MAX_TIMEOUTS * timeout + HANG_MARGIN), self._page(running) as (page, client, admission):
                page.on("crash", lambda _: crashed.set())
                page.on("popup", _close_soon)
                session = _CdpSession(await page.context.new_cdp_session(page), Error)
                rendering = Tab(session, client, policy, admission, self._clock).render(
                    url, timeout=timeout, quiet=quiet, wait_for=self._options.wait_for
                )
                answer = await _run_unless(rendering, (crashed, running.gone))
        except (Error, SessionEnded, TimeoutError):
            answer = None
        if answer is not None:
            return answer
        if crashed.is_set() and not running.gone.is_set():
            return Failure(url=url, kind=FailureKind.UNPARSABLE, message="The page crashed its browser process.")
        raise _BrowserEnded

    @asynccontextmanager
    async def _page(self, running: _BrowserProcess) -> AsyncIterator[tuple[Page, ProxyClient, RequestAdmission]]:
        """An empty page with its proxy client; both are closed afterwards."""
        if running.persistent_context is not None and running.persistent_client is not None:
            client, admission = running.persistent_client
            client.bytes_left = self._options.max_bytes
            page = await running.persistent_context.new_page()
            try:
                yield page, client, admission
            finally:
                await _close_or_mark_hung(running, page.close)
            return
        assert running.browser is not None
        admission = RequestAdmission(self._policy)
        client = self._proxy.add_client(admission.admit_connection, self._options.max_bytes)
        try:
            context = await running.browser.new_context(**self._context_options)
            try:
                yield await context.new_page(), client, admission
            finally:
                await _close_or_mark_hung(running, context.close)
        finally:
            await self._proxy.remove_client(client)


class _CdpSession:
    """A `CdpSession` of Playwright."""

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
        def handle(data: Event) -> None:  # A function, because Playwright sets attributes on the object of a bound method.
            call(data)

        self._session.on(event, handle)


async def _close_or_mark_hung(running: _BrowserProcess, close: Callable[[], Awaitable[None]]) -> None:
    """Close a page; one that cannot be closed means that the browser hangs."""
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT):
            await close()
    except Exception:
        running.gone.set()


async def _run_unless(
    rendering: Coroutine[Any, Any, RenderedPage | Failure], events: Iterable[asyncio.Event]
) -> RenderedPage | Failure | None:
    """The result of the rendering; None when one of the events came first."""
    work = asyncio.create_task(rendering)
    others = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait([work, *others], return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, *others):
            task.cancel()
        await asyncio.gather(work, *others, return_exceptions=True)


_closing: set[asyncio.Task[None]] = set()


def _close_soon(popup: Page) -> None:
    """Close windows that a page opens."""
    task = asyncio.ensure_future(popup.close())
    _closing.add(task)
    task.add_done_callback(_closing.discard)


def _first_line(message: str) -> str:
    """The first line of an error message of Playwright; the rest is its log."""
    return message.strip().partition("\n")[0][:300]
