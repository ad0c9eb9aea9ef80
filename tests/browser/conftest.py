"""A real Chromium and two sites for the tests of rendering. One browser serves a module: starting one takes a second."""

from __future__ import annotations

from collections.abc import AsyncIterator
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
import pytest_asyncio

from tadoru.fetch.browser.browser import Browser
from tadoru.rules.address import Exemptions
from tests.support.programs import needs_browser
from tests.support.site import Site

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One event loop each module; skipped where there is no browser."""
    for item in items:
        if HERE in item.path.parents:
            if iscoroutinefunction(getattr(item, "function", None)):
                item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
            item.add_marker(needs_browser)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Site]:
    """The site whose pages are rendered."""
    async with Site() as serving:
        yield serving


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def elsewhere() -> AsyncIterator[Site]:
    """A site on loopback that nobody named."""
    async with Site() as serving:
        yield serving


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(site: Site) -> AsyncIterator[Browser]:
    """A browser that may visit the first of them."""
    running = Browser(user_agent="Tadoru/9 (test)", exemptions=Exemptions.for_urls([site.url()]))
    yield running
    await running.close()
