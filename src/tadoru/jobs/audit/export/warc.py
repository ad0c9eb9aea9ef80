"""The WARC format: the stored responses as an archive (WARC 1.1) for replay tools. Needs warcio, an optional extra.

Each record is compressed separately. A body that was already written is referred to, not repeated. Bodies are stored decoded, so
the header fields about their transfer are renamed, and the length is that of the stored body.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from base64 import b32encode
from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO

from tadoru.config.options import USER_AGENT
from tadoru.errors import StoreError
from tadoru.fetch.guard import is_literal
from tadoru.jobs.audit.export.format_support import iso_time, optional_library
from tadoru.store.crawl.export_reader import StoredPage
from tadoru.version import VERSION

_TRANSFER_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_BREAKS = re.compile(r"[\r\n\0]+")


def write_warc(pages: Iterable[StoredPage], out: BinaryIO, *, name: str, now: datetime) -> None:
    """Writes the archive. `name`: its file name."""
    with optional_library("warc"):
        writers, fields = import_module("warcio.warcwriter"), import_module("warcio.statusandheaders")
    writer = writers.WARCWriter(out, gzip=True, warc_version="1.1")
    info = {
        "software": f"Tadoru/{VERSION}", "format": "WARC File Format 1.1", "conformsTo":
        "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/", "http-header-user-agent": USER_AGENT,
    }  # fmt: skip
    first = writer.create_warcinfo_record(name, info)
    first.rec_headers.replace_header("WARC-Date", f"{now:%Y-%m-%dT%H:%M:%SZ}")
    writer.write_record(first)
    for page in pages:
        writer.write_record(_record(writer, fields, page))


def _record(writer: Any, fields: Any, page: StoredPage) -> Any:
    body = _body(page)
    headers = fields.StatusAndHeaders(_status(page.status_code), stored_headers(page.headers, len(body)), protocol="HTTP/1.1")
    about = {"WARC-Date": iso_time(page.crawled_at)}
    if page.address and is_literal(page.address):
        about["WARC-IP-Address"] = page.address
    if page.same_url is not None and page.same_at is not None:
        digest = "sha1:" + b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
        return writer.create_revisit_record(
            page.url, digest, page.same_url, iso_time(page.same_at), http_headers=headers, warc_headers_dict=about
        )
    return writer.create_warc_record(
        page.url, "response", payload=BytesIO(body), length=len(body), http_headers=headers, warc_headers_dict=about
    )


def stored_headers(headers: Iterable[tuple[str, str]], length: int) -> list[tuple[str, str]]:
    """The header fields that fit the stored body."""
    kept = [
        (f"X-Crawler-{name}" if name.lower() in _TRANSFER_HEADERS else name, _BREAKS.sub(" ", value))
        for name, value in headers
        if name and not _BREAKS.search(name)
    ]
    return [*kept, ("Content-Length", str(length))]


def _body(page: StoredPage) -> bytes:
    try:
        return zlib.decompress(page.body) if page.body is not None else b""
    except zlib.error:
        raise StoreError("The database is damaged: the stored body of {url} cannot be read.", url=page.url) from None


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return f"{code} Unknown"
