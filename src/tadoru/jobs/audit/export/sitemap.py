"""The sitemap format: the indexable pages of a site, as sitemaps.org defines it.

One file while it is small enough; beyond the limits of the protocol several files, and an index of them under the requested name.
The limits count before compression.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote
from xml.sax.saxutils import escape

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.atomic_files import AtomicFiles
from tadoru.jobs.audit.export.format_support import parse_time
from tadoru.parse.sitemap import MAX_BYTES, MAX_URLS

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_OPEN, _CLOSE = f'<urlset xmlns="{_NAMESPACE}">\n'.encode(), b"</urlset>\n"
_OPEN_INDEX, _CLOSE_INDEX = f'<sitemapindex xmlns="{_NAMESPACE}">\n'.encode(), b"</sitemapindex>\n"


def write_sitemaps(
    pages: Iterator[tuple[str, str | None]],
    files_out: AtomicFiles,
    path: Path,
    base_url: str,
    *,
    compressed: bool = False,
    max_urls: int = MAX_URLS,
    max_bytes: int = MAX_BYTES,
) -> list[Path]:
    """Writes `path`, and `NAME-1.xml`, `NAME-2.xml`, … beside it if one file is not enough; returns all files.

    `base_url`: the folder on the site that serves them.
    """
    entries = _UrlEntries(pages, max_urls, max_bytes)
    if not entries:
        raise UsageError("This crawl has no indexable HTML page for a sitemap.")
    files: list[Path] = []
    while entries:
        file = numbered_path(path, len(files) + 1)
        with files_out.binary(file, compressed=compressed) as out:
            entries.fill(out)
        files.append(file.resolve())
    if len(files) == 1:
        files_out.rename(files[0], path.resolve())
        return [path]
    with files_out.binary(path, compressed=compressed) as out:
        out.write(_HEAD + _OPEN_INDEX)
        for file in files:
            location = f"{base_url.rstrip('/')}/{quote(file.name)}"
            out.write(f"  <sitemap><loc>{escape(location)}</loc></sitemap>\n".encode())
        out.write(_CLOSE_INDEX)
    return [path, *files]


def numbered_path(path: Path, number: int) -> Path:
    """`maps/site.xml.gz` → `maps/site-2.xml.gz`."""
    stem, dot, rest = path.name.partition(".")
    return path.with_name(f"{stem}-{number}{dot}{rest}")


class _UrlEntries:
    """The pages as XML, split into files of the allowed size."""

    def __init__(self, pages: Iterator[tuple[str, str | None]], max_urls: int, max_bytes: int) -> None:
        self._pages = (_entry(*page) for page in pages)
        self._max_urls = max_urls
        self._available = max_bytes - len(_HEAD + _OPEN + _CLOSE)
        self._next = next(self._pages, None)

    def __bool__(self) -> bool:
        """Whether there are more pages."""
        return self._next is not None

    def fill(self, out: BinaryIO) -> None:
        """Writes one file, up to the limits."""
        out.write(_HEAD + _OPEN)
        urls = used = 0
        while self._next is not None and urls < self._max_urls and (not urls or used + len(self._next) <= self._available):
            out.write(self._next)
            urls += 1
            used += len(self._next)
            self._next = next(self._pages, None)
        out.write(_CLOSE)


def _entry(url: str, last_modified: str | None) -> bytes:
    changed = parse_time(last_modified) if last_modified else None
    lastmod = f"<lastmod>{changed:%Y-%m-%dT%H:%M:%SZ}</lastmod>" if changed else ""
    return f"  <url><loc>{escape(url)}</loc>{lastmod}</url>\n".encode()
