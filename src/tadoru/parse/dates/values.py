"""What reading a written date gives: `When`, or `Unreadable` with the reason; and the tokens a text is made into on the way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tadoru.model.event import Occurrence


class YearFrom(StrEnum):
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
class When:
    """A written date, read."""

    occurrences: tuple[Occurrence, ...]
    """At least one, in order; each date of a list and each date of a rule that could be expanded."""
    doors: datetime | None = None
    """When the doors open, of the first occurrence."""
    year: YearFrom = YearFrom.WRITTEN
    recurrence: str = ""
    """The rule as it is written, when there is one."""
    notes: tuple[str, ...] = ()
    """What a reader should know: an end that was dropped, a weekday that does not fit. One sentence each."""

    @property
    def first(self) -> Occurrence:
        """The earliest."""
        return self.occurrences[0]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No day can be told from this text."""

    text: str
    reason: str
    """One sentence."""


class Mark(StrEnum):
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


class Half(StrEnum):
    """What stands beside an hour."""

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
class Day:
    """A day, with whatever of it is written."""

    text: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    nth: int | None = None
    """The how-manieth of `weekdays` in the month (-1: the last), instead of a day."""
    weekdays: frozenset[int] = frozenset()
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, as written."""

    text: str
    hour: int
    minute: int = 0
    half: Half | None = None
    days_later: int = 0
    offset: int | None = None
    """Minutes east of UTC, when it is written."""
    label: Mark | None = None


@dataclass(frozen=True, slots=True)
class Year:
    """A year that stands before its month."""

    text: str
    value: int
    fiscal: bool = False
    short: bool = False
    """Only its last digits, of the era or century named before."""
    era: int | None = None
    """The year before the first of its era."""


@dataclass(frozen=True, slots=True)
class Month:
    """A month without a day."""

    text: str
    month: int
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Weekdays:
    """The names of weekdays, Monday 0."""

    text: str
    days: tuple[int, ...]
    """In the order of writing."""


@dataclass(frozen=True, slots=True)
class Before:
    """So many minutes before the start."""

    text: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A mark, as written."""

    text: str
    mark: Mark


Token = Day | Clock | Year | Month | Weekdays | Before | Sign


class NotADate(Exception):
    """The text names a day that does not exist, or too little of one."""
