"""Every page in every theme, size and language: accessible, light, of use without a script; and the main pages as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, Request

from tadoru.i18n.translation import LANGUAGES
from tadoru.store.served_crawls.schema import ServedCrawl
from tests.serve.web import axe
from tests.serve.web.crawl_harness import catalogue_crawl
from tests.serve.web.screenshots import keep_picture
from tests.serve.web.test_appearance import PHONE, desk_pages, public_pages, window
from tests.serve.web.web_harness import BY, WebHarness
from tests.support.programs import needs_node

MAX_BYTES, MAX_REQUESTS = 60 * 1024, 5
TABS = (
    "", "/findings", "/findings?sort=effect", "/findings/link-broken", "/findings/response-client-error", "/pages", "/pages/1",
    "/links", "/redirects", "/resources", "/occurrences", "/graph", "/compare", "/exports", "/share", "/edit", "/remove",
    "/pages?status_code=200..299&sort=inlinks",
)  # fmt: skip


@pytest.fixture(scope="module")
def audit(shop: WebHarness) -> ServedCrawl:
    return catalogue_crawl(shop)


def crawl_pages(shop: WebHarness, audit: ServedCrawl) -> list[str]:
    own, (run, *_) = f"/manage/crawls/{audit.id}", shop.store.crawls.runs(audit.id)
    of_run = [f"{own}/runs/{run.id}{tab}" for tab in ("", "/pages", "/findings")]
    return [*(f"{own}{tab}" for tab in TABS), *of_run, "/manage", "/manage/crawls", "/manage/crawls/new"]


def shared_pages(shop: WebHarness, audit: ServedCrawl) -> list[str]:
    key = shop.store.annotations.share(audit.id, BY, label="Client", days=7)
    return [f"/shared?key={key}"]


class LoadedPage:
    """A page that is loaded without a cache, and what it took."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[Request] = []
        page.on("request", self._note)
        page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})

    def _note(self, request: Request) -> None:
        self.requests.append(request)

    def load(self, url: str) -> Iterator[str]:
        """Open a page; what is wrong with its answer and its weight."""
        self.requests.clear()
        answer = self.page.goto(url, wait_until="load")
        if answer is None or answer.status != 200:
            yield f"status {answer.status if answer else None}"
        size = sum(one.sizes()["responseBodySize"] for one in self.requests if one.response() is not None)
        if size > MAX_BYTES or len(self.requests) > MAX_REQUESTS:
            yield f"{size:,} bytes in {len(self.requests)} requests"


@contextmanager
def loading(browser: Browser, harness: WebHarness, role: str, **options: object) -> Iterator[LoadedPage]:
    with window(browser, harness, role=role, **options) as (page, wrong):
        yield LoadedPage(page)
    assert wrong == []


@needs_node
@pytest.mark.parametrize("lang", ["en", "ja", "de"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_light_in_every_mode(
    browser: Browser, web_harness: WebHarness, shop: WebHarness, audit: ServedCrawl, scheme: str, lang: str
) -> None:
    found: list[str] = []
    managed = lang in LANGUAGES
    visits = [
        (web_harness, "", public_pages(web_harness)), (shop, "", shared_pages(shop, audit)),
        (web_harness, "admin", desk_pages(web_harness) if managed else []),
        (shop, "editor", crawl_pages(shop, audit) if managed else []),
    ]  # fmt: skip
    for harness, role, paths in visits:
        with loading(browser, harness, role, color_scheme=scheme, locale=lang) as loaded:
            for path in paths:
                found += [f"{path}: {one}" for one in loaded.load(harness.url(path))]
                for size in ({"width": 1280, "height": 900}, PHONE):
                    loaded.page.set_viewport_size(size)  # type: ignore[arg-type]
                    found += [f"{path} at {size['width']}: {one}" for one in axe.violations(loaded.page, every=True)]
                    if loaded.page.evaluate("document.documentElement.scrollWidth") > size["width"]:
                        found.append(f"{path}: wider than {size['width']}")
    assert found == []


USELESS = """() => [...document.querySelectorAll('button, a:not(.said a), [onclick]')]
    .filter(one => one.checkVisibility({visibilityProperty: true}) && !(one.matches('a') ? one.href
    : one.form && one.type === 'submit')).map(one => one.outerHTML.slice(0, 120))"""
CHECKED = "() => [...document.querySelectorAll('form')].filter(one => !one.action).map(one => one.outerHTML.slice(0, 120))"


def test_without_a_script_every_control_of_every_page_does_something(
    browser: Browser, web_harness: WebHarness, shop: WebHarness, audit: ServedCrawl
) -> None:
    visits = [
        (web_harness, "", public_pages(web_harness)), (web_harness, "admin", desk_pages(web_harness)),
        (shop, "", shared_pages(shop, audit)), (shop, "editor", crawl_pages(shop, audit)),
    ]  # fmt: skip
    found: list[str] = []
    for harness, role, paths in visits:
        with window(browser, harness, role=role, locale="en", java_script_enabled=False) as (page, wrong):
            for path in paths:
                answer = page.goto(harness.url(path))
                assert answer is not None
                assert answer.status == 200, path
                found += [f"{path}: {one}" for one in (*page.evaluate(USELESS), *page.evaluate(CHECKED))]
        assert wrong == []
    assert found == []


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_main_pages_fit_a_desk_and_a_phone(
    browser: Browser, web_harness: WebHarness, shop: WebHarness, audit: ServedCrawl, lang: str
) -> None:
    """With SCREENSHOTS, the folder that it names has a picture of each."""
    own = f"/manage/crawls/{audit.id}"
    town = {"list": "/", "month": "/month/2026-08", "event": f"/events/{web_harness.event_id('花火')}", "subscribe": "/subscribe"}
    desk = {"sources": "/manage/sources/1", "review": "/manage/reviews/2"}
    crawl = {"overview": own, "findings": f"{own}/findings", "pages": f"{own}/pages", "page": f"{own}/pages/1"}
    for harness, role, pages in ((web_harness, "", town), (web_harness, "admin", desk), (shop, "editor", crawl)):
        with window(browser, harness, role=role, locale=lang) as (page, wrong):
            for name, path in pages.items():
                for kind, size in (("desktop", {"width": 1280, "height": 900}), ("phone", PHONE)):
                    page.set_viewport_size(size)  # type: ignore[arg-type]
                    page.goto(harness.url(path))
                    keep_picture(page, f"main-{name}-{lang}-{kind}")
                    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path
                    assert page.get_by_role("heading", level=1).count() == 1, path
        assert wrong == []
