"""Recurrence rules (RRULE): parses one, and computes its times between two moments.

Times are local, without a zone. Every day looked at and every time created is a step; steps are limited, whatever a rule says.
A rule without COUNT starts near the window, not at the event's first day.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import chain, product

from tadoru.errors import Message
from tadoru.parse.sources.ics_lines import LocalStamp, read_stamp

MAX_TIMES_A_DAY = 96
_LONGEST = 2_000
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BY_DAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_RANGES = {
    "BYMONTH": (1, 12),
    "BYWEEKNO": (-53, 53),
    "BYYEARDAY": (-366, 366),
    "BYMONTHDAY": (-31, 31),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
    "BYSECOND": (0, 60),
    "BYSETPOS": (-366, 366),
}
_OTHERS = frozenset({"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "RSCALE", "SKIP"})


class RuleRefused(Exception):
    """A rule that is not supported; the message is the reason."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


class OutOfSteps(Exception):
    """A rule exceeded its steps."""


class StepBudget:
    """The number of steps that are left."""

    def __init__(self, left: int, reserve: int = 0) -> None:
        self.left = left
        self._reserve = reserve
        """What is kept for those who take little, so that nobody who takes much leaves them nothing."""

    def spend(self, count: int) -> None:
        """Count some steps. Raises OutOfSteps."""
        self.left -= count
        if self.left < 0:
            raise OutOfSteps

    def share(self, own: int, most: int) -> StepBudget:
        """Steps for one of many: a few from the reserve, and as many more as there are."""
        own = min(own, self._reserve)
        more = min(most - own, max(self.left, 0))
        self._reserve -= own
        self.left -= more
        return StepBudget(own + more, own)

    def give_back(self, share: StepBudget) -> None:
        """Take back what one of many did not need."""
        unused = max(share.left, 0)
        self._reserve += min(unused, share._reserve)
        self.left += max(unused - share._reserve, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceRule:
    """One RRULE."""

    frequency: str
    interval: int = 1
    count: int | None = None
    until: LocalStamp | None = None
    week_start: int = 0
    months: tuple[int, ...] = ()
    weeks: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    weekdays: tuple[tuple[int, int], ...] = ()
    """Ordinal (0: each) and weekday (0: Monday)."""
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    seconds: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()


@lru_cache(maxsize=1_024)
def read_rule(text: str) -> RecurrenceRule:
    """A rule as written. Raises RuleRefused. Cached: many events of a calendar have the same one."""
    if len(text) > _LONGEST:
        raise RuleRefused(Message("The recurrence rule is too long."))
    parts: dict[str, str] = {}
    for pair in text.strip().upper().split(";"):
        name, value = (part.strip() for part in pair.partition("=")[::2])
        if not value or name.startswith("X-"):
            continue
        if name not in _RANGES and name not in _OTHERS:
            raise RuleRefused(Message("The recurrence rule has a part {name}, which is not known.", name=name[:20]))
        parts[name] = value
    frequency = parts.get("FREQ", "")
    if frequency in ("SECONDLY", "MINUTELY"):
        raise RuleRefused(Message("An event that takes place {frequency} is not followed.", frequency=frequency.lower()))
    if frequency not in ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
        raise RuleRefused(
            Message("The recurrence rule has an unknown frequency ({frequency}).", frequency=frequency[:20] or "none")
        )
    if parts.get("RSCALE", "GREGORIAN") != "GREGORIAN" or parts.get("SKIP", "OMIT") != "OMIT":
        raise RuleRefused(Message("The recurrence rule counts in another calendar, or moves dates that do not exist."))
    return _checked(_assembled(frequency, parts))


def _assembled(frequency: str, parts: dict[str, str]) -> RecurrenceRule:
    until = read_stamp(parts["UNTIL"]) if "UNTIL" in parts else None
    if "UNTIL" in parts and until is None:
        raise RuleRefused(Message("The recurrence rule has an UNTIL that is not a date."))
    week_start = parts.get("WKST", "MO")
    return RecurrenceRule(
        frequency=frequency,
        interval=_whole("INTERVAL", parts.get("INTERVAL", "1")),
        count=_whole("COUNT", parts["COUNT"]) if "COUNT" in parts else None,
        until=until,
        week_start=_WEEKDAYS.index(week_start) if week_start in _WEEKDAYS else 0,
        months=_numbers("BYMONTH", parts),
        weeks=_numbers("BYWEEKNO", parts),
        year_days=_numbers("BYYEARDAY", parts),
        month_days=_numbers("BYMONTHDAY", parts),
        weekdays=_by_day(parts.get("BYDAY", "")),
        hours=_numbers("BYHOUR", parts),
        minutes=_numbers("BYMINUTE", parts),
        seconds=_numbers("BYSECOND", parts),
        positions=_numbers("BYSETPOS", parts),
    )


def _checked(rule: RecurrenceRule) -> RecurrenceRule:
    times = (len(rule.hours) or (24 if rule.frequency == "HOURLY" else 1)) * max(1, len(rule.minutes)) * max(1, len(rule.seconds))
    if times > MAX_TIMES_A_DAY:
        raise RuleRefused(
            Message(
                "The recurrence rule names {times} times a day; more than {limit} are not followed.",
                times=times,
                limit=MAX_TIMES_A_DAY,
            )
        )
    if rule.frequency == "HOURLY" and rule.positions:
        raise RuleRefused(Message("The recurrence rule has BYSETPOS within an hour, which is not followed."))
    return rule


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) < 1:
        raise RuleRefused(
            Message("The recurrence rule has {name}={text}, which is not a positive integer.", name=name, text=text[:20])
        )
    return int(text)


def _numbers(name: str, parts: dict[str, str]) -> tuple[int, ...]:
    low, high = _RANGES[name]
    found = set()
    for part in filter(None, (part.strip() for part in parts.get(name, "").split(","))):
        if not re.fullmatch(r"[+-]?[0-9]{1,3}", part) or not low <= int(part) <= high or (low < 0 and int(part) == 0):
            raise RuleRefused(Message("The recurrence rule has {name}={part}, which is out of range.", name=name, part=part[:20]))
        found.add(int(part))
    return tuple(sorted(found))


def _by_day(text: str) -> tuple[tuple[int, int], ...]:
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _BY_DAY.fullmatch(part)
        if match is None:
            raise RuleRefused(Message("The recurrence rule has BYDAY={part}, which is not a weekday.", part=part[:20]))
        found.append((int(match[1] or 0), _WEEKDAYS.index(match[2])))
    return tuple(dict.fromkeys(found))


def times_of(
    rule: RecurrenceRule, start: datetime, low: datetime, high: datetime, steps: StepBudget, *, has_start: bool = True
) -> Iterator[datetime]:
    """The times of an event that begins at `start`, from `low` to `high`, in order. `start` is the first, if it `has_start`.

    `rule.until` must have been made a time of the same clock (`Stamp.wall`). Raises OutOfSteps.
    """
    rule = _completed(rule, start)
    until = min(high, rule.until.wall) if rule.until else high
    times = sorted({time(*parts) for parts in product(rule.hours, rule.minutes, rule.seconds)})
    made = int(has_start)
    if has_start and low <= start <= high:
        yield start
    for days in _periods(rule, start, start if rule.count else max(low, start), until, steps):
        group = _picked([datetime.combine(day, at) for day in days for at in times], rule)
        steps.spend(len(group))
        for moment in group:
            if (
                moment < start
                or (has_start and moment == start)
                or (rule.frequency == "HOURLY" and not _is_on_the_hour(rule, start, moment))
            ):
                continue
            made += 1
            if moment > until or (rule.count is not None and made > rule.count):
                return
            if moment >= low:
                yield moment


def _completed(rule: RecurrenceRule, start: datetime) -> RecurrenceRule:
    """The rule with what it leaves to the event's start."""
    rule = replace(
        rule,
        hours=rule.hours or (tuple(range(24)) if rule.frequency == "HOURLY" else (start.hour,)),
        minutes=rule.minutes or (start.minute,),
        seconds=tuple(second for second in rule.seconds if second < 60) or (start.second,),
    )
    if rule.weekdays or rule.month_days or rule.year_days:
        return rule
    weekday = ((0, start.weekday()),)
    match rule.frequency:
        case "YEARLY" if rule.weeks:
            return replace(rule, weekdays=weekday)
        case "YEARLY":
            return replace(rule, months=rule.months or (start.month,), month_days=(start.day,))
        case "MONTHLY":
            return replace(rule, month_days=(start.day,))
        case "WEEKLY":
            return replace(rule, weekdays=weekday)
    return rule


def _picked(group: list[datetime], rule: RecurrenceRule) -> list[datetime]:
    """Of all times of a period those at the positions that the rule names."""
    if not rule.positions:
        return group
    size = len(group)
    indexes = {position - 1 if position > 0 else size + position for position in rule.positions}
    return [group[index] for index in sorted(indexes) if 0 <= index < size]


def _is_on_the_hour(rule: RecurrenceRule, start: datetime, moment: datetime) -> bool:
    hours = (moment.replace(minute=0, second=0) - start.replace(minute=0, second=0)) // timedelta(hours=1)
    return hours % rule.interval == 0


def _periods(rule: RecurrenceRule, start: datetime, low: datetime, until: datetime, steps: StepBudget) -> Iterator[list[date]]:
    """The days of each period that fit the rule. The first period holds `low` or comes before it."""
    begin = start.date().toordinal()
    match rule.frequency:
        case "YEARLY" | "MONTHLY":
            unit = 12 if rule.frequency == "YEARLY" else 1
            origin = (start.year * 12 + start.month - 1) // unit
            goal = (low.year * 12 + low.month - 1) // unit
            last = (until.year * 12 + until.month - 1) // unit
            for period in range(origin + (goal - origin) // rule.interval * rule.interval, last + 1, rule.interval):
                months = (divmod(month, 12) for month in range(period * unit, (period + 1) * unit))
                yield _fitting(rule, [_month(year, month + 1) for year, month in months if _is_month(rule, month + 1)], steps)
        case _:
            size = 7 if rule.frequency == "WEEKLY" else 1
            gap = size * rule.interval if rule.frequency != "HOURLY" else 1
            if size == 7:
                begin -= (start.weekday() - rule.week_start) % 7
            skipped = max(0, low.toordinal() - begin) // gap * gap
            for ordinal in range(begin + skipped, until.toordinal() + 1, gap):
                yield _fitting(rule, [range(ordinal, ordinal + size)], steps)


def _is_month(rule: RecurrenceRule, month: int) -> bool:
    return not rule.months or month in rule.months


def _month(year: int, month: int) -> range:
    """The days of a month, as ordinals."""
    begin = date(year, month, 1).toordinal()
    return range(begin, begin + calendar.monthrange(year, month)[1])


def _fitting(rule: RecurrenceRule, spans: list[range], steps: StepBudget) -> list[date]:
    days: Iterable[int] = chain.from_iterable(spans)
    number = sum(map(len, spans))
    if rule.weekdays:  # Most rules name one or two: only their days are looked at.
        weekdays = {weekday for _, weekday in rule.weekdays}
        number = number * len(weekdays) // 7
        days = (ordinal for ordinal in days if (ordinal - 1) % 7 in weekdays)
    steps.spend(1 + number)
    return [day for day in map(date.fromordinal, days) if _fits(rule, day)]


def _fits(rule: RecurrenceRule, day: date) -> bool:
    """Whether a day is one of those that every part of the rule allows."""
    if not _is_month(rule, day.month):
        return False
    if rule.month_days:
        length = calendar.monthrange(day.year, day.month)[1]
        if day.day not in rule.month_days and day.day - length - 1 not in rule.month_days:
            return False
    if rule.year_days:
        number, length = day.timetuple().tm_yday, 366 if calendar.isleap(day.year) else 365
        if number not in rule.year_days and number - length - 1 not in rule.year_days:
            return False
    if rule.weeks:
        week, length = _week(day, rule.week_start)
        if week not in rule.weeks and week - length - 1 not in rule.weeks:
            return False
    return not rule.weekdays or any(day.weekday() == weekday and _is_nth(rule, day, nth) for nth, weekday in rule.weekdays)


def _is_nth(rule: RecurrenceRule, day: date, nth: int) -> bool:
    """Whether a day is the nth of its weekday, in the month or the year: elsewhere ordinals mean nothing and are passed over."""
    if nth == 0 or rule.frequency not in ("YEARLY", "MONTHLY") or rule.weeks:
        return True
    if rule.frequency == "YEARLY" and not rule.months:
        place, length = day.timetuple().tm_yday, 366 if calendar.isleap(day.year) else 365
    else:
        place, length = day.day, calendar.monthrange(day.year, day.month)[1]
    return (place - 1) // 7 + 1 == nth if nth > 0 else (length - place) // 7 + 1 == -nth


def _week(day: date, week_start: int) -> tuple[int, int]:
    """The number of a day's week, and how many weeks its year has. The first week is the first with four days in the year."""
    # The fourth day of a week is in the year that the week belongs to.
    fourth = day.toordinal() - (day.weekday() - week_start) % 7 + 3
    year = date.fromordinal(fourth).year
    number = (fourth - date(year, 1, 1).toordinal()) // 7 + 1
    return number, number + (date(year, 12, 31).toordinal() - fourth) // 7
