"""Times of day: finds them in a text, and resolves what "2" means beside "午後" or after "午前10時".

Minutes count from the midnight of the day they are written beside: 25:00 is 1500, and 24:00 the end of the day.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tadoru.parse.dates.tokens import DateMark, DayHalf, MarkToken, TimeToken, Token

DAY = 24 * 60
NOON = 12 * 60
LATEST = 30 * 60
"""Broadcasters and clubs count the night on to 29 o'clock; nobody counts further."""

CLOCK = r"(?:午[前後])?\d{1,2}(?:時(?:半|\d{1,2}分)?|:\d\d)"
"""A time in a Japanese sentence, for expressions that look at the words around it."""

_HALVES = {
    **dict.fromkeys(("午前", "朝の?", "毎朝", "早朝"), DayHalf.GOZEN),
    "午後": DayHalf.GOGO,
    **dict.fromkeys(("夕方", "毎夕", "夕"), DayHalf.EVENING),
    **dict.fromkeys(("昼の?", "お昼の?"), DayHalf.MIDDAY),
    **dict.fromkeys(("夜の?", "よる", "毎晩", "晩の?"), DayHalf.NIGHT),
    **dict.fromkeys(("深夜", "真夜中"), DayHalf.LATE),
    "未明": DayHalf.GOZEN,
    r"(?<![a-z])a\.?m\.?": DayHalf.AM,
    r"(?<![a-z])p\.?m\.?": DayHalf.PM,
}
_HALF = "|".join(sorted(_HALVES, key=len, reverse=True))
_BEFORE = rf"(?P<next>翌日?の?)? ?(?:(?P<half>{_HALF})は?)? ?"
_OFFSETS = {"utc": 0, "gmt": 0, "z": 0, "jst": 540, "kst": 540, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420}
_OFFSETS |= {"mdt": -360, "pst": -480, "pdt": -420, "hst": -600, "cet": 60, "cest": 120, "bst": 60, "eet": 120, "eest": 180}
_ZONE = "|".join(sorted(_OFFSETS, key=len, reverse=True))
_AFTER = rf"(?:\s?(?P<after>[ap]\.?m\b\.?|[ap]\.m\.))?(?:\s?(?P<zone>{_ZONE})(?![a-z]))?"
_COLON = re.compile(
    rf"{_BEFORE}(?<![\d.])(?<!\d:)(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?!\d)(?::\d\d(?:\.\d{{1,9}})?)?(?![\d:]){_AFTER}",
    re.IGNORECASE,
)
_JI = re.compile(
    rf"{_BEFORE}(?<!\d)(?P<hour>\d{{1,2}})時(?!間)(?:\s?(?P<minute>\d{{1,2}})分|(?P<bare>\d\d)(?![\d時:月日年/])|(?P<thirty>半))?",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"(?<![\d:/.])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?:\s?(?:-|~|to|till|until)\s?(?P<hour2>\d{1,2})(?:[:.](?P<minute2>\d\d))?)?"
    rf"\s?(?P<half>[ap])\.?m\b(?:\.(?!\s(?-i:[A-ZÀ-Ü])))?(?:\s?(?P<zone>{_ZONE})(?![a-z]))?",
    re.IGNORECASE,
)
_PREFIXED = re.compile(r"(?<![a-z])(?P<half>[ap])\.?m\.?\s?(?P<hour>\d{1,2})(?![\d:/.時]|\s?[ap]\.?m)", re.IGNORECASE)
_EUROPEAN = re.compile(
    r"(?<![\d:/.])(?P<hour>\d{1,2})(?:\s?h\s?(?P<minute>\d\d)?(?![a-z\d])|(?:[.:](?P<minute2>\d\d))?\s?(?:Uhr|heures|uur|horas|hrs|h(?![a-zà-ÿ\d]))\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"正午|お昼(?![\dの])|(?<![a-z])(?:12\s?)?(?:noon|midnight|midi|minuit|mitternacht)(?![a-z])", re.IGNORECASE)
_COLUMN = re.compile(r"([0-9]{1,2})[.:]?([0-9]{2})|([0-9]{1,2})")
_PART_OF_DAY = re.compile(r"0?\.[0-9]{1,17}")


def clocks_at(text: str, position: int) -> tuple[tuple[Token, ...], int]:
    """The times that begin here, with the sign between them, and where they end; none and the position itself otherwise."""
    for pattern, make in _FORMS:
        if found := pattern.match(text, position):
            return make(found), found.end()
    return (), position


def _from_english(found: re.Match[str]) -> tuple[Token, ...]:
    half = DayHalf.AM if found["half"] in "aA" else DayHalf.PM
    offset = _OFFSETS[found["zone"].lower()] if found["zone"] else None
    first = TimeToken(found[0], int(found["hour"]), int(found["minute"] or 0), half, offset=offset)
    if not found["hour2"]:
        return (first,)
    last = TimeToken(found[0], int(found["hour2"]), int(found["minute2"] or 0), half, offset=offset)
    # 11-1pm begins in the morning: the mark is the end's.
    other = DayHalf.AM if half is DayHalf.PM and (_twelve(first) >= _twelve(last)) else half
    return replace(first, half=other), MarkToken("-", DateMark.RANGE), last


def _twelve(clock: TimeToken) -> int:
    return clock.hour % 12 * 60 + clock.minute


def _from_colon(found: re.Match[str]) -> tuple[Token, ...]:
    offset = _OFFSETS[found["zone"].lower()] if found["zone"] else None
    half = _half(found["half"]) or ({"a": DayHalf.AM, "p": DayHalf.PM}[found["after"][0].lower()] if found["after"] else None)
    return (TimeToken(found[0], int(found["hour"]), int(found["minute"]), half, int(bool(found["next"])), offset),)


def _from_ji(found: re.Match[str]) -> tuple[Token, ...]:
    minute = 30 if found["thirty"] else int(found["minute"] or found["bare"] or 0)
    return (TimeToken(found[0], int(found["hour"]), minute, _half(found["half"]), int(bool(found["next"]))),)


def _from_prefixed(found: re.Match[str]) -> tuple[Token, ...]:
    return (TimeToken(found[0], int(found["hour"]), 0, DayHalf.AM if found["half"] in "aA" else DayHalf.PM),)


def _from_european(found: re.Match[str]) -> tuple[Token, ...]:
    return (TimeToken(found[0], int(found["hour"]), int(found["minute"] or found["minute2"] or 0)),)


def _from_name(found: re.Match[str]) -> tuple[Token, ...]:
    return (TimeToken(found[0], 24 if found[0].lower().endswith(("midnight", "minuit", "mitternacht")) else 12),)


_FORMS = (
    (_ENGLISH, _from_english),
    (_COLON, _from_colon),
    (_JI, _from_ji),
    (_EUROPEAN, _from_european),
    (_PREFIXED, _from_prefixed),
    (_NAMED, _from_name),
)


def _half(written: str | None) -> DayHalf | None:
    if not written:
        return None
    return next(half for pattern, half in _HALVES.items() if re.fullmatch(pattern, written, re.IGNORECASE))


def is_possible(clock: TimeToken) -> bool:
    """Is this a time at all?"""
    return clock.minute < 60 and clock.hour * 60 + clock.minute < LATEST


def minutes(clock: TimeToken) -> int:
    """Minutes from midnight of a time that stands alone, or begins a range."""
    hour, half = clock.hour, clock.half
    if half is DayHalf.AM:
        hour %= 12
    elif (
        (half in {DayHalf.PM, DayHalf.GOGO} and hour < 12)
        or (half is DayHalf.EVENING and 3 <= hour <= 7)
        or (half is DayHalf.MIDDAY and 1 <= hour <= 4)
    ):
        hour += 12
    elif half is DayHalf.NIGHT and hour <= 12:
        hour += 12 if 5 <= hour <= 12 else 24
    elif half is DayHalf.LATE and hour <= 12:
        hour += 24 if hour <= 5 else 12
    return hour * 60 + clock.minute + clock.days_later * DAY


def minutes_of_end(clock: TimeToken, start: int, start_half: DayHalf | None) -> int:
    """Minutes from midnight of the end of a range: it takes over the half of the day from the start where it has none."""
    if clock.half is None and clock.hour < 12 and not clock.days_later and start_half is not None:
        plain = minutes(clock)
        return plain + NOON if plain <= start < plain + NOON else plain
    if clock.half is DayHalf.GOGO and clock.hour == 12 and start > NOON + 60 and not clock.minute:
        return DAY
    return minutes(clock)


def inherit(clock: TimeToken, before: TimeToken | None) -> TimeToken:
    """In "午後1時から、2時から" the second is in the afternoon as well."""
    takes = before is not None and before.half in {DayHalf.GOGO, DayHalf.PM} and clock.half is None and clock.hour < 12
    if not takes or before is None or clock.hour * 60 + clock.minute + NOON < minutes(before):
        return clock
    return TimeToken(clock.text, clock.hour, clock.minute, before.half, clock.days_later, clock.offset, clock.label)


def clock_column(text: str) -> tuple[TimeToken, ...]:
    """A time in a column of its own, where 930, 9.30 and the part of a day that spreadsheets write are times too."""
    text = text.strip()
    if found := _COLUMN.fullmatch(text):
        return (TimeToken(text, int(found[1] or found[3]), int(found[2] or 0)),)
    if _PART_OF_DAY.fullmatch(text):
        total = round(float(text) * DAY)
        return (TimeToken(text, total // 60, total % 60),)
    return ()
