"""Regular expressions from the settings of a source: Python's syntax, run by RE2 in linear time.

Python's own engine can take exponential time and blocks the process. RE2 has no lookaround and no backreferences. It reads
`\\d`, `\\w` and `\\s` as ASCII, so these are expanded: sources have full-width digits and Japanese letters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2

MOST_LENGTH = 1_000
"""Characters of an expression."""
_PIECE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\.|\[\^?\]?|\]|\{,(?=\d)|[^\\\[\]{]++|.", re.DOTALL)
_ANYTHING = re.compile(r"\[(?:\\s\\S|\\S\\s|\\w\\W|\\W\\w|\\d\\D|\\D\\d)\]")
_SETS = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": r"\t-\r\x{1c}-\x{20}\x{85}\p{Z}"}
_OUTSIDE = {r"\Z": r"\z"} | {f"\\{name}": f"[{signs}]" for name, signs in _SETS.items()}
_OUTSIDE |= {f"\\{name.upper()}": f"[^{signs}]" for name, signs in _SETS.items()}
_INSIDE = {f"\\{name}": signs for name, signs in _SETS.items()} | {r"\D": r"\P{Nd}", r"\b": r"\x{8}"}


class LinearRegex:
    """A compiled expression; ValueError explains why one cannot be run in linear time or is invalid."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_LENGTH:
            raise ValueError(f"it is longer than {MOST_LENGTH} characters")
        try:
            self.groups = re.compile(pattern).groups
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(str(error)) from None
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled: Any = re2.compile(_translated(pattern), options)
        except (re2.error, UnicodeEncodeError) as error:
            said = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else "it is no text"
            raise ValueError(
                f"RE2 cannot run it: {said}; lookaround, backreferences, and possessive or atomic groups are not available"
            ) from None

    def search(self, text: str) -> tuple[str | None, ...] | None:
        """The first match and its groups, or nothing."""
        found = self._compiled.search(text.encode("utf-8", "replace").decode())
        return (found[0], *found.groups()) if found else None


@lru_cache(maxsize=256)
def linear_regex(pattern: str) -> LinearRegex:
    """An expression that a person typed. Raises ValueError."""
    return LinearRegex(pattern)


def _translated(pattern: str) -> str:
    """What means the same to RE2."""
    written: list[str] = []
    in_set = False
    for piece in _PIECE.finditer(_ANYTHING.sub(r"(?s:.)", pattern)):
        text = piece[0]
        begins_set = not in_set and text.startswith("[")
        if code := piece[1] or piece[2]:
            text = f"\\x{{{code}}}"
        elif in_set and text in (r"\S", r"\W"):
            raise ValueError(f"{text} in a set [...] is not available")
        elif in_set and text.startswith("["):
            text = rf"\{text}"
        elif not in_set and text == "{,":
            text = "{0,"
        else:
            text = (_INSIDE if in_set else _OUTSIDE).get(text, text)
        written.append(text)
        in_set = begins_set or (in_set and (piece[0].startswith("\\") or not piece[0].endswith("]")))
    return "".join(written)
