"""Hours that hold on some weekdays of a period: "平日10時~18時、土日祝は17時まで", "Tue-Sun 10am-5pm, Thu until 8pm"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tadoru.parse.dates.assemble import DaySession, sessions_of
from tadoru.parse.dates.clocks import DAY
from tadoru.parse.dates.exclusions import DATED_WEEKDAY, MONTH_NAME, split_exclusions
from tadoru.parse.dates.holidays import is_holiday
from tadoru.parse.dates.phrase import read_phrase
from tadoru.parse.dates.recurrence import RecurrencePhrase
from tadoru.parse.dates.scan import prepare, scan
from tadoru.parse.dates.tokens import NotADate
from tadoru.parse.dates.vocabulary import DayMonthOrder
from tadoru.parse.dates.weekdays import AND, ANY_NAME, EVERY, LIST, RANGE, TO, WEEKDAYS, names_of, range_of, signs_of

_CLOCK = r"(?:午前|午後|朝|夜|夕方)?\s?(?:\d{1,2}(?::\d\d|時(?:半|\d{1,2}分)?)|正午)"
_HOURS = rf"{_CLOCK}(?:\s?(?:~|-|から)\s?(?:{_CLOCK})?)?(?:まで)?"
_JAPANESE = re.compile(
    rf"(?<![一-龠\d毎])(?P<every>毎週)?(?P<days>平日|(?:土日|{RANGE}|{LIST})(?=[^一-龠]|[祝午朝夜夕正]))(?P<holidays>[・、,\s]?\(?(?:祝休日|祝日|祝祭日|祝|休日)\)?)?"
    rf"(?:[のはが:/\s(]|のみ|だけ|に限り){{0,3}}(?P<hours>{_HOURS}(?:\s?[、,/]\s?{_HOURS}){{0,3}})\)?"
)
_LATIN_CLOCK = r"(?:\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\b\.?|h(?:\d\d)?\b|uhr\b|uur\b)|\d{1,2}:\d\d|noon|midnight|midi)"
_TO = r"\s?(?:-|~|to|bis|à|a|tot)\s?"
_LATIN_END = rf"(?:{_LATIN_CLOCK}|\d{{1,2}}(?:\.\d\d)?(?![:\d]|\.\d))"
_LATIN_HOURS = rf"(?:from |von |de |da |van )?{_LATIN_END}{_TO}{_LATIN_END}"
_LATIN = re.compile(
    rf"(?<![^\W_])(?P<days>(?P<range>{ANY_NAME}{TO}{ANY_NAME})|{ANY_NAME}(?:{AND}{ANY_NAME}){{0,5}})[,:]?\s(?:only\s)?"
    rf"(?P<hours>(?:until|till|bis|jusqu'à|fino alle|hasta las|tot)\s{_LATIN_CLOCK}"
    rf"|{_LATIN_HOURS}(?:\s?(?:,|and|und|et|y|e|en|/)\s{_LATIN_HOURS}){{0,2}}|{_LATIN_CLOCK})(?!\s?(?:{MONTH_NAME}|\.?\d))",
    re.IGNORECASE,
)
_BARE_RANGE = re.compile(rf"(?<![\d:.])(\d{{1,2}})(?:\.(\d\d))?{_TO}(\d{{1,2}})(?:\.(\d\d))?(?![\d:.]|\s?[aph])")
_ONLY_END = re.compile(rf"{_CLOCK}まで")
_EVERY_BEFORE = re.compile(rf"(?<![a-zà-ÿ])(?:{EVERY})\s$", re.IGNORECASE)
_HAS_DAY = re.compile(rf"\d日|\d/\d|\d\.\d{{1,2}}\.|\d-\d\d-\d|\b{MONTH_NAME}(?![a-zà-ÿ])", re.IGNORECASE)
_OTHER_HOURS = re.compile(rf"{_CLOCK}|{_LATIN_CLOCK}", re.IGNORECASE)

LONG_PERIOD, _LONGEST_PERIOD = 6, 400
"""Days between the first and the last of a period with opening hours: nothing goes on for a week without a break."""
_OPENING_HOURS = 4 * 60
"""Minutes: what is open for less is a course or a meeting, which is hardly held every day."""
_SHORTEST_COURSE = 14
"""Days from the first to the last of what is held once a week."""
_NAMED_WEEKDAY = re.compile(r"([月火水木金土日])曜(?:日|(?!日))(?![はもにが]|休|定休|画家|大工)")
_HOLIDAY_SEASONS = re.compile(r"(?:夏|冬|春)休み|無休|休日|祝休日|振替休日|連休|休憩")
_OTHER_DAYS = re.compile(
    r"毎週|毎月|隔週|全\d{1,2}回|第\d|[月火水木金土日]曜|平日|土日|除く|のみ|異な[りる]|\d月中?は|休み(?:期間)?中|(?:ただし|但し)(?![、,]?\s?(?:初日|最終日|\d{1,2}[月/]\d{1,2}|\d{1,2}日))|(?:開[館園庁校室場催講]|営業|活動|実施|稽古|練習)日(?![:時程])|不定期|うち"
)
"""It is not every day."""
_CONTINUOUS = re.compile(
    r"(?:時|分|半|正午|:\d\d)\s?(?:から|より|~|-)\s?[、,]?\s?(?:(?:令和|平成)?[\d元]{1,4}年)?\s?\d{1,2}(?:月|/|日)"
)
"""A time of the first day and one of the last: it goes on from the one to the other."""


@dataclass(frozen=True, slots=True)
class WeekdayHours:
    """The hours of some weekdays; one without a start only ends at another time than usual."""

    weekdays: frozenset[int]
    sessions: tuple[DaySession, ...]
    on_holidays: bool = False
    on_workdays: bool = False

    def hold_on(self, day: date) -> bool:
        if self.on_holidays and is_holiday(day):
            return True
        return day.weekday() in self.weekdays and not (self.on_workdays and is_holiday(day))


def split_weekday_hours(text: str, order: DayMonthOrder, today: date) -> tuple[str, tuple[WeekdayHours, ...]]:
    """A prepared text without the hours of its weekdays, and these."""
    masked = DATED_WEEKDAY.sub(lambda found: "□" * len(found[0]), text)
    found = [one for pattern in (_JAPANESE, _LATIN) for one in pattern.finditer(masked) if not _is_rule(one)]
    if not found:
        return text, ()
    rest = text
    for match in found:
        rest = f"{rest[: match.start()]}{' ' * len(match[0])}{rest[match.end() :]}"
    hours = tuple(_read(found, order, today))
    return (rest, hours) if len(hours) == len(found) else (text, ())


def _is_rule(found: re.Match[str]) -> bool:
    """ "毎週土曜日10時から", "every Monday 7pm", but not "毎週金曜日は20時まで"."""
    if found.re is _JAPANESE:
        return found["every"] is not None and not _ONLY_END.fullmatch(found["hours"])
    return _EVERY_BEFORE.search(found.string[: found.start()]) is not None


def are_of_period(text: str, hours: tuple[WeekdayHours, ...]) -> bool:
    """Whether the rest of a text names days, and other hours if these are the hours of one weekday: else they are a rule."""
    names_one = len(hours) == 1 and len(hours[0].weekdays) == 1
    return _HAS_DAY.search(text) is not None and not (names_one and not _OTHER_HOURS.search(text))


def _read(found: list[re.Match[str]], order: DayMonthOrder, today: date) -> Iterator[WeekdayHours]:
    for match in found:
        written = _BARE_RANGE.sub(lambda two: f"{two[1]}:{two[2] or '00'}~{two[3]}:{two[4] or '00'}", match["hours"])
        phrase = read_phrase(scan(written, order=order, today=today))
        sessions = tuple(session for group in phrase.groups for session in sessions_of(group))
        if not sessions or phrase.days:
            continue
        if match.re is _LATIN:
            yield WeekdayHours(range_of(match["days"]) if match["range"] else names_of(match["days"]), sessions)
        else:
            is_work = match["days"] == "平日"
            weekdays = frozenset(range(5)) if is_work else signs_of(match["days"])
            yield WeekdayHours(weekdays, sessions, match["holidays"] is not None, is_work)


def hours_on(day: date, clauses: tuple[WeekdayHours, ...], general: list[DaySession]) -> list[DaySession]:
    """The hours of one day: those of its weekday, where it has some, else the usual ones."""
    fitting = [one for one in clauses if one.hold_on(day)]
    if is_holiday(day) and any(one.on_holidays for one in fitting):
        fitting = [one for one in fitting if one.on_holidays]
    usual = list(general)
    for one in sorted(fitting, key=lambda clause: -len(clause.weekdays)):
        usual = _in_place(usual, one.sessions)
    return [session for session in usual if session.start is not None]


def _in_place(usual: list[DaySession], sessions: tuple[DaySession, ...]) -> list[DaySession]:
    """Hours in place of the usual ones, or only another start or end of them."""
    start, end = sessions[0].start, sessions[0].end
    if not usual or len(sessions) > 1 or (start is not None and end is not None):
        return list(sessions)
    if start is None:
        return [*usual[:-1], replace(usual[-1], end=end)]
    if usual[0].end is None:
        raise NotADate("Some weekdays have a start of their own, and it is not said whether it is one more.")
    return [replace(usual[0], start=start), *usual[1:]]


def weekly_by_name(text: str, first: date, last: date | None, sessions: list[DaySession]) -> RecurrencePhrase | None:
    """The rule of a course "(初級・土曜)": the only weekday that is named is that of its first and of its last day."""
    if last is None or (last - first).days < _SHORTEST_COURSE or first.weekday() != last.weekday():
        return None
    if sum((one.end or 0) - (one.start or 0) for one in sessions) >= _OPENING_HOURS:
        return None
    text, excluded = split_exclusions(DATED_WEEKDAY.sub("日", prepare(text)))
    named = {WEEKDAYS[found[1]]: found[0] for found in _NAMED_WEEKDAY.finditer(text)} if not excluded else {}
    return RecurrencePhrase(named[first.weekday()], frozenset(named)) if named.keys() == {first.weekday()} else None


def open_days(first: date, last: date, sessions: list[DaySession], note: str) -> list[date]:
    """The days of an exhibition: each day of a long period with opening hours, without the days on which it is closed.

    None if it is no such period, or if it is closed on days that cannot be read: then it stays one period.
    """
    if not sessions or not LONG_PERIOD <= (last - first).days < _LONGEST_PERIOD:
        return []
    minutes = [(one.end or 0) - one.start for one in sessions if one.start is not None and not one.is_whole_day]
    if len(minutes) < len(sessions) or min(minutes) <= 0 or not _OPENING_HOURS <= sum(minutes) <= DAY:
        return []
    if any(one.start_offset is not None for one in sessions) or _CONTINUOUS.search(prepare(note)):
        return []
    text, excluded = split_exclusions(DATED_WEEKDAY.sub("日", prepare(note)))
    if "休" in _HOLIDAY_SEASONS.sub("", text) or _OTHER_DAYS.search(text):
        return []
    days = tuple(first + timedelta(days=number) for number in range((last - first).days + 1))
    return [] if excluded.are_doubtful(days) else [day for day in days if day not in excluded]
