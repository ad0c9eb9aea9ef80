"""Lines of a calendar as RFC 5545 wants them: texts escaped, lines folded at 75 octets and never within a character."""

from __future__ import annotations

import re

LINE_END = "\r\n"
_WIDTH = 75
_NOT_ALLOWED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SPECIAL = re.compile(r"[\\;,\n]")


def text(value: str) -> str:
    """A value of the type TEXT."""
    cleaned = _NOT_ALLOWED.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))
    return _SPECIAL.sub(lambda found: "\\n" if found[0] == "\n" else f"\\{found[0]}", cleaned)


def address(value: str) -> str:
    """A value of the type URI: nothing in it is escaped, so that nothing may be in it that ends a line."""
    return "".join(_NOT_ALLOWED.sub("", value).split())


def folded(line: str) -> str:
    """A line with its end, broken where it is too long."""
    if len(line) * 4 <= _WIDTH or len(line.encode()) <= _WIDTH:
        return line + LINE_END
    octets, parts, start, room = line.encode(), [], 0, _WIDTH
    while start < len(octets):
        stop = min(start + room, len(octets))
        while stop < len(octets) and octets[stop] & 0xC0 == 0x80:  # in the middle of a character
            stop -= 1
        parts.append(octets[start:stop].decode())
        start, room = stop, _WIDTH - 1  # the space in front counts
    return f"{LINE_END} ".join(parts) + LINE_END
