"""Parses the prose beside a date: a rule, a list of dates, a shorter period, hours, the time of admission.

A note explains the columns and never overrides them: its dates count only within the event's own days, its hours only when no
column has any.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from tadoru.parse.dates.assemble import DaySession, sessions_of
from tadoru.parse.dates.phrase import DatePhrase, read_phrase
from tadoru.parse.dates.recurrence import MOST, RecurrencePhrase, find_rule
from tadoru.parse.dates.scan import prepare, scan, with_weekdays
from tadoru.parse.dates.tokens import DayToken, NotADate, TimeToken, WeekdaysToken
from tadoru.parse.dates.vocabulary import DayMonthOrder
from tadoru.parse.dates.years import resolve

_REPEATED = re.compile(r"^\s{0,99}+(?:開始日|終了日|開始時[刻間]|終了時[刻間])\s?[:：].*$", re.MULTILINE)
"""Lines in which an export repeats its own columns."""
_SAYS_SOMETHING = re.compile(r"[\d毎曜隔日]|正午|noon|every|each|daily", re.IGNORECASE)
_REMARK = re.compile(r"[※*]|注記|注意|ただし|但し|なお|備考")
"""What follows is about something else than when it begins."""
_UNSURE = re.compile(r"除|休憩|異な|場合|平日|祝|それぞれ|変更|目安|予定|except|depend", re.IGNORECASE)
"""Hours beside these do not simply hold."""


def without_repeats(note: str) -> str:
    """A note without the columns that are repeated in it."""
    return _REPEATED.sub("", note).strip()


@dataclass(frozen=True, slots=True)
class DateNote:
    """A parsed note."""

    prepared: str
    phrase: DatePhrase
    rule: RecurrencePhrase | None
    order: DayMonthOrder
    today: date

    def dates(self, first: date, last: date | None) -> tuple[date, ...]:
        """The dates that it lists, when they are the event's: from its first day to its last."""
        days = self.phrase.days
        if len(days) < 2 or any(is_end for _, is_end in days) or self.phrase.vague:
            return ()
        found = _resolved(self.phrase, first)
        dates = tuple(sorted({day for day in found if day is not None}))
        fits = len(dates) > 1 and dates[0] == first and last in {None, dates[-1]}
        return dates if fits and len(dates) <= MOST else ()

    def period(self, first: date, last: date) -> tuple[date, date]:
        """The period that it gives for its rule, when it lies in the event's; else the event's."""
        if len(self.phrase.days) != 2 or not self.phrase.days[1][1]:
            return first, last
        found = _resolved(self.phrase, first)
        begin, finish = found if len(found) == 2 else (None, None)
        return (begin, finish) if begin and finish and first <= begin <= finish <= last else (first, last)

    def sessions(self, day: date | None) -> list[DaySession]:
        """The hours it gives for an event of this one day, or for each of several; days it names must be that day."""
        hours = _hours(self.prepared, self.rule, self.order, self.today)
        if hours is None or (hours.days and (day is None or set(_resolved(hours, day)) != {day})):
            return []
        found = [session for group in hours.groups for session in sessions_of(group)]
        return [session for session in found if session.start is not None]


def _resolved(phrase: DatePhrase, near: date) -> tuple[date | None, ...]:
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
    try:
        phrase = read_phrase(with_weekdays(scan(prepared, order=order, today=today)))
        return DateNote(prepared, phrase, find_rule(prepared), order, today)
    except NotADate:
        return None


def _hours(prepared: str, rule: RecurrencePhrase | None, order: DayMonthOrder, today: date) -> DatePhrase | None:
    """The part that tells the hours, when there are some that simply hold."""
    remark = _REMARK.search(prepared)
    main = prepared[: remark.start()] if remark else prepared
    if rule is not None and rule.stop <= len(main):
        main = f"{main[: rule.start]} {main[rule.stop :]}"
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
