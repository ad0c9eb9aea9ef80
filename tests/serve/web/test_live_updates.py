"""Pages that are open follow what happens, in a real Chromium: without a reload, without a word in the console, and again after
the service was away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.serve.web.web_harness import EVIL, WebHarness, ics, opened, serving, vevent
from tests.support.site import Site

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    """A service without sources; each test adds its own."""
    with opened(tmp_path_factory.mktemp("live"), filled=False, lang="en") as web_harness:
        yield web_harness


@contextmanager
def window(browser: Browser, web_harness: WebHarness, *, role: str = "editor") -> Iterator[tuple[Page, list[str]]]:
    """A window of somebody who is signed in, and what its console says."""
    context = browser.new_context(locale="en")
    context.add_cookies([{"name": "tadoru", "value": web_harness.cookie(role), "url": web_harness.address}])
    context.set_default_timeout(20_000)
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page, wrong
    context.close()


def is_greeting(frame: str | bytes) -> bool:
    return "subscribed" in str(frame)


@contextmanager
def listening(page: Page) -> Iterator[None]:
    """Go on when the page that is opened here listens: it may be greeted before it is there."""
    heard: list[str | bytes] = []

    def hear(frame: str | bytes) -> None:
        heard.append(frame)

    def met(socket: WebSocket) -> bool:
        socket.on("framereceived", hear)
        return True

    with page.expect_websocket(met) as found:
        yield
    if not any(map(is_greeting, heard)):
        found.value.wait_for_event("framereceived", is_greeting)
    page.evaluate("window.mark = 1")  # Gone when the page is loaded anew.


def opened_and_listening(page: Page, address: str) -> None:
    """Open a page, and go on when it listens."""
    with listening(page):
        page.goto(address)


def calendar(web_harness: WebHarness, path: str, *titles: str) -> int:
    events = [vevent(title, title, f"2026090{n}T100000") for n, title in enumerate(titles, 1)]
    web_harness.site.reply(path, body=ics(*events), content_type="text/calendar; charset=utf-8")
    return web_harness.add_source(name=f"Calendar {path}", url=web_harness.site.url(path))


def test_a_source_that_is_collected_from_its_page_shows_the_result_by_itself(browser: Browser, town: WebHarness) -> None:
    source = calendar(town, "/held.ics", "One", "Two")
    gate = town.site.hold("/held.ics")
    with window(browser, town) as (page, wrong), ExitStack() as stack:
        stack.callback(gate.release)
        opened_and_listening(page, town.url(f"/manage/sources/{source}"))
        with listening(page):
            page.get_by_role("button", name="Run now").click()
        expect(page.locator("#source-runs .chip").first).to_have_text("Running")
        expect(page.locator("#source-now")).to_be_visible()
        gate.release()
        expect(page.locator("#source-runs .chip.good")).to_have_count(1)
        expect(page.locator("#source-head .chip")).to_have_text("Healthy")
        expect(page.locator("#source-now")).to_be_hidden()
        expect(page.locator("p.unseen[role=status]")).to_have_text("Calendar /held.ics is healthy.")
        assert page.evaluate("window.mark") == 1
        assert wrong == []


def test_the_overview_and_the_lists_follow_what_others_do(browser: Browser, town: WebHarness) -> None:
    good = calendar(town, "/new.ics", "Three", "Four", "Five")
    bad = town.add_source(name="Gone", url=town.site.url("/gone.rss"), type="rss")
    with window(browser, town, role="viewer") as (page, wrong), ExitStack() as stack:
        others = [stack.enter_context(window(browser, town, role="viewer")) for _ in range(2)]
        opened_and_listening(page, town.url("/manage"))
        opened_and_listening(others[0][0], town.url("/manage/sources"))
        opened_and_listening(others[1][0], town.url("/manage/runs"))
        before = int(page.locator("#tiles .tile b").first.inner_text())
        town.collect(good, bad)
        expect(page.locator("#tiles .tile b").first).to_have_text(str(before + 3))
        expect(page.locator("#in-trouble")).to_contain_text("Gone")
        expect(page.locator("#latest-runs li").first).to_be_visible()
        expect(others[0][0].locator("#sources .chip.bad")).to_have_count(1)
        expect(others[1][0].locator("#all-runs tbody tr")).to_have_count(len(town.store.runs.list()))
        for one, said in ((page, wrong), *others):
            assert one.evaluate("window.mark") == 1
            assert said == []


PLACES = """<section data-live="crawl/77" {more}><b data-field="pages">0</b><i data-field="rate">0</i><u data-field="state">x</u>
<progress data-field-value="pages" data-field-max="known"></progress><ul data-live-notices></ul></section>
<p data-live="crawl/78"><b data-field="pages">0</b></p>"""
PUT_IN = """new MutationObserver((_, me) => {{
  if (document.body) {{ me.disconnect(); document.body.insertAdjacentHTML("afterbegin", {text}); }}
}}).observe(document, {{childList: true, subtree: true}});"""


def follow(page: Page, web_harness: WebHarness, more: str = "") -> None:
    """A page that is about crawl 77 too."""
    page.add_init_script(PUT_IN.format(text=json.dumps(PLACES.format(more=more))))
    opened_and_listening(page, web_harness.url("/manage/merges?lang=ja"))


def tell(web_harness: WebHarness, kind: str, **body: object) -> None:
    web_harness.store.messages.publish(kind, "crawl/77", {"crawl_id": 77, **body})


def test_numbers_states_and_notices_of_a_crawl_are_shown_as_they_come(browser: Browser, town: WebHarness) -> None:
    with window(browser, town, role="viewer") as (page, wrong):
        follow(page, town)
        tell(town, "crawl.progress", pages=12345, errors=0, queued=5, known=20000, rate=3.14159, seconds=9)
        tell(town, "crawl.state", job="audit", name=EVIL, state="running")
        tell(town, "crawl.notice", level="warning", text=EVIL)
        place = page.locator("section")
        expect(place.locator("b")).to_have_text("12,345")
        expect(place.locator("i")).to_have_text("3.1")
        expect(place.locator("u")).to_have_text("実行中")
        expect(place.locator("li")).to_contain_text(EVIL)
        expect(page.locator("p.unseen")).to_have_text(f"「{EVIL}」を実行しています。")
        assert place.locator("progress").evaluate("one => [one.value, one.max]") == [12345, 20000]
        expect(page.locator("[data-live='crawl/78'] b")).to_have_text("0")
        assert page.locator("img").count() == 0
        assert wrong == []


def test_when_a_crawl_has_ended_its_page_is_loaded_anew_once(browser: Browser, town: WebHarness) -> None:
    loads = list[str]()
    with window(browser, town, role="viewer") as (page, wrong):
        follow(page, town, "data-live-reload")
        page.on("load", lambda: loads.append(page.url))
        with page.expect_event("load"):
            tell(town, "crawl.state", job="audit", name="Site", state="finished")
        page.wait_for_function("window.mark === undefined")
        tell(town, "crawl.progress", pages=3)
        expect(page.locator("section b")).to_have_text("3")  # It listens again, and is not loaded again for the same end.
        assert len(loads) == 1
        assert wrong == []


def test_a_page_in_the_background_does_not_listen_and_catches_up_afterwards(browser: Browser, town: WebHarness) -> None:
    with window(browser, town, role="viewer") as (page, wrong):
        with page.expect_websocket() as found:
            follow(page, town)
        with found.value.expect_event("close"):
            page.evaluate("""() => {
                Object.defineProperty(document, "hidden", {value: true, configurable: true});
                document.dispatchEvent(new Event("visibilitychange"));
            }""")
        tell(town, "crawl.progress", pages=7)
        page.evaluate("""() => {
            Object.defineProperty(document, "hidden", {value: false, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""")
        expect(page.locator("section b")).to_have_text("7")
        assert wrong == []


def test_a_page_goes_on_when_the_service_was_away(browser: Browser, tmp_path: Path) -> None:
    with Site() as site:
        with serving(tmp_path, site, "en") as web_harness:
            stack = ExitStack()
            page, wrong = stack.enter_context(window(browser, web_harness, role="viewer"))
            follow(page, web_harness)
            port = int(web_harness.address.rpartition(":")[2])
        with stack, serving(tmp_path, site, "en", port=port) as web_harness:
            tell(web_harness, "crawl.progress", pages=8)
            expect(page.locator("section b")).to_have_text("8")
            assert page.evaluate("window.mark") == 1
            # That nobody answered is the browser's own word, and no script's.
            assert [one for one in wrong if "ERR_CONNECTION_REFUSED" not in one] == []
