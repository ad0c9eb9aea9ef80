"""Dates as machines write them: ISO 8601, mail and HTTP dates, seconds since the epoch, the day numbers of spreadsheets."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from tadoru.parse.dates.tokens import DayToken, TimeToken, Token

_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d-?\d")
_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d|\d{8})(?:T|\s(?=\d\d:?\d\d:?\d\d))(\d\d:?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d\d(?::?\d\d)?)?",
    re.IGNORECASE,
)
_DIGITS_TIME = re.compile(r"((?:19|20)\d{6})(\d{4})(\d\d)?")
_MAIL = re.compile(
    r"(?:[A-Za-z]{3},?\s)?\d{1,2}[ -][A-Za-z]{3}[ -]\d{4}\s\d\d:\d\d(?::\d\d)?\s(?:[+-]\d{4}|[A-Z]{1,5})(?:\s\([A-Z]{1,5}\))?"
)
_EPOCH = re.compile(r"1\d{9}|1\d{12}")
_SERIAL = re.compile(r"[34567]\d{4}")
_SERIAL_ZERO = date(1899, 12, 30)
_ZONES_OF_MAIL = frozenset("UT UTC GMT Z EST EDT CST CDT MST MDT PST PDT JST".split())


def read_exact(text: str) -> datetime | date | None:
    """The date or time, if the whole text is one of these forms; times are aware when they say their zone."""
    text = text.strip()
    try:
        return _iso(text) or _mail(text) or _number(text)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def _iso(text: str) -> datetime | date | None:
    if _ISO_DAY.fullmatch(text):
        return date.fromisoformat(text)
    if found := _ISO_TIME.fullmatch(text):
        return _at(found[1], found[2].replace(",", "."), (found[3] or "").upper())
    if found := _DIGITS_TIME.fullmatch(text):
        return _at(found[1], found[2] + (found[3] or ""), "")
    return None


def _at(day: str, clock: str, zone: str) -> datetime:
    digits = re.sub(r"\D", "", clock.split(".", maxsplit=1)[0])
    whole = date.fromisoformat(day)
    base = datetime(whole.year, whole.month, whole.day) + timedelta(days=int(digits[:2]) == 24)  # noqa: DTZ001 - the zone follows
    base = base.replace(hour=int(digits[:2]) % 24, minute=int(digits[2:4]), second=min(int(digits[4:6] or 0), 59))
    if not zone:
        return base
    return base.replace(tzinfo=UTC if zone == "Z" else datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo)


def _mail(text: str) -> datetime | None:
    if not _MAIL.fullmatch(text):
        return None
    zone = re.sub(r"\s\(.*", "", text).rpartition(" ")[2]
    if zone.isalpha() and zone not in _ZONES_OF_MAIL:
        return None
    moment = parsedate_to_datetime(text.replace("JST", "+0900"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _number(text: str) -> datetime | date | None:
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    if _SERIAL.fullmatch(text):
        return _SERIAL_ZERO + timedelta(days=int(text))
    return None


def as_tokens(exact: date | datetime, text: str) -> tuple[Token, ...]:
    """The same as tokens, to stand among others."""
    day = DayToken(text.strip(), exact.year, exact.month, exact.day)
    if not isinstance(exact, datetime):
        return (day,)
    gap = exact.utcoffset()
    offset = None if gap is None else int(gap.total_seconds() // 60)
    return day, TimeToken(text.strip(), exact.hour, exact.minute, offset=offset)
