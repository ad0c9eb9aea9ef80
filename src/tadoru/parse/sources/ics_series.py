"""The events of one UID: one event, or a series with its rule, further dates, dates taken out and single dates changed.

A series is one raw event with its occurrences within the window. A changed date stays in it when only its time is another; when
it has another title or venue, it is an event of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from tadoru.model.event import Occurrence
from tadoru.parse.sources.ics_event import MAX_LENGTH, Place, Span, end_of, zone_of
from tadoru.parse.sources.ics_lines import Component
from tadoru.parse.sources.ics_rule import OutOfSteps, Rule, RuleRefused, Steps, read_rule, times_of
from tadoru.parse.sources.ics_values import Length, Property, Stamp, first, properties, read_duration, read_stamp
from tadoru.parse.sources.ics_zones import UTC_ZONE, Zone, wall_of

MAX_DATES = 10_000
"""So many further dates, and so many taken out, are read of one event."""
MAX_STEPS = 60_000
"""Of one event."""
OWN_STEPS = 800
"""Of every event, whatever the others took: a weekly event in a window of a year takes 700."""
_DATE_STEPS = 4
"""What it takes to make one date, with its end, in its zone."""
_MOST_RULES = 4
_DRESSED_UP = frozenset({time(), time(23, 59), time(23, 59, 59)})


@dataclass(frozen=True, slots=True)
class Window:
    """Which occurrences are wanted."""

    low: datetime
    high: datetime
    most: int


@dataclass(slots=True)
class Changes:
    """What single dates of a series are changed to, by the moment (or day) at which they would have been."""

    removed: set[datetime | date] = field(default_factory=set)
    spans: dict[datetime | date, Span] = field(default_factory=dict)
    shifts: list[Shift] = field(default_factory=list)
    """In the order in which they stand: of those that hold for a date, the last one decides."""
    ends: datetime | None = None
    """The time on the wall from which on none takes place."""

    def deciding(self) -> tuple[list[datetime], list[Shift]]:
        """The times from which on another shift decides, in order, and those shifts: so that none has to be looked for twice."""
        times: list[datetime] = []
        shifts: list[Shift] = []
        last = -1
        for number, shift in sorted(enumerate(self.shifts), key=lambda one: (one[1].since, one[0])):
            if number > last:
                last = number
                times.append(shift.since)
                shifts.append(shift)
        return times, shifts


class Shift(NamedTuple):
    """From this time on the wall on: later by so much, and so long."""

    since: datetime
    by: timedelta
    length: Length | None


class Series:
    """One event that may take place several times."""

    def __init__(self, component: Component, span: Span, place: Place, window: Window, steps: Steps) -> None:
        self._component = component
        self._span = span
        self._place = place
        self._window = window
        self._steps = steps
        self._zone = span.zone or place.zone

    def repeats(self) -> bool:
        """Whether it says that it takes place several times."""
        return first(self._component, "RRULE", "RDATE") is not None

    def occurrences(self, changes: Changes) -> tuple[Occurrence, ...]:
        """Those within the window, in order, at most as many as are wanted."""
        changes.removed |= set(self._taken_out())
        found = {one.starts_at: one for one in map(self._moved, changes.spans.values()) if self._is_wanted(one)}
        deciding = changes.deciding()
        steps = self._steps.share(OWN_STEPS, MAX_STEPS)
        try:
            for wall, length in self._all(changes, steps):
                steps.spend(_DATE_STEPS)
                occurrence = self._occurrence(wall, length, changes, deciding)
                if occurrence and self._is_wanted(occurrence):
                    found.setdefault(occurrence.starts_at, occurrence)
                if len(found) > self._window.most:
                    self._problem(f"The series has more than {self._window.most} dates in the window; the rest is left out.")
                    break
        except OutOfSteps:
            self._problem("The recurrence rule takes too long to follow; the dates found so far are kept.")
        self._steps.give_back(steps)
        return tuple(sorted(found.values(), key=lambda one: one.starts_at)[: self._window.most])

    def key(self, stamp: Stamp, zone: Zone | None) -> datetime | date:
        """How a date of the series is named: by its moment, or by its day where only that is given."""
        if stamp.is_date or self._span.is_date:
            return stamp.day
        return (zone or self._zone).moment(stamp.wall).astimezone(UTC)

    def wall(self, stamp: Stamp, zone: Zone | None) -> datetime:
        """A stamp as the clock of the series shows it."""
        if stamp.is_date or self._span.is_date or zone is None:
            return stamp.wall
        return wall_of(zone.moment(stamp.wall), self._zone)

    def is_taken_out(self, changes: Changes) -> bool:
        """Whether not even the first date is left."""
        return self._occurrence(self._span.start, None, changes, changes.deciding()) is None

    def _all(self, changes: Changes, steps: Steps) -> Iterator[tuple[datetime, Length | None]]:
        """Every date within reach of the window, as on the wall, with its length if that is its own."""
        reach = (self._span.length.total if self._span.length else timedelta(0)) + timedelta(days=1)
        reach += max((abs(shift.by) for shift in changes.shifts), default=timedelta(0))
        low, high = wall_of(self._window.low, self._zone) - reach, wall_of(self._window.high, self._zone) + reach
        yield from self._further(steps)
        rules = list(properties(self._component, "RRULE"))[:_MOST_RULES]
        if not rules:
            yield self._span.start, None
        for line in rules:
            try:
                for wall in times_of(self._rule(line.value), self._span.start, low, high, steps):
                    yield wall, None
            except RuleRefused as refused:
                self._problem(f"{refused} Only its first date is kept.", line.value)
                yield self._span.start, None

    def _rule(self, text: str) -> Rule:
        """A rule on the wall of the series. Raises RuleRefused."""
        rule = read_rule(text)
        if self._span.is_date:
            if rule.frequency == "HOURLY":
                raise RuleRefused("Whole days can not take place hourly.")
            rule = replace(rule, hours=(), minutes=(), seconds=())
        return replace(rule, until=self._until(rule.until)) if rule.until else rule

    def _until(self, until: Stamp) -> Stamp:
        """The last moment of a rule, on the wall of the series."""
        day = until.day
        if until.is_utc and not until.is_date:
            if not self._span.is_date:
                return Stamp(wall_of(until.wall.replace(tzinfo=UTC), self._zone))
            # The start or the end of a day in UTC is a date that was dressed up; else it is a time in the calendar's own place.
            if until.wall.time() not in _DRESSED_UP:
                day = wall_of(until.wall.replace(tzinfo=UTC), self._place.zone).date()
        elif not until.is_date and not self._span.is_date:
            return until
        return Stamp(datetime.combine(day, time(23, 59, 59)))

    def _further(self, steps: Steps) -> Iterator[tuple[datetime, Length | None]]:
        for value, line in self._values("RDATE"):
            steps.spend(1)
            begin, _, rest = value.partition("/")
            stamp = read_stamp(begin, line.parameters)
            if stamp is None:
                self._problem("A further date (RDATE) can not be read and is left out.", value)
                continue
            zone = zone_of(stamp, self._place, self._component.position)
            yield self.wall(stamp, zone), _period_length(rest, stamp, zone or self._zone) if rest else None

    def _taken_out(self) -> Iterator[datetime | date]:
        for value, line in self._values("EXDATE"):
            if stamp := read_stamp(value, line.parameters):
                yield self.key(stamp, zone_of(stamp, self._place, self._component.position))
            else:
                self._problem("A date taken out (EXDATE) can not be read.", value)

    def _values(self, name: str) -> Iterator[tuple[str, Property]]:
        """The values of all lines of one name, up to a limit that no honest calendar meets."""
        left = MAX_DATES
        for line in properties(self._component, name):
            values = line.value.split(",", left)
            if len(values) > left:
                self._problem(f"More than {MAX_DATES} dates are given by {name}; the rest is left out.")
                values.pop()
            left -= len(values)
            yield from ((value, line) for value in values if value.strip())
            if left <= 0:
                return

    def _occurrence(
        self, wall: datetime, length: Length | None, changes: Changes, deciding: tuple[list[datetime], list[Shift]]
    ) -> Occurrence | None:
        """What one date of the series has become; None when it was taken out or is told by a change."""
        if changes.ends and wall >= changes.ends:
            return None
        if changes.removed or changes.spans:
            day = wall.date()
            key = day if self._span.is_date else self._zone.moment(wall).astimezone(UTC)
            gone: tuple[Container[datetime | date], ...] = (changes.removed, changes.spans)
            if any(key in place or day in place for place in gone):
                return None
        times, shifts = deciding
        if at := bisect_right(times, wall):
            return self._made(wall + shifts[at - 1].by, shifts[at - 1].length, self._zone)
        return self._made(wall, length or self._span.length, self._zone)

    def _moved(self, span: Span) -> Occurrence:
        return self._made(span.start, span.length, span.zone or self._zone, is_date=span.is_date)

    def _made(self, wall: datetime, length: Length | None, zone: Zone, is_date: bool | None = None) -> Occurrence:
        if self._span.is_date if is_date is None else is_date:
            midnight = datetime.combine(wall, time())
            last = midnight + timedelta(days=max(length.days, 1) if length else 1)
            return Occurrence(starts_at=zone.moment(midnight), ends_at=zone.moment(last), has_time=False)
        # What has no name of its own (UTC, a zone that the calendar draws) is shown as in the calendar's own place.
        shown = zone if zone.name else self._place.zone
        end = shown.show(end_of(wall, length, zone)) if length else None
        return Occurrence(starts_at=shown.show(zone.moment(wall)), ends_at=end)

    def _is_wanted(self, occurrence: Occurrence) -> bool:
        window, start = self._window, occurrence.starts_at
        return start <= window.high and (start >= window.low or (occurrence.ends_at or start) > window.low)

    def _problem(self, reason: str, sample: str = "") -> None:
        self._place.problems.add(self._component.position, reason, sample)


def _period_length(rest: str, begin: Stamp, zone: Zone) -> Length | None:
    """How long a PERIOD is, of which `rest` is what follows the slash."""
    if length := read_duration(rest):
        return length if length.total >= timedelta(0) else None
    if (end := read_stamp(rest)) is None:
        return None
    passed = (UTC_ZONE if end.is_utc else zone).moment(end.wall).astimezone(UTC) - zone.moment(begin.wall).astimezone(UTC)
    return Length(0, passed) if timedelta(0) <= passed <= MAX_LENGTH else None
