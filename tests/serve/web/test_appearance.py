"""Every page in a real Chromium: accessible, without a script or a request that is not ours, and no wider than a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tadoru.i18n.translation import LANGUAGES
from tests.serve.web import axe
from tests.serve.web.screenshots import keep_picture
from tests.serve.web.web_harness import BY, EVIL, LEFT_EARLY, WebHarness
from tests.support.programs import needs_node

PHONE: ViewportSize = {"width": 360, "height": 740}


def public_pages(web_harness: WebHarness) -> list[str]:
    event = web_harness.event_id("花火")
    return [
        "/", "/?city=盛岡市&q=ヨガ", "/search?q=花火", "/search", "/month/2026-08", "/day/2026-08-11", f"/events/{event}",
        f"/events/{web_harness.event_id('Concert')}", "/subscribe?city=盛岡", "/about", "/sign-in",
    ]  # fmt: skip


def desk_pages(web_harness: WebHarness) -> list[str]:
    event = web_harness.event_id("花火")
    return [
        "/manage", "/manage/sources", "/manage/sources/1", "/manage/sources/3", "/manage/sources/new", "/manage/sources/1/edit",
        "/manage/reviews", "/manage/reviews?which=answered", "/manage/reviews/1", "/manage/reviews/2", "/manage/merges",
        "/manage/runs", "/manage/runs/1", "/manage/runs/3", "/manage/events", "/manage/events?status=quarantine",
        f"/manage/events/{event}", "/manage/events/new", "/manage/events/48", "/manage/users", "/manage/keys", "/manage/log",
    ]  # fmt: skip


@contextmanager
def window(browser: Browser, web_harness: WebHarness, *, role: str = "", **options: object) -> Iterator[tuple[Page, list[str]]]:
    """A window, and what goes wrong in it: whatever the console says, and every request that leaves the service."""
    context = browser.new_context(**options)  # type: ignore[arg-type]
    if role:
        context.add_cookies([{"name": "tadoru", "value": web_harness.cookie(role), "url": web_harness.address}])
    context.set_default_timeout(10_000)
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: None if LEFT_EARLY in message.text else wrong.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    page.on("dialog", lambda dialog: wrong.append(f"{page.url}: {dialog.message}"))
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith(web_harness.address) else None)
    yield page, wrong
    context.close()


SMALL = """() => [...document.querySelectorAll('button, .button, select, textarea, .tick, summary, nav a, .month .date, '
    + 'input:not([type=hidden], [type=radio], [type=checkbox])')]
    .filter(one => one.offsetParent !== null && one.getBoundingClientRect().height < 24)
    .map(one => one.outerHTML.slice(0, 80))"""


def on_a_phone(page: Page, name: str) -> Iterator[str]:
    """What somebody with a phone would stumble over: a page that is too wide, something to press that is too small."""
    usual = page.viewport_size
    assert usual is not None
    page.set_viewport_size(PHONE)
    keep_picture(page, name)
    if (width := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
        yield f"{width} pixels wide"
    yield from page.evaluate(SMALL)
    yield from axe.violations(page)
    page.set_viewport_size(usual)


@needs_node
@pytest.mark.parametrize("scheme,lang", [("light", "ja"), ("dark", "en"), ("light", "de")])
def test_nothing_keeps_anybody_out_of_a_page_nor_makes_it_hard_on_a_phone(
    browser: Browser, web_harness: WebHarness, scheme: str, lang: str
) -> None:
    web_harness.store.keys.add(f"for {scheme}", ("events:read",), BY)
    found: list[str] = []
    managed = desk_pages(web_harness) if lang in LANGUAGES else []
    for role, paths in (("", public_pages(web_harness)), ("admin", managed)):
        with window(browser, web_harness, role=role, color_scheme=scheme, locale=lang) as (page, wrong):
            for path in paths:
                assert page.goto(web_harness.url(path)).status == 200, path  # type: ignore[union-attr]
                assert page.locator("html").get_attribute("lang") == lang
                keep_picture(page, f"{lang}-{scheme}-{path}")
                found += [f"{path}: {one}" for one in (*axe.violations(page), *on_a_phone(page, f"{lang}-phone-{path}"))]
        assert wrong == []
    assert found == []


def check_tab_order(page: Page) -> None:
    """The tab key reaches everything that can be used, in the order of the page."""
    count = page.evaluate("""() => {
        const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
            .filter(one => one.checkVisibility({visibilityProperty: true}) && (one.type !== 'radio' || one.checked));
        all.forEach((one, place) => one.dataset.place = place);
        return all.length; }""")
    reached = []
    for _step in range(count):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.dataset.place"))
    assert reached == [str(place) for place in range(count)]


@pytest.mark.parametrize("path", ["/", "/month/2026-08", "/manage/sources/1", "/manage/reviews/2", "/manage/events/new"])
def test_the_keyboard_reaches_everything_in_order(browser: Browser, web_harness: WebHarness, path: str) -> None:
    with window(browser, web_harness, role="editor") as (page, _):
        page.goto(web_harness.url(path))
        check_tab_order(page)


def test_the_first_tab_offers_to_skip_to_the_content(browser: Browser, web_harness: WebHarness) -> None:
    with window(browser, web_harness) as (page, _):
        page.goto(web_harness.url("/"))
        page.keyboard.press("Tab")
        assert page.locator(".skip").bounding_box()["y"] >= 0  # type: ignore[index]
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_what_a_stranger_wrote_is_text_and_never_runs(browser: Browser, web_harness: WebHarness) -> None:
    web_harness.store.sources.add({"name": f"Source {EVIL}", "type": "ics", "url": "https://x.example/", "notes": EVIL}, EVIL)
    last = web_harness.store.sources.list()[-1].id
    pages = [
        f"/events/{web_harness.event_id('花火')}",
        "/",
        "/month/2026-08",
        "/about",
        "/manage/sources",
        f"/manage/sources/{last}",
    ]
    with window(browser, web_harness, role="admin") as (page, wrong):
        for path in pages:
            page.goto(web_harness.url(path))
            assert page.title() not in ("1", "2")
            assert page.locator("main img, main script, a[href^='javascript']").count() == 0
        page.goto(web_harness.url(f"/?q=<script>alert(1)</script>&city={EVIL}"))
        assert page.locator("main input[name=city]").input_value() == EVIL
    assert wrong == []


def test_somebody_switches_the_language_and_it_stays(browser: Browser, web_harness: WebHarness) -> None:
    with window(browser, web_harness, locale="ja") as (page, wrong):
        page.goto(web_harness.url("/month/2026-08?city=盛岡市"))
        assert page.locator("html").get_attribute("lang") == "ja"
        page.get_by_role("button", name="English").click()
        assert page.get_by_role("heading", level=1).inner_text() == "August 2026"
        assert page.locator("main input[name=city]").input_value() == "盛岡市"
        page.get_by_role("link", name="Subscribe").first.click()
        assert page.get_by_role("heading", level=1).inner_text() == "Subscribe to the calendar"
    assert wrong == []


def test_the_month_is_a_table_with_days_and_titles(browser: Browser, web_harness: WebHarness) -> None:
    with window(browser, web_harness, locale="en") as (page, _):
        page.goto(web_harness.url("/month/2026-08"))
        cells = page.get_by_role("table").get_by_role("cell")
        assert cells.count() == 6 * 7
        cell = cells.filter(has=page.get_by_role("link", name="Tue, 11 Aug 2026"))
        assert "盛岡花火の祭典" in cell.inner_text()
        page.get_by_role("link", name="Tue, 11 Aug 2026").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Tue, 11 Aug 2026"
        assert page.get_by_role("heading", name="Ongoing").is_visible()
