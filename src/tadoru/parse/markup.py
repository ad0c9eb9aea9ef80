"""Faults of a page's markup that its tree no longer shows, because the parser mends them: read from the bytes.

Only what browsers and search engines act upon: two heads or bodies, and elements that end the head before its end tag. Whatever
the tree still shows is read in `page`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OPAQUE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|template|textarea|title|iframe|svg|xmp|noembed|noframes)\b[^>]*+(?:>.*?(?:</\1\s*+>|\Z)|\Z)",
    re.DOTALL,
)
_VALUE = re.compile(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""")
_TAG = re.compile(rb"<([a-z][a-z0-9:-]*+)")
_HEAD = re.compile(rb"<head(?=[\s/>])")
_OUTER = re.compile(rb"<([hHbB](?:[eE][aA][dD]|[oO][dD][yY]))(?=[\s/>])")
_BELONGS = frozenset({"title", "meta", "link", "base", "script", "style", "noscript", "template"})
_LONGEST_HEAD = 256 * 1024


class Markup(NamedTuple):
    """What the bytes say."""

    heads: int
    bodies: int
    """One also when the tag is left out: the element is there all the same."""
    strays: tuple[str, ...]
    """Names of the elements in the head that do not belong there, each once."""


def read_markup(data: bytes) -> Markup:
    """Look at a page in an encoding that contains ASCII."""
    if b"</head" not in data[:_LONGEST_HEAD]:
        # Tags in capitals, or left out.
        data = data.lower()
    strays = dict.fromkeys(name.decode("ascii") for name in _TAG.findall(_plain(_head(data))))
    heads, bodies = _outer(data)
    if heads > 1 or bodies > 1:
        # Only when there seem to be several is it worth a close look at comments, scripts and values.
        heads, bodies = _outer(_plain(data.lower()))
    return Markup(max(1, heads), max(1, bodies), tuple(name for name in strays if name not in _BELONGS))


def _outer(data: bytes) -> tuple[int, int]:
    """The numbers of tags that begin a head, and a body."""
    found = [name.lower() for name in _OUTER.findall(data)]
    return found.count(b"head"), found.count(b"body")


def _head(data: bytes) -> bytes:
    """What stands between the tags of the head, in lower case; nothing when one of them is left out."""
    lowered = data[: max(data.find(b"</head", 0, _LONGEST_HEAD), 0)].lower()
    opened = _HEAD.search(lowered)
    return lowered[lowered.find(b">", opened.end()) + 1 :] if opened else b""


def _plain(data: bytes) -> bytes:
    return _VALUE.sub(b"", _OPAQUE.sub(b"", data))
