"""The server of the demo site on 127.0.0.1, in its own process while jobs crawl it, and files that replace those of the site.

An `.html` file begins with fields, one per line (`title: 星町`), then a blank line, then its body. A line of the layout that uses
a field which the page does not have is omitted; that is how a page has no title. All files are read once, at the start.

`python -m tadoru.demo.server --port 0` prints its URL and serves until its standard input ends, so that it never outlives the
command that started it.

Intentional errors, for the jobs to find:

    /town/map-1998.html, /docs/rate-limits.html   linked but missing
    /town/statistics         responds with 500
    /old/                    a chain of two redirects to /town/
    /mobile/                 a redirect loop
    /calendar?month=…        a previous and a next month for every month, without end
    /private/                linked, and disallowed by robots.txt
    /drafts/budget.html      linked, and noindex
    /festival-archive.html   only in the sitemap
    /town/history.html       has no title; /news/bus.html and /news/bus-winter.html share one
    /town/mayor.html         has no description
    /town/moving.html, /news/bus-winter.html, /docs/changelog.html   link to fragments that do not exist
    /access.html             has an image without alt, and links to a private address
    /archive/                is in Shift_JIS
"""

from __future__ import annotations

import argparse
import calendar
import hashlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from urllib.parse import parse_qs, unquote

from tadoru.clock import SystemClock, to_datetime
from tadoru.errors import UsageError

TOKYO = timezone(timedelta(hours=9))
_REIWA = 2018
"""The year before the first year of the era."""
_JAPANESE_DAYS = "月火水木金土日"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()

DATE_FORMATS: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "month": lambda day: day.isoformat()[:7],
    "slash": lambda day: f"{day.year}/{day.month}/{day.day}",
    "ics": lambda day: day.isoformat().replace("-", ""),
    "rss": lambda day: format_datetime(datetime(day.year, day.month, day.day, 9, tzinfo=TOKYO)),
    "en": lambda day: f"{_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}",
    "ja": lambda day: f"{day.year}年{day.month}月{day.day}日（{_JAPANESE_DAYS[day.weekday()]}）",
    "era": lambda day: f"令和{day.year - _REIWA}年{day.month}月{day.day}日（{_JAPANESE_DAYS[day.weekday()]}）",
}
_TOKEN = re.compile(r"\{\{(" + "|".join(DATE_FORMATS) + r")([+-]\d+)\}\}")


def next_monday(day: date) -> date:
    """The first Monday after a day."""
    return day + timedelta(days=7 - day.weekday())


def fill_dates(text: str, monday: date) -> str:
    """The text with its dates filled in."""
    return _TOKEN.sub(lambda token: DATE_FORMATS[token[1]](monday + timedelta(days=int(token[2]))), text)


MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "ics": "text/calendar; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "xml": "application/xml",
}
_CRLF = frozenset({"ics", "csv"})
"""RFC 5545 and RFC 4180 require CRLF, and parsers may depend on it."""
_FIELD = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResponse:
    """The response to a request."""

    status: int = 200
    type: str = "text/html; charset=utf-8"
    body: bytes = b""
    location: str | None = None


@dataclass(frozen=True, slots=True)
class PageRenderer:
    """Renders pages with layouts, the base URL, and the Monday that dates are relative to."""

    layouts: dict[str, str]
    base: str
    monday: date

    def page(self, text: str, status: int = 200) -> DemoResponse:
        """The response of a page with its fields at the top."""
        head, _, body = text.partition("\n\n")
        fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in head.splitlines())}
        charset = fields.setdefault("charset", "utf-8")
        fields |= {"body": body, "lang": fields.get("lang", "ja")}
        layout = self.layouts[fields.get("layout", "town")]
        body_bytes = self.text(_fill_layout(layout, fields)).encode(charset, "xmlcharrefreplace")
        return DemoResponse(status=status, type=f"text/html; charset={charset}", body=body_bytes)

    def text(self, text: str) -> str:
        """A text with its URLs and dates filled in."""
        return fill_dates(text.replace("{{base}}", self.base), self.monday)

    def file(self, name: str, data: bytes) -> DemoResponse:
        """The response of a file."""
        suffix = name.rpartition(".")[2]
        if suffix == "html":
            return self.page(data.decode())
        text = self.text(data.decode())
        return DemoResponse(type=MEDIA_TYPES[suffix], body=(text.replace("\n", "\r\n") if suffix in _CRLF else text).encode())


def _fill_layout(layout: str, fields: dict[str, str]) -> str:
    lines = (line for line in layout.splitlines() if all(name in fields or name == "base" for name in _FIELD.findall(line)))
    return _FIELD.sub(lambda token: fields.get(token[1], token[0]), "\n".join(lines) + "\n")


def read_files() -> dict[str, bytes]:
    """All files of the site by path."""
    return dict(_walk(files("tadoru.demo") / "site", ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in {*MEDIA_TYPES, "html"}:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


REDIRECTS = {
    "/old/": (301, "/old/index.html"),
    "/old/index.html": (301, "/town/"),
    "/mobile/": (302, "/mobile/top"),
    "/mobile/top": (302, "/mobile/"),
}
FAILING = frozenset({"/town/statistics"})
EVENTS = (
    (5, "star-festival", "星まつり"),
    (9, "library-talk", "図書館講演会"),
    (12, "mochi", "もちつき大会"),
    (20, "concert", "天文台コンサート"),
    (26, "ski", "親子スキー教室"),
)
"""Days after the Monday, with the page and the title of each event."""
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, slots=True)
class DemoSite:
    """The whole site."""

    renderer: PageRenderer
    responses: dict[str, DemoResponse]

    @classmethod
    def build(cls, base: str, monday: date) -> DemoSite:
        """The site at a base URL, with dates relative to a Monday."""
        texts = read_files()
        layouts = {
            name[len("_layout/") : -len(".html")]: data.decode() for name, data in texts.items() if name.startswith("_layout/")
        }
        renderer = PageRenderer(layouts, base, monday)
        responses = {f"/{name}": renderer.file(name, data) for name, data in texts.items() if not name.startswith("_")}
        responses |= {path.removesuffix("index.html"): page for path, page in responses.items() if path.endswith("/index.html")}
        return cls(renderer, responses)

    def respond(self, target: str) -> DemoResponse:
        """The response to a request target such as `/calendar?month=2027-01`."""
        head, _, tail = target.partition("?")
        path, query = unquote(head), parse_qs(tail)
        if path in REDIRECTS:
            status, location = REDIRECTS[path]
            return DemoResponse(status=status, location=location)
        if path in FAILING:
            return self._error_page(500)
        if path == "/calendar":
            return self._calendar(query.get("month", [self.renderer.monday.isoformat()[:7]])[0])
        if path == "/api/events":
            path = f"/api/events-{query.get('page', ['1'])[0]}.json"
        if f"{path}/" in self.responses:
            return DemoResponse(status=301, location=f"{path}/")
        return self.responses.get(path) or self._error_page(404)

    def _error_page(self, status: int) -> DemoResponse:
        return replace(self.responses[f"/errors/{status}.html"], status=status)

    def _calendar(self, month: str) -> DemoResponse:
        match = _MONTH.fullmatch(month)
        if match is None or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
            return self._error_page(404)
        year, number = int(match[1]), int(match[2])
        on = {self.renderer.monday + timedelta(days=offset): (slug, title) for offset, slug, title in EVENTS}
        weeks = "\n".join(
            f"<tr>{''.join(_cell(year, number, day, on) for day in week)}</tr>" for week in calendar.monthcalendar(year, number)
        )
        fields = {"year": str(year), "number": str(number), "weeks": weeks} | _neighbours(year, number)
        text = self.renderer.layouts["calendar"]
        for name, value in fields.items():
            text = text.replace(f"[[{name}]]", value)
        return self.renderer.page(text)


def _neighbours(year: int, month: int) -> dict[str, str]:
    """The previous and the next month; the calendar wraps around."""
    count = (year - 1) * 12 + month - 1
    months = {name: (count + step) % (9999 * 12) for name, step in (("before", -1), ("after", 1))}
    return {name: f"{value // 12 + 1:04}-{value % 12 + 1:02}" for name, value in months.items()}


def _cell(year: int, month: int, day: int, on: dict[date, tuple[str, str]]) -> str:
    if not day:
        return "<td></td>"
    event = on.get(date(year, month, day))
    entry = f'<a href="/events/{event[0]}.html">{event[1]}</a>' if event else ""
    return f"<td><span>{day}</span>{entry}</td>"


_TYPES = {**MEDIA_TYPES, "html": "text/html; charset=utf-8"}


class FileOverrides:
    """The files of a folder as responses. The folder is read for each request, so that saving a file changes the site."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def respond(self, target: str) -> DemoResponse | None:
        """The response for a request target such as `/town/` or `/docs/limits.html`, if the folder has the file."""
        path = unquote(target.partition("?")[0])
        file = self._files().get(f"{path}index.html" if path.endswith("/") else path)
        if file is None:
            return None
        try:
            return DemoResponse(type=_TYPES[file.suffix[1:]], body=file.read_bytes())
        except OSError:  # It has just been deleted.
            return None

    def _files(self) -> dict[str, Path]:
        """All files by their URL path. A request is looked up here and never becomes a path itself."""
        if self._folder is None:
            return {}
        # An empty file is still being written, perhaps from the very response that is requested.
        files = (file for file in self._folder.rglob("*") if file.suffix[1:] in _TYPES and file.is_file() and file.stat().st_size)
        return {f"/{file.relative_to(self._folder).as_posix()}": file for file in files}


HOST = "127.0.0.1"
_TAG = re.compile(r'"[^"]*"')


class DemoServer(ThreadingMixIn, TCPServer):
    """The listening server. Not `HTTPServer`, which looks up the name of the machine in DNS before it starts."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, port: int, today: date, changes: Path | None = None) -> None:
        super().__init__((HOST, port), DemoRequestHandler)
        self.overrides = FileOverrides(changes)
        monday = next_monday(today)
        self.url = f"http://{HOST}:{self.server_address[1]}"
        self.site = DemoSite.build(self.url, monday)
        # The last Monday: all dates in the pages changed then.
        self.changed = datetime(monday.year, monday.month, monday.day, tzinfo=UTC) - timedelta(days=7)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class DemoRequestHandler(BaseHTTPRequestHandler):
    """Handles GET and HEAD with keep-alive and conditional requests."""

    server: DemoServer
    protocol_version = "HTTP/1.1"
    server_version = "Hoshimachi"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        """Respond to GET."""
        response = self.server.overrides.respond(self.path) or self.server.site.respond(self.path)
        tag = f'"{hashlib.sha256(response.body).hexdigest()[:16]}"'
        if response.status == 200 and self._has(tag):
            response = DemoResponse(status=304)
        self.send_response(response.status)
        if response.location is not None:
            self.send_header("Location", response.location)
        if response.status in (200, 304):
            self.send_header("ETag", tag)
            self.send_header("Last-Modified", format_datetime(self.server.changed, usegmt=True))
            self.send_header("Cache-Control", "no-cache")
        if response.status != 304:
            self.send_header("Content-Type", response.type)
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD" and response.status != 304:
            self.wfile.write(response.body)

    do_HEAD = do_GET  # noqa: N815

    def _has(self, tag: str) -> bool:
        """Whether the client has this body already. A tag is compared before a date (RFC 9110)."""
        tags = self.headers["If-None-Match"]
        if tags is not None:
            return tags.strip() == "*" or tag in _TAG.findall(tags)
        try:
            return parsedate_to_datetime(self.headers["If-Modified-Since"]) >= self.server.changed
        except (TypeError, ValueError):
            return False

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no access log."""


def open_server(port: int, changes: Path | None = None) -> DemoServer:
    """The server, bound but not yet serving. Raises UsageError if the port is not available."""
    try:
        return DemoServer(port, to_datetime(SystemClock().now()).date(), changes)
    except OSError as error:
        raise UsageError(
            "Cannot use port {port} of {host} ({reason}). Choose another --port, or omit it.",
            port=port,
            host=HOST,
            reason=error.strerror,
        ) from None


@contextmanager
def running_site(port: int = 0) -> Iterator[str]:
    """The URL of the site, served by another process for the duration of the block."""
    # A process, because crawls fork, and a fork next to a thread can hang; a session, so that only the crawl receives Ctrl-C.
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
        print(error)  # noqa: T201 - for the parent process, which distinguishes it from a URL
        sys.exit(error.exit_code)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.url, flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    main()
