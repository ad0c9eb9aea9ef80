"""Whether two events point to one page, and whether that page is about one event: a list page or a site's top proves nothing."""

from __future__ import annotations

import re
from functools import lru_cache

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\.)?", re.IGNORECASE)
_TRACKING = re.compile(r"(?<=[?&])(?:utm_[a-z]+|fbclid|gclid|ref|source)=[^&]*&?", re.IGNORECASE)
_DULL = re.compile(
    r"(?:index|default|top|home|main|events?|event_?(?:list|calendar|info)|event-calendar|calendar|schedule|lists?|news|info|oshirase|"
    r"topics|category|archive|search|koza|kouza|moyooshi|ibento|library|tosyokan|toshokan)(?:[-_]?\d{1,2})?(?:\.[a-z]{2,5})?",
    re.IGNORECASE,
)
_PAGE_ID = re.compile(r"\d{3,}|[a-z0-9]{4,}[-_][a-z0-9]{2,}|[a-z]{6,}|[^\x00-\x7f]{2,}|%[0-9a-f]{2}", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def specific(url: str) -> str:
    """The address of a page about one event in one form, or "" when it looks like a page about many."""
    bare = _TRACKING.sub("", _SCHEME.sub("", url.strip()).split("#", 1)[0]).rstrip("?&")
    path, _, query = bare.partition("?")
    host, _, rest = path.partition("/")
    segments = [segment for segment in rest.split("/") if segment]
    if query and re.search(r"=[^&=\d]*+\d", query):
        return f"{host.lower()}/{'/'.join(segments)}?{query}"
    if (
        len(segments) > 1
        and _DULL.fullmatch(segments[-1])
        and not _DULL.fullmatch(segments[-2])
        and re.search(r"\d{3,}", segments[-2])
    ):
        segments = segments[:-1]
    if not segments or _DULL.fullmatch(segments[-1]) or not _PAGE_ID.search(segments[-1].rsplit(".", 1)[0]):
        return ""
    return f"{host.lower()}/{'/'.join(segments)}"


def same_page(one: str, other: str) -> bool:
    """Whether both point to one page about one event."""
    return bool(one) and bool(other) and (mine := specific(one)) != "" and mine == specific(other)
