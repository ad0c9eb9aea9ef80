"""Crawler traps: endless URL spaces such as calendars, facets, session ids and growing paths.

`shape_refusal` refuses a URL for its own shape. `pattern` names the class of URLs it belongs to when that class may be endless;
the store counts the known URLs of each class and the engine refuses those over the limit.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from tadoru.errors import quoted
from tadoru.rules.url import is_session_name

MAX_URL_LENGTH = 2_083
"""The length that browsers, proxies and servers commonly support; longer URLs in links are mistakes."""
MAX_SEGMENTS = 30
MAX_SAME_SEGMENT = 3
MAX_CYCLES = 2
"""How often a group of segments may repeat."""
MAX_SAME_PAIR = 2
MAX_SAME_NAME = 20
"""A list is a repeated parameter: many values are common, the same value again is not."""
DEFAULT_CAP = 500
NUMBERED_CAP = 5_000
"""Numbered pages of one list that are requested by default: lists of this length are common. A chosen limit replaces it."""
SESSION_CAP = 20
FACET_PARAMETERS = 3


def shape_refusal(url: str) -> str | None:
    """Why a canonical URL looks like part of an endless series; None when it does not."""
    if len(url) > MAX_URL_LENGTH:
        return f"longer than {MAX_URL_LENGTH} characters"
    head, _, query = url.partition("?")
    segments = head.split("/")[3:]
    if not segments[-1]:
        segments.pop()
    if len(segments) > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} path segments"
    if len(segments) > MAX_SAME_SEGMENT and len(set(segments)) < len(segments):
        reason = _repetition(segments)
        if reason:
            return reason
    return _repeated_parameter(query) if query.count("&") >= MAX_SAME_PAIR else None


def _repetition(segments: list[str]) -> str | None:
    segment, times = Counter(segments).most_common(1)[0]
    # Numbers repeat by chance: /tiles/1/1/1/1.png
    if times > MAX_SAME_SEGMENT and not segment.isdigit():
        return f"the path segment {quoted(segment)} occurs {times} times"
    for length in range(2, len(segments) // (MAX_CYCLES + 1) + 1):
        for start in range(len(segments) - length * (MAX_CYCLES + 1) + 1):
            cycle = segments[start : start + length]
            if segments[start : start + length * (MAX_CYCLES + 1)] == cycle * (MAX_CYCLES + 1):
                return f"the path repeats {quoted('/'.join(cycle))}"
    return None


def _repeated_parameter(query: str) -> str | None:
    pairs = query.split("&")
    if len(set(pairs)) < len(pairs):
        pair, times = Counter(pairs).most_common(1)[0]
        if times > MAX_SAME_PAIR:
            return f"the parameter {quoted(pair)} occurs {times} times"
    if len(pairs) > MAX_SAME_NAME:
        name, times = Counter(pair.partition("=")[0] for pair in pairs).most_common(1)[0]
        if times > MAX_SAME_NAME:
            return f"the parameter {quoted(name)} occurs {times} times"
    return None


class TrapPattern(NamedTuple):
    """A class of URLs that may be endless."""

    key: str
    """The key of all URLs of the class."""
    why: str
    """The kind of the class."""
    cap: int
    """Maximum URLs of the class that are requested."""
    outer: TrapPattern | None = None
    """A wider class, if there may be endless classes too: the pages of an endless list, each under new sessions."""


_YEAR, _MONTH, _DAY = r"(?:1[89]|2\d)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_COMPACT = rf"{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_DASHED = rf"{_YEAR}-(?:W[0-5]\d|{_MONTH}(?:-{_DAY})?)"
# Only at the end: text after a date in a path is the title of an article.
_PATH_DATE = re.compile(rf"/(?:{_YEAR}/{_MONTH}(?:/{_DAY})?|{_DASHED}|{_COMPACT})(?=(?:\.[a-z]{{2,5}})?/?$)")
_DATE_VALUE = re.compile(
    rf"(?:{_DASHED}|{_COMPACT}|{_YEAR}(?:/|%2F|\.){_MONTH}(?:(?:/|%2F|\.){_DAY})?|\d\d?(?:/|%2F|[.-])\d\d?(?:/|%2F|[.-]){_YEAR})"
    r"(?:T.*)?"
)
_DATE_NAME = re.compile(r"(?:.*[_\-\[.])?(?:year|month|day|week|date)\]?", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+")
_MIXED = r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[0-9A-Za-z]{16,}"
_TOKEN = re.compile(_MIXED)
_CONTENT_NAME = re.compile(r"(?:.*[_-])?(?:u?u?id|guid|key|v|doc|item|post|product|article|node|hash|file)", re.IGNORECASE)
_PATH_SESSION = re.compile(r";[A-Za-z]*sess(?:ion)?_?id=[^/;]*", re.IGNORECASE)
# As a path segment: /(S(24 letters))/ of ASP.NET, /PHPSESSID=…/, /session/<token>/, /sid-<token>/.
_SEGMENT_SESSION = re.compile(
    r"/(?:\(S\([a-z0-9]{24}\)\)|(?:php)?sess(?:ion)?_?(?:id)?[=/-]" + _MIXED + r"|sid[=/-]" + _MIXED + r")(?=/|$)",
    re.IGNORECASE,
)


def pattern(url: str, cap: int = DEFAULT_CAP) -> TrapPattern | None:
    """The possibly endless class of a canonical URL; None for an ordinary URL."""
    head, _, query = url.partition("?")
    path, session = _PATH_SESSION.subn(";{session}", head) if ";" in head else (head, 0)
    path, named = _SEGMENT_SESSION.subn("/{session}", path)
    session += named
    path, date = _PATH_DATE.subn("/{date}", path)
    if not query and not date and not session:
        return None
    pairs = [pair.partition("=") for pair in query.split("&")] if query else []
    kinds = [_kind(name, value) for name, _, value in pairs]
    if kinds.count("") + kinds.count("number") >= FACET_PARAMETERS:
        return TrapPattern(f"{path}?{'&'.join(sorted({name for name, _, _ in pairs}))}", "facets", cap)
    if date or "date" in kinds:
        return _numbered(TrapPattern(_key(path, pairs, kinds, ("date", "session")), "calendar", cap), path, pairs, kinds, cap)
    if session or "session" in kinds:
        return _numbered(
            TrapPattern(_key(path, pairs, kinds, ("session",)), "session id", min(SESSION_CAP, cap)), path, pairs, kinds, cap
        )
    if "number" in kinds:
        return TrapPattern(_key(path, pairs, kinds, ("number",)), "pagination", _numbered_cap(cap))
    return None


def _numbered_cap(cap: int) -> int:
    return NUMBERED_CAP if cap == DEFAULT_CAP else cap


def _numbered(trap: TrapPattern, path: str, pairs: list[tuple[str, str, str]], kinds: list[str], cap: int) -> TrapPattern:
    if "number" not in kinds:
        return trap
    return trap._replace(outer=TrapPattern(_key(path, pairs, kinds, ("date", "session", "number")), trap.why, _numbered_cap(cap)))


def _kind(name: str, value: str) -> str:
    """The kind of a parameter: date, session, number, or empty for others."""
    if is_session_name(name):
        return "session"
    if value.isalpha():
        return ""
    if _DATE_VALUE.fullmatch(value):
        return "date"
    if _NUMBER.fullmatch(value):
        return "date" if _DATE_NAME.fullmatch(name) else "number"
    # Values such as ?id=5f2b6c… name one page each; session ids change with every visit.
    if len(value) >= 16 and _TOKEN.fullmatch(value) and not _CONTENT_NAME.fullmatch(name):
        return "session"
    return ""


def _key(path: str, pairs: list[tuple[str, str, str]], kinds: list[str], collapsed: tuple[str, ...]) -> str:
    if not pairs:
        return path
    shown = (
        f"{name}={{{kind}}}" if kind in collapsed else f"{name}{mark}{value}"
        for (name, mark, value), kind in zip(pairs, kinds, strict=True)
    )
    return f"{path}?{'&'.join(shown)}"
