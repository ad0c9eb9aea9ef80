"""What people come for, from the first click to the last, in a real Chromium without any script: sign in, add a source, try and
run it, see its events, answer a question and take the answer back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.serve.web.web_harness import BY, LEFT_EARLY, PASSWORD, WebHarness, opened


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    """A town whose service knows nothing yet."""
    with opened(tmp_path_factory.mktemp("empty"), filled=False, lang="en") as town:
        yield town


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window without scripts, that fails the test when something goes wrong in it."""
    context = browser.new_context(java_script_enabled=False, locale="en")
    context.set_default_timeout(10_000)
    page, wrong = context.new_page(), list[str]()
    # A form that is shown again because of what was typed is no failure, nor is a page that is left early.
    fine = ("status of 400", LEFT_EARLY)
    page.on(
        "console",
        lambda message: None if any(one in message.text for one in fine) else wrong.append(f"{page.url}: {message.text}"),
    )
    yield page
    context.close()
    assert wrong == []


def sign_in(page: Page, web_harness: WebHarness, role: str) -> None:
    if web_harness.store.users.get(role) is None:
        web_harness.store.users.add(role, role, BY, password=PASSWORD)
    page.goto(web_harness.url("/manage"))
    page.get_by_label("Username").fill(role)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    assert page.url == web_harness.url("/manage")


def test_from_an_empty_service_to_a_calendar(page: Page, empty: WebHarness, tmp_path: Path) -> None:
    sign_in(page, empty, "editor")
    page.get_by_role("link", name="Sources").first.click()
    page.get_by_role("link", name="Add source").click()
    page.get_by_label("Name").fill("The town")
    page.get_by_label("Type").select_option("ics")
    page.get_by_label("URL", exact=True).fill(empty.site.url("/town.ics"))
    page.get_by_label("City").fill("盛岡市")
    page.get_by_label("Licence").fill("CC BY 4.0")
    page.get_by_role("button", name="Save and test").click()
    assert "Events: 47. Incomplete items: 1." in page.locator("main").inner_text()
    assert empty.store.statistics.totals().rows == 0

    page.goto(empty.url("/manage/sources/1"))
    page.get_by_role("button", name="Run now").click()
    assert "Run started." in page.locator("main").inner_text()
    assert empty.service.collecting is not None
    empty.service.collecting.wait()
    page.goto(empty.url("/manage/runs"))
    page.get_by_role("link", name="Run 1").click()
    assert '"status": "success"' in page.locator("main").inner_text()

    page.get_by_role("navigation", name="Calendar").get_by_role("link", name="Events", exact=True).click()
    assert page.get_by_role("link", name="神子田朝市").is_visible()
    page.get_by_role("link", name="Month", exact=True).click()
    page.get_by_role("link", name="Tue, 11 Aug 2026").click()
    page.get_by_role("link", name="盛岡花火の祭典").click()
    text = page.locator("main").inner_text()
    assert "Tue, 11 Aug 2026 19:00–20:30" in text
    assert "CC BY 4.0" in text
    with page.expect_download() as download:
        page.get_by_role("link", name="Add to calendar").click()
    download.value.save_as(tmp_path / "event.ics")
    assert "DTSTART;TZID=Asia/Tokyo:20260811T190000" in (tmp_path / "event.ics").read_text("utf-8")
    page.get_by_role("button", name="Sign out").click()
    assert "Signed out." in page.locator("main").inner_text()
    page.goto(empty.url("/manage/sources"))
    assert page.url.startswith(empty.url("/sign-in"))


def test_somebody_decides_that_two_are_one_and_takes_it_back(page: Page, web_harness: WebHarness) -> None:
    sign_in(page, web_harness, "editor")
    page.get_by_role("link", name="to review").click()
    page.get_by_role("link", name="盛岡花火の祭典").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Same event?"
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="When"))
    assert "19:00–20:30" in row.inner_text()
    assert "19:30–21:00" in row.inner_text()
    assert "differs" in row.inner_text()
    page.get_by_role("button", name="Merge").click()
    assert "Events merged." in page.locator("main").inner_text()
    assert web_harness.store.statistics.totals().open_reviews == 1
    page.get_by_role("button", name="Undo").click()
    assert "Merge undone." in page.locator("main").inner_text()
    assert web_harness.store.events.get(49).merged_into is None


def test_somebody_says_what_a_row_lacks(page: Page, web_harness: WebHarness) -> None:
    sign_in(page, web_harness, "editor")
    page.goto(web_harness.url("/manage/reviews/1"))
    assert "日程の決まらない集い" in page.locator("main").inner_text()
    page.get_by_role("button", name="Publish event").click()
    assert page.get_by_role("alert").inner_text() == "Fill in at least one field."
    page.get_by_label("Starts").fill("令和8年8月20日 13時")
    page.get_by_role("button", name="Publish event").click()
    assert "Event published." in page.locator("main").inner_text()
    page.get_by_role("link", name="View page").click()
    assert "Thu, 20 Aug 2026 13:00" in page.locator("main").inner_text()


def test_somebody_corrects_hides_and_shows_an_event(page: Page, web_harness: WebHarness) -> None:
    sign_in(page, web_harness, "editor")
    event = web_harness.event_id("神子田朝市")
    page.goto(web_harness.url(f"/events/{event}"))
    page.get_by_role("link", name="Edit event").click()
    page.get_by_label("Venue").fill("神子田町広場")
    page.get_by_role("button", name="Save").click()
    assert "Event saved." in page.locator("main").inner_text()
    assert web_harness.store.events.get(event).venue == "神子田町広場"
    assert web_harness.store.events.provenance(event).owners["venue"].who == "editor"
    assert "title" not in web_harness.store.events.provenance(event).owners, "only what was changed is a person's"
    page.get_by_label("Use source value again: Venue").check()
    page.get_by_role("button", name="Save").click()
    assert web_harness.store.events.get(event).venue == "神子田"
    page.get_by_role("button", name="Hide event").click()
    page.goto(web_harness.url("/"))
    assert page.get_by_role("link", name="神子田朝市").count() == 0
    page.goto(web_harness.url(f"/manage/events/{event}"))
    page.get_by_role("button", name="Publish again").click()
    page.goto(web_harness.url("/"))
    assert page.get_by_role("link", name="神子田朝市").is_visible()


def test_an_admin_lets_somebody_in(page: Page, web_harness: WebHarness) -> None:
    sign_in(page, web_harness, "admin")
    page.get_by_role("link", name="Users").click()
    page.get_by_label("Username").fill("newcomer")
    page.get_by_label("Role").select_option("viewer")
    page.get_by_role("button", name="Add user").click()
    link = page.locator("code.address").inner_text()
    page.get_by_role("button", name="Sign out").click()
    page.goto(link)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)
    page.get_by_role("button", name="Save and sign in").click()
    assert page.url == web_harness.url("/manage")
    assert page.get_by_role("link", name="Users").count() == 0
    page.goto(web_harness.url("/manage/sources/1"))
    assert page.get_by_role("button", name="Run now").count() == 0
