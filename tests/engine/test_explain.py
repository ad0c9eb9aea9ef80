"""Why a URL would or would not be crawled, asked of the same rules a crawl asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tadoru.config.options import LinksOptions
from tadoru.jobs.explain import explain_url
from tests.support.crawling import set_up
from tests.support.site import Site


@pytest.mark.parametrize(
    "path, crawled, words",
    [
        ("/fine", True, "all rules allow it"),
        ("/no/entry", False, "robots.txt line 2: Disallow: /no"),
        ("/skip/it", False, "excluded by pattern /skip/"),
        ("/x/x/x/x/x", False, "trap: the path segment “x” occurs 5 times"),
    ],
)
async def test_the_rule_that_decides_is_named(path: str, crawled: bool, words: str) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /no\n")
        answer = await explain_url(site.url(path), site.url(), LinksOptions(exclude=("/skip/",)))
    assert (answer.crawled, answer.because) == (crawled, words)
    assert site.paths in ([], ["/robots.txt"])


async def test_a_stored_crawl_adds_what_it_knows(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/9/2/0")
        await setup.run()
        options = LinksOptions(state=setup.database)
        known = await explain_url(site.url("/tree/9/2/4"), None, options)
        unknown = await explain_url(site.url("/nowhere"), None, options)
    assert known.rows["known"] == "completed, 2 links from the start URL: status 200"
    assert known.rows["found on"] == site.url("/tree/9/2/1")
    assert unknown.rows["known"] == "not found by this crawl"


async def test_a_site_that_the_start_moved_to_is_not_trusted_like_the_start(tmp_path: Path) -> None:
    secret: dict[str, Any] = {"auth_type": "bearer", "auth_token": "s3cret"}
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/", other.url("/leaf/1"))
        setup = await set_up(site, tmp_path, allow_private=True)
        await setup.run()
        other.requests.clear()
        refused = await explain_url(other.url("/leaf/2"), None, LinksOptions(state=setup.database, **secret))
        assert (refused.crawled, other.requests) == (False, [])
        await explain_url(other.url("/leaf/2"), None, LinksOptions(state=setup.database, allow_private=True, **secret))
    assert [(seen.path, seen.headers.get("authorization")) for seen in other.requests] == [("/robots.txt", None)]
