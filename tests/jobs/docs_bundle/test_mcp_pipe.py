"""When the input of the MCP server may end for it: with the library's own messages, on the streams it is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from tadoru.jobs.docs.mcp import LISTEN_METHOD, PendingRequests, RequestStream, ResponseStream

PATIENCE = 60


def request(number: int | str, method: str = "tools/call") -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=number, method=method))


def notified(method: str, **params: Any) -> SessionMessage:
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))


@asynccontextmanager
async def pipe(*items: SessionMessage | Exception) -> AsyncIterator[tuple[RequestStream, ResponseStream]]:
    """An input that has these and ends, and a place for the answers."""
    send, receive = anyio.create_memory_object_stream[Any](len(items))
    out, kept = anyio.create_memory_object_stream[Any](2 * len(items))
    unanswered = PendingRequests()
    async with (
        asyncio.timeout(PATIENCE),
        kept,
        RequestStream(receive, unanswered) as asked,
        ResponseStream(out, unanswered) as answers,
    ):
        async with send:
            for item in items:
                await send.send(item)
        yield asked, answers


async def test_the_input_ends_when_the_last_answer_is_written() -> None:
    order = []

    async def read(asked: RequestStream) -> None:
        order.extend(["read" async for _ in asked])
        order.append("ended")

    async with pipe(request(1), request("two")) as (asked, answers), asyncio.TaskGroup() as tasks:
        first, second = await anext(asked), await anext(asked)
        tasks.create_task(read(asked))
        for item in (first, second):
            await answers.send(notified("notifications/progress", id=item.message.id))
            order.append("answer")
            await answers.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result={})))
    assert order == ["answer", "answer", "ended"]


@pytest.mark.parametrize("items", [
    (request(1), notified("notifications/cancelled", requestId=1)),
    (request("listen-1", LISTEN_METHOD),),
    (notified("notifications/initialized"), ValueError("not JSON")),
], ids=["cancelled", "a subscription", "nothing to answer"])  # fmt: skip
async def test_the_input_ends_at_once_when_nobody_waits_for_an_answer(items: tuple[SessionMessage | Exception, ...]) -> None:
    async with pipe(*items) as (asked, _):
        assert tuple([item async for item in asked]) == items
