"""Makes crawled text safe to show, and URLs readable.

A title or an anchor text may contain terminal escapes, line breaks and marks that change the reading direction. Each format
escapes its own syntax; what no format should contain is removed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

_UNSAFE_SET = (
    r"\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: terminal commands
    r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # direction marks, line separators, invisible characters
    r"\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f"  # halves of pairs (not encodable), annotations, tags
)
_UNSAFE = re.compile(f"[{_UNSAFE_SET}]")
_ESCAPED_BYTES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_FIRST_DIRECTORY = re.compile(r"[^/?#]*//[^/?#]*/+([^/?#]+)/")
_NOT_IN_URL = re.compile(rf"[\s{_UNSAFE_SET}]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$@:-])")
_NOT_IN_MARKDOWN_LINK = re.compile(r"[\s<>()\\\"'`|*_~\[\]]")


def printable(text: str) -> str:
    """One line without invisible characters: white space becomes one space, other unsafe characters U+FFFD."""
    # Nearly every text is safe as it is, and a report asks for many.
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text
    return _UNSAFE.sub("\ufffd", " ".join(text.split()))


def clip(text: str, length: int) -> str:
    """The text cut to `length` characters, with an ellipsis if it was longer."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def encode_json(value: Any) -> str:
    """A value on one line, with terminal control characters escaped."""
    return json_safe(json.dumps(value, ensure_ascii=False, allow_nan=False))


def json_safe(encoded: str) -> str:
    """Encoded JSON in which unsafe characters are written as escapes."""
    return _UNSAFE.sub(_json_escape, encoded)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def readable_url(url: str) -> str:
    """The URL with decoded percent-escapes where that is safe (`/日本`)."""
    return printable(_ESCAPED_BYTES.sub(_decode, url) if "%" in url else url)


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


def below_folder(url: str, folder: str) -> str | None:
    """The path of a `file:` URL relative to a folder, itself a `file:` URL; None for any other URL."""
    return url[len(folder) + 1 :] or None if url.startswith(f"{folder}/") and folder.startswith("file:") else None


def url_host(url: str) -> str:
    """The host of a URL, with its port; the URL itself if it has none."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return printable(host or url)


def url_shortener(site: str) -> Callable[[str], str]:
    """A function that shortens the URLs of a site (an origin) to their paths and leaves other URLs whole."""

    def short(url: str) -> str:
        rest = url[len(site) :]
        return readable_url(rest if url.startswith(site) and rest.startswith(("/", "?")) else url)

    return short


def quote_dot(text: str) -> str:
    """A string of the DOT language: quotation marks and backslashes are escaped."""
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def first_directory(url: str) -> str:
    """The first directory of the path of a URL, with its slashes; `/` for a page at the top."""
    found = _FIRST_DIRECTORY.match(url)
    return f"/{found[1]}/" if found else "/"


def escape_markdown(text: str) -> str:
    """Crawled text that Markdown shows literally: no markup, no HTML, no mentions."""
    return _MARKDOWN.sub(r"\\\1", printable(text)).replace("\\@", "&#64;").replace("\\<", "&lt;").replace("\\&", "&amp;")


def markdown_link(url: str, name: str) -> str:
    """A link if it is safe to follow; otherwise its text."""
    shown = escape_markdown(clip(name, 100))
    if not url.lower().startswith(("http://", "https://")):
        return shown
    target = _NOT_IN_MARKDOWN_LINK.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), url)
    return f"[{shown}](<{printable(target)}>)"


def markdown_code(text: str) -> str:
    """A text as code."""
    return f"`{printable(text).replace('`', '')}`"
