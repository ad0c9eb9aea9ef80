"""The result of parsing a date (`ParsedDate`, or `UnreadableDate` with the reason), and the tokens of a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tadoru.errors import Message, TadoruError
from tadoru.model.event import Occurrence


class YearSource(StrEnum):
    """Where the year of the first day comes from."""

    WRITTEN = "written"
    WEEKDAY = "weekday"
    """The only year near now in which the day falls on the weekday that is written."""
    NEAREST = "nearest"
    """The next time this day comes, or the last time if that is less than a quarter of a year ago."""
    FISCAL = "fiscal"
    """The Japanese fiscal year (April to March) that is written."""
    RELATIVE = "relative"
    """Counted from today: "tomorrow"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDate:
    """A parsed date."""

    occurrences: tuple[Occurrence, ...]
    """At least one, in order; each date of a list and each date of a rule that could be expanded."""
    doors: datetime | None = None
    """The time of admission to the first occurrence."""
    year: YearSource = YearSource.WRITTEN
    recurrence: str = ""
    """The rule as it is written, when there is one."""
    notes: tuple[str, ...] = ()
    """What a reader should know: an end that was dropped, a weekday that does not fit. One sentence each."""

    @property
    def first(self) -> Occurrence:
        """The earliest."""
        return self.occurrences[0]


@dataclass(frozen=True, slots=True)
class UnreadableDate:
    """No day can be read from the text."""

    text: str
    reason: Message
    """One sentence."""


class DateMark(StrEnum):
    """Words and signs between dates and times."""

    RANGE = "range"
    UNTIL = "until"
    LIST = "list"
    STOP = "stop"
    """The end of a sentence, a line or a parenthesis."""
    DOORS = "doors"
    START = "start"
    END = "end"
    ENTRY = "entry"
    """Registration, assembly, admission: times that are not the event's."""
    DEADLINE = "deadline"
    ASIDE = "aside"
    """What is said about rain and substitutes: its dates are not the event's."""
    ALL_DAY = "all day"
    VAGUE = "vague"
    """A part of a month or year; "about"."""
    UNSETTLED = "unsettled"


class DayHalf(StrEnum):
    """The word beside an hour."""

    AM = "am"
    PM = "pm"
    GOZEN = "gozen"
    GOGO = "gogo"
    MORNING = "morning"
    MIDDAY = "midday"
    EVENING = "evening"
    NIGHT = "night"
    LATE = "late"
    """Deep in the night: its small hours belong to the day after."""


@dataclass(frozen=True, slots=True)
class DayToken:
    """A day, with the parts that are written."""

    text: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    nth: int | None = None
    """The how-manieth of `weekdays` in the month (-1: the last), instead of a day."""
    weekdays: frozenset[int] = frozenset()
    relative: bool = False


@dataclass(frozen=True, slots=True)
class TimeToken:
    """A time of day, as written."""

    text: str
    hour: int
    minute: int = 0
    half: DayHalf | None = None
    days_later: int = 0
    offset: int | None = None
    """Minutes east of UTC, when it is written."""
    label: DateMark | None = None


@dataclass(frozen=True, slots=True)
class YearToken:
    """A year before its month."""

    text: str
    value: int
    fiscal: bool = False
    short: bool = False
    """Only its last digits, of the era or century named before."""
    era: int | None = None
    """The year before the first of its era."""


@dataclass(frozen=True, slots=True)
class MonthToken:
    """A month without a day."""

    text: str
    month: int
    year: int | None = None


@dataclass(frozen=True, slots=True)
class WeekdaysToken:
    """The names of weekdays, Monday 0."""

    text: str
    days: tuple[int, ...]
    """In the order of writing."""


@dataclass(frozen=True, slots=True)
class MinutesBefore:
    """A number of minutes before the start."""

    text: str
    minutes: int


@dataclass(frozen=True, slots=True)
class MarkToken:
    """A mark, as written."""

    text: str
    mark: DateMark


Token = DayToken | TimeToken | YearToken | MonthToken | WeekdaysToken | MinutesBefore | MarkToken


class NotADate(TadoruError):
    """The text names a day that does not exist, or is incomplete."""
