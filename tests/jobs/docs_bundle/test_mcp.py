"""The MCP server, asked by the official client over stdio and over HTTP: a real process, a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from mcp import Client, StdioServerParameters

from tadoru.errors import UsageError
from tadoru.jobs.docs.library import DocsLibrary
from tadoru.jobs.docs.mcp import build_server
from tests.jobs.docs_bundle.sites import BASE, manual, write

START = ["-c", "import sys; from tadoru.cli.docs import mcp; sys.exit(mcp(sys.argv[1:], standalone_mode=False))"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    write(tmp_path / "one", manual())
    return tmp_path


@asynccontextmanager
async def over_http(site: Path) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *START, str(site), "--http", "--port", "0", stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        assert line.startswith("MCP over HTTP: http://127.0.0.1:"), line
        yield line.split()[-1]
    finally:
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == 0


@asynccontextmanager
async def asked(how: str, site: Path) -> AsyncIterator[Client]:
    if how == "stdio":
        command = StdioServerParameters(command=sys.executable, args=[*START, str(site)])
        async with Client(command) as client:
            yield client
    else:
        async with over_http(site) as url, Client(url) as client:
            yield client


async def call(client: Client, tool: str, **arguments: object) -> tuple[bool, str]:
    result = await client.call_tool(tool, arguments)
    return bool(result.is_error), "".join(part.text for part in result.content if part.type == "text").removeprefix(
        f"Error executing tool {tool}: "
    )


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_the_official_client_reads_a_site(site: Path, how: str) -> None:
    async with asked(how, site) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["get_page", "list_headings", "list_sites", "refresh_site", "search_docs"]
        assert all(
            tool.annotations and bool(tool.annotations.read_only_hint) == (name != "refresh_site") for name, tool in tools.items()
        )
        listed = re.fullmatch(r".*\n\[begin (\w+)\]\n(.*)\n\[end \1\]", (await call(client, "list_sites"))[1], re.S)
        assert listed is not None
        sites = json.loads(listed[2])
        assert [card["site"] for card in sites] == ["one"]
        failed, found = await call(client, "search_docs", query="設定", site="one", max_tokens=500)
        assert not failed
        assert "設定ファイルは" in found
        failed, text = await call(client, "get_page", page=f"{BASE}guide/install.html", section="Windows")
        assert not failed
        assert "Use the wizard." in text
        assert "make install" not in text
        assert "- Windows" in (await call(client, "list_headings", page="pages/page-001-guide-install.md"))[1]


def asked_by_pipe(site: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The server with all that it is asked on stdin at once, and then the end of stdin."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "printf", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "search_docs", "arguments": {"query": "wizard"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "list_sites", "arguments": {}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    command = [sys.executable, *START, str(site)]
    return subprocess.run(command, input=lines, encoding="utf-8", stderr=subprocess.PIPE, check=False, **options)


def test_what_was_asked_before_the_input_ended_is_answered(site: Path) -> None:
    done = asked_by_pipe(site, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert sorted(answers) == [1, 2, 3]
    assert "Use the wizard." in answers[2]["content"][0]["text"]


def test_a_client_that_reads_no_more_is_no_fault(site: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nowhere:
        done = asked_by_pipe(site, stdout=nowhere)
    assert (done.returncode, done.stderr) == (0, "")


async def test_a_page_in_a_browser_can_not_reach_the_server_under_another_name(site: Path) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with over_http(site) as url, aiohttp.ClientSession() as session:
        for headers in ({"Host": "rebound.example"}, {"Origin": "https://rebound.example"}):
            async with session.post(url, json=body, headers=accept | headers) as answer:
                assert answer.status in (403, 421)


async def test_what_can_not_be_done_is_said_in_a_sentence(site: Path) -> None:
    async with Client(build_server(DocsLibrary([site]))) as client:
        assert await call(client, "get_page", page="../../etc/passwd") == (
            True, "Page ../../etc/passwd not found. Pass the URL or the file of a page; find pages with search_docs.",
        )  # fmt: skip
        assert await call(client, "search_docs", query="x", site="two") == (True, "Site two not found. Available sites: one.")
        failed, text = await call(client, "refresh_site", site="one")
        assert failed
        assert text.startswith("This server is read-only. To update the site, run tadoru docs refresh ")


async def test_a_site_is_refreshed_by_whoever_can_crawl(site: Path) -> None:
    asked_for = []

    async def refresh(folder: Path) -> str:
        asked_for.append(folder)
        if len(asked_for) > 1:
            raise UsageError("The crawl is busy.")
        return "1 page changed."

    async with Client(build_server(DocsLibrary([site]), refresh)) as client:
        assert await call(client, "refresh_site", site="one") == (False, "one: 1 page changed.")
        assert await call(client, "refresh_site", site="one") == (True, "The crawl is busy.")
    assert asked_for == [(site / "one").resolve()] * 2


def test_without_the_package_it_is_said_how_to_get_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(UsageError, match="pip install"):
        build_server(DocsLibrary([site]))
