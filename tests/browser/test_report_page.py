"""The HTML report in a real browser, from disk: nothing is requested, its script runs under its own policy, and it is usable."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright

from tadoru.fetch.browser.browser import PROGRAM_NAMES
from tests.jobs.audit_crawls import hostile, large, told


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page() -> AsyncIterator[Page]:
    """A window that remembers what was requested and what the console said."""
    async with async_playwright() as playwright:
        path = next(filter(None, map(shutil.which, PROGRAM_NAMES)))
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield await browser.new_page()
        await browser.close()


def requested(page: Page) -> list[str]:
    """What the page asks for from now on, and what goes wrong in it."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    return seen


async def opened(page: Page, folder: Path, text: str) -> list[str]:
    file = folder / "report.html"
    file.write_text(text, "utf-8")
    seen = requested(page)
    await page.goto(file.as_uri())
    assert seen.pop(0) == file.as_uri()
    return seen


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    return told(large(tmp_path_factory.mktemp("site") / "site.db", 150), "html")


async def test_the_page_requests_nothing_and_its_script_is_allowed_to_run(page: Page, report: str, tmp_path: Path) -> None:
    seen = await opened(page, tmp_path, report)
    assert await page.locator(".tools").is_visible()
    assert seen == []


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    return told(hostile(tmp_path_factory.mktemp("hostile") / "site.db"), "html")


async def test_nothing_that_a_stranger_wrote_runs(page: Page, hostile_report: str, tmp_path: Path) -> None:
    seen = await opened(page, tmp_path, hostile_report)
    await page.locator("details").first.click()
    assert seen == []


async def test_lines_are_filtered_by_words_and_by_kind(page: Page, report: str, tmp_path: Path) -> None:
    await opened(page, tmp_path, report)
    checks = page.locator("details.check")
    everything = await checks.count()
    shown = page.locator("details.check:visible")
    assert await page.locator(".tools output").inner_text() == f"{everything} of {everything}"
    await page.get_by_label("Severity").select_option("error")
    errors = await shown.count()
    assert 0 < errors < everything
    assert await page.locator(".tools output").inner_text() == f"{errors} of {everything}"
    await page.get_by_label("Group").select_option("in-titles")
    assert 0 < await shown.count() < errors
    await page.get_by_role("searchbox").fill("nothing says this")
    assert await shown.count() == 0


async def test_lines_are_sorted_by_what_is_pressed(page: Page, report: str, tmp_path: Path) -> None:
    await opened(page, tmp_path, report)
    numbers = page.locator("details.check > summary > .number")
    press = page.get_by_role("button", name="Count")
    await press.focus()
    await page.keyboard.press("Enter")
    found = [int(text.replace(",", "")) for text in await numbers.all_inner_texts()]
    assert found == sorted(found)
    await page.keyboard.press("Enter")
    assert [int(text.replace(",", "")) for text in await numbers.all_inner_texts()] == found[::-1]


async def test_a_line_opens_by_keyboard(page: Page, report: str, tmp_path: Path) -> None:
    await opened(page, tmp_path, report)
    first = page.locator("details.check").first
    assert not await first.locator(".inside").is_visible()
    await first.locator("summary").focus()
    await page.keyboard.press("Enter")
    assert await first.locator(".inside").is_visible()


@pytest.mark.parametrize("width", [320, 400, 768, 1280])
async def test_nothing_is_wider_than_the_window(page: Page, report: str, tmp_path: Path, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 800})
    await opened(page, tmp_path, report)
    await page.locator("details.check").first.locator("summary").click()
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.set_viewport_size({"width": 1280, "height": 800})


async def test_on_paper_every_line_is_open(page: Page, report: str, tmp_path: Path) -> None:
    await opened(page, tmp_path, report)
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert await page.locator("details:not([open])").count() == 0
