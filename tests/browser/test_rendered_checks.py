"""Each difference between the page that was sent and the page that a browser shows ends in its check, and nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.rendered_site import serve
from tests.support.auditing import Audit
from tests.support.site import Site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def audit(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Audit, dict[str, str]]]:
    """The audited site, and what must be found."""
    async with Site() as site:
        expected = serve(site)
        audit = Audit(site, tmp_path_factory.mktemp("rendered"))
        await audit.run("/", render="always", render_wait=2.5, timeout=60.0, threshold=("js-content-late=1.4",), concurrency=2)
        yield audit, expected


async def test_every_difference_ends_in_its_check_and_no_other_page_has_any(audit: tuple[Audit, dict[str, str]]) -> None:
    crawl, expected = audit
    found = set(crawl.select("url, check_id FROM findings WHERE check_group = 'rendering'"))
    planted = {(path, check) for path, check in expected.items() if check}
    assert (sorted(found - planted), sorted(planted - found)) == ([], [])


async def test_a_page_that_a_script_redirects_is_a_redirect_and_its_target_is_crawled(
    audit: tuple[Audit, dict[str, str]],
) -> None:
    crawl, _ = audit
    assert crawl.column("indexability FROM audited_pages WHERE url LIKE '%/js-redirect'") == ["redirected"]
    assert crawl.column("kind FROM links WHERE source_url LIKE '%/js-redirect' AND target_url LIKE '%/other'") == ["refresh"]
    assert crawl.column("status_code FROM pages WHERE url LIKE '%/other'") == [200]


async def test_a_page_waits_for_the_element_that_is_named(tmp_path: Path) -> None:
    async with Site() as site:
        script = "setTimeout(() => { document.querySelector('main').innerHTML = '<h1 class=ready>Here</h1>' }, 2000)"
        site.html("/", f"<!doctype html><title>Late</title><main></main><script>{script}</script>")
        audit = Audit(site, tmp_path)
        await audit.run("/", render="always", wait_for="h1.ready", timeout=60.0)
    assert audit.column("h1 FROM audited_pages") == ["Here"]
