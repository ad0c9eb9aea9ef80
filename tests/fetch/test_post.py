"""A request with a body: it is sent as it is, and never twice."""

from __future__ import annotations

import asyncio

import pytest

from tadoru.fetch.http import HttpFetcher
from tadoru.model.web import Failure, FailureKind, Request, Response
from tadoru.rules.address import Exemptions
from tests.support.language_model import LanguageModel


def fetcher_for(url: str) -> HttpFetcher:
    return HttpFetcher(user_agent="Tadoru/1", exemptions=Exemptions.for_urls([url]))


async def test_the_body_is_sent_with_the_headers() -> None:
    body = '{"messages": [{}, {"content": "{\\"title\\": \\"祭り\\"}"}]}'.encode()
    with LanguageModel() as server:
        fetcher = fetcher_for(server.url)
        headers = (("Content-Type", "application/json"),)
        answer = await fetcher.fetch(Request(url=f"{server.url}/x", method="POST", headers=headers, body=body))
        await fetcher.close()
    assert isinstance(answer, Response)
    [asked] = server.asked
    assert asked.event == {"title": "祭り"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["content-length"] == str(len(body))


@pytest.mark.parametrize("method, requests", [("POST", 2), ("GET", 3)])
async def test_a_post_over_a_connection_that_had_been_closed_is_not_repeated(method: str, requests: int) -> None:
    heard = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the first request of a connection, and drops the second one."""
        nonlocal heard
        for number in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            if b"content-length: 4" in head.lower():
                await reader.readexactly(4)
            heard += 1
            if number == 0:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    fetcher = fetcher_for(url)
    request = Request(url=url, method=method, body=b"body" if method == "POST" else None, timeout=5)
    assert isinstance(await fetcher.fetch(request), Response)
    second = await fetcher.fetch(request)
    assert heard == requests
    if method == "POST":
        assert isinstance(second, Failure)
        assert second.kind is FailureKind.NETWORK
    else:
        assert isinstance(second, Response)
    await fetcher.close()
    server.close()
