"""What a team does with a crawl all day, in a real Chromium: its runs, its tables, its findings, and what it hands to others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tadoru.serve.crawl_runner import control
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tests.serve.web.crawl_harness import finished, opened_shop, until
from tests.serve.web.test_appearance import window
from tests.serve.web.web_harness import BY, WebHarness


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    with opened_shop(tmp_path_factory.mktemp("shop")) as web_harness:
        yield web_harness


@pytest.fixture(scope="module")
def failed(shop: WebHarness) -> ServedCrawl:
    """An audit whose second run found no site."""
    quick = {"delay": 0.0, "retries": 0, "resources": 0}
    crawl = shop.store.crawls.add("Shop", "audit", [shop.site.url("/")], quick, BY)
    finished(shop, crawl.id)
    for path in ("/", "/shoes", "/hats", "/shoes/red", "/shoes/blue", "/old"):
        shop.site.misbehave(path, "drop")
    control.run(shop.service, BY, crawl.id)
    found = until(shop, crawl.id, lambda one: not one.is_busy)
    assert found.state is CrawlState.FAILED, found.error
    return found


def text(page: Page) -> str:
    return page.locator("main").inner_text()


def test_a_failed_run_does_not_hide_the_last_good_one(browser: Browser, shop: WebHarness, failed: ServedCrawl) -> None:
    good = shop.store.crawls.finished_runs([failed.id])[failed.id]
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url("/manage"))
        worse = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Shop", exact=True))
        assert "Failed" in worse.first.inner_text()
        worse.get_by_role("link", name="Shop", exact=True).first.click()
        assert "The latest run failed. These are the results of the run of" in text(page)
        assert "Health score" in text(page)
        tile = page.locator(".tile", has=page.get_by_role("link", name="pages", exact=True))
        assert tile.locator("b").inner_text() == str(int(good.figures["pages"]))
        page.get_by_role("link", name="Open the latest run").click()
        assert "Results of the run of" in text(page)
        assert "Health score" not in page.locator(".score").all_inner_texts()
        page.get_by_role("link", name="Latest results").click()
        history = page.get_by_role("region", name="Run history")
        assert history.get_by_role("row").count() == 3
        history.get_by_role("link", name="Compare runs").click()
        page.get_by_label("Before").select_option(f"run-{good.id}")
        page.get_by_label("After").select_option(f"run-{good.id + 1}")
        page.get_by_role("button", name="Compare").click()
        assert "Page changes" in text(page)
    assert wrong == []
