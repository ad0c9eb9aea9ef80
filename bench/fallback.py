"""A small static server for machines without nginx: keep-alive, files kept in memory, the log of `server.py`."""

from __future__ import annotations

import asyncio
import mimetypes
import sys
import time
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote


class Files:
    """What lies below a folder, by URL path."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.known: dict[str, tuple[int, str, bytes]] = {}

    def answer(self, target: str) -> tuple[int, str, bytes]:
        path = unquote(target.partition("?")[0])
        if path not in self.known:
            self.known[path] = self._read(path)
        return self.known[path]

    def _read(self, path: str) -> tuple[int, str, bytes]:
        file = (self.root / path.lstrip("/")).resolve()
        if file.is_dir():
            file = file / "index.html"
        if not file.is_relative_to(self.root) or not file.is_file():
            return 404, "text/plain", b"not found\n"
        return 200, mimetypes.guess_type(file.name)[0] or "application/octet-stream", file.read_bytes()


class Connection(asyncio.Protocol):
    """One connection: requests without a body, answered in order."""

    def __init__(self, files: Files, log: TextIO) -> None:
        self.files, self.log = files, log
        self.pending = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.pending += data
        while b"\r\n\r\n" in self.pending:
            head, _, self.pending = self.pending.partition(b"\r\n\r\n")
            self._reply(head.decode("latin-1"))

    def _reply(self, head: str) -> None:
        assert self.transport is not None
        method, target, _ = f"{head.splitlines()[0]}   ".split(" ", 2)
        status, media_type, body = self.files.answer(target)
        closing = "connection: close" in head.lower()
        head = (
            f"HTTP/1.1 {status} {'OK' if status == 200 else 'Not Found'}\r\nContent-Type: {media_type}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: {'close' if closing else 'keep-alive'}\r\nLinkChecker: unlimited\r\n\r\n"
        )
        self.transport.write(head.encode() + (b"" if method == "HEAD" else body))
        self.log.write(f"{time.time():.3f}\t0.000\t{status}\t{media_type}\t{method}\t{target}\n")
        if closing:
            self.transport.close()


async def main(files: Files, port: int, log: TextIO) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(files, log), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    with Path(sys.argv[3]).open("a", buffering=1) as access_log:
        asyncio.run(main(Files(Path(sys.argv[1])), int(sys.argv[2]), access_log))
