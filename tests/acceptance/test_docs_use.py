"""Using what was crawled: `docs search`, `docs list`, `docs refresh`, `tadoru mcp` with the official client, `tadoru explain`."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters

from tests.acceptance.command import Tadoru
from tests.support.handbook import PROSE, Handbook, crawl, index
from tests.support.site import Site

NEW = f"<p>Part 2 whistles when it is done. {PROSE * 4}</p>"


@pytest.fixture
def book(site: Site) -> Handbook:
    book = Handbook(site)
    book.write(4)
    return book


def test_a_crawled_site_is_searched_and_listed(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    crawl(tadoru, site, "-o", "sites/one", "-q")
    found = tadoru("docs", "search", "sites/one", "minutes 2", "--json").result["hits"]
    assert found[0]["url"].startswith(site.url("/part-2"))
    assert found[0]["file"] == "pages/page-003-part-2.md"
    lines = tadoru("docs", "search", "sites/one", "step").out
    assert "Part 1" in lines
    nothing = tadoru("docs", "search", "sites/one", "quixotic")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "No results. Try fewer or other words.\n")
    listed = tadoru("docs", "list", "sites", "--json")
    (card,) = json.loads(listed.out)
    assert (card["pages"], card["url"]) == (4, site.url("/"))
    headings, row = tadoru("docs", "list", "sites").out.splitlines()
    assert headings.split() == ["Folder", "Pages", "Tokens", "Checked", "Title", "URL"]
    assert row.split()[:2] == ["sites/one", "4"]


def test_a_label_keeps_versions_side_by_side(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    for label in ("1.0", "2.0"):
        assert tadoru("docs", site.url("/"), "--label", label, "--delay", "0", "--render", "never", "-q").code == 0
    cards = json.loads(tadoru("docs", "list", "--json").out)
    assert [(card["site"].rpartition("@")[2], card["version"]) for card in cards] == [("1.0", "1.0"), ("2.0", "2.0")]
    refused = tadoru("docs", site.url("/"), "--label", "../up")
    assert (refused.code, "such as 2.0" in refused.err) == (2, True)


def test_every_site_below_a_folder_is_refreshed_with_its_own_options(
    tadoru: Tadoru, site: Site, elsewhere: Site, book: Handbook
) -> None:
    Handbook(elsewhere).write(5)
    crawl(tadoru, site, "-o", ".context/one", "-d", "1", "--exclude", "/part-3", "--no-chunks", "-q")
    crawl(tadoru, elsewhere, "-o", ".context/two", "-q")
    book.page("/part-2", "Part 2", NEW)
    done = tadoru("docs", "refresh")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [lines[0], *lines[2:5]] == [
        ".context/one:", "0 added, 1 changed, 0 removed.", f"  changed  {site.url('/part-2')}", ".context/two:",
    ]  # fmt: skip
    assert (lines[1].startswith("3 pages, "), lines[-1]) == (True, "No changes.")
    assert not (tadoru.folder / ".context" / "one" / "chunks").exists()
    site.misbehave("/robots.txt", "drop")
    failed = tadoru("docs", "refresh", ".context")
    assert failed.code != 0
    assert "tadoru: .context/one: " in failed.err
    assert ".context/two:\n5 pages" in failed.out, "a site that fails does not keep the others from being updated"
    assert index(tadoru.folder / ".context" / "one")["totalPages"] == 3


def test_a_folder_without_sites_is_said_so(tadoru: Tadoru) -> None:
    assert tadoru("docs", "list").sentence.startswith("Folder .context not found")
    (tadoru.folder / ".context").mkdir()
    for words in (("list",), ("refresh",)):
        done = tadoru("docs", *words)
        assert (done.code, done.sentence) == (2, "No crawled site in .context. Crawl one with `tadoru docs URL`.")


@asynccontextmanager
async def client_of(how: str, tadoru: Tadoru) -> AsyncIterator[Client]:
    start = ["-P", "-m", "tadoru", "mcp", "sites"]
    if how == "stdio":
        async with Client(
            StdioServerParameters(command=sys.executable, args=start, env=tadoru.environment(), cwd=tadoru.folder)
        ) as client:
            yield client
        return
    process = await asyncio.create_subprocess_exec(
        sys.executable, *start, "--http", "--port", "0", stderr=asyncio.subprocess.PIPE, cwd=tadoru.folder,
        env=tadoru.environment(),
    )  # fmt: skip
    try:
        assert process.stderr is not None
        async with Client((await process.stderr.readline()).decode().split()[-1]) as client:
            yield client
    finally:
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_an_agent_uses_all_five_tools(how: str, tadoru: Tadoru) -> None:
    with Site() as site:
        book = Handbook(site)
        book.write(4)
        await asyncio.to_thread(crawl, tadoru, site, "-o", "sites/one", "-q")
        book.page("/part-2", "Part 2", NEW)
        async with client_of(how, tadoru) as client:

            async def call(tool: str, **arguments: object) -> str:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return "".join(part.text for part in result.content if part.type == "text")

            listed = (await call("list_sites")).splitlines()[2:-1]  # Between the marks of what comes from websites.
            assert [card["site"] for card in json.loads("\n".join(listed))] == ["one"]
            assert "page-002-part-1" in await call("search_docs", query="step 1")
            assert "kettle --minutes 3" in await call("get_page", page=site.url("/part-3"))
            assert "Detail 3" in await call("list_headings", page=site.url("/part-3"))
            assert await call("refresh_site", site="one") == "one: 0 pages added, 1 changed, 0 removed."
            assert "whistles" in await call("get_page", page=site.url("/part-2"))
            assert await call("refresh_site", site="one") == "one: Nothing changed."


def test_it_is_explained_which_pages_would_be_read(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    def told(path: str, *more: str) -> tuple[bool, str]:
        done = tadoru("explain", site.url(path), "--job", "docs", "--start", site.url("/"), "--json", *more)
        assert (done.code, done.err) == (0, "")
        return done.result["crawled"], done.result["because"]

    assert told("/part-1") == (True, "all rules allow it")
    assert told("/1.0/part-1") == (False, "version 1.0; this crawl is about the current version")
    assert told("/1.0/part-1", "--variants", "version") == (True, "all rules allow it")
    assert told("/print.html")[0] is False
    crawl(tadoru, site, "-q")
    done = tadoru("explain", site.url("/part-1"), "--job", "docs", "--start", site.url("/"), "-o", "out", "--json")
    assert done.result["known"] == "completed, 1 link from the start URL: status 200"
    assert told("/ja/part-1", "-o", "out") == (False, "in ja; this crawl is about en"), "the crawl knows its language"


def test_a_dry_run_asks_nobody_and_writes_nothing(tadoru: Tadoru, site: Site) -> None:
    done = crawl(tadoru, site, "--dry-run")
    assert "out" in done.out
    assert site.paths == []
    assert list(tadoru.folder.iterdir()) == []
