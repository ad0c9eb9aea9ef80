"""Days on which an event does not take place: closed weekdays, days, months and public holidays that are excepted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta

from tadoru.parse.dates.holidays import has_holidays, is_holiday
from tadoru.parse.dates.vocabulary import MONTHS
from tadoru.parse.dates.weekdays import AND, ANY_NAME, LATIN, NAME, WEEKDAYS, between, either, names_of

DATED_WEEKDAY = re.compile(
    r"(?<=\d)日?\s?\((?:[月火水木金土日](?:曜日?)?|祝日?|振替?休日?|休日?|[・,、/]){1,6}\)|(?<=\d日)\s?[月火水木金土日]曜日?"
)
"""The weekday beside a day, which says nothing of other days."""
_WEEKDAY = "[月火水木金土日]"
_DAY = (
    r"(?:(?:(?:令和|平成)?[\d元]{1,4}年)?(?<!\d)\d{1,2}月)?(?<!\d)\d{1,2}日(?![間目曜])|(?<!\d)\d{1,2}/\d{1,2}(?!\d)"
    r"|(?<=[~\-・])\d{1,2}(?=を)"
)
_HOLIDAYS = r"(?:国民の)?(?:祝休日|祝祭日|祝日|祝(?=[・、,をは除)]|$)|振替休日|休日(?!の場合))"
_ITEM = (
    rf"(?:{_DAY}|(?<![\d年])\d{{1,2}}月(?!\d|の?第)|(?:\d{{1,2}}日の)?{_HOLIDAYS}|年末年始|"
    rf"(?:毎週|毎月)?(?:第\d(?:[・、,]第?\d){{0,3}}|(?<!\d)){_WEEKDAY}(?:曜日?)?)(?:\s?\([^()]{{1,60}}\))?"
)
_BETWEEN = r"(?:(?:\s?(?:[・、,/と~\-]|及び|および|並びに|ならびに|から|まで)){1,2}\s?)?"
_ITEMS = rf"{_ITEM}(?:{_BETWEEN}{_ITEM}){{0,11}}(?:まで)?"
_CLOSED = (
    r"定休|休(?=[\s()、。]|$)|閉庁|お?休み|休[館園業演場講会廊室市](?!日)|閉[館園]|"
    r"(?:開催|実施)し(?:ません|ない)|行いません|ありません|なし"
)
_EXCLUDED = re.compile(
    rf"(?:休[館園業演場廊室](?:日(?!曜)|(?!日))|定休(?:日(?!曜)|(?!日))|閉館日)[:=はが\s()/]{{0,3}}(?P<named>{_ITEMS})\)?"
    rf"|[(、,※]?\s?(?:ただし、?|但し、?)?(?<![一-龠\d])(?P<listed>{_ITEMS})(?:と重な[るっ]た?場合|に当たる場合)?"
    rf"(?:\s?[をは]?除[くき]|以外|(?:[はが][^。\d()]{{0,10}}のため)?[はが]?[、,]?\s?(?:{_CLOSED}))(?:日|し?ます)?(?:\s?\((?P<aside>[^()]{{0,30}}(?:場合|とき|開[館園])[^()]{{0,30}})\))?\)?"
)
"""A list of days behind a word like "休館日", or before one like "除く"."""
_BUT_OPEN = re.compile(rf"(?:ただし|但し)、?\s?(?:{_DAY})(?:\([^()]{{1,8}}\))?[^。\d\n]{{0,6}}(?:開[館園場]|営業)(?:し?ます)?。?")
"""A day on which it is open all the same, in a sentence of its own."""
_PART = re.compile(
    rf"\((?P<aside>[^()]*)\)|(?:(?P<month>\d{{1,2}})(?:月|/))?(?P<day>\d{{1,2}})(?:日|(?=[(・、,と~\-かは]|$))|(?P<whole>\d{{1,2}})月"
    rf"|(?P<to>~|-|から)|(?P<holidays>{_HOLIDAYS})|(?P<year_end>年末年始)|(?:第(?P<nths>\d(?:[・、,]第?\d){{0,3}}))?(?P<sign>{_WEEKDAY})"
)
_USUALLY = re.compile(r"\(通常は?[^()]{1,40}\)")
_NEVER = re.compile(r"休[館園業演場]日?[:はが)/\s]{0,2}(?:(?:会期|期間)中は?)?(?:無休|なし)|(?:会期|期間)中無休")
_OPENED = re.compile(rf"(?:{_DAY})(?=[^、。]{{0,12}}(?:開[館園場]|営業))")
_CLOSED_ALSO = re.compile(rf"(?:{_DAY})(?=[^、。]{{0,4}}(?:休[館園]|閉館))")
MONTH_NAME = rf"{either(MONTHS)}\.?"
_LATIN_OPENED = re.compile(
    rf"(?<![a-zà-ÿ])(?P<closed>closed(?: on)? {NAME}),? (?:except|but open)(?: on)?\s"
    rf"(?P<days>\d{{1,2}}(?:st|nd|rd|th)? {MONTH_NAME}(?:(?:,| and|, and) \d{{1,2}}(?:st|nd|rd|th)? {MONTH_NAME}){{0,5}})",
    re.IGNORECASE,
)
_LATIN_EXCEPT = re.compile(
    r"[(,;]?\s?(?<![a-zà-ÿ])(?:closed|except|excluding|außer|ausgenommen|geschlossen|sauf|fermé(?:e|s|es)?|excepto|salvo|cerrad[oa]s?|tranne|chius[oai]|"
    rf"behalve|gesloten)(?: on| am| le| les| el| los| il| la|"
    rf" op)?\s(?P<days>{ANY_NAME}(?:{AND}{ANY_NAME}){{0,4}})(?![a-zà-ÿ])\)?"
    rf"|[(,;]?\s?(?<![a-zà-ÿ])(?P<before>{NAME}(?:{AND}{NAME}){{0,4}})\s(?:closed|geschlossen|ruhetag|fermé|cerrado|chiuso|gesloten)(?![a-zà-ÿ])\)?",
    re.IGNORECASE,
)
_LATIN_EXCEPT_DAY = re.compile(
    r"[(,;.]?\s?(?<![a-zà-ÿ])(?:closed|except|excluding|no class|not|außer|ausgenommen|geschlossen|sauf|fermé|excepto|"
    r"salvo|cerrado|tranne|chiuso|behalve|"
    rf"gesloten)(?: on| am| le| el| il| op)?\s(?:(?:(?P<extra>\d{{1,2}})(?:er|st|nd|rd|th|\.)?\s?(?:,|und|and|et|y|e|"
    rf"en)\s)?(?P<day>\d{{1,2}})(?:er|st|nd|rd|th|\.)?\s(?:de )?(?P<month>{MONTH_NAME})|"
    rf"(?P<first>{MONTH_NAME})\s(?P<second>\d{{1,2}})(?:st|nd|rd|th)?)(?![a-zà-ÿ\d])\)?",
    re.IGNORECASE,
)
_LATIN_EXCEPT_MONTH = re.compile(
    r"[(,;.]?\s?(?<![a-zà-ÿ])(?:except|excluding|not|außer|nicht|sauf|excepto|salvo|tranne|behalve|niet|"
    r"(?:no|kein(?:e|en)?|pas de|geen|nessun[oa]?)(?: hay)? [a-zà-ÿ]{3,15})(?: in| im| en| a)?\s"
    rf"(?P<months>{MONTH_NAME}(?:(?:{AND}|\s(?:ni|nor|or|oder|ou|of)\s)(?:in |im |en )?{MONTH_NAME}){{0,3}})"
    r"(?![a-zà-ÿ]|\s?\d)\)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ExcludedDates:
    """Dates on which it does not take place."""

    days: frozenset[tuple[int | None, int]] = frozenset()
    """Month, if it is written, and day."""
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    nths: frozenset[tuple[int, int]] = frozenset()
    """The how-manieth weekday of a month, and the weekday."""
    holidays: bool = False
    year_end: bool = False
    opened: frozenset[tuple[int | None, int]] = frozenset()
    """Days on which it takes place all the same."""
    moves: bool = False
    """A weekday that is a public holiday is not excluded, but the day after it."""

    def __bool__(self) -> bool:
        return self != ExcludedDates()

    def __or__(self, other: ExcludedDates) -> ExcludedDates:
        return ExcludedDates(*(getattr(self, one.name) | getattr(other, one.name) for one in fields(self)))

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
            or ((day.day - 1) // 7 + 1, day.weekday()) in self.nths
            or (self.holidays and is_holiday(day))
            or (self.year_end and (day.month, day.day) in _YEAR_END)
        )

    def are_doubtful(self, dates: tuple[date, ...]) -> bool:
        """Whether one of these dates may or may not be excluded."""
        edge = self.year_end and any((day.month, day.day) in {(12, 28), (1, 4)} for day in dates)
        return edge or (self.holidays and not all(map(has_holidays, dates)))


_MAY_EXCLUDE = re.compile("除|休|以外|ません|ない|なし|閉|[A-Za-z]{2}")
_YEAR_END = frozenset({(12, 29), (12, 30), (12, 31), (1, 1), (1, 2), (1, 3)})


def split_exclusions(text: str) -> tuple[str, ExcludedDates]:
    """A prepared text without the dates on which it does not take place, and these dates."""
    if _MAY_EXCLUDE.search(text) is None:
        return text, ExcludedDates()
    text = _NEVER.sub(" ", _USUALLY.sub(" ", text))
    excluded = ExcludedDates()
    for found in _EXCLUDED.finditer(text):
        excluded |= _List().read(found["named"] or found["listed"]) | _of_aside(found["aside"] or "", None)
    text = _EXCLUDED.sub(" ", text)
    if excluded:
        for found in _BUT_OPEN.finditer(text):
            excluded |= _of_aside(found[0], None)
        text = _BUT_OPEN.sub(" ", text)
    if LATIN.search(text):
        text, named = _split_latin(text)
        excluded |= named
    return text, excluded


@dataclass(slots=True)
class _List:
    """Reads a list of days: "月曜日(但し7/20は開館)、第3火曜日、12月28日~1月3日、祝日"."""

    excluded: ExcludedDates = ExcludedDates()
    month: int | None = None
    weekdays: list[int] = field(default_factory=list)
    last: date | None = None
    is_range: bool = False

    def read(self, written: str, month: int | None = None) -> ExcludedDates:
        self.month = month
        for part in _PART.finditer(re.sub(r"\d{4}年|まで|曜日?|毎[週月]", "", written)):
            self._take(part)
        return self.excluded | ExcludedDates(weekdays=frozenset(self.weekdays))

    def _take(self, part: re.Match[str]) -> None:
        if part["to"]:
            self.is_range = True
            return
        if part["aside"] is not None:
            found = _of_aside(part["aside"], self.month)
            is_told = self.excluded.year_end and bool(found.days)  # "年末年始(12月28日~1月3日)"
            self.excluded = replace(self.excluded, year_end=self.excluded.year_end and not is_told) | found
            return
        if part["day"]:
            self._take_day(part)
        elif part["nths"]:
            nths = {(int(number), WEEKDAYS[part["sign"]]) for number in re.findall(r"\d", part["nths"])}
            self.excluded |= ExcludedDates(nths=frozenset(nths))
        elif part["sign"]:
            weekday = WEEKDAYS[part["sign"]]
            self.weekdays += between(self.weekdays[-1], weekday) if self.is_range and self.weekdays else [weekday]
        elif part["whole"]:
            self.excluded |= ExcludedDates(months=frozenset({int(part["whole"])}))
        else:
            self.excluded |= ExcludedDates(holidays=bool(part["holidays"]), year_end=bool(part["year_end"]))
        self.is_range = False

    def _take_day(self, part: re.Match[str]) -> None:
        self.month = int(part["month"]) if part["month"] else self.month
        day = int(part["day"])
        days = {(self.month, day)}
        current = _leap_date(self.month, day)
        if self.is_range and self.last and current:
            days |= {(one.month, one.day) for one in _days_between(self.last, current)}
        self.excluded |= ExcludedDates(frozenset(days))
        self.last = current


def _of_aside(aside: str, month: int | None) -> ExcludedDates:
    """What a parenthesis says of a list: "祝日の場合は翌日", "但し1月11日は開館し翌12日休館", or the days themselves."""
    open_list, closed_list = _List(), _List()
    opened = open_list.read("、".join(_OPENED.findall(aside)), month).days
    is_condition = "場合" in aside or "とき" in aside
    is_other = is_condition or bool(opened)
    closed = closed_list.read("、".join(_CLOSED_ALSO.findall(aside)) if is_other else aside, open_list.month).days
    moves = is_condition and ("翌" in aside or "開" in aside)
    return ExcludedDates(closed - opened, opened=opened, moves=moves)


def _leap_date(month: int | None, day: int) -> date | None:
    """A day of a year that has all of them."""
    try:
        return date(2000, month or 0, day)
    except ValueError:
        return None


def _days_between(first: date, last: date) -> list[date]:
    """The days from one to another, over the end of the year if the other is earlier."""
    return [first + timedelta(days=number) for number in range((last - first).days % 366 + 1)]


def _split_latin(text: str) -> tuple[str, ExcludedDates]:
    """The same in European languages: "closed Mondays", "not 25 December", "außer im August"."""
    days: set[tuple[int | None, int]] = set()
    months: set[int] = set()
    weekdays: frozenset[int] = frozenset()
    opened: set[tuple[int | None, int]] = set()
    for found in _LATIN_OPENED.finditer(text):
        for day, month_name in re.findall(rf"(\d{{1,2}})(?:st|nd|rd|th)? ({either(MONTHS)})", found["days"], re.IGNORECASE):
            opened.add((MONTHS[month_name.lower()], int(day)))
    text = _LATIN_OPENED.sub(r"\g<closed>", text)
    for found in _LATIN_EXCEPT_DAY.finditer(text):
        month = MONTHS[(found["month"] or found["first"]).lower().rstrip(".")]
        days.update((month, int(found[part])) for part in ("extra", "day", "second") if found[part])
    text = _LATIN_EXCEPT_DAY.sub(" ", text)
    for found in _LATIN_EXCEPT_MONTH.finditer(text):
        months.update(MONTHS[name.lower()] for name in re.findall(either(MONTHS), found["months"], re.IGNORECASE))
    text = _LATIN_EXCEPT_MONTH.sub(" ", text)
    if (named := _LATIN_EXCEPT.search(text)) is not None:
        weekdays = names_of(named["days"] or named["before"])
        text = _LATIN_EXCEPT.sub(" ", text, count=1)
    return text, ExcludedDates(frozenset(days), frozenset(months), weekdays, opened=frozenset(opened))
