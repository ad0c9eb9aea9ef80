"""What a team does with a crawl all day, in a real Chromium: its runs, its tables, its findings, and what it hands to others."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

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


@pytest.fixture(scope="module")
def audit(shop: WebHarness) -> ServedCrawl:
    """A shop with many links to one missing page and a redirect loop, crawled before and after it got worse."""
    site, names = shop.site, range(12)
    for name in names:
        site.page(f"/shop/item-{name}", title=f"Item {name} of the shop", links=["/catalogue", "/nowhere"])
    site.page("/catalogue", title="The catalogue", links=["/loop", *(f"/shop/item-{name}" for name in names)])
    site.redirect("/loop", "/pool")
    site.redirect("/pool", "/loop")
    quick = {"delay": 0.0, "resources": 0}
    crawl = shop.store.crawls.add("Catalogue", "audit", [site.url("/catalogue")], quick, BY)
    finished(shop, crawl.id)
    site.reply("/shop/item-3", status=404)
    control.run(shop.service, BY, crawl.id)
    return finished(shop, crawl.id)


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


def test_a_table_is_sorted_filtered_named_and_exported_without_a_script(
    browser: Browser, shop: WebHarness, audit: ServedCrawl
) -> None:
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages"))
        table = page.get_by_role("region", name="Pages").get_by_role("table")
        page.get_by_role("link", name="Inlinks").click()
        assert table.get_by_role("columnheader", name="Inlinks").get_attribute("aria-sort") == "descending"
        numbers = [int(one.replace(",", "")) for one in table.locator("td[data-name=Inlinks]").all_inner_texts() if one != "–"]
        assert numbers == sorted(numbers, reverse=True)
        page.get_by_role("link", name="Inlinks").click()
        assert table.get_by_role("columnheader", name="Inlinks").get_attribute("aria-sort") == "ascending"
        page.get_by_text("Filters, order and columns").click()
        page.get_by_role("textbox", name="Status code", exact=True).fill("400..499")
        page.get_by_role("checkbox", name="Word count").check()
        page.get_by_role("button", name="Apply").click()
        assert page.locator("#total").inner_text() == "2 rows"
        assert table.get_by_role("columnheader", name="Word count").count() == 1
        page.get_by_text("Saved views").click()
        page.get_by_label("Name of this view").fill("Client errors")
        page.get_by_role("button", name="Save view").click()
        assert "View saved." in text(page)
        page.reload()
        assert "View saved." not in text(page), "it is said once"
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages"))
        page.get_by_role("link", name="Client errors", exact=True).first.click()
        assert page.locator("#total").inner_text() == "2 rows"
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV", exact=True).click()
        lines = download.value.path().read_text().splitlines()
        assert lines[0].startswith("url,title,status_code")
        assert len(lines) == 3
        page.goto(shop.url(f"/manage/crawls/{audit.id}/pages?segment=/shop/"))
        assert page.locator("#total").inner_text() == "12 rows"
    assert wrong == []


def test_broken_links_are_one_row_for_each_target_with_its_places(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/findings"))
        row = page.get_by_role("row").filter(has=page.get_by_text("Broken internal link"))
        assert "high" in row.inner_text()
        row.get_by_role("link", name="Affected pages").click()
        causes = page.get_by_role("region", name="Causes")
        target = causes.get_by_role("row").filter(has=page.get_by_role("link", name="/nowhere", exact=True))
        assert "404" in target.inner_text()
        target.get_by_text("11 places").click()
        assert target.get_by_role("listitem").count() == 11
        assert "“/nowhere” · link 1" in target.inner_text()
        assert causes.get_by_role("link", name="/loop", exact=True).count() == 1, "a redirect loop is a broken target"
        page.goto(shop.url(f"/manage/crawls/{audit.id}/findings?state=fixed"))
        page.goto(shop.url(f"/manage/crawls/{audit.id}/links"))
        assert page.get_by_role("link", name="/loop", exact=True).count() >= 1
    assert wrong == []


def test_a_finding_is_ignored_with_a_reason_and_opened_again(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    path = shop.url(f"/manage/crawls/{audit.id}/findings")
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(f"{path}/title-too-short")
        page.get_by_text("Ignore this finding").click()
        page.get_by_label("Reason").fill("short on purpose")
        page.get_by_role("button", name="Ignore", exact=True).click()
        page.goto(path)
        assert "Title too short" not in text(page)
        page.goto(f"{path}?state=ignored")
        assert "short on purpose" in text(page)
        page.get_by_role("link", name="Affected pages · Title too short").click()
        page.get_by_role("button", name="Reopen").click()
        page.goto(path)
        assert "Title too short" in text(page)
    assert wrong == []


def test_somebody_without_an_account_sees_the_report_and_nothing_else(
    browser: Browser, shop: WebHarness, audit: ServedCrawl
) -> None:
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}"))
        page.get_by_role("link", name="Share", exact=True).click()
        page.get_by_label("For whom").fill("The client")
        page.get_by_role("button", name="Create link").click()
        link = page.locator("#share-link").inner_text()
        with window(browser, shop, locale="en", java_script_enabled=False) as (guest, faults):
            answer = guest.goto(link)
            assert answer is not None
            assert answer.headers["x-robots-tag"] == "noindex, nofollow"
            assert "Health score" in text(guest)
            assert "new since the previous run" in text(guest)
            hosts = {one.get_attribute("href") for one in guest.locator("main a").all()}
            assert all((one or "").startswith("/shared") for one in hosts), "no other page can be reached"
            guest.get_by_role("link", name="Open the full report").click()
            assert "Site audit report" in guest.locator("body").inner_text()
            denied = guest.goto(shop.url(f"/manage/crawls/{audit.id}"))
            assert denied is not None
            assert "/sign-in" in guest.url
            page.goto(shop.url(f"/manage/crawls/{audit.id}/share"))
            page.get_by_role("button", name="Revoke").first.click()
            assert "The link no longer works." in text(page)
            gone = guest.goto(link)
            assert gone is not None
            assert gone.status == 404
        assert [one.rpartition("status of ")[2] for one in faults] == ["404 (Not Found)"]
    assert wrong == []


def test_a_crawl_is_scheduled_for_a_weekday_an_hour_and_a_time_zone(
    browser: Browser, shop: WebHarness, audit: ServedCrawl
) -> None:
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/edit"))
        page.get_by_label("Day", exact=True).select_option("mon")
        page.get_by_label("Time of day").fill("03:30")
        page.get_by_label("Time zone").fill("Europe/Berlin")
        page.get_by_role("button", name="Save").click()
        assert "mon 03:30 Europe/Berlin" in text(page)
    found = shop.store.crawls.get(audit.id)
    assert (found.schedule, found.every) == ("mon 03:30 Europe/Berlin", 604_800)
    assert found.next_at is not None
    assert found.next_at.astimezone(ZoneInfo("Europe/Berlin")).strftime("%a %H:%M") == "Mon 03:30"
    control.change(shop.service, BY, audit.id, repeats=False)
    assert wrong == []
