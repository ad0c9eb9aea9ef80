"""Reads JSON that is nearly valid, as it occurs in the JSON-LD of pages.

It accepts comments, missing and extra commas, control characters and bare quotes in texts, single quotes, names without
quotes, brackets that are never closed, and anything after the end. Valid JSON is read by the standard library. Only
`ValueError` is raised, and the time is linear in the length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

DEEPEST = 60
MOST_CHARACTERS = 2_000_000

_SPACE = re.compile(r"(?:[\s\ufeff\u200b]++|//[^\n]*+|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)|<!\[CDATA\[|\]\]>)*+", re.DOTALL)
_PIECE = {'"': re.compile(r'[^"\\]++'), "'": re.compile(r"[^'\\]++")}
_AFTER_TEXT = re.compile(r"\s*+(?:[,:}\]]|\Z|//|/\*|<!--)|[^\S\n]*+\n\s*+[\"']")
_BARE = re.compile(r"[^\s,:{}\[\]\"']++")
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "undefined": None, "NaN": None}
_NOTHING = object()


def loads(text: str) -> object:
    """The value that a text means. Raises ValueError when not even the start of one can be found."""
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except ValueError:
        if len(text) > MOST_CHARACTERS:
            raise
    values = list(_Reading(text).values())
    if not values:
        raise ValueError("no object or list is in it")
    return values[0] if len(values) == 1 else values


def first_value(text: str) -> object:
    """The first object or list in a text, whatever follows it, such as the rest of a script. Raises ValueError."""
    for value in _Reading(text[:MOST_CHARACTERS]).values():
        return value
    raise ValueError("no object or list is in it")


class _Reading:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def values(self) -> Iterator[object]:
        """The objects and lists that follow each other; stray text between them is passed over."""
        while self._sign():
            if self._sign() in "{[":
                yield self._value(0)
            else:
                self.at += 1

    def _sign(self) -> str:
        """The next sign that is neither space nor comment; empty at the end."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def _value(self, depth: int) -> object:
        """The next value; `_NOTHING` where there is none."""
        if depth > DEEPEST:
            raise ValueError("it is nested too deep")
        sign = self._sign()
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._list(depth)
        if sign in ('"', "'") and sign:
            return self._text(sign)
        match = _BARE.match(self.text, self.at)
        if match is None:
            return _NOTHING
        self.at = match.end()
        word = match[0]
        if _NUMBER.fullmatch(word):
            return float(word) if re.search(r"[.eE]", word) else int(word)
        return _WORDS.get(word, word)

    def _object(self, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        self.at += 1
        while (sign := self._sign()) and sign != "}":
            if sign == "]":  # the bracket of a list around it: this object was never closed
                return found
            before = self.at
            name = self._value(depth + 1) if sign not in ",:" else _NOTHING
            if isinstance(name, str) and self._sign() == ":":
                self.at += 1
                value = self._value(depth + 1)
                if value is not _NOTHING:
                    found[name] = value
            elif self.at == before:
                self.at += 1
        self.at += 1
        return found

    def _list(self, depth: int) -> list[object]:
        found: list[object] = []
        self.at += 1
        while (sign := self._sign()) and sign != "]":
            if sign == "}":  # of an object around it: this list was never closed
                return found
            before = self.at
            value = self._value(depth + 1) if sign not in ",:" else _NOTHING
            if value is not _NOTHING:
                found.append(value)
            elif self.at == before:
                self.at += 1
        self.at += 1
        return found

    def _text(self, quote: str) -> str:
        """A text: the quote that ends it is one after which JSON may go on, others belong to it."""
        pieces: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            if match := _PIECE[quote].match(self.text, self.at):
                pieces.append(match[0])
                self.at = match.end()
                continue
            if self.text[self.at] == "\\":
                pieces.append(self._escape())
                continue
            self.at += 1
            if _AFTER_TEXT.match(self.text, self.at):
                break
            pieces.append(quote)
        return "".join(pieces)

    def _escape(self) -> str:
        sign = self.text[self.at + 1 : self.at + 2]
        digits = self.text[self.at + 2 : self.at + 6]
        if sign == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            self.at += 6
            code = int(digits, 16)
            low = self.text[self.at : self.at + 6]
            if 0xD800 <= code < 0xDC00 and re.fullmatch(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}", low):
                self.at += 6
                return chr(0x10000 + ((code - 0xD800) << 10) + int(low[2:], 16) - 0xDC00)
            return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"
        self.at += 2
        return _ESCAPES.get(sign, sign)
