"""Crawls in a real Chromium: start one and watch it, look through what it found, compare, on a phone, in both languages, by
keyboard, and with a site that tries to get its markup into our pages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tadoru.jobs.audit.crawl_results import downloads
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_files import crawl_path
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tests.serve.web import axe
from tests.serve.web.crawl_harness import crawled, finished, until, worsen
from tests.serve.web.screenshots import keep_picture
from tests.serve.web.test_appearance import PHONE, check_tab_order, window
from tests.serve.web.web_harness import BY, EVIL, WebHarness
from tests.support.programs import needs_node

PATIENCE = 60_000


@pytest.fixture(scope="module")
def audit(shop: WebHarness, tmp_path_factory: pytest.TempPathFactory) -> ServedCrawl:
    """A shop that was crawled, and again when it had grown worse; and a copy of it as it was."""
    first = crawled(shop, name=f"Shop {EVIL}")
    kept = tmp_path_factory.mktemp("elsewhere") / "before.db"
    kept.write_bytes(b"".join(downloads.back_up_crawl(crawl_path(shop.service, first)).chunks))
    shop.store.crawls.add("As it was", "audit", first.starts, {}, BY, place=str(kept), state=CrawlState.FINISHED)
    worsen(shop.site)
    control.run(shop.service, BY, first.id)
    return finished(shop, first.id)


@pytest.fixture(scope="module")
def others(shop: WebHarness, audit: ServedCrawl) -> list[ServedCrawl]:
    """A map of links that was made, and crawls in the other states."""
    states = (CrawlState.PAUSED, CrawlState.FAILED)
    start = ["https://x.example/"]
    resting = [shop.store.crawls.add(f"A {state} one", "docs", start, {}, BY, every=86400, state=state) for state in states]
    return [crawled(shop, "links", name="Link map"), *resting]


def paths_of(audit: ServedCrawl, others: list[ServedCrawl]) -> list[str]:
    """Every kind of page that crawls have."""
    one = f"/manage/crawls/{audit.id}"
    tabs = (
        "findings", "pages", "links", "redirects", "resources", "occurrences", "graph", "compare", "exports",
        "share", "edit", "remove",
    )  # fmt: skip
    more = ("findings/link-broken", "pages/1", "pages?q=nothing", "links?which=all", "findings?severity=error")
    links, paused, failed = (f"/manage/crawls/{other.id}" for other in others)
    return [
        "/manage", "/manage/crawls", "/manage/crawls/new", "/manage/crawls/new?job=docs", one, *(f"{one}/{tab}" for tab in tabs),
        *(f"{one}/{path}" for path in more), links, f"{links}/links", f"{links}/graph", paused, f"{paused}/pages", failed,
    ]  # fmt: skip


def text(page: Page) -> str:
    return page.locator("main").inner_text()


def test_somebody_starts_a_crawl_pauses_it_and_watches_it_finish(browser: Browser, shop: WebHarness) -> None:
    gate = shop.site.hold("/shoes")
    with window(browser, shop, role="editor", locale="en") as (page, wrong):
        page.set_default_timeout(PATIENCE)
        page.goto(shop.url("/manage"))
        page.get_by_role("navigation", name="Management").get_by_role("link", name="Crawls").click()
        page.get_by_role("link", name="New crawl").first.click()
        page.get_by_label("Start URLs").fill(shop.site.url("/"))
        page.get_by_label("Name").fill("Watched")
        page.get_by_text("Advanced").click()
        page.get_by_label("Concurrency").fill("1")
        page.get_by_label("Resources to check").fill("0")
        page.get_by_role("button", name="Start crawl").click()
        assert "Crawl added and queued." in text(page)
        # From here on nobody loads a page: what changes does so by itself.
        page.evaluate("document.body.dataset.same = 'yes'")
        expect(page.locator("[data-field=pages]").first).to_have_text("1", timeout=PATIENCE)
        expect(page.locator("#crawl-chip")).to_have_text("Running", timeout=PATIENCE)
        assert page.evaluate("document.body.dataset.same") == "yes", "progress is shown without loading the page again"

        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#crawl-chip")).to_have_text(re.compile("Pausing…|Paused"), timeout=PATIENCE)
        gate.release()
        expect(page.locator("#crawl-chip")).to_have_text("Paused", timeout=PATIENCE)
        page.get_by_role("button", name="Resume").click()
        expect(page.locator("#crawl-chip")).to_have_text("Finished", timeout=PATIENCE)
        expect(page.get_by_text("Health score").first).to_be_visible(timeout=PATIENCE)
        assert "Broken internal link" in text(page)
        assert page.locator("progress").count() == 0
    assert wrong == []
    crawl = shop.store.crawls.list(limit=1)[0]
    assert crawl.options["concurrency"] == 1
    assert [one.outcome for one in shop.store.crawls.runs(crawl.id)] == ["finished", "paused"]


def test_from_a_finding_to_the_page_that_links_there(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url("/manage/crawls"))
        page.get_by_role("link", name="Shop <img").click()
        page.get_by_role("link", name="Client error (4xx)").click()
        assert "Why it matters" in text(page)
        assert "How to fix it" in text(page)
        page.get_by_role("link", name="/shoes/red").click()
        facts = page.get_by_role("region", name="Findings on this page")
        assert "Client error (4xx)" in facts.inner_text()
        to_it = page.get_by_role("region", name="Links to this page")
        to_it.get_by_role("link", name="/shoes", exact=True).click()
        assert page.get_by_role("heading", level=2, name=shop.site.url("/shoes")).is_visible()
        from_it = page.get_by_role("region", name="Links on this page")
        row = from_it.get_by_role("row").filter(has=page.get_by_role("link", name="/shoes/red"))
        assert "404" in row.inner_text()
    assert wrong == []


def test_a_redirect_shows_its_steps_and_a_page_its_headers(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, _):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages?answer=3xx"))
        page.get_by_role("link", name="/old").click()
        assert "/hats" in page.get_by_role("region", name="Redirects").inner_text()
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages/1"))
        page.get_by_text("Response headers").click()
        assert "<script>document.title=2</script>" in text(page)
        page.get_by_text("Structured data (1)").click()
        assert "</b><img src=x>" in text(page)


def test_what_got_worse_is_on_the_overview_and_leads_to_the_comparison(
    browser: Browser, shop: WebHarness, audit: ServedCrawl
) -> None:
    with window(browser, shop, role="viewer", locale="en") as (page, wrong):
        page.goto(shop.url("/manage"))
        page.get_by_role("region", name="Crawls").get_by_role("link", name="Shop <img").last.click()
        changes = page.get_by_role("region", name="Page changes")
        assert "Newly broken" in changes.inner_text()
        assert "/shoes/red" in changes.inner_text(), "what broke is not folded away"
        findings = page.get_by_role("region", name="Finding changes")
        assert "Client error (4xx)" in findings.inner_text()
        page.goto(shop.url(f"/manage/crawls/{audit.id}"))
        runs = page.get_by_role("region", name="Run history")
        assert "Regressed" in runs.inner_text()
        assert "1 page broke." in runs.inner_text()
        assert page.get_by_role("region", name="Trends").get_by_role("img").count() >= 3
    assert wrong == []


def test_two_crawls_are_compared(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, _):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/compare"))
        choice = page.get_by_label("Before").first.locator("option").filter(has_text="As it was").get_attribute("value") or ""
        page.get_by_role("combobox", name="Before").select_option(choice)
        page.get_by_role("button", name="Compare").click()
        assert "As it was" in page.get_by_role("region", name="Before").inner_text()
        assert "/shoes/red" in page.get_by_role("region", name="Page changes").inner_text()
        page.goto(shop.url(f"/manage/crawls/{choice.removeprefix('crawl-')}/compare"))
        assert "the crawl has run only once" in text(page)


def test_what_the_site_wrote_is_shown_as_it_is(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="admin", locale="en") as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages/1"))
        assert text(page).count(EVIL) >= 8, "in the title, the description, the heading, and the words of links"
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages?q={EVIL}"))
        assert page.locator("input[type=search][name=q]").input_value() == EVIL
        assert text(page).count(EVIL) >= 1
        page.goto(shop.url(f"/manage/crawls/{audit.id}/links?which=all&q={EVIL}"))
        assert page.locator("input[type=search][name=q]").input_value() == EVIL
        assert page.title() not in ("1", "2")
    assert wrong == []


@needs_node
@pytest.mark.parametrize("scheme,lang,size", [("light", "en", {"width": 1200, "height": 900}), ("dark", "ja", PHONE)])
def test_nothing_keeps_anybody_out_and_no_page_is_too_wide_or_shows_markup_of_the_site(
    browser: Browser,
    shop: WebHarness,
    audit: ServedCrawl,
    others: list[ServedCrawl],
    scheme: str,
    lang: str,
    size: dict[str, int],
) -> None:
    small = """() => [...document.querySelectorAll('main :is(button, .button, select, textarea, .tick, summary, nav a, '
        + 'input:not([type=hidden], [type=checkbox]))')]
        .filter(one => one.offsetParent !== null && one.getBoundingClientRect().height < 24)
        .map(one => one.outerHTML.slice(0, 80))"""
    found, wide = [], []
    with window(browser, shop, role="admin", color_scheme=scheme, locale=lang, viewport=size) as (page, wrong):
        for path in (one for one in paths_of(audit, others) if lang == "en" or "?" not in one):
            assert page.goto(shop.url(path)).status == 200, path  # type: ignore[union-attr]
            assert page.locator("html").get_attribute("lang") == lang
            if page.evaluate("document.documentElement.scrollWidth") > size["width"]:
                wide.append(path)
            found += [f"{path}: {one}" for one in (*axe.violations(page), *page.evaluate(small))]
            assert page.title() not in ("1", "2"), path
            assert page.locator("main :is(img, script), main b:text-is('shop'), a[href^='javascript']").count() == 0, path
            keep_picture(page, f"{lang}-{scheme}-{path}")
    assert (found, wide, wrong) == ([], [], [])


@pytest.mark.parametrize(
    "path", ["/manage/crawls/new", "/manage/crawls/{}", "/manage/crawls/{}/findings", "/manage/crawls/{}/pages"]
)
def test_the_keyboard_reaches_everything_in_order(browser: Browser, shop: WebHarness, audit: ServedCrawl, path: str) -> None:
    with window(browser, shop, role="editor") as (page, _):
        page.goto(shop.url(path.format(audit.id)))
        check_tab_order(page)


def test_a_crawl_is_started_with_nothing_but_a_keyboard(browser: Browser, shop: WebHarness) -> None:
    with window(browser, shop, role="editor", locale="ja", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url("/manage/crawls/new?job=links"))
        page.locator("#f-starts").focus()
        page.keyboard.type(shop.site.url("/nowhere"))
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert "クロールを追加しました" in text(page)
        crawl = shop.store.crawls.list(limit=1)[0]
        assert (crawl.job, crawl.starts) == ("links", (shop.site.url("/nowhere"),))
        until(shop, crawl.id, lambda one: not one.is_busy)
        page.get_by_role("link", name="再読み込み").click()
        assert page.locator("progress").count() == 0
    assert wrong == []
