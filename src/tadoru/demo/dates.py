"""Days in the town's files: written as an offset from a Monday, shown in the ways that sites write them.

`{{ja+5}}` is the Saturday of the week that begins with that Monday, in Japanese. Counting from a Monday keeps the market on
Saturdays whenever the demo runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from email.utils import format_datetime

TOKYO = timezone(timedelta(hours=9))
_REIWA = 2018
"""The year before the era's first."""
_JAPANESE_DAYS = "月火水木金土日"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()

FORMS: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "month": lambda day: day.isoformat()[:7],
    "slash": lambda day: f"{day.year}/{day.month}/{day.day}",
    "ics": lambda day: day.isoformat().replace("-", ""),
    "rss": lambda day: format_datetime(datetime(day.year, day.month, day.day, 9, tzinfo=TOKYO)),
    "en": lambda day: f"{_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}",
    "ja": lambda day: f"{day.year}年{day.month}月{day.day}日（{_JAPANESE_DAYS[day.weekday()]}）",
    "era": lambda day: f"令和{day.year - _REIWA}年{day.month}月{day.day}日（{_JAPANESE_DAYS[day.weekday()]}）",
}
_TOKEN = re.compile(r"\{\{(" + "|".join(FORMS) + r")([+-]\d+)\}\}")


def monday_after(day: date) -> date:
    """The first Monday later than a day."""
    return day + timedelta(days=7 - day.weekday())


def fill(text: str, monday: date) -> str:
    """The text with its days in it."""
    return _TOKEN.sub(lambda token: FORMS[token[1]](monday + timedelta(days=int(token[2]))), text)
