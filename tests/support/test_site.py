"""The programmable site keeps its promises: in the test's loop, in a thread, and as a process."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.generated_sites import WORLDS
from tests.support.hostile import BEHAVIOURS
from tests.support.site import Site, read_log


async def ask(site: Site, path: str, method: str = "GET") -> bytes:
    """The whole answer to one request over a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_what_is_defined_is_served_and_what_is_not_is_404() -> None:
    async with Site() as site:
        site.page("/", links=["/a"], title="Start")
        site.html("/q?x=1", "with query")
        site.html("/q", "without")
        assert b'<a href="/a">/a</a>' in await ask(site, "/")
        assert (await ask(site, "/q?x=1")).endswith(b"with query")
        assert (await ask(site, "/q?x=2")).endswith(b"without")
        assert (await ask(site, "/robots.txt")).startswith(b"HTTP/1.1 404 ")
        head = await ask(site, "/q", "HEAD")
        assert b"Content-Length: 7" in head
        assert head.endswith(b"\r\n\r\n")
        assert [(seen.method, seen.path) for seen in site.requests][-1] == ("HEAD", "/q")
        assert site.hits("/q") == 1


async def test_a_reply_that_comes_so_often_is_followed_by_the_next() -> None:
    async with Site() as site:
        site.reply("/p", status=503, times=2)
        site.reply("/p", status=500, times=1)
        site.reply("/p", body="up")
        statuses = [(await ask(site, "/p")).split()[1] for _ in range(5)]
        assert statuses == [b"503", b"503", b"500", b"200", b"200"]
        site.reply("/p", status=410)
        assert (await ask(site, "/p")).split()[1] == b"410"


async def test_an_answer_waits_behind_its_gate_until_it_is_released() -> None:
    async with Site() as site:
        site.page("/slow")
        gate = site.hold("/slow")
        task = asyncio.create_task(ask(site, "/slow"))
        await site.requested("/slow")
        assert not task.done()
        gate.release()
        assert (await task).startswith(b"HTTP/1.1 200 ")


async def test_a_behaviour_can_stand_at_any_path_and_take_an_argument() -> None:
    async with Site() as site:
        site.misbehave("/robots.txt", "drop")
        site.misbehave("/busy", "busy", "2/7")
        assert await ask(site, "/robots.txt") == b""
        assert b"Retry-After: 7" in await ask(site, "/busy")
        assert b"429" in await ask(site, "/busy")
        assert (await ask(site, "/busy")).startswith(b"HTTP/1.1 200 ")


async def test_a_reset_is_a_reset() -> None:
    async with Site() as site:
        with pytest.raises(ConnectionResetError):
            await ask(site, "/bad/reset")


FINITE = sorted(set(BEHAVIOURS) - {"never", "endless", "drip", "drip-headers", "reset", "partial-reset", "bomb"})


@pytest.mark.parametrize("path", [*(f"/bad/{name}" for name in FINITE), *(f"{prefix}9/3/2" for prefix in WORLDS), "/tree/9/3/9"])
async def test_every_answer_is_the_same_each_time(path: str) -> None:
    async def fresh() -> list[bytes]:
        async with Site(port=port) as site:
            return [await ask(site, path) for _ in range(3)]

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    assert await fresh() == await fresh()


async def test_the_tree_has_exactly_its_pages() -> None:
    async with Site() as site:
        seen, queue = {"/tree/40/3/0"}, ["/tree/40/3/0"]
        while queue:
            page = (await ask(site, queue.pop())).decode()
            for link in {line.split('"')[1] for line in page.splitlines() if "<a href" in line} - seen:
                seen.add(link)
                queue.append(link)
    assert seen == {f"/tree/40/3/{page}" for page in range(40)}


def test_it_serves_from_a_thread_for_tests_that_start_commands() -> None:
    with Site() as site:
        site.html("/", "hello")
        with urlopen(site.url()) as answer:
            assert answer.read() == b"hello"
        site.wait_for(lambda seen: seen.hits("/") == 1)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", site.port))


def test_it_serves_as_a_process_and_writes_down_what_it_saw(tmp_path: Path, checkout: Path) -> None:
    log, routes = tmp_path / "log.jsonl", tmp_path / "routes.json"
    routes.write_text(json.dumps({"/": {"links": ["/a"]}, "/a": {"body": "leaf", "content_type": "text/plain"}}))
    command = [sys.executable, "-m", "tests.support.site", "--log", str(log), "--routes", str(routes)]
    with subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base = process.stdout.readline().strip()
        with urlopen(base + "a") as answer:
            assert (answer.read(), answer.headers["Content-Type"]) == (b"leaf", "text/plain")
        process.terminate()
    with log.open() as lines:
        (seen,) = read_log(lines)
    assert (seen.method, seen.path) == ("GET", "/a")
    assert seen.headers["host"] in base


def test_connections_that_come_while_the_site_ends_are_closed() -> None:
    for _ in range(100):
        with Site() as site:
            client = socket.create_connection(("127.0.0.1", site.port))
        client.close()
    gc.collect()  # A connection that was left open would say so.
