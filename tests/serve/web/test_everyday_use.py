"""What people stumbled over in the pages, in a real Chromium: each of these was wrong once."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tests.serve.web.test_appearance import window
from tests.serve.web.web_harness import WebHarness


def test_a_message_about_a_change_is_shown_once(browser: Browser, web_harness: WebHarness) -> None:
    with window(browser, web_harness, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(web_harness.url("/manage/sources/3"))
        page.get_by_role("button", name="Disable").click()
        assert page.get_by_role("status").inner_text() == "Source disabled. Its events are kept."
        page.reload()
        assert page.get_by_role("status").count() == 0
        page.get_by_role("button", name="Enable").click()
        assert page.get_by_role("status").inner_text() == "Source enabled."
    assert wrong == []


def test_a_merge_and_a_history_name_the_source(browser: Browser, web_harness: WebHarness) -> None:
    kept, absorbed = web_harness.event_id("第20回"), web_harness.event_id("第21回")
    web_harness.store.merges.merge(kept, absorbed, EventMatcher(), "source 1")
    with window(browser, web_harness, role="viewer", locale="en") as (page, _):
        page.goto(web_harness.url("/manage/merges"))
        assert page.locator("td.by").first.inner_text() == "盛岡市の催し"
        page.goto(web_harness.url(f"/manage/events/{kept}"))
        assert "盛岡市の催し" in page.locator("td.by").all_inner_texts()


def test_a_viewer_is_not_offered_to_edit(browser: Browser, web_harness: WebHarness) -> None:
    event = web_harness.event_id("神子田朝市")
    with window(browser, web_harness, role="viewer", locale="en") as (page, _):
        page.goto(web_harness.url(f"/manage/events/{event}"))
        assert page.get_by_role("heading", level=1).inner_text() == "神子田朝市"
        assert "Edit" not in page.locator("body").inner_text()
        assert "Your edits" not in page.locator("body").inner_text()
        page.goto(web_harness.url(f"/events/{event}"))
        assert "Edit" not in page.locator("body").inner_text()


def test_a_cancelled_event_is_not_offered_for_calendars(browser: Browser, web_harness: WebHarness) -> None:
    with window(browser, web_harness, locale="en") as (page, _):
        page.goto(web_harness.url(f"/events/{web_harness.event_id('野外上映会')}"))
        assert page.get_by_text("Cancelled").is_visible()
        assert page.get_by_text("Add to calendar").count() == 0
        page.goto(web_harness.url(f"/events/{web_harness.event_id('神子田朝市')}"))
        assert page.get_by_text("Add to calendar").is_visible()


@pytest.mark.parametrize(
    "agent", ["facebookexternalhit/1.1", "Slackbot-LinkExpanding 1.0", "WhatsApp/2.23.20.0", "Twitterbot/1.0"]
)
def test_a_message_bot_gets_the_page(web_harness: WebHarness, agent: str) -> None:
    path = f"/events/{web_harness.event_id('花火')}"
    page = httpx.get(web_harness.url(path), headers={"user-agent": agent, "accept": "*/*"})
    assert page.headers["content-type"].startswith("text/html")
    assert "盛岡花火の祭典" in page.text
    program = httpx.get(web_harness.url(path), headers={"user-agent": "curl/8.5", "accept": "*/*"})
    assert program.headers["content-type"] == "application/json"
    asked = httpx.get(web_harness.url(path), headers={"user-agent": agent, "accept": "application/json"})
    assert asked.headers["content-type"] == "application/json"


def test_settings_of_a_source_are_previewed_while_they_are_typed_and_by_a_button_without_a_script(
    browser: Browser, web_harness: WebHarness
) -> None:
    asked = len(web_harness.site.requests)
    before = web_harness.store.sources.get(1).settings
    with window(browser, web_harness, role="editor", locale="en") as (page, wrong):
        page.goto(web_harness.url("/manage/sources/1/edit"))
        shown = page.locator("#preview")
        page.get_by_label("Parser settings").fill("include=朝市")
        expect(shown.get_by_role("rowheader", name="神子田朝市").first).to_be_visible()
        page.get_by_label("Parser settings").fill("nothing_known=1")
        expect(shown.locator(".note.bad")).to_contain_text("nothing_known")
        page.get_by_label("Parser settings").fill("include=どこにもない催し")
        expect(shown).to_contain_text("Events: 0")
    assert wrong == []
    with window(browser, web_harness, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(web_harness.url("/manage/sources/1/edit"))
        page.get_by_label("Parser settings").fill("include=朝市")
        page.get_by_role("button", name="Preview").click()
        assert page.locator("#preview").get_by_role("rowheader", name="神子田朝市").first.is_visible()
        assert page.get_by_label("Parser settings").input_value() == "include=朝市"
    assert wrong == []
    assert web_harness.store.sources.get(1).settings == before, "nothing is saved"
    assert len(web_harness.site.requests) == asked, "nothing is requested"


def test_an_answer_to_several_reviews_says_which_it_did_not_fit_and_can_be_taken_back(
    browser: Browser, web_harness: WebHarness
) -> None:
    with window(browser, web_harness, role="editor", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(web_harness.url("/manage/reviews"))
        page.get_by_role("button", name="Keep separate").click()
        assert page.get_by_role("status").inner_text() == "Select the reviews that you want to resolve."
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.get_by_role("button", name="Keep separate").click()
        assert page.get_by_role("status").inner_text().startswith("Some of the reviews stay as they are")
        assert page.locator(".chip", has_text="Missing fields").count() == 1
        page.get_by_role("link", name="Resolved").click()
        page.get_by_role("link", name="盛岡花火の祭典").click()
        page.get_by_role("button", name="Open again").click()
        assert page.get_by_role("status").inner_text() == "The review is open again."
    assert wrong == []
