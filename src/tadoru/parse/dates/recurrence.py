"""Phrases for recurrence: "毎月第2水曜日", "期間中の金曜日のみ", "every Saturday"; recognised, and expanded between two dates.

A rule with an exception that cannot be computed (public holidays, days off, "in principle") is recognised and not expanded.
Rules of calendars (RRULE) are in `parse.sources.ics_rule`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tadoru.parse.dates.vocabulary import WEEKDAY_NAMES, WEEKDAYS

MOST = 400
"""Dates that a rule is expanded to; more than a year of days says nothing that the period does not."""

_ONE = r"[月火水木金土日](?:曜日?|(?=[月火水木金土日・、,/と祝開のにはを)(\s~]|$))"
_SET = rf"{_ONE}(?:\s?[・、,/と]?\s?(?:毎週)?{_ONE}){{0,6}}"
_NTHS = r"第\s?\d(?:\s?[・、,/と~\-]\s?第?\s?\d){0,4}"
_MONTHLY_NTH = re.compile(
    rf"(?:(?:毎月|各月|(?P<months>偶数月|奇数月))\s?の?\s?|(?<!月)(?<!月の)(?<!\d))(?P<nths>{_NTHS}|最終|最後の?)\s?(?:週の?)?\s?(?!日(?![曜・、]))(?P<days>{_SET})"
)
_NTHS_OF_MONTH = re.compile(
    rf"(?<=\d月)の?\s?(?P<nths>第\s?\d(?:\s?[・、,/と~\-]\s?第?\s?\d){{1,4}})\s?(?:週の?)?\s?(?P<days>{_SET})(?P<months>)"
)
"""Several of one month: "8月の第1・第3土曜日"."""
_CLOSED_AFTER = re.compile(r"[・、,\s]{0,2}(?:祝日?|休日)?[・、,\s]{0,2}[はが]?\s?(?:お?休|定休|閉[館園])")
_CLOSED_BEFORE = re.compile(r"(?:休[館園業演場]日?|定休日?|お?休み)[はが:(\s]{0,3}$")
_MONTHLY_DAY = re.compile(r"(?:毎月|各月)\s?の?\s?(?P<days>(?:\d{1,2}日)(?:\s?[・、,と]\s?\d{1,2}日){0,5}|末日)")
_FORTNIGHTLY = re.compile(rf"隔週\s?の?\s?(?P<days>{_SET})")
_WEEKLY = re.compile(
    rf"(?:(?:期間中の?)?毎週|毎|期間中の?|各週の?)\s?の?\s?(?P<days>{_SET}|月\s?[~\-]\s?金曜日?)(?:の?み)?|(?<![\d平休祝祭末全当前翌同])(?P<only>{_SET})の?のみ?の?み(?:の?開催|実施)?"
)
_DAILY = re.compile(r"毎日(?!曜)|(?<![a-z])(?:every ?day|daily)(?![a-z])", re.IGNORECASE)
_NAME = "(?:" + "|".join(sorted((name for name in WEEKDAY_NAMES if name.isascii()), key=len, reverse=True)) + ")s?"
_AND = r"\s?(?:,|and|&)\s?"
_ENGLISH_WEEKLY = re.compile(
    r"(?<![a-z])(?:every|each|weekly on)\s(?P<other>other\s|second\s(?=\w+day\b(?!\s(?:of|in))))?"
    rf"(?P<days>{_NAME}(?:{_AND}{_NAME}){{0,6}})(?![a-z])",
    re.IGNORECASE,
)
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1}
_ORDINAL = "|".join(_ORDINALS)
_ENGLISH_MONTHLY = re.compile(
    rf"(?<![a-z])(?:(?:on )?the |every )?(?P<nths>(?:{_ORDINAL})(?:{_AND}(?:{_ORDINAL})){{0,3}})\s(?P<days>{_NAME})"
    r"\s(?:of|in)\s(?:the|each|every)\s?month",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"除[くき]|祝|休館|休園|休み|休業|休止|お休|不定期|以外|原則|年末年始|場合|変更|ただし|但し|または|又は|程度|のうち|いずれか|except|holiday|unless",
    re.IGNORECASE,
)
_TIMES = re.compile(r"全\s?(?P<all>\d{1,3})\s?[回日]|[(]\s?(?P<so>\d{1,3})\s?[回日]間?\s?[)]")


@dataclass(frozen=True, slots=True)
class RecurrencePhrase:
    """A recurrence rule."""

    text: str
    weekdays: frozenset[int] = frozenset()
    nths: frozenset[int] = frozenset()
    """Which of them in each month; -1 is the last. Empty: every one."""
    month_days: frozenset[int] = frozenset()
    """-1 is the last of the month."""
    months: frozenset[int] = frozenset(range(1, 13))
    weeks: int = 1
    doubt: str = ""
    """Why it is not expanded."""
    count: int | None = None
    """How many dates the text says there are."""
    start: int = 0
    stop: int = 0
    """Where the rule stands in the text."""


def find_rule(text: str) -> RecurrencePhrase | None:
    """The rule in a prepared text; None when there is none."""
    found: RecurrencePhrase | None = None
    for pattern, make in _FORMS:
        if (match := pattern.search(text)) and not _is_closed(text, match):
            found = make(match)
            break
    if found is None:
        return None
    doubt = _DOUBT.search(text)
    if more := next((match[0] for pattern, _ in _FORMS if (match := pattern.search(text, found.stop))), None):
        reason = f"there is another rule ({more.strip()})"
    else:
        reason = f"it has an exception ({doubt[0]})" if doubt else ""
    times = _TIMES.search(text)
    count = int(times["all"] or times["so"]) if times else None
    return replace(found, doubt=reason, count=count)


def _is_closed(text: str, found: re.Match[str]) -> bool:
    """A rule that says when it is closed is not the event's."""
    before = text[max(0, found.start() - 10) : found.start()]
    return _CLOSED_AFTER.match(text, found.end()) is not None or _CLOSED_BEFORE.search(before) is not None


def _weekly(found: re.Match[str], weeks: int = 1) -> RecurrencePhrase:
    written = found["days"] or (found["only"] if "only" in found.re.groupindex else "")
    weekdays = frozenset(range(5)) if re.match(r"月\s?[~\-]\s?金", written) else _days(written)
    return RecurrencePhrase(found[0].strip(), weekdays, weeks=weeks, start=found.start(), stop=found.end())


def _fortnightly(found: re.Match[str]) -> RecurrencePhrase:
    return _weekly(found, 2)


def _monthly_nth(found: re.Match[str]) -> RecurrencePhrase:
    written = found["nths"]
    numbers = [int(number) for number in re.findall(r"\d", written)]
    if re.search(r"[~\-]", written) and len(numbers) == 2:
        numbers = list(range(numbers[0], numbers[1] + 1))
    text = found[0].strip().removeprefix("の")
    rule = RecurrencePhrase(text, _days(found["days"]), frozenset(numbers or [-1]), start=found.start(), stop=found.end())
    if not found["months"]:
        return rule
    return replace(rule, months=frozenset(range(2 if found["months"] == "偶数月" else 1, 13, 2)))


def _monthly_day(found: re.Match[str]) -> RecurrencePhrase:
    numbers = [int(number) for number in re.findall(r"\d{1,2}", found["days"])]
    return RecurrencePhrase(found[0].strip(), month_days=frozenset(numbers or [-1]), start=found.start(), stop=found.end())


def _daily(found: re.Match[str]) -> RecurrencePhrase:
    return RecurrencePhrase(found[0].strip(), frozenset(range(7)), start=found.start(), stop=found.end())


def _english_weekly(found: re.Match[str]) -> RecurrencePhrase:
    return RecurrencePhrase(
        found[0].strip(), _named(found["days"]), weeks=2 if found["other"] else 1, start=found.start(), stop=found.end()
    )


def _english_monthly(found: re.Match[str]) -> RecurrencePhrase:
    nths = frozenset(_ORDINALS[word] for word in re.findall(_ORDINAL, found["nths"].lower()))
    return RecurrencePhrase(found[0].strip(), _named(found["days"]), nths, start=found.start(), stop=found.end())


_FORMS = (
    (_ENGLISH_MONTHLY, _english_monthly),
    (_ENGLISH_WEEKLY, _english_weekly),
    (_NTHS_OF_MONTH, _monthly_nth),
    (_MONTHLY_NTH, _monthly_nth),
    (_MONTHLY_DAY, _monthly_day),
    (_FORTNIGHTLY, _fortnightly),
    (_DAILY, _daily),
    (_WEEKLY, _weekly),
)


def _days(written: str) -> frozenset[int]:
    return frozenset(WEEKDAYS[sign] for sign in re.sub("曜日?|毎週", "", written) if sign in WEEKDAYS)


def _named(written: str) -> frozenset[int]:
    words = re.findall(r"[a-z]+", written.lower())
    return frozenset(
        WEEKDAY_NAMES[name]
        for word in words
        if (name := word if word in WEEKDAY_NAMES else word.removesuffix("s")) in WEEKDAY_NAMES
    )


def expand(rule: RecurrencePhrase, first: date, last: date) -> tuple[tuple[date, ...], str]:
    """The dates of the rule from the first day to the last, or none and the reason."""
    if rule.doubt:
        return (), f"The rule {rule.text} is not expanded: {rule.doubt}."
    if (last - first).days > MOST * 7 * rule.weeks:
        return (), f"The rule {rule.text} is not expanded: the period is too long."
    dates = tuple(_dates(rule, first, last))
    if not dates:
        return (), f"The rule {rule.text} has no date in the period."
    if rule.count is not None and rule.count != len(dates):
        return (), f"The rule {rule.text} is not expanded: it gives {len(dates)} dates, and the text says {rule.count}."
    if len(dates) > MOST:
        return (), f"The rule {rule.text} is not expanded: it gives more than {MOST} dates."
    return dates, ""


def _dates(rule: RecurrencePhrase, first: date, last: date) -> Iterator[date]:
    begin: date | None = None
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        if not _is_on(rule, day):
            continue
        begin = begin or day - timedelta(days=day.weekday())
        if (day - begin).days // 7 % rule.weeks == 0:
            yield day


def _is_on(rule: RecurrencePhrase, day: date) -> bool:
    is_last_day = (day + timedelta(days=1)).day == 1
    if rule.month_days:
        return day.day in rule.month_days or (-1 in rule.month_days and is_last_day)
    if day.weekday() not in rule.weekdays or day.month not in rule.months:
        return False
    is_last = (day + timedelta(days=7)).month != day.month
    return not rule.nths or (day.day - 1) // 7 + 1 in rule.nths or (-1 in rule.nths and is_last)
