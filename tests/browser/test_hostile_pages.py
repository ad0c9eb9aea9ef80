"""Pages that misuse the browser: each is survived, and the next page is rendered as if nothing had been."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tadoru.fetch.base import BrowserOptions
from tadoru.fetch.browser.browser import Browser
from tadoru.fetch.browser.page_report import MAX_MESSAGE_LENGTH, MAX_MESSAGES
from tadoru.fetch.browser.request_filter import MAX_NAVIGATIONS, MAX_REQUESTS
from tadoru.model.web import Failure, FailureKind, RenderedPage
from tadoru.rules.address import Exemptions
from tests.browser.pages import kind, render, rendered, shown
from tests.support.exchange import Exchange
from tests.support.site import Site


@pytest_asyncio.fixture(loop_scope="module")
async def next_page(site: Site, browser: Browser) -> AsyncIterator[None]:
    """After the worst of them a harmless page must come out right."""
    yield
    site.html("/harmless", "<p id=p><script>p.textContent = 'fi' + 'ne'</script>")
    assert '<p id="p">fine' in shown(await render(browser, site.url("/harmless")))


@pytest.mark.usefixtures("next_page")
@pytest.mark.parametrize(
    "script",
    ["while (true) {}", "setTimeout(() => { while (true) {} }, 20)", "(function again() { Promise.resolve().then(again) })()"],
    ids=["at once", "after a while", "in small steps"],
)
async def test_a_page_that_takes_all_the_cpu_is_cut_off_and_what_there_is_is_taken(
    site: Site, browser: Browser, script: str
) -> None:
    site.html("/busy", f"<p>text</p><script>{script}</script>")
    page = rendered(await render(browser, site.url("/busy"), timeout=1))
    assert page.settled is None
    assert "<p>text</p>" in page.html.decode()
    assert not await renderers_left(browser)


async def renderers_left(browser: Browser) -> list[str]:
    """Processes of pages that are still there a moment after the last page was closed (a spare one is kept ready)."""
    assert browser._running is not None
    assert browser._running.browser is not None
    session = await browser._running.browser.new_browser_cdp_session()
    for _ in range(50):
        targets = (await session.send("Target.getTargets"))["targetInfos"]
        pages = [target["url"] for target in targets if target["type"] == "page" and target["url"].startswith("http")]
        if not pages:
            break
    await session.detach()
    return pages


async def test_dialogs_are_dismissed(site: Site, browser: Browser) -> None:
    site.html("/dialogs", "<p id=p></p><script>alert('a'); p.textContent = [confirm('b'), prompt('c')]; print();"
        "onbeforeunload = event => { event.preventDefault(); return 'stay' }</script>")  # fmt: skip
    assert '<p id="p">false,</p>' in shown(await render(browser, site.url("/dialogs")))


async def test_windows_do_not_open(site: Site, browser: Browser) -> None:
    site.html("/windows", "<a target=_blank href=/window/1>x</a><p id=p></p><script>document.querySelector('a').click();"
        "p.textContent = String(window.open('/window/2')); window.open('/window/3', '', 'width=1')</script>")  # fmt: skip
    assert '<p id="p">null</p>' in shown(await render(browser, site.url("/windows")))
    assert not [path for path in site.paths if path.startswith("/window/")]


async def test_downloads_are_refused(site: Site, browser: Browser, tmp_path: Path) -> None:
    site.reply("/file.zip", body=b"x" * 1000, content_type="application/zip")
    site.html("/offers", "<p>text<a download=evil href=/file.zip>x</a><script>document.querySelector('a').click()</script>")
    assert "<p>text" in shown(await render(browser, site.url("/offers")))
    saved = [file for folder in (Path.home() / "Downloads", Path.cwd()) if folder.is_dir() for file in folder.glob("*evil*")]
    assert saved == []


@pytest.mark.usefixtures("next_page")
@pytest.mark.parametrize("script", ["location.href = '/on?' + Math.random()", "location.reload()"], ids=["on and on", "reload"])
async def test_a_page_that_sends_on_for_ever(site: Site, browser: Browser, script: str) -> None:
    site.html("/on", f"<script>{script}</script>")
    before = len(site.paths)
    assert kind(await render(browser, site.url("/on"))) == FailureKind.TOO_MANY_REDIRECTS
    assert len(site.paths) - before <= MAX_NAVIGATIONS


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "chrome://crash", "view-source:http://127.0.0.1/", "data:text/html,gone"]
)
async def test_a_page_cannot_leave_the_web(site: Site, browser: Browser, target: str) -> None:
    site.html("/leaves", f"<p>text<iframe src='{target}'></iframe><script>location.href = '{target}'</script>")
    page = rendered(await render(browser, site.url("/leaves")))
    assert page.url == site.url("/leaves")
    assert "<p>text" in page.html.decode()
    assert b"root:" not in page.html


async def test_service_workers_do_not_come_up(site: Site, browser: Browser) -> None:
    site.reply("/sw.js", body="self.onfetch = 0", content_type="text/javascript")
    site.html("/sw", "<iframe></iframe><p id=p></p><script>"
        "p.textContent = [navigator, frames[0].navigator].map(one => 'serviceWorker' in one);"
        "ServiceWorkerContainer.prototype.register.call({}, '/sw.js')</script>")  # fmt: skip
    assert '<p id="p">false,false</p>' in shown(await render(browser, site.url("/sw")))
    assert site.hits("/sw.js") == 0


@pytest.mark.usefixtures("next_page")
@pytest.mark.parametrize(
    "script",
    ["console.error('x'.repeat(20000))", "throw new Error('x'.repeat(20000))"],
    ids=["messages", "exceptions"],
)
async def test_a_flood_of_messages_ends_the_wait(site: Site, browser: Browser, script: str) -> None:
    site.html("/flood", f"<p>text<script>for (let i = 0; i < 5; i++) setInterval(() => {{ {script} }}, 0)</script>")
    page = rendered(await render(browser, site.url("/flood"), timeout=60))
    assert "<p>text" in page.html.decode()
    assert len(page.console_errors) <= MAX_MESSAGES
    assert len(page.page_errors) <= MAX_MESSAGES
    assert all(len(text) <= MAX_MESSAGE_LENGTH for text in (*page.console_errors, *page.page_errors))


@pytest.mark.usefixtures("next_page")
async def test_a_part_of_the_browser_that_crashes_is_a_failure_of_its_page(site: Site, browser: Browser) -> None:
    gate = site.hold("/held.js")
    site.html("/crashes", "<p>text<script src=/held.js></script>")
    rendering = asyncio.create_task(render(browser, site.url("/crashes")))
    await site.requested("/held.js")
    assert browser._running is not None
    assert browser._running.browser is not None
    page = browser._running.browser.contexts[0].pages[0]
    session = await page.context.new_cdp_session(page)
    crash = asyncio.create_task(session.send("Page.crash"))
    answer = await rendering
    crash.cancel()
    await asyncio.gather(crash, return_exceptions=True)
    gate.release()
    assert isinstance(answer, Failure)
    assert answer.kind == FailureKind.UNPARSABLE
    assert "crash" in answer.message


async def test_a_page_loads_no_more_than_it_may(site: Site, browser: Browser) -> None:
    site.html("/greedy", "<p>text<script src=/bad/endless></script><script>document.title = 'after'</script>")
    small = Browser(user_agent="x", exemptions=Exemptions.for_urls([site.url()]), options=BrowserOptions(max_bytes=1_000_000))
    page = rendered(await render(small, site.url("/greedy")))
    assert "<title>after</title>" in page.html.decode()
    assert [failed.split(" ")[1] for failed in page.failed_resources] == [site.url("/bad/endless")]
    assert kind(await render(small, site.url("/bad/endless"))) == FailureKind.TOO_LARGE
    await small.close()


@pytest.mark.usefixtures("next_page")
async def test_a_page_that_requests_without_end_is_stopped(site: Site, browser: Browser) -> None:
    async def more(exchange: Exchange, rest: str) -> None:
        await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    site.handle("/more/*", more)
    more_and_more = "let n = 0; setInterval(() => { for (let i = 0; i < 50; i++) fetch('/more/' + n++) }, 5)"
    site.html("/asks", f"<p>text<script>{more_and_more}</script>")
    answer = await render(browser, site.url("/asks"), timeout=60)
    assert isinstance(answer, RenderedPage)
    assert 0 < sum(path.startswith("/more/") for path in site.paths) <= MAX_REQUESTS
