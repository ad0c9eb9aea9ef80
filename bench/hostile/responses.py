"""One hostile response for each number: the format by turns, then the family by turns, the rest by chance."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from random import Random

from bench.hostile import feeds, header_fields, html, sources
from bench.hostile.pieces import Families, encoded

LARGEST = 10 * 1024 * 1024
"""Bytes that a body may have: `--max-response-size` of a crawl by default."""
ROBOTS_LARGEST = 600 * 1024
FAMILIES: dict[str, Families] = {
    "HTML": html.FAMILIES,
    "feed": feeds.FEEDS,
    "ICS": sources.CALENDARS,
    "CSV": sources.TABLES,
    "JSON": sources.APIS,
    "Markdown": sources.MARKDOWN,
    "headers": {"fields": html.FAMILIES["repeated"]},
    "cookies": {"fields": html.FAMILIES["repeated"]},
    "robots": header_fields.ROBOTS,
    "sitemap": feeds.SITEMAPS,
}
FORMATS = tuple(FAMILIES)
TYPES = {
    "HTML": "text/html; charset=utf-8",
    "feed": "application/rss+xml",
    "ICS": "text/calendar",
    "CSV": "text/csv",
    "JSON": "application/json",
    "Markdown": "text/markdown",
    "headers": "text/html",
    "cookies": "text/html",
    "robots": "text/plain",
    "sitemap": "application/xml",
}
PATHS = {
    "feed": "feed.xml",
    "ICS": "calendar.ics",
    "CSV": "events.csv",
    "JSON": "events.json",
    "Markdown": "page.md",
    "robots": "robots.txt",
    "sitemap": "sitemap.xml",
}


@dataclass(frozen=True, slots=True)
class HostileResponse:
    """What a server answers to make its reader suffer."""

    number: int
    format: str
    family: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """After decompression."""

    @property
    def path(self) -> str:
        """Where a site has it."""
        return f"/case/{self.number}/{PATHS.get(self.format, 'page.html')}"

    @property
    def content_type(self) -> str:
        return dict(self.headers)["Content-Type"]

    def sent(self) -> tuple[tuple[tuple[str, str], ...], bytes]:
        """The header fields and the bytes on the wire, small where the body is large."""
        if len(self.body) < 100_000 or any(name == "Content-Encoding" for name, _ in self.headers):
            return self.headers, self.body
        return (*self.headers, ("Content-Encoding", "gzip")), gzip.compress(self.body, 1, mtime=0)


def hostile_response(number: int, seed: int = 1) -> HostileResponse:
    """The response of a number; the same for ever, for the same seed."""
    rng = Random(f"{seed}/{number}")
    format_, turn = FORMATS[number % len(FORMATS)], number // len(FORMATS)
    families = FAMILIES[format_]
    family = list(families)[turn % len(families)]
    size = _size(rng, ROBOTS_LARGEST if format_ == "robots" else LARGEST)
    status, headers, kind = 200, header_fields.Fields(), TYPES[format_]
    if format_ in ("headers", "cookies"):
        size = min(size, 20_000)
        status = rng.choice((200, 200, 301, 429, 503))
        headers = header_fields.fields(rng, size * 10) if format_ == "headers" else header_fields.cookies(rng, size * 10)
        kind = header_fields.content_type(rng) if rng.random() < 0.2 else kind
    elif rng.random() < 0.1:
        kind = rng.choice((*TYPES.values(), "", "text/plain", "text/html; charset=utf-16", "application/octet-stream"))
    body = encoded(families[family](rng, size))[:LARGEST]
    return HostileResponse(number, format_, family, status, (("Content-Type", kind), *headers), body)


def _size(rng: Random, largest: int) -> int:
    """Every order of magnitude, and a third as large as it may be."""
    return largest if rng.random() < 1 / 3 else int(1000 * (largest / 1000) ** rng.random())
