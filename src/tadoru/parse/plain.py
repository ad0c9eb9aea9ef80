"""Whether a page is *plain*: whether a look at its bytes proves that every `<name …>` in it is a start tag.

A plain page, its comments and raw text (script, style, title…) taken out, is text and tags, where each tag ends at the first
`>` and holds no `<`: no value of an attribute has an angle bracket in it (`_ODD_VALUE`), and none stands elsewhere in a tag
(`_UNCLOSED`). Then no `<a` can be part of an attribute, a comment or a script, and links can be read without a tree (`scan`).

Whatever takes the rules of a parser makes a page not plain: tags in capitals, `<base>`, `<template>`, a refresh, a comment that
has no usual end. To be wrong on that side costs a tree, and no more.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SPECIAL = re.compile(
    rb"<([!?A-Z]|s(?:cript|tyle|elect)|t(?:itle|extarea|emplate)|base|frameset|iframe|meta|no(?:embed|frames)|plaintext|xmp)"
)
"""Where the bytes may stop being plain. Tried at every `<` of a page: one alternative for each first letter is fastest."""
_AFTER_NAME = b" \t\n\f\r/>"
_RAW_END = {
    name: re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE)
    for name in (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
}
_RAW_START = re.compile(rb"""<[a-z]++(?:[^<>"'=]++|=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s<>"'=`]++))*+>""")
_UNCLOSED = re.compile(rb"<[a-z/][^<>]*+<")
"""A tag that holds a `<`."""
_ODD_VALUE = re.compile(rb"""=\s*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""")
"""A value that holds a `<` or `>`; also text that only looks like one."""
_BUT_MARKS = bytes(sorted(set(range(256)) - set(b"<>='\"")))
_ODD_MARKS = re.compile(rb"""="[^"]|='[^']""")
"""How an odd value begins when only marks are left; so does one that holds another mark."""


class Plain(NamedTuple):
    """A plain page."""

    markup: bytes
    """Text and tags only."""
    title: bytes | None


def plain(body: bytes) -> Plain | None:
    """A page in UTF-8 without comments and raw text; None when it is not plain."""
    if b"\0" in body or b"\v" in body:  # Parsers replace NUL; \v is white space to `\\s`, but not to them.
        return None
    pieces: list[bytes] = []
    title: bytes | None = None
    foreign = _Foreign(body)
    start = position = 0
    while (special := _SPECIAL.search(body, position)) is not None:
        begin, position = special.span()
        name = special[1]
        if name.islower() and body[position : position + 1] not in _AFTER_NAME:
            continue  # `<metadata>`, say.
        if body.rfind(b"<", start, begin) > body.rfind(b">", start, begin):
            return None  # Within a tag; or after a stray `<`, which must not come to stand before what follows.
        if name in _RAW_END:
            content, end = _raw_text(body, begin, name)
            if b"<" in content and foreign.holds(begin):
                return None  # There, it is not raw text.
            if name == b"title" and title is None and not foreign.holds(begin):
                title = content
        else:
            end = _end(body, begin, name)
        if not end:
            return None
        pieces.append(body[start:begin])
        start = position = end
    pieces.append(body[start:])
    markup = b"".join(pieces)
    return Plain(markup, title) if _is_regular(markup) else None


def _end(body: bytes, begin: int, name: bytes) -> int:
    """Where a comment, a declaration or a `<meta>` ends; 0 when that is not simple to say, or the page not plain."""
    if body.startswith(b"<!--", begin):
        end = body.find(b"-->", begin + 4) + 3
        is_odd = end < 3 or body.startswith((b">", b"->"), begin + 4) or body.find(b"--!>", begin, end) >= 0
        return 0 if is_odd else end
    end = body.find(b">", begin) + 1
    if name == b"meta":
        tag = body[begin:end].lower()
        is_refresh = b"http-equiv" in tag and (b"refresh" in tag or b"&" in tag)
        return 0 if is_refresh or _ODD_VALUE.search(tag) else end
    # What a section of characters is depends on where it stands.
    return end if name in b"!?" and not body.startswith(b"<![CDATA[", begin) else 0


def _raw_text(body: bytes, begin: int, name: bytes) -> tuple[bytes, int]:
    """The content of a raw text element, and where its end tag ends; 0 when that is not simple to say."""
    opened = _RAW_START.match(body, begin)
    closed = _RAW_END[name].search(body, opened.end()) if opened else None
    if opened is None or closed is None:
        return b"", 0
    content = body[opened.end() : closed.start()]
    end = body.find(b">", closed.start()) + 1
    # A script may hold a comment that holds a script.
    is_odd = b"<!--" in content if name == b"script" else b"<" in content
    return (b"", 0) if is_odd or _ODD_VALUE.search(body, closed.start(), end) else (content, end)


class _Foreign:
    """Which places of a page are within an `<svg>` or `<math>`. Asked from front to back, so that no byte is read again."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._asked = 0
        self._opened = self._closed = -1

    def holds(self, position: int) -> bool:
        find, asked = self._body.rfind, self._asked
        self._opened = max(self._opened, find(b"<svg", asked, position), find(b"<math", asked, position))
        self._closed = max(self._closed, find(b"</svg", asked, position), find(b"</math", asked, position))
        self._asked = position
        return self._opened > self._closed


def _is_regular(markup: bytes) -> bool:
    """Whether each tag ends at its first `>` and holds no `<`.

    Whatever the two patterns match leaves a trace in the brackets, quotes and `=` alone. To see that there is none takes a
    fraction of their time; and where there is one, they tell whether it means anything.
    """
    marks = markup.translate(None, _BUT_MARKS)
    if b"<<" in marks.translate(None, b"='\"") and _UNCLOSED.search(markup):
        return False
    return not (_ODD_MARKS.search(marks) and _ODD_VALUE.search(markup))
