"""An application that listens on a port of loopback, in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


class ReadyServer(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


@contextmanager
def listening(app: Any, port: int = 0, *, send_buffer: int = 0, **options: Any) -> Iterator[tuple[int, ReadyServer]]:
    """The port and the server of an application, until the block ends; `options` are uvicorn's."""
    taken = socket.create_server(("127.0.0.1", port))
    if send_buffer:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    server = ReadyServer(uvicorn.Config(app, log_config=None, access_log=False, **options))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[taken])), name="service")
    thread.start()
    server.is_up.wait()
    try:
        yield taken.getsockname()[1], server
    finally:
        server.should_exit = True
        thread.join()
