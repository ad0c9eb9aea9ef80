"""Escapes text for Markdown: a backslash before characters that Markdown would interpret, and nowhere else.

Escaped are characters with a meaning inside a line (`text`) and starts of lines that would open a block (`line_starts`).
Invisible characters are removed from the same text (`visible_text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
_WIDE = "\u1100-\u11ff\u2e80-\u303f\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
_WIDE_BREAK = re.compile(f"(?<=[{_WIDE}])[ \t\r]*\n[ \t\r\n]*(?=[{_WIDE}])")

_SIGNS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]| ?$)"
    r"|`+|\*+|_+|~~+"
    r"|\](?=[(:])|\[(?=\^|!|[ xX]\])"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#[0-9]{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]*;)"
)
_BRACKETS = re.compile(r"([\[\]])")
_LINE_START = re.compile(
    r"(#{1,6})(?=[ \t]|$)|([-+*])(?=[ \t]|$)|(\d{1,9})[.)](?=[ \t]|$)|(>)|(=+|-+)[ \t]*$|(~~~)|((?=[|:\- ]*$)[|: ]*-)"
)
_SLICE = 100_000
_SPECIAL = "\\`*_~[]<&"
_ANY_SPECIAL = re.compile(f"[{re.escape(_SPECIAL)}]")
_ALL_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in _SPECIAL})
_LONG = 10_000


def _slices(plain: str) -> Iterator[str]:
    """A long text in slices that end after a space if possible: a list of single words or signs takes fifty bytes for each."""
    start = 0
    while len(plain) - start > _SLICE:
        end = plain.rfind(" ", start, start + _SLICE) + 1 or start + _SLICE
        yield plain[start:end]
        start = end
    yield plain[start:]


def visible_text(raw: str) -> str:
    """Text of a page with white space collapsed to single spaces, also at its ends, and without invisible characters."""
    if len(raw) > _SLICE:
        pieces: list[str] = []
        for piece in map(visible_text, _slices(raw)):
            pieces.append(piece.removeprefix(" ") if pieces and pieces[-1].endswith(" ") else piece)
        return "".join(pieces)
    if not raw.isascii():
        if "\n" in raw:
            raw = _WIDE_BREAK.sub("", raw)
        raw = _INVISIBLE.sub("", raw)
    elif raw.isprintable():
        if "  " not in raw:
            return raw
    elif not raw.replace("\n", " ").isprintable():
        raw = _INVISIBLE.sub("", raw)
    words = " ".join(raw.split())
    if not words:
        return " " if raw else ""
    if raw[0].isspace():
        words = " " + words
    return words + " " if raw[-1].isspace() else words


def text(plain: str, *, in_link: bool = False) -> str:
    """`plain` escaped so that Markdown renders it as it is, except for the starts of its lines."""
    if _ANY_SPECIAL.search(plain) is None:
        return plain
    if len(plain) > _SLICE:
        return "".join(text(piece, in_link=in_link) for piece in _slices(plain))
    if len(plain) > _LONG and sum(map(plain.count, _SPECIAL)) > len(plain) // 5:
        # Not prose: checking the neighbours of millions of signs takes seconds, and escaping all of them is correct too.
        return plain.translate(_ALL_ESCAPED)
    if in_link:
        # In the text of a link every bracket is escaped, so that pairs need not be matched.
        pieces = _BRACKETS.split(plain)
        return "".join("\\" + piece if piece in {"[", "]"} else _SIGNS.sub(_escaped, piece) for piece in pieces)
    return _SIGNS.sub(_escaped, plain)


def _escaped(match: re.Match[str]) -> str:
    run, whole = match.group(), match.string
    if run[0] in "*_":
        before = whole[match.start() - 1] if match.start() else ""
        after = whole[match.end()] if match.end() < len(whole) else ""
        if before == after == " " or (run[0] == "_" and before.isalnum() and after.isalnum()):
            return run
    elif run[0] == "~":
        return "\\~" * len(run)
    return "\\" + "\\".join(run)


def line_starts(paragraph: str) -> str:
    """A paragraph with a backslash before each line start that would open another block."""
    if "\n" not in paragraph:
        return _line_start(paragraph)
    return "\n".join(map(_line_start, paragraph.split("\n")))


def _line_start(line: str) -> str:
    match = _LINE_START.match(line)
    if match is None:
        return line
    at = match.end(3) if match.group(3) else 0
    return f"{line[:at]}\\{line[at:]}"


def heading_end(line: str) -> str:
    """The text of a heading, escaped if its last `#` would be taken for a closing sequence."""
    bare = line.rstrip("#")
    return f"{bare}\\{line[len(bare) :]}" if bare != line and bare[-1:] in {" ", ""} else line
