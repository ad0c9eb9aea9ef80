"""Files that take the place of the town's own, so that somebody can mend the demo site and crawl it again.

The folder is read anew for each request: a page is mended by saving a file. What is asked for is looked up among the files that
are there; no address of a request is ever made into a path.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from urllib.parse import unquote

from tadoru.clock import SystemClock, to_datetime
from tadoru.demo.pages import MEDIA_TYPES, DemoResponse, next_monday
from tadoru.demo.routes import DemoSite
from tadoru.errors import UsageError

_TYPES = {**MEDIA_TYPES, "html": "text/html; charset=utf-8"}


class FileOverrides:
    """The files of a folder as answers; of no folder, none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def answer(self, target: str) -> DemoResponse | None:
        """What the folder has for a request target such as `/town/` or `/docs/limits.html`."""
        path = unquote(target.partition("?")[0])
        file = self._files().get(f"{path}index.html" if path.endswith("/") else path)
        if file is None:
            return None
        try:
            return DemoResponse(type=_TYPES[file.suffix[1:]], body=file.read_bytes())
        except OSError:  # It was taken away just now.
            return None

    def _files(self) -> dict[str, Path]:
        """Every file by the path that it is asked for with."""
        if self._folder is None:
            return {}
        # One without content is being written just now, perhaps from the very answer that is asked for.
        files = (file for file in self._folder.rglob("*") if file.suffix[1:] in _TYPES and file.is_file() and file.stat().st_size)
        return {f"/{file.relative_to(self._folder).as_posix()}": file for file in files}


HOST = "127.0.0.1"
_TAG = re.compile(r'"[^"]*"')


class DemoServer(ThreadingMixIn, TCPServer):
    """The town, listening. Not `HTTPServer`: that one asks DNS for the machine's name before it starts."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, port: int, today: date, changes: Path | None = None) -> None:
        super().__init__((HOST, port), DemoRequestHandler)
        self.changes = FileOverrides(changes)
        monday = next_monday(today)
        self.address = f"http://{HOST}:{self.server_address[1]}"
        self.town = DemoSite.build(self.address, monday)
        # The Monday that was: the days in the pages changed then, all at once.
        self.changed = datetime(monday.year, monday.month, monday.day, tzinfo=UTC) - timedelta(days=7)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class DemoRequestHandler(BaseHTTPRequestHandler):
    """One connection: GET and HEAD, kept alive, with conditional requests."""

    server: DemoServer
    protocol_version = "HTTP/1.1"
    server_version = "Hoshimachi"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer a GET."""
        answer = self.server.changes.answer(self.path) or self.server.town.answer(self.path)
        tag = f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
        if answer.status == 200 and self._has(tag):
            answer = DemoResponse(status=304)
        self.send_response(answer.status)
        if answer.location is not None:
            self.send_header("Location", answer.location)
        if answer.status in (200, 304):
            self.send_header("ETag", tag)
            self.send_header("Last-Modified", format_datetime(self.server.changed, usegmt=True))
            self.send_header("Cache-Control", "no-cache")
        if answer.status != 304:
            self.send_header("Content-Type", answer.type)
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD" and answer.status != 304:
            self.wfile.write(answer.body)

    do_HEAD = do_GET  # noqa: N815

    def _has(self, tag: str) -> bool:
        """Does the client hold this body already? A tag is asked before a date, as RFC 9110 says."""
        tags = self.headers["If-None-Match"]
        if tags is not None:
            return tags.strip() == "*" or tag in _TAG.findall(tags)
        try:
            return parsedate_to_datetime(self.headers["If-Modified-Since"]) >= self.server.changed
        except (TypeError, ValueError):
            return False

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The crawl says what it does; the server need not."""


def open_server(port: int, changes: Path | None = None) -> DemoServer:
    """The server for today, bound and not yet serving. Raises UsageError when the port cannot be had."""
    try:
        return DemoServer(port, to_datetime(SystemClock().now()).date(), changes)
    except OSError as error:
        raise UsageError(f"Port {port} of {HOST} cannot be used ({error.strerror}); give another --port, or none.") from None


@contextmanager
def running_site(port: int = 0) -> Iterator[str]:
    """The site's address, served by another process for as long as the block lasts."""
    # A process, because crawls fork, and a fork beside a thread can hang; a session, because Ctrl-C is for the crawl to act on.
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", "tadoru.demo.server", "--port", str(port)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"},
    )  # fmt: skip
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            if not line.startswith("http://"):
                raise UsageError(line or "The demo site did not start.")
            yield line
        finally:
            process.terminate()


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(
        prog="python -m tadoru.demo.server", description="Serve the demo site until standard input ends."
    )
    parser.add_argument("--port", type=int, default=0)
    try:
        server = open_server(parser.parse_args().port)
    except UsageError as error:
        print(error)  # noqa: T201 - for the one who started us, who tells it apart from an address
        sys.exit(error.exit_code)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.address, flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    main()
