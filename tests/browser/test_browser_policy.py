"""How the browser behaves towards sites: each request is asked for once and waits for its turn, and what may not be is not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import trustme

from tadoru.clock import SystemClock
from tadoru.fetch.browser.browser import Browser
from tadoru.fetch.browser.proxy import Dialer, GuardedProxy
from tadoru.fetch.browser.request_filter import BrowserPolicy
from tadoru.fetch.guard import AddressGuard, DnsCache
from tadoru.model.web import FailureKind
from tadoru.rules.address import Exemptions
from tests.browser.pages import kind, render, rendered, shown
from tests.support.site import Site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def secure() -> AsyncIterator[Site]:
    """A site over TLS, with a certificate nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with Site(tls=context) as serving:
        yield serving


class RecordedPolicy:
    """What the browser asked of the crawl, and what the crawl says to it."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.turns: list[str] = []
        self.asked: list[str] = []
        self.refused: set[str] = set()
        self.turn: asyncio.Event | None = None

    async def before(self, host: str) -> None:
        self.turns.append(host)
        if self.turn is not None:
            await self.turn.wait()

    async def allow(self, url: str) -> bool:
        self.asked.append(url)
        return url not in self.refused


CRAWL = RecordedPolicy()


@pytest.fixture
def polite() -> RecordedPolicy:
    CRAWL.reset()
    return CRAWL


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(site: Site, elsewhere: Site, secure: Site) -> AsyncIterator[Browser]:
    running = Browser(
        user_agent="x",
        exemptions=Exemptions.for_urls([site.url(), elsewhere.url(), secure.url()]),
        policy=BrowserPolicy(wait_for_turn=CRAWL.before, may_request=CRAWL.allow),
        verify_tls=False,
    )
    yield running
    await running.close()


PAGE = "<p id=p></p>" + "".join(f"<script src=/{n}.js></script>" for n in range(4))


def serve(site: Site) -> list[str]:
    """A page with scripts, one of them after a redirect; the URLs it takes."""
    site.html("/page", PAGE)
    for number in range(3):
        site.reply(f"/{number}.js", body="p.append('x')", content_type="text/javascript")
    site.redirect("/3.js", "/last.js")
    site.reply("/last.js", body="p.append('x'); new Worker('/worker.js')", content_type="text/javascript")
    site.reply("/worker.js", body="fetch('/data.json').then(() => 0)", content_type="text/javascript")
    site.reply("/data.json", body="{}")
    return [site.url(path) for path in ("/page", *(f"/{n}.js" for n in range(4)), "/last.js", "/worker.js", "/data.json")]


@pytest.mark.parametrize("which", ["plain", "secure"])
async def test_every_request_is_asked_for_once_and_waits_for_one_turn(
    site: Site, secure: Site, browser: Browser, polite: RecordedPolicy, which: str
) -> None:
    place = site if which == "plain" else secure
    urls = serve(place)
    assert '<p id="p">xxxx</p>' in shown(await render(browser, place.url("/page")))
    assert sorted(polite.asked) == sorted(urls)
    assert polite.turns == [f"127.0.0.1:{place.port}"] * len(urls)
    assert sorted(place.url(path) for path in place.paths) == sorted(urls)


async def test_a_tunnel_that_no_request_was_asked_for_is_asked_for_itself(
    site: Site, elsewhere: Site, browser: Browser, polite: RecordedPolicy
) -> None:
    site.html("/socket", f"<script>new WebSocket('ws://127.0.0.1:{elsewhere.port}/ws')</script>")
    polite.refused = {f"https://127.0.0.1:{elsewhere.port}/"}
    rendered(await render(browser, site.url("/socket")))
    assert f"https://127.0.0.1:{elsewhere.port}/" in polite.asked
    assert elsewhere.connections == 0
    polite.refused = set()
    rendered(await render(browser, site.url("/socket")))
    assert elsewhere.paths == ["/ws"]
    assert polite.turns.count(f"127.0.0.1:{elsewhere.port}") == 1


async def test_waiting_for_a_turn_is_not_the_pages_time(site: Site, browser: Browser, polite: RecordedPolicy) -> None:
    polite.turn = asyncio.Event()
    site.html("/waits", "<p id=p></p><script src=/turn.js></script>")
    site.reply("/turn.js", body="p.textContent = 'came'", content_type="text/javascript")
    rendering = asyncio.create_task(render(browser, site.url("/waits"), timeout=2.0))
    await asyncio.wait([rendering], timeout=3.0)
    polite.turn.set()
    assert '<p id="p">came</p>' in shown(await rendering)


async def test_what_may_not_be_requested_is_not_and_is_told(
    site: Site, elsewhere: Site, browser: Browser, polite: RecordedPolicy
) -> None:
    site.html("/picky", f"<p>text</p><script src=/private.js></script><script src={elsewhere.url('/tracker.js')}></script>"
        f"<iframe src=http://localhost:{site.port}/frame></iframe>")  # fmt: skip
    polite.refused = {site.url("/private.js"), elsewhere.url("/tracker.js")}
    page = rendered(await render(browser, site.url("/picky")))
    assert set(page.refused_resources) == {*polite.refused, f"http://localhost:{site.port}/frame"}
    assert page.failed_resources == ()
    assert not {"/private.js", "/frame"} & set(site.paths)
    assert "/tracker.js" not in elsewhere.paths


async def test_a_page_that_leads_where_the_crawl_may_not_go(site: Site, browser: Browser, polite: RecordedPolicy) -> None:
    site.html("/leads", "<p>text</p><script>location.href = '/forbidden'</script>")
    site.redirect("/redirects", "/forbidden")
    polite.refused = {site.url("/forbidden")}
    stayed = rendered(await render(browser, site.url("/leads")))
    assert (stayed.url, stayed.refused_resources) == (site.url("/leads"), (site.url("/forbidden"),))
    assert b"<p>text</p>" in stayed.html
    assert kind(await render(browser, site.url("/redirects"))) == FailureKind.BAD_REDIRECT
    assert site.hits("/forbidden") == 0


async def test_a_fault_of_the_crawl_itself_is_not_taken_for_one_of_the_page(site: Site) -> None:
    async def breaks(_: str) -> None:
        raise RuntimeError("the store is gone")

    browser = Browser(user_agent="x", exemptions=Exemptions.for_urls([site.url()]), policy=BrowserPolicy(wait_for_turn=breaks))
    with pytest.raises(RuntimeError, match="the store is gone"):
        await render(browser, site.url("/"))
    await browser.close()


async def test_a_crawl_that_is_asked_to_stop_does_not_wait_for_a_turn_any_more(site: Site) -> None:
    async def interrupted(_: str) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()

    browser = Browser(
        user_agent="x", exemptions=Exemptions.for_urls([site.url()]), policy=BrowserPolicy(wait_for_turn=interrupted)
    )
    with pytest.raises(asyncio.CancelledError):
        await render(browser, site.url("/"))
    await browser.close()


async def test_certificates_are_checked_unless_it_is_told_not_to(secure: Site, browser: Browser, polite: RecordedPolicy) -> None:
    secure.html("/tls", "<p>text")
    strict = Browser(user_agent="x", exemptions=Exemptions.for_urls([secure.url()]))
    assert kind(await render(strict, secure.url("/tls"))) == FailureKind.TLS
    await strict.close()
    assert "<p>text" in shown(await render(browser, secure.url("/tls")))


async def test_with_the_persons_proxy_pages_come_through_it(site: Site, secure: Site) -> None:
    names = DnsCache(SystemClock())
    outer = GuardedProxy(Dialer(AddressGuard(Exemptions(allow_all=True)), names))
    await outer.start()
    through: list[str] = []

    async def seen(url: str) -> bool:
        through.append(url)
        return True

    outer_client = outer.add_client(seen)
    browser = Browser(
        user_agent="x",
        exemptions=Exemptions.for_urls([site.url(), secure.url()]),
        proxy=f"http://{outer_client.name}:{outer_client.password}@{outer.address}",
        verify_tls=False,
    )
    for place in (site, secure):
        place.html("/far", "<p>from afar")
        assert "<p>from afar" in shown(await render(browser, place.url("/far")))
    assert list(dict.fromkeys(through)) == [site.url("/far"), f"https://127.0.0.1:{secure.port}/"]
    await browser.close()
    await outer.close()
    await names.close()
