"""Links whose references are wrong: they are broken links with their place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tadoru.jobs.links.broken import LinkGates
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.run import links_async
from tests.support.site import Site

MARKUP = """<title>Home</title>
<a href="/a">A</a><a href="htp://mistyped.example/">Typo</a><a href="http//colon.example/">No colon</a>
<a href="http://[::1">No URL</a><a href="">Empty</a><a href="mailto:x@example.com">Mail</a>"""


@pytest.mark.parametrize("options", [{}, {"check": True}, {"fragments": True}], ids=["map", "check", "fragments"])
def test_malformed_links_are_broken_links_with_their_place(options: dict[str, bool]) -> None:
    result = _crawl(**options)
    found = {(link.url, link.error): link.sources for link in result.broken_links}
    assert set(found) == {
        ("htp://mistyped.example/", "mistyped scheme"),
        ("http//colon.example/", "the colon after the scheme is missing"),
        ("http://[::1", "malformed URL"),
        ('""', "empty href"),
    }
    (source,) = found["http//colon.example/", "the colon after the scheme is missing"]
    assert (source.page_url, source.anchor_text, source.position) == (result.start_url, "No colon", 1)
    assert LinkGates.parse("broken").exceeded(result)


def test_a_malformed_link_is_not_requested_and_can_be_ignored(tmp_path: Path) -> None:
    result = _crawl(ignore=["^htp:", '^""$', r"\["], state=str(tmp_path / "state.db"))
    assert [link.url for link in result.broken_links] == ["http//colon.example/"]
    assert {info.url for info in result.internal_urls} == {result.start_url, f"{result.start_url}a"}


def _crawl(**options: object) -> CrawlResult:
    async def run() -> CrawlResult:
        async with Site() as site:
            site.html("/", MARKUP)
            site.page("/a")
            return await links_async(site.url("/"), delay=0, **options)

    return asyncio.run(run())
