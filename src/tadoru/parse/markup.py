"""Faults of a page's markup that its tree no longer shows, because the parser mends them: read from the bytes.

Only what browsers and search engines act upon: two heads or bodies, and elements that end the head before its end tag. Whatever the
tree still shows is read in `page`.
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
_HEADS = re.compile(rb"<head(?=[\s/>])")
_BODIES = re.compile(rb"<body(?=[\s/>])")
_BELONGS = frozenset({"title", "meta", "link", "base", "script", "style", "noscript", "template"})
_LONGEST_HEAD = 256 * 1024


class Markup(NamedTuple):
    """What the bytes say."""

    heads: int
    bodies: int
    strays: tuple[str, ...]
    """Names of the elements in the head that do not belong there, each once."""


def read_markup(data: bytes) -> Markup:
    """Look at a page in an encoding that contains ASCII."""
    lowered = data.lower()
    strays = dict.fromkeys(name.decode("ascii") for name in _TAG.findall(_plain(_head(lowered))))
    return Markup(_count(_HEADS, lowered), _count(_BODIES, lowered), tuple(name for name in strays if name not in _BELONGS))


def _head(lowered: bytes) -> bytes:
    """What stands between the tags of the head; nothing when one of them is left out."""
    opened = _HEADS.search(lowered, 0, _LONGEST_HEAD)
    begin = lowered.find(b">", opened.end()) + 1 if opened else 0
    end = lowered.find(b"</head", begin, _LONGEST_HEAD)
    return lowered[begin:end] if begin and end > begin else b""


def _count(tags: re.Pattern[bytes], lowered: bytes) -> int:
    """How many there are; only when there seem to be several is it worth a close look at comments, scripts and values."""
    if lowered.count(tags.pattern[:5]) < 2:
        return lowered.count(tags.pattern[:5])
    found = len(tags.findall(lowered))
    return found if found < 2 else len(tags.findall(_plain(lowered)))


def _plain(data: bytes) -> bytes:
    return _VALUE.sub(b"", _OPAQUE.sub(b"", data))
