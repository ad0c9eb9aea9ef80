"""The page that explains the interface, in a real Chromium with every part of it open, and as it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tadoru.i18n.translation import translator
from tests.serve.web import axe
from tests.serve.web.test_appearance import PHONE, window
from tests.serve.web.web_harness import WebHarness, opened
from tests.support.programs import needs_node


@pytest.fixture(scope="module")
def web_harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    """A service without events: the page is about the service itself."""
    with opened(tmp_path_factory.mktemp("interface"), filled=False) as town:
        yield town


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@needs_node
@pytest.mark.parametrize("scheme,lang", [("light", "en"), ("dark", "ja")])
def test_the_interface_is_explained_to_everybody(browser: Browser, web_harness: WebHarness, scheme: str, lang: str) -> None:
    with window(browser, web_harness, color_scheme=scheme, locale=lang, viewport=PHONE) as (page, wrong):
        page.goto(web_harness.url("/api/docs"))
        assert page.get_by_role("heading", level=1).inner_text() == translator(lang).gettext("API reference")
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        page.evaluate("[...document.querySelectorAll('details')].slice(6).forEach(one => one.remove())")
        assert axe.violations(page) == []
    assert wrong == []


def test_somebody_finds_an_operation_with_the_keyboard_and_tries_it(browser: Browser, web_harness: WebHarness) -> None:
    with window(browser, web_harness, locale="en") as (page, wrong):
        page.goto(web_harness.url("/api/docs"))
        page.get_by_role("link", name="reviews").click()
        assert page.url.endswith("#reviews")
        one = page.locator("#get-api-v1-cities")
        one.locator("summary").focus()
        page.keyboard.press("Enter")
        call = one.locator("pre").first.inner_text()
        address = call.split("'")[1]
        assert httpx.get(address).json() == {"items": []}
    assert wrong == []


def test_every_operation_is_there_with_a_call_and_an_answer(web_harness: WebHarness, client: httpx.Client) -> None:
    text = unescape(client.get("/api/docs").text).replace("<code>", "`").replace("</code>", "`")
    document = client.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            name = f'id="{method}{path.replace("/", "-").replace("{", "").replace("}", "")}"'
            shown = text[text.index(name) :].partition("</details>")[0]
            assert one["description"] in shown
            assert "curl " in shown and path.partition("{")[0] in shown  # noqa: PT018
            assert all(f"<b>{status}</b>" in shown for status in one["responses"] if not status.startswith("2"))
            assert all(f"`{parameter['name']}`" in shown for parameter in one.get("parameters", ()))
            assert ("Bearer tdr_" in shown) is ("x-role" in one)


def test_its_frame_is_in_both_languages_and_nothing_runs_in_it(client: httpx.Client) -> None:
    for lang in ("en", "ja"):
        told = client.get("/api/docs", params={"lang": lang})
        assert told.status_code == 200
        assert translator(lang).gettext("Parameters") in told.text
        assert re.search(r"<script(?![^>]* src=)", told.text) is None
        assert "style=" not in told.text
