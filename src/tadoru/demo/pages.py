"""Renders the files of the site as responses: the fields and the body of a page go into a layout, with URLs and dates filled in.

An `.html` file begins with fields, one per line (`title: 星町`), then a blank line, then its body. A line of the layout that uses
a field which the page does not have is omitted; that is how a page has no title. All files are read once, at the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from email.utils import format_datetime
from importlib.resources import files
from importlib.resources.abc import Traversable

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
