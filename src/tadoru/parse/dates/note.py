"""Parses the prose beside a date: a rule, a list of dates, a shorter period, hours, the time of admission.

A note explains the columns: its dates count only within the event's own days, its hours only when no column has any, or for a
day of which it says that its hours are others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import zip_longest

from tadoru.parse.dates.assemble import DaySession, sessions_of
from tadoru.parse.dates.exclusions import ExcludedDates, split_exclusions
from tadoru.parse.dates.opening_hours import split_weekday_hours
from tadoru.parse.dates.phrase import DatePhrase, read_phrase
from tadoru.parse.dates.recurrence import MOST, RecurrencePhrase, find_rule, times_written
from tadoru.parse.dates.scan import prepare, scan, with_weekdays
from tadoru.parse.dates.tokens import DateMark, DayToken, NotADate, TimeToken, WeekdaysToken
from tadoru.parse.dates.vocabulary import DayMonthOrder
from tadoru.parse.dates.years import resolve

_REPEATED = re.compile(r"^\s{0,99}+(開始日|終了日|開始時|終了時)[刻間]?\s?[:：](.*)$", re.MULTILINE)
"""Lines in which an export repeats its own columns."""
_SAYS_SOMETHING = re.compile(r"[\d毎曜隔日祝]|[月火水木金土][・、のみ]|正午|noon|every|each|daily", re.IGNORECASE)
_REMARK = re.compile(r"[※*]|注記|注意|ただし|但し|なお|備考")
"""What follows is about something else than when it begins."""
_UNSURE = re.compile(r"異な|平日|祝|それぞれ|depend", re.IGNORECASE)
"""Hours beside these do not simply hold."""
_BESIDE = re.compile(
    r"除|休憩|場合|変更|目安|駐車|駐輪|ブース|売店|カフェ|シャトル|バス|整理券|チケット|前売|電話|窓口|問い?合わ?せ|申し?込|予約|配布|貸出|消毒|"
    r"ひろばは|ステージは|except",
    re.IGNORECASE,
)
"""A sentence or a parenthesis with these is about something else than the hours of the event."""
_RECEPTION = re.compile("受け?付|集合|開場|入場|入館|来場")
_PARENTHESIS = re.compile(r"\([^()]{1,200}\)")
_SENTENCE = re.compile(r"[。\n]")
_DAY_OR_HOUR = re.compile(r"\d[日時/]|\d:\d")
_FIRST_DAY = re.compile(r"(?:開催|会期|展示)?の?初日")
_LAST_DAY = re.compile(r"(?:開催|会期|展示)?の?(?:最終日|最後の日)")
_NTH_DAY = re.compile(r"(?<!\d)(\d{1,2})日目")
_MOST_NUMBERED = 10
"""Days of an event that are counted: the second day of a course is not the day after the first."""
_ONE_DAY = re.compile(
    r"(?:(?P<month>\d{1,2})(?:月|/))?(?<!\d)(?P<day>\d{1,2})(?:日(?![間目程曜分本数以前後])|(?=\()|(?:(?<=/\d)|(?<=/\d\d))(?=のみ|だけ|に限り|は))(?:\([^()]{1,8}\))?"
    r"\s?(?P<only>のみ|だけ|に限り|は|には)?(?:は|、)?[\s:]{0,2}(?=午|正午|朝|夜|夕|\d{1,2}[時:])"
)
_LISTED = re.compile(r"(?:日|/\d{1,2}|\([月火水木金土日祝休・]{1,5}\))\s?(?:・|、|,|~|-|と|及び|から|より)\s?$")
"""Before a day that is one of several."""
_CLAUSE_START, _CLAUSE_END = re.compile(r"[。\n※(、]"), re.compile(r"[。\n※)]")


def without_repeats(note: str) -> str:
    """A note without the columns that are repeated in it."""
    return _REPEATED.sub("", note).strip()


def as_columns(text: str) -> dict[str, str]:
    """What a text says in such lines, by the name of the column; empty if it has no line with a first day."""
    found = {name: value.strip() for name, value in _REPEATED.findall(text)}
    return found if found.get("開始日") else {}


def with_dates(note: str, first: date, last: date | None) -> str:
    """A note in which the first day, the last and the nth are the dates that they are."""
    if last is None or last <= first or "日" not in note:
        return note
    length = (last - first).days + 1
    note = _LAST_DAY.sub(_written(last), _FIRST_DAY.sub(_written(first), note))

    def nth(found: re.Match[str]) -> str:
        number = int(found[1])
        return _written(first + timedelta(days=number - 1)) if 1 <= number <= length <= _MOST_NUMBERED else found[0]

    return _NTH_DAY.sub(nth, note)


def _written(day: date) -> str:
    return f"{day.month}月{day.day}日"


@dataclass(frozen=True, slots=True)
class NoteHours:
    """The hours that a note gives: those of every day, and those of days that it names."""

    general: list[DaySession]
    by_day: dict[date, list[DaySession]]
    exceptions: frozenset[date] = frozenset()
    """Days of which it says that their hours are others."""
    is_by_weekday: bool = False
    """Each weekday on which it takes place has hours of its own."""

    def are_complete(self, days: tuple[date, ...]) -> bool:
        """Whether each of these days, and no other, has a start of its own."""
        return self.by_day.keys() == set(days) and all(one.start is not None for group in self.by_day.values() for one in group)

    def in_place_of(self, sessions: list[DaySession]) -> dict[date, list[DaySession]]:
        """The hours of each day, if they are those of the columns told more exactly; else none."""
        if not sessions or self._begin_and_end_like(sessions):
            return self.by_day
        if len(sessions) == 1 and self._are_starts and sessions[0].start == self.by_day[min(self.by_day)][0].start:
            return {day: sessions if own[0].start == sessions[0].start else own for day, own in self.by_day.items()}
        return {}

    def _begin_and_end_like(self, sessions: list[DaySession]) -> bool:
        """Whether they begin on the first day as columns say, and end on the first or the last day as they say."""
        first, last = self.by_day[min(self.by_day)], self.by_day[max(self.by_day)]
        return sessions[0].start == first[0].start and sessions[-1].end in {None, last[-1].end, first[-1].end}

    def refine(self, session: DaySession) -> bool:
        """Whether they begin as a session without an end does, and say more of it: its end, or the sessions after it."""
        is_open = session.end is None and session.start_offset is None
        return bool(self.general) and is_open and self.general[0].start == session.start

    @property
    def _are_starts(self) -> bool:
        """Whether the days have a start each, and no end."""
        return all(len(group) == 1 and group[0].end is None for group in self.by_day.values())


def every_day(first: date, last: date) -> tuple[date, ...]:
    """The days of a period; none if it is longer than a rule can be."""
    length = (last - first).days + 1
    return tuple(first + timedelta(days=number) for number in range(length)) if length <= MOST else ()


def runs_of(dates: tuple[date, ...]) -> list[tuple[date, date | None]]:
    """Days without a break between them, as the first and the last of each run."""
    runs: list[tuple[date, date | None]] = []
    for day in dates:
        if runs and day - (runs[-1][1] or runs[-1][0]) == timedelta(days=1):
            runs[-1] = runs[-1][0], day
        else:
            runs.append((day, None))
    return runs


@dataclass(frozen=True, slots=True)
class DateNote:
    """A parsed note."""

    prepared: str
    phrase: DatePhrase
    rule: RecurrencePhrase | None
    excluded: ExcludedDates
    days_with_hours: tuple[_DayWithHours, ...]
    order: DayMonthOrder
    today: date

    @property
    def has_reception(self) -> bool:
        """Whether it tells when people are received, so that its hours may be those."""
        return _RECEPTION.search(self.prepared) is not None

    @property
    def has_hours(self) -> bool:
        """Whether it tells hours of the event, whenever they hold."""
        own = {None, DateMark.START}
        has_own = any(hours.label in own for group in self.phrase.groups for hours in group.hours)
        return has_own and not _BESIDE.search(self.prepared)

    def dates(self, first: date, last: date | None) -> tuple[date, ...]:
        """The dates that it lists, when they are the event's: from its first day to its last."""
        days = self.phrase.days
        if not days and self.rule is None and last is not None and last > first and times_written(self.prepared) == 2:
            return first, last
        if len(days) < 2 or any(is_end for _, is_end in days) or self.phrase.vague:
            return ()
        if any(one.is_exception for one in self.days_with_hours):
            return ()
        found = _resolved(self.phrase, first)
        dates = tuple(sorted({day for day in found if day is not None}))
        is_counted = last is not None and dates and dates[-1] <= last and times_written(self.prepared) == len(dates)
        fits = len(dates) > 1 and dates[0] == first and (last in {None, dates[-1]} or is_counted)
        return dates if fits and len(dates) <= MOST else ()

    def other_days(self, first: date, last: date | None) -> bool:
        """Whether it names days between the first and the last without hours of their own."""
        named = {day for day in _resolved(self.phrase, first) if day is not None}
        own = {_day_within(one.month, one.day, first, last or first) for one in self.days_with_hours}
        return any(first < day < (last or first) for day in named - own)

    def outside(self, first: date, last: date | None) -> list[str]:
        """The days that it names as the event's and that are not from the first to the last."""
        if self.phrase.vague or _BESIDE.search(self.prepared):
            return []
        days = zip(self.phrase.days, _resolved(self.phrase, first), strict=False)
        return [token.text.strip() for (token, _), day in days if day and not first <= day <= (last or first)]

    def period(self, first: date, last: date) -> tuple[date, date]:
        """The period that it gives for its rule, when it lies in the event's; else the event's."""
        if len(self.phrase.days) != 2 or not self.phrase.days[1][1]:
            return first, last
        found = _resolved(self.phrase, first)
        begin, finish = found if len(found) == 2 else (None, None)
        return (begin, finish) if begin and finish and first <= begin <= finish <= last else (first, last)

    def hours(self, first: date, last: date | None) -> NoteHours:
        """The hours it gives for an event from one day to another; days that it names must be the event's."""
        by_day: dict[date, list[DaySession]] = {}
        exceptions = set()
        rest, rule = self.prepared, self.rule
        if rule is not None:
            rest = f"{rest[: rule.start]}{' ' * (rule.stop - rule.start)}{rest[rule.stop :]}"
        for one in self.days_with_hours:
            rest = f"{rest[: one.start]}{'、'.ljust(one.stop - one.start)}{rest[one.stop :]}"
            day = _day_within(one.month, one.day, first, last or first)
            if day is not None and one.sessions:
                by_day.setdefault(day, []).extend(one.sessions)
                exceptions |= {day} if one.is_exception else set()
        rest, opening = split_weekday_hours(rest, self.order, self.today)
        days = every_day(first, last) if opening and last and last > first and not self.rule else ()
        for day in days:
            if found := [session for one in opening if one.hold_on(day) for session in one.sessions]:
                by_day.setdefault(day, found)
                exceptions.add(day)
        phrase = _hours(rest, self.order, self.today)
        general = _general(phrase, first, last) if phrase else []
        have_starts = all(session.start is not None for one in opening for session in one.sessions)
        is_by_weekday = bool(days) and have_starts and not _DAY_OR_HOUR.search(rest)
        return NoteHours(general, by_day, frozenset(exceptions), is_by_weekday)


def _general(phrase: DatePhrase, first: date, last: date | None) -> list[DaySession]:
    """The hours of a phrase whose days, if it names any, are the event's."""
    if phrase.days:
        named = {day for day in _resolved(phrase, first) if day is not None}
        if not named or (named != {first} if last in {None, first} else named != {first, last}):
            return []
    found = [session for group in phrase.groups for session in sessions_of(group)]
    return [session for session in found if session.start is not None]


@dataclass(frozen=True, slots=True)
class _DayWithHours:
    """A day of a note with hours of its own, and where it stands."""

    month: int | None
    day: int
    is_exception: bool
    sessions: list[DaySession]
    start: int
    stop: int


def _days_with_hours(text: str, order: DayMonthOrder, today: date) -> Iterator[_DayWithHours]:
    """The days with hours of their own; those of something beside the event have no sessions."""
    matches = [match for match in _ONE_DAY.finditer(text) if not _LISTED.search(text[max(0, match.start() - 12) : match.start()])]
    for match, following in zip_longest(matches, matches[1:]):
        stop = following.start() if following else len(text)
        if end := _CLAUSE_END.search(text, match.end(), stop):
            stop = end.start()
        clause = text[match.end() : stop]
        phrase = read_phrase(with_weekdays(scan(clause, order=order, today=today)))
        sessions = [session for group in phrase.groups for session in sessions_of(group)]
        if not sessions or phrase.days:
            continue
        subject = _CLAUSE_START.split(text[max(0, match.start() - 30) : match.start()])[-1]
        if _BESIDE.search(subject + clause):
            sessions = []
        month = int(match["month"]) if match["month"] else None
        yield _DayWithHours(month, int(match["day"]), bool(match["only"] and sessions), sessions, match.start(), stop)


def _day_within(month: int | None, day: int, first: date, last: date) -> date | None:
    """The only date of a period with this day, and this month if it is written."""
    if (last - first).days > MOST:
        return None
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    found = [one for one in days if one.day == day and month in {None, one.month}]
    return found[0] if len(found) == 1 else None


def _resolved(phrase: DatePhrase, near: date) -> tuple[date | None, ...]:
    if not phrase.days:
        return ()
    try:
        return resolve(phrase.days, today=near, fiscal=phrase.fiscal).dates
    except NotADate:
        return ()


@lru_cache(maxsize=256)
def read_note(text: str, *, order: DayMonthOrder, today: date) -> DateNote | None:
    """A note, read; None when it says nothing of dates. Sources write the same one beside many events."""
    prepared = prepare(without_repeats(text)) if text.strip() else ""
    if not _SAYS_SOMETHING.search(prepared):
        return None
    prepared, excluded = split_exclusions(prepared)
    try:
        phrase = read_phrase(with_weekdays(scan(prepared, order=order, today=today)))
        days_with_hours = tuple(_days_with_hours(prepared, order, today))
        return DateNote(prepared, phrase, find_rule(prepared, excluded), excluded, days_with_hours, order, today)
    except NotADate:
        return None


def _hours(prepared: str, order: DayMonthOrder, today: date) -> DatePhrase | None:
    """The part that tells the hours, when there are some that simply hold."""
    remark = _REMARK.search(prepared)
    main = prepared[: remark.start()] if remark else prepared
    main = _PARENTHESIS.sub(lambda found: " " if _BESIDE.search(found[0]) else found[0], main)
    main = "\n".join(sentence for sentence in _SENTENCE.split(main) if not _BESIDE.search(sentence))
    if _UNSURE.search(main):
        return None
    tokens = scan(main, order=order, today=today)
    if not any(isinstance(token, TimeToken) for token in tokens):
        return None
    given = with_weekdays(tokens)
    named = sum(isinstance(token, WeekdaysToken) for token in tokens)
    # Hours of one weekday and of another: which of them hold on a day is not said here.
    is_plain = named == sum(isinstance(token, DayToken) and bool(token.weekdays) for token in given)
    return read_phrase(given) if is_plain else None
