"""Answers that are sent piece by piece: what they read from is let go of, however they end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from tadoru.serve.api.responses import StreamResponse

SCOPE = {"type": "http", "method": "GET", "path": "/", "headers": [], "asgi": {"version": "3.0", "spec_version": "2.3"}}


class Source:
    """Pieces without end, and whether they were closed."""

    def __init__(self) -> None:
        self.is_closed = False

    def pieces(self) -> Iterator[bytes]:
        try:
            while True:
                yield b"piece"
        finally:
            self.is_closed = True


def heard(source: Source, after: int, how: str) -> None:
    """Hear some pieces, then hang up, fail, or be cancelled; the source is closed by then."""
    sent = 0

    async def main() -> None:
        gone = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal sent
            sent += message["type"] == "http.response.body"
            if sent == after:
                gone.set()
                if how == "fails":
                    raise OSError("broken pipe")
                if how == "is cancelled":
                    task.cancel()
            await asyncio.sleep(0)

        stream = StreamResponse(source.pieces(), media_type="text/plain", headers={})
        task = asyncio.create_task(stream(SCOPE, receive, send))  # type: ignore[arg-type]
        await asyncio.wait([task])
        assert sent >= after
        if not task.cancelled():
            task.exception()
        assert source.is_closed, "not only when nobody has the stream any more"

    asyncio.run(main())


def test_a_stream_is_closed_when_whoever_listens_hangs_up() -> None:
    heard(Source(), 3, "hangs up")


def test_a_stream_is_closed_when_sending_fails() -> None:
    heard(Source(), 3, "fails")


def test_a_stream_is_closed_when_the_service_stops() -> None:
    heard(Source(), 3, "is cancelled")
