"""Answers that are sent piece by piece, and whose source is closed with them: it may hold a view of the database."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

import anyio
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send


class Stream(StreamingResponse):
    """A stream. Whoever listens may hang up, and the service may stop, in the middle of it."""

    def __init__(self, pieces: Iterator[bytes], *, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self._pieces, Generator):
                with anyio.CancelScope(shield=True):
                    await run_in_threadpool(self._pieces.close)
