"""Crawled text made safe to show, and URLs made readable.

A title or an anchor text is whatever a stranger wrote: terminal escapes, line breaks, marks that turn the reading direction. Each
form quotes for its own syntax; what no form wants is taken out here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

_UNSAFE_SET = (
    r"\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: terminal commands
    r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # direction marks, line separators, invisible characters
    r"\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f"  # halves of pairs (not encodable), annotations, tags
)
_UNSAFE = re.compile(f"[{_UNSAFE_SET}]")
_ESCAPED_BYTES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_NOT_IN_URL = re.compile(rf"[\s{_UNSAFE_SET}]")


def printable(text: str) -> str:
    """One line without anything invisible: white space becomes one space, the rest of the unsafe a replacement mark."""
    return _UNSAFE.sub("\ufffd", " ".join(text.split()))


def clip(text: str, length: int) -> str:
    """At most so many characters, with an ellipsis where it was cut."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def json_safe(encoded: str) -> str:
    """Encoded JSON whose strings keep their letters, and have everything unsafe written as an escape."""
    return _UNSAFE.sub(_json_escape, encoded)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def readable_url(url: str) -> str:
    """The URL with the letters its escapes stand for (`/日本`), where that is safe; anything else stays escaped."""
    return printable(_ESCAPED_BYTES.sub(_decode, url))


def _decode(match: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(match[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return match[0]
    return match[0] if _NOT_IN_URL.search(text) else text


def url_origin(url: str) -> str:
    """`https://host:port`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"


def url_shortener(site: str) -> Callable[[str], str]:
    """How a report names a URL: by its path on the site, an `url_origin`; whole anywhere else."""

    def short(url: str) -> str:
        rest = url[len(site) :]
        return readable_url(rest if url.startswith(site) and rest.startswith(("/", "?")) else url)

    return short
