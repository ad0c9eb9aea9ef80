"""One town for a module of tests, and a real Chromium to look at it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tadoru.fetch.browser.browser import PROGRAM_NAMES
from tests.serve.web.web_harness import WebHarness, opened
from tests.support.programs import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a browser is skipped where there is none."""
    for item in items:
        if item.path.parent == HERE and "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(needs_browser)


@pytest.fixture(scope="module")
def web_harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    """A town whose sources were collected: tests of a module share it, and say what they change."""
    with opened(tmp_path_factory.mktemp("town")) as town:
        yield town


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    """A service beside the shop that it crawls; it runs nothing by itself that a test did not ask for."""
    from tests.serve.web.crawl_harness import opened_shop  # Late: few modules crawl.

    with opened_shop(tmp_path_factory.mktemp("shop")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, PROGRAM_NAMES)))
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def client(web_harness: WebHarness) -> Iterator[httpx.Client]:
    """A browser without a window, of nobody in particular."""
    with httpx.Client(base_url=web_harness.address, headers={"accept": "text/html", "accept-language": "en"}) as running:
        yield running
