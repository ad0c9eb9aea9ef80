"""How many clicks tasks take, counted in a real Chromium without a script, as `docs/reference/service-tasks.md` says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.store.served_crawls.schema import ServedCrawl
from tests.serve.web.crawl_harness import catalogue_crawl
from tests.serve.web.test_appearance import window
from tests.serve.web.web_harness import WebHarness

_ROW = re.compile(r"\| ([^|]+) \| [^|]+ \| (\d+)[^|]*\|")


class CountedPage:
    """A page on which every click, and every field that is filled, is counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def follow(self, *names: str) -> None:
        """Click links, one after the other."""
        for name in names:
            self.page.locator("body").get_by_role("link", name=name, exact=True).first.click()
            self.count += 1

    def press(self, name: str) -> None:
        self.page.locator("main").get_by_role("button", name=name, exact=True).first.click()
        self.count += 1

    def open(self, text: str) -> None:
        """Click what is folded."""
        self.page.locator("main").get_by_text(text).first.click()
        self.count += 1

    def fill(self, label: str, value: str) -> None:
        self.page.get_by_label(label).first.fill(value)
        self.count += 1

    def choose(self, label: str, position: int) -> None:
        self.page.get_by_label(label).first.select_option(index=position)
        self.count += 1

    def download(self, name: str) -> str:
        with self.page.expect_download() as download:
            self.follow(name)
        return download.value.path().read_text()

    @property
    def text(self) -> str:
        return self.page.locator("main").inner_text()


def see_what_to_fix_first(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue")
    return "Fix first" in page.text


def see_why_a_page_is_not_indexable(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue", "Pages")
    page.fill("Search", "item-3")
    page.press("Apply")
    return "Client error (4xx)" in page.text


def export_pages_without_a_description(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue", "Pages")
    page.open("Filters, order and columns")
    page.fill("Meta description", "=")
    page.press("Apply")
    return "/catalogue" in page.download("CSV")


def find_the_places_of_a_broken_link(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue", "Findings", "Affected pages · Broken internal link")
    page.open("11 places")
    return "“/nowhere” · link 2" in page.text


def open_an_earlier_run(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue")
    page.page.get_by_role("region", name="Run history").get_by_role("row").last.get_by_role("link").click()
    page.count += 1
    return "Results of the run of" in page.text


def compare_two_runs(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue", "Compare runs")
    page.choose("Before", 1)
    page.choose("After", 0)
    page.press("Compare")
    return "Page changes" in page.text


def hand_over_a_report(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue", "Share")
    page.fill("For whom", "Client")
    page.press("Create link")
    return "/shared?key=" in page.page.content()


def audit_every_monday(page: CountedPage) -> bool:
    page.follow("Crawls", "Catalogue", "Edit")
    page.choose("Day", 1)
    page.fill("Time of day", "03:00")
    page.fill("Time zone", "Asia/Tokyo")
    page.press("Save")
    return "mon 03:00 Asia/Tokyo" in page.text


def find_an_event_next_weekend(page: CountedPage) -> bool:
    page.follow("Next weekend")
    return "Events next weekend" in page.text


def find_free_events(page: CountedPage) -> bool:
    page.follow("Free")
    return "Free events" in page.text


def subscribe_to_a_city(page: CountedPage) -> bool:
    page.follow("Subscribe")
    page.fill("City", "盛岡市")
    page.press("Apply")
    link = page.page.get_by_role("link", name="Add to calendar app").first
    page.count += 1  # The click leaves the browser.
    return "webcal" in (link.get_attribute("href") or "")


def undo_a_merge(page: CountedPage) -> bool:
    page.follow("Review queue", "Merges")
    page.page.get_by_role("button", name="Undo merge of").first.click()
    page.count += 1
    return "undone" in page.text


CRAWL_TASKS: dict[str, Callable[[CountedPage], bool]] = {
    "See what to fix first on a site": see_what_to_fix_first,
    "See why a page is not indexable": see_why_a_page_is_not_indexable,
    "List the pages with a title but no description, and export them": export_pages_without_a_description,
    "Find every place that links to one broken page": find_the_places_of_a_broken_link,
    "Open the results of last week's run": open_an_earlier_run,
    "Compare any two runs of a site": compare_two_runs,
    "Hand a client a report": hand_over_a_report,
    "Have a site audited every Monday at 3": audit_every_monday,
}
CALENDAR_TASKS: dict[str, tuple[str, str, Callable[[CountedPage], bool]]] = {
    "Find an event next weekend": ("", "/", find_an_event_next_weekend),
    "Find free events": ("", "/", find_free_events),
    "Subscribe to the events of a city": ("", "/", subscribe_to_a_city),
    "Undo a merge": ("editor", "/manage", undo_a_merge),
}


@pytest.fixture(scope="module")
def audit(shop: WebHarness) -> ServedCrawl:
    return catalogue_crawl(shop)


@pytest.fixture(scope="module")
def documented() -> dict[str, int]:
    """The clicks of each task in the document."""
    text = (Path(__file__).parents[3] / "docs" / "reference" / "service-tasks.md").read_text("utf-8")
    return {task: int(count) for task, count in _ROW.findall(text)}


@pytest.mark.parametrize("task", CRAWL_TASKS)
def test_a_task_with_a_crawl_takes_the_clicks_that_are_documented(
    browser: Browser, shop: WebHarness, audit: ServedCrawl, documented: dict[str, int], task: str
) -> None:
    assert audit.name == "Catalogue"
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url("/manage"))
        counted = CountedPage(page)
        assert CRAWL_TASKS[task](counted), counted.text
        assert counted.count == documented[task]
    assert wrong == []


@pytest.mark.parametrize("task", CALENDAR_TASKS)
def test_a_task_with_the_calendar_takes_the_clicks_that_are_documented(
    browser: Browser, web_harness: WebHarness, documented: dict[str, int], task: str
) -> None:
    role, start, do = CALENDAR_TASKS[task]
    if role:
        web_harness.store.merges.merge(web_harness.event_id("第20回"), web_harness.event_id("第21回"), EventMatcher(), "source 1")
    with window(browser, web_harness, role=role, locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(web_harness.url(start))
        counted = CountedPage(page)
        assert do(counted), counted.text
        assert counted.count == documented[task]
    assert wrong == []
