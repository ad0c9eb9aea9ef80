"""What a team does with a crawl all day, in a real Chromium: its runs, its tables, its findings, and what it hands to others."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page

from tadoru.serve.crawl_runner import control
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tests.serve.web.crawl_harness import catalogue_crawl, finished, until
from tests.serve.web.test_appearance import window
from tests.serve.web.web_harness import BY, WebHarness


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
    """A catalogue that was crawled before and after it got worse."""
    return catalogue_crawl(shop)


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
        assert "“/nowhere” · link 2" in target.inner_text()
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


def test_one_place_of_a_finding_is_ignored_where_it_is_listed(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}/findings/title-too-short"))
        pages = page.get_by_role("region", name="Affected pages")
        name = "/shop/item-11"
        pages.get_by_role("link", name=f"Ignore · {name}").click()
        assert page.get_by_label("Only this URL").input_value().endswith(name)
        page.get_by_label("Reason").fill("the name of the item")
        page.get_by_role("button", name="Ignore", exact=True).click()
        assert name not in pages.inner_text().split()
        assert name in page.get_by_role("region", name="Ignored").inner_text()
        page.get_by_role("button", name="Reopen").click()
        assert name in pages.inner_text().split()
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


def test_a_segment_is_defined_once_and_filters_findings_and_tables(
    browser: Browser, shop: WebHarness, audit: ServedCrawl
) -> None:
    path = shop.url(f"/manage/crawls/{audit.id}")
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(path)
        page.get_by_text("Define segments").click()
        page.get_by_label("Name", exact=True).fill("Second dozen")
        page.get_by_label("Paths").fill("/shop/item-1* /catalogue")
        page.get_by_role("button", name="Save segment").click()
        assert "Segment saved." in text(page)
        row = page.get_by_role("region", name="Segments").get_by_role("row").filter(has_text="Second dozen")
        assert row.get_by_role("cell").first.inner_text() == "4", "item-1, item-10, item-11 and the catalogue"
        row.get_by_role("link", name="Second dozen").click()
        assert page.locator("#total").inner_text() == "4 rows"
        page.goto(f"{path}/findings")
        page.get_by_label("Segment").select_option("Second dozen")
        page.get_by_role("button", name="Apply").click()
        found = page.get_by_role("row").filter(has=page.get_by_text("Broken internal link"))
        assert found.get_by_role("cell").nth(2).inner_text() == "4"
        page.goto(f"{path}/links?segment=Second+dozen&which=broken")
        assert page.locator("#total").inner_text() == "5 rows", "three links to /nowhere, one to /loop, one to item-3"
        page.goto(path)
        page.get_by_text("Define segments").click()
        page.get_by_role("button", name="Remove · Second dozen").click()
        assert "/shop/" in page.get_by_role("region", name="Segments").inner_text(), "folders again"
    assert wrong == []


def test_each_place_of_a_finding_is_new_or_known(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    path = shop.url(f"/manage/crawls/{audit.id}")
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(f"{path}/findings?state=new&sort=severity")
        page.get_by_role("link", name="Affected pages · Broken internal link").click()
        causes = page.get_by_role("region", name="Causes")
        missing = causes.get_by_role("row").filter(has=page.get_by_role("link", name="/shop/item-3", exact=True))
        assert "new" in missing.inner_text().split()
        known = causes.get_by_role("row").filter(has=page.get_by_role("link", name="/nowhere", exact=True))
        assert "new" not in known.inner_text().split()
        pages = page.get_by_role("region", name="Affected pages")
        assert "new" not in pages.inner_text().split(), "each of these pages had a broken link before"
        page.goto(f"{path}/findings/response-client-error")
        pages = page.get_by_role("region", name="Affected pages")
        now = pages.get_by_role("row").filter(has=page.get_by_role("link", name="/shop/item-3", exact=True))
        assert "new" in now.inner_text().split()
        now.get_by_role("link", name="/shop/item-3", exact=True).click()
        assert "Newly broken" in page.get_by_role("region", name="Change since previous run").inner_text()
        assert "The catalogue" not in text(page)
        assert page.get_by_role("region", name="Links to this page").get_by_role("link", name="/catalogue").count() == 1
        assert "link 5" in page.get_by_role("region", name="Links to this page").inner_text()
    assert wrong == []


def test_a_page_says_why_it_is_not_indexable_and_what_it_uses(browser: Browser, shop: WebHarness) -> None:
    head = '<title>Hidden</title><meta name="robots" content="noindex, follow"><link rel="stylesheet" href="/shop.css">'
    shop.site.html(
        "/hidden", f'<html lang="en"><head>{head}</head><body><h1>Hidden</h1><a href="/hidden">Itself</a></body></html>'
    )
    crawl = shop.store.crawls.add("Hidden", "audit", [shop.site.url("/hidden")], {"delay": 0.0, "resources": 0}, BY)
    finished(shop, crawl.id)
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{crawl.id}/pages"))
        page.get_by_role("link", name="/hidden", exact=True).click()
        facts = page.get_by_role("region", name="Page details").inner_text()
        assert "not indexable · noindex · Meta robots: noindex, follow" in facts
        assert "Hidden (6 characters," in facts
        assert "/shop.css" in page.get_by_role("region", name="Resources").inner_text()
        assert "No inlinks." in text(page), "a link of a page to itself is none"
    assert wrong == []


def test_the_score_says_that_it_counts_what_is_ignored(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}"))
        score = page.locator(".score b").inner_text()
        assert "still counts" not in text(page)
        assert "Broken internal link" in page.get_by_role("region", name="Fix first").inner_text()
        shop.store.annotations.ignore(audit.id, BY, check_id="link-broken", subject="", reason="known")
        page.reload()
        assert "The score still counts 1 ignored check" in text(page)
        assert page.locator(".score b").inner_text() == score
        assert "Broken internal link" not in page.get_by_role("region", name="Fix first").inner_text()
        page.get_by_role("link", name="Ignored findings").click()
        assert "known" in text(page)
    shop.store.annotations.unignore(audit.id, shop.store.annotations.ignored(audit.id)[-1].id, BY)
    assert wrong == []


def test_lists_and_figures_agree_and_links_can_be_exported(browser: Browser, shop: WebHarness, audit: ServedCrawl) -> None:
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{audit.id}"))
        tile = page.locator(".tile", has=page.get_by_role("link", name="pages", exact=True))
        pages = tile.locator("b").inner_text()
        tile.get_by_role("link").click()
        assert page.locator("#total").inner_text() == f"{pages} rows"
        page.get_by_role("link", name="Links", exact=True).click()
        total = int(page.locator("#total b").inner_text())
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV", exact=True).click()
        assert len(download.value.path().read_text().splitlines()) == total + 1
        page.get_by_role("link", name="Site structure").click()
        assert "each band between two rings is one click further away" in text(page)
    assert wrong == []
