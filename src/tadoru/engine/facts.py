"""From an answer to the columns of the `pages` table."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache

from tadoru.engine.job import Found
from tadoru.model.web import Response
from tadoru.store.base import PageFacts


def page_facts(response: Response, found: Found) -> PageFacts:
    """What the response and the job said about a page."""
    headers = {name.lower(): value for name, value in reversed(response.headers)}
    timings = response.timings
    return PageFacts(
        status_code=response.status,
        title=found.title,
        meta_description=found.meta_description,
        meta_robots=found.meta_robots,
        canonical_url=found.canonical_url,
        content_hash=found.content_hash,
        dns_ms=_ms(timings.dns),
        connect_ms=_ms(timings.connect),
        tls_ms=_ms(timings.tls),
        ttfb_ms=_ms(timings.ttfb),
        download_time_ms=_ms(timings.download),
        response_size_bytes=len(response.body) if response.body_read else None,
        content_type=headers.get("content-type"),
        content_length=_number(headers.get("content-length")),
        last_modified=_utc(headers.get("last-modified")),
        server=headers.get("server"),
        content_encoding=headers.get("content-encoding"),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def _number(text: str | None) -> int | None:
    """A length, unless it is nonsense: a database holds 63 bits."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


@lru_cache(maxsize=1024)
def _utc(text: str | None) -> str | None:
    """An HTTP date as the UTC text that SQLite's date functions read; None when it is not one."""
    if not text:
        return None
    try:
        date = parsedate_to_datetime(text)
        return (date.astimezone(UTC) if date.tzinfo else date).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
