"""Documentation sites in a real Chromium: read, searched, compared, on a phone too; and a site of ill will does nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser

from tests.serve.docs_sites.docs_harness import BOOK, EVIL, fill
from tests.serve.web import axe
from tests.serve.web.conftest import browser
from tests.serve.web.test_appearance import PHONE, window
from tests.serve.web.web_harness import WebHarness, serving
from tests.support.programs import needs_browser, needs_node
from tests.support.site import Site

__all__ = ["browser"]
pytestmark = needs_browser


class DocsService(WebHarness):
    """A service with documentation sites."""

    numbers: dict[str, int]

    def page(self, path: str, more: str = "") -> str:
        return f"/manage/docs/{BOOK}/pages/{self.numbers[path]}{more}"

    def every(self) -> list[str]:
        return [
            "/manage/docs", "/manage/docs?q=kettle", f"/manage/docs/{BOOK}", f"/manage/docs/{BOOK}/changes", self.page("/rich"),
            self.page("/part-3", "/diff"), f"/manage/docs/{EVIL}/pages/1",
        ]  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocsService]:
    with Site() as site, serving(tmp_path_factory.mktemp("library"), site, "en") as web_harness:
        made = DocsService(web_harness.site, web_harness.store, web_harness.service, web_harness.address)
        # In another thread than the browser's, which has a loop of its own.
        with ThreadPoolExecutor(1) as threads:
            _, made.numbers = threads.submit(fill, web_harness.service).result()
        yield made


def test_a_site_is_browsed_searched_and_compared(browser: Browser, library: DocsService) -> None:
    with window(browser, library, role="editor", locale="en") as (page, wrong):
        page.goto(library.url("/manage"))
        page.get_by_role("link", name="Docs sites").click()
        page.get_by_role("link", name="やかんの手引き").click()
        page.get_by_role("link", name="Everything & more").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Everything & more"
        page.get_by_role("navigation", name="On this page").get_by_role("link", name="The grip").click()
        assert page.url.endswith("#at-grip")
        page.get_by_role("link", name="part one").click()
        assert page.url == library.url(library.page("/part-1", "#at-detail-1"))
        page.get_by_role("link", name="Next").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Part 3"
        page.get_by_role("link", name="Compare with previous version").click()
        assert page.locator("ins").first.inner_text().strip() == "three"
        page.get_by_role("link", name="やかんの手引き").click()
        page.get_by_role("searchbox").fill("whistle")
        page.keyboard.press("Enter")
        assert page.locator("mark").first.inner_text().lower() == "whistle"
        page.get_by_role("link", name="Whistle").click()
        page.get_by_role("banner").get_by_role("button", name="日本語").click()
        assert page.get_by_role("link", name="Markdownを表示").is_visible()
        assert page.get_by_role("link", name="Markdownを表示").get_attribute("href") == library.page("/whistle", "/markdown")
    assert wrong == []


def test_a_site_that_means_harm_does_nothing(browser: Browser, library: DocsService) -> None:
    with window(browser, library, role="admin", locale="en") as (page, wrong):
        for path in (f"/manage/docs/{EVIL}", f"/manage/docs/{EVIL}/pages/1", "/manage/docs?q=harm"):
            page.goto(library.url(path))
            assert "owned" not in page.title().partition("·")[2]
            assert page.title() != "owned"
            assert page.url == library.url(path)
            assert page.locator("main").is_visible()
        page.goto(library.url(f"/manage/docs/{EVIL}/pages/1"))
        for one in page.locator("article *").all():
            one.dispatch_event("mouseover")
            if one.evaluate("one => one.tagName") != "A":
                one.dispatch_event("click")
        assert page.title() != "owned"
        hrefs = page.locator("article a").evaluate_all("all => all.map(one => one.href).filter(Boolean)")
        assert [href for href in hrefs if not href.startswith(("https://", library.address))] == []
    assert wrong == []


@needs_node
def test_nothing_keeps_anybody_out_and_nothing_is_wider_than_a_phone(browser: Browser, library: DocsService) -> None:
    found: list[str] = []
    for options in ({"color_scheme": "light", "locale": "ja"}, {"color_scheme": "dark", "locale": "en", "viewport": PHONE}):
        with window(browser, library, role="editor", **options) as (page, wrong):
            for path in library.every():
                assert page.goto(library.url(path)).status == 200, path  # type: ignore[union-attr]
                found += [f"{path}: {one}" for one in axe.violations(page)]
                width = page.evaluate("document.documentElement.scrollWidth")
                if width > page.viewport_size["width"]:  # type: ignore[index]
                    found.append(f"{path} is {width} wide")
        assert wrong == []
    assert found == []


def test_the_keyboard_reaches_a_page_in_the_order_it_is_read(browser: Browser, library: DocsService) -> None:
    with window(browser, library, role="viewer", locale="en") as (page, _):
        page.goto(library.url(library.page("/rich")))
        page.locator("h1").evaluate("one => { one.tabIndex = -1; one.focus(); }")
        reached = []
        for _step in range(9):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("(document.activeElement.innerText || '').split('\\n')[0].trim()"))
    assert reached == [
        "Original page", "View Markdown", "On this page", "The lid", "The grip", "part one", "elsewhere", "part\tweight",
        "Image: A grip",
    ]  # fmt: skip
