"""Days on which an event does not take place: closed weekdays, days, months and public holidays that are excepted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from tadoru.parse.dates.holidays import has_holidays, is_holiday
from tadoru.parse.dates.vocabulary import MONTHS
from tadoru.parse.dates.weekdays import AND, ANY_NAME, LATIN, NAME, WEEKDAYS, either, names_of, signs_of

_LATIN_EXCEPT = re.compile(
    r"[(,;]?\s?(?<![a-zà-ÿ])(?:closed|except|excluding|außer|ausgenommen|geschlossen|sauf|fermé(?:e|s|es)?|excepto|salvo|cerrad[oa]s?|tranne|chius[oai]|"
    rf"behalve|gesloten)(?: on| am| le| les| el| los| il| la|"
    rf" op)?\s(?P<days>{ANY_NAME}(?:{AND}{ANY_NAME}){{0,4}})(?![a-zà-ÿ])\)?"
    rf"|[(,;]?\s?(?<![a-zà-ÿ])(?P<before>{NAME}(?:{AND}{NAME}){{0,4}})\s(?:closed|geschlossen|ruhetag|fermé|cerrado|chiuso|gesloten)(?![a-zà-ÿ])\)?",
    re.IGNORECASE,
)
MONTH_NAME = rf"{either(MONTHS)}\.?"
_LATIN_EXCEPT_DAY = re.compile(
    r"[(,;.]?\s?(?<![a-zà-ÿ])(?:closed|except|excluding|no class|not|außer|ausgenommen|geschlossen|sauf|fermé|excepto|"
    r"salvo|cerrado|tranne|chiuso|behalve|"
    rf"gesloten)(?: on| am| le| el| il| op)?\s(?:(?:(?P<extra>\d{{1,2}})(?:er|st|nd|rd|th|\.)?\s?(?:,|und|and|et|y|e|"
    rf"en)\s)?(?P<day>\d{{1,2}})(?:er|st|nd|rd|th|\.)?\s(?:de )?(?P<month>{MONTH_NAME})|"
    rf"(?P<first>{MONTH_NAME})\s(?P<second>\d{{1,2}})(?:st|nd|rd|th)?)(?![a-zà-ÿ\d])\)?",
    re.IGNORECASE,
)
_LATIN_EXCEPT_MONTH = re.compile(
    r"[(,;]?\s?(?<![a-zà-ÿ])(?:except|excluding|not|außer|sauf|excepto|salvo|tranne|behalve)(?: in| im| en)?\s"
    rf"(?P<months>{MONTH_NAME}(?:{AND}{MONTH_NAME}){{0,3}})(?![a-zà-ÿ]|\s?\d)\)?",
    re.IGNORECASE,
)
DATED_WEEKDAY = re.compile(
    r"(?<=\d)日?\s?\((?:[月火水木金土日](?:曜日?)?|祝日?|振替?休日?|休日?|[・,、/]){1,6}\)|(?<=\d日)\s?[月火水木金土日]曜日?"
)
"""The weekday beside a day, which says nothing of other days."""
_CLOSED = r"お?休み|休[館園業演場講会](?!日)|(?:開催|実施)し(?:ません|ない)|行いません|ありません|なし"
_NOT_ON = rf"(?:\s?[をは]?除[くき]|以外|は?[、,]?(?:{_CLOSED}))"
_EXCLUDED_DAYS = re.compile(
    r"[(、,※]?\s?(?:ただし、?|但し、?)?"
    r"(?P<weekdays>(?:[月火水木金土日]曜日?[・、,と]){0,3})(?P<days>(?:(?:(?:(?:\d{4}年)?\d{1,2}月)?\d{1,2}日|\d{1,2}/\d{1,2}|(?<=[~\-])\d{1,2}(?=を))(?:\([^()]{1,6}\))?(?:まで)?(?:[・、,と~\-]|から)?){1,9})"
    rf"{_NOT_ON}\)?"
)
_EXCLUDED_MONTHS = re.compile(
    rf"[(、,※]?\s?(?:ただし、?|但し、?)?(?P<months>(?:(?<!年)\d{{1,2}}月[・、,と]?){{1,6}}){_NOT_ON}\)?"
)
_EXCLUDED_HOLIDAYS = re.compile(
    r"[(、,※]?\s?(?:ただし、?|但し、?)?(?:国民の)?(?:祝日|祝祭日|休日)(?:[・、,]?(?:祝日|休日|振替休日))?(?:と重な[るっ]た?場合|に当たる場合)?"
    rf"(?P<year_end>[・、,と及びおよび]{{0,3}}年末年始)?{_NOT_ON}\)?"
)
_EXCLUDED_WEEKDAYS = re.compile(
    rf"[(、,※]?\s?(?:ただし、?|但し、?)?(?<![一-龠\d])(?:毎週)?"
    rf"(?P<days>[月火水木金土日](?:曜日?)?(?:[・、,と]?[月火水木金土日](?:曜日?)?){{0,6}})(?<!\d日)"
    rf"(?P<holidays>[・、,と及びおよび]{{0,3}}(?:祝日?|休日|祝祭日|祝休日))?(?P<year_end>[・、,と及びおよび]{{0,3}}年末年始)?(?:{_NOT_ON}|定休)\)?"
)
_EXCLUDED_YEAR_END = re.compile(rf"[(、,※]?\s?(?:ただし、?|但し、?)?年末年始{_NOT_ON}\)?")
_EXCLUDED_DAY = re.compile(r"(?:(?P<month>\d{1,2})(?:月|/))?(?P<day>\d{1,2})(?:日|(?=[(・、,と~\-かは]|$))(?P<on>~|-|から)?")


@dataclass(frozen=True, slots=True)
class ExcludedDates:
    """Dates on which it does not take place."""

    days: frozenset[tuple[int | None, int]] = frozenset()
    """Month, if it is written, and day."""
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    holidays: bool = False
    year_end: bool = False
    opened: frozenset[tuple[int | None, int]] = frozenset()
    """Days on which it takes place all the same."""
    moves: bool = False
    """A weekday that is a public holiday is not excluded, but the day after it."""

    def __bool__(self) -> bool:
        return bool(self.days or self.months or self.weekdays or self.holidays or self.year_end)

    def __contains__(self, day: date) -> bool:
        if not self.opened.isdisjoint({(day.month, day.day), (None, day.day)}):
            return False
        before = day - timedelta(days=1)
        is_moved = self.moves and before.weekday() in self.weekdays and is_holiday(before)
        return (
            is_moved
            or (day.weekday() in self.weekdays and not (self.moves and is_holiday(day)))
            or (day.month, day.day) in self.days
            or (None, day.day) in self.days
            or day.month in self.months
            or (self.holidays and is_holiday(day))
            or (self.year_end and (day.month, day.day) in _YEAR_END)
        )

    def are_doubtful(self, dates: tuple[date, ...]) -> bool:
        """Whether one of these dates may or may not be excluded."""
        edge = self.year_end and any((day.month, day.day) in {(12, 28), (1, 4)} for day in dates)
        return edge or (self.holidays and not all(map(has_holidays, dates)))


_MAY_EXCLUDE = re.compile("除|休|以外|ません|ない|なし|[A-Za-z]{2}")
_YEAR_END = frozenset({(12, 29), (12, 30), (12, 31), (1, 1), (1, 2), (1, 3)})


def listed_days(text: str) -> set[tuple[int | None, int]]:
    """The days that a list names: the month, if it is written, and the day."""
    days: set[tuple[int | None, int]] = set()
    month: int | None = None
    begin: date | None = None
    for day in _EXCLUDED_DAY.finditer(re.sub(r"\([^()]*\)|\d{4}年|まで", "", text)):
        month = int(day["month"]) if day["month"] else month
        days.add((month, int(day["day"])))
        if begin is not None and (last := _leap_date(month, int(day["day"]))) is not None:
            days.update((one.month, one.day) for one in _days_between(begin, last))
        begin = _leap_date(month, int(day["day"])) if day["on"] else None
    return days


def _leap_date(month: int | None, day: int) -> date | None:
    """A day of a year that has all of them."""
    try:
        return date(2000, month or 0, day)
    except ValueError:
        return None


def _days_between(first: date, last: date) -> list[date]:
    """The days from one to another, over the end of the year if the other is earlier."""
    return [first + timedelta(days=number) for number in range((last - first).days % 366 + 1)]


def split_exclusions(text: str) -> tuple[str, ExcludedDates]:
    """A prepared text without the dates on which it does not take place, and these dates."""
    if _MAY_EXCLUDE.search(text) is None:
        return text, ExcludedDates()
    days: set[tuple[int | None, int]] = set()
    months: set[int] = set()
    listed: set[int] = set()

    def take_days(found: re.Match[str]) -> str:
        days.update(listed_days(found["days"]))
        listed.update(signs_of(found["weekdays"]))
        return " "

    def take_months(found: re.Match[str]) -> str:
        months.update(int(number) for number in re.findall(r"\d{1,2}", found["months"]))
        return " "

    text = _EXCLUDED_MONTHS.sub(take_months, _EXCLUDED_DAYS.sub(take_days, text))
    weekdays = _EXCLUDED_WEEKDAYS.search(text)
    text = _EXCLUDED_WEEKDAYS.sub(" ", text, count=1)
    holidays = _EXCLUDED_HOLIDAYS.search(text)
    text = _EXCLUDED_HOLIDAYS.sub(" ", text)
    year_end = any(found and found["year_end"] for found in (weekdays, holidays)) or _EXCLUDED_YEAR_END.search(text) is not None
    text = _EXCLUDED_YEAR_END.sub(" ", text)
    no_holidays = holidays is not None or bool(weekdays and weekdays["holidays"])
    closed = frozenset(listed) | (signs_of(weekdays["days"]) if weekdays else frozenset())
    if not LATIN.search(text):
        return text, ExcludedDates(frozenset(days), frozenset(months), closed, no_holidays, year_end)
    for found in _LATIN_EXCEPT_DAY.finditer(text):
        month = MONTHS[(found["month"] or found["first"]).lower().rstrip(".")]
        days.update((month, int(found[part])) for part in ("extra", "day", "second") if found[part])
    text = _LATIN_EXCEPT_DAY.sub(" ", text)
    for found in _LATIN_EXCEPT_MONTH.finditer(text):
        months.update(MONTHS[name.lower()] for name in re.findall(either(MONTHS), found["months"], re.IGNORECASE))
    text = _LATIN_EXCEPT_MONTH.sub(" ", text)
    if (western := _LATIN_EXCEPT.search(text)) is not None:
        closed |= names_of(western["days"] or western["before"])
        text = _LATIN_EXCEPT.sub(" ", text, count=1)
    return text, ExcludedDates(frozenset(days), frozenset(months), closed, no_holidays, year_end)


_CLOSED_DAYS = re.compile(
    r"休[館園業演場]日?[:は]?\s?(?:毎週)?(?:[月火水木金土日][・、,]){0,6}[月火水木金土日]曜日?(?:[・、,と][月火水木金土日]曜日?){0,6}"
    r"(?:\((?:但し|ただし)[^()]{1,60}開[館園]\))?(?:[と及びおよび、,・\s]{1,4}(?:\d{1,2}月)?\d{1,2}(?:日|/\d{1,2})(?:\([^()]{1,8}\))?){0,6}"
    r"|(?:毎週)?[月火水木金土日]曜日?(?:[・、,][月火水木金土日]曜日?){0,6}[はが]?\s?(?:定?休[館園業演場みま]?日?|お休み|閉[館園])"
)
_MOVES = re.compile(r"(?:祝日?|休日|祝休日)[^。)]{0,4}の?場合[^。)]{0,6}(?:翌|開館|開園)")


def closed_days(plain: str) -> tuple[str, ExcludedDates]:
    """A prepared text without its closed days, and these: "休館日:月曜日(但し7/20は開館)、7/21"."""
    weekdays: set[int] = set()
    days: set[tuple[int | None, int]] = set()
    opened: set[tuple[int | None, int]] = set()

    def take(found: re.Match[str]) -> str:
        for aside in re.findall(r"\([^()]{1,60}開[館園]\)", found[0]):
            opened.update(listed_days(aside[1:-1]))
        listed = re.sub(r"\([^()]{1,60}\)", "", found[0])
        named = re.findall(
            r"[月火水木金土日](?=曜|[・、,と][月火水木金土日])", re.sub(r"[休定閉][休館園業演場]{0,2}日?", "", listed)
        )
        weekdays.update(WEEKDAYS[sign] for sign in named)
        days.update(listed_days(listed))
        return " "

    rest = _CLOSED_DAYS.sub(take, plain)
    moves = bool(weekdays) and _MOVES.search(plain) is not None
    return rest, ExcludedDates(frozenset(days), weekdays=frozenset(weekdays), opened=frozenset(opened), moves=moves)
