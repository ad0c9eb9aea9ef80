"""VEVENTs as raw events: one event, or the series of one UID with its rule, further dates, exceptions and overrides."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from tadoru.errors import Message
from tadoru.model.event import Occurrence
from tadoru.parse.sources.ics_lines import (
    IcsComponent,
    IcsDuration,
    IcsProperty,
    LocalStamp,
    first,
    properties,
    read_duration,
    read_stamp,
    values_of,
)
from tadoru.parse.sources.ics_rule import OutOfSteps, RecurrenceRule, RuleRefused, StepBudget, read_rule, times_of
from tadoru.parse.sources.ics_zones import UTC_ZONE, CalendarZone, CalendarZones, wall_of
from tadoru.parse.sources.raw_fields import ReadProblems, absolute

MAX_LENGTH = timedelta(days=3660)
_IMAGE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:[?#]|$)", re.IGNORECASE)
_GEO = re.compile(r"(?:geo:)?\s*([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)\s*[;,]\s*([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)")
_BESIDES = frozenset({"CLASS", "CONTACT", "COMMENT", "RESOURCES", "CONFERENCE", "STATUS"})
_NOT_BESIDES = frozenset({"X-ALT-DESC", "X-LIC-ERROR"})
_MOST_BESIDES = 20
_LONGEST_BESIDE = 1_000


class UnreadableComponent(Exception):
    """A component that cannot be read at all; the arguments are the reason and a sample."""


@dataclass(frozen=True, slots=True)
class CalendarContext:
    """What all events of one calendar share."""

    zones: CalendarZones
    zone: CalendarZone
    """Where a clock without a zone hangs: the calendar's own zone, else the source's."""
    own_zone: CalendarZone | None
    """What the calendar says its zone is."""
    url: str
    problems: ReadProblems


@dataclass(frozen=True, slots=True)
class EventSpan:
    """Start and duration of an event, in local time of `zone`."""

    start: datetime
    length: IcsDuration | None
    is_date: bool
    zone: CalendarZone | None
    """None of a date, and of a clock that hangs everywhere."""


def zone_of(stamp: LocalStamp, place: CalendarContext, position: str) -> CalendarZone | None:
    """The zone a stamp is in; None of a date, and of local time wherever it is read."""
    if stamp.is_date:
        return None
    if stamp.is_utc:
        return UTC_ZONE
    if stamp.tzid is None:
        return None
    zone = place.zones.find(stamp.tzid)
    if zone is None:
        place.problems.add(position, Message("The time zone is not known; the times are read as local time."), stamp.tzid)
    return zone


def span_of(component: IcsComponent, place: CalendarContext) -> EventSpan | None:
    """When an event is; None when it does not say. Raises Unreadable."""
    line = first(component, "DTSTART")
    if line is None:
        return None
    start = read_stamp(line.value, line.parameters)
    if start is None:
        raise UnreadableComponent(Message("The start (DTSTART) is not a readable date; the event is skipped."), line.value)
    zone = zone_of(start, place, component.position)
    if (whole := _whole_days(component, start, zone, place)) is not None:
        return whole
    length = _length(component, start, zone, place)
    if length is not None and not timedelta(0) <= length.total <= MAX_LENGTH:
        place.problems.add(component.position, Message("The end is before the start, or years after it; it is ignored."))
        length = None
    return EventSpan(start.wall, length, start.is_date, zone)


def _whole_days(
    component: IcsComponent, start: LocalStamp, zone: CalendarZone | None, place: CalendarContext
) -> EventSpan | None:
    """The days of an event that Outlook marks as such although it writes midnights; None when it is not one."""
    flag = first(component, "X-MICROSOFT-CDO-ALLDAYEVENT")
    if start.is_date or flag is None or flag.value.strip().upper() != "TRUE":
        return None
    own = place.zone if start.is_utc or zone is None else zone
    length = _length(component, start, zone, place) or IcsDuration(1)
    begin = (zone or place.zone).moment(start.wall)
    walls = [wall_of(one, own) for one in (begin, end_of(start.wall, length, zone or place.zone))]
    if any(wall.time() != time() for wall in walls):
        return None
    return EventSpan(walls[0], IcsDuration(max((walls[1] - walls[0]).days, 1)), is_date=True, zone=None)


def _length(component: IcsComponent, start: LocalStamp, zone: CalendarZone | None, place: CalendarContext) -> IcsDuration | None:
    if line := first(component, "DTEND"):
        end = read_stamp(line.value, line.parameters)
        if end is not None and start.is_date and not end.is_date and end.wall >= start.wall:
            # A time on the last day: that day is included.
            return IcsDuration((end.wall.date() - start.wall.date()).days + (end.wall.time() > time()) or 1)
        if end is None or end.is_date != start.is_date:
            place.problems.add(component.position, Message("The end (DTEND) does not fit the start; it is ignored."), line.value)
            return None
        if start.is_date:
            # A day that ends on the day it begins is one day all the same.
            return IcsDuration((end.wall - start.wall).days or 1)
        is_same = (end.is_utc, end.tzid) == (start.is_utc, start.tzid)
        end_zone = zone if is_same else zone_of(end, place, component.position)
        if zone is None and end_zone is None:
            return IcsDuration(0, end.wall - start.wall)
        passed = (end_zone or place.zone).moment(end.wall).astimezone(UTC) - (zone or place.zone).moment(start.wall).astimezone(
            UTC
        )
        return IcsDuration(0, passed)
    if line := first(component, "DURATION"):
        length = read_duration(line.value)
        if length is None:
            place.problems.add(component.position, Message("The duration cannot be read; it is ignored."), line.value)
        elif start.is_date and length.total >= timedelta(0):
            # "One hour" of a whole day is that day.
            return IcsDuration(length.total.days or 1)
        return length
    return None


def end_of(wall: datetime, length: IcsDuration, zone: CalendarZone) -> datetime:
    """The aware time at which something ends that begins when the clock of a zone shows `wall`."""
    begin = zone.moment(wall + timedelta(days=length.days))
    return zone.show(begin.astimezone(UTC) + length.passing)


def times(span: EventSpan, place: CalendarContext) -> tuple[datetime | date, datetime | date | None, str | None]:
    """Start, end and name of the zone, as a raw event has them: the end of whole days is the last day, included."""
    own = place.own_zone.name if place.own_zone else None
    length = span.length
    if span.is_date:
        return span.start.date(), (span.start + timedelta(days=length.days - 1)).date() if length else None, own
    if span.zone is None:
        return span.start, span.start + length.total if length else None, own
    shown = place.own_zone if span.zone is UTC_ZONE and place.own_zone else span.zone
    end = shown.show(end_of(span.start, length, span.zone)) if length else None
    return shown.show(span.zone.moment(span.start)), end, shown.name


def event_texts(component: IcsComponent, place: CalendarContext) -> dict[str, Any]:
    """The fields of a raw event that have nothing to do with time."""
    found: dict[str, Any] = {}
    simple = {"title": "SUMMARY", "venue": "LOCATION", "uid": "UID", "updated": "LAST-MODIFIED"}
    for key, name in simple.items():
        if line := first(component, name):
            found[key] = line.text or None
    if line := first(component, "DESCRIPTION") or first(component, "X-ALT-DESC"):
        found["description"] = line.text or None
    if line := first(component, "URL"):
        found["url"] = absolute(line.text, place.url)
    if line := first(component, "ORGANIZER"):
        found["organizer"] = line.parameters.get("CN") or re.sub(r"^mailto:", "", line.value.strip(), flags=re.IGNORECASE) or None
    categories = [value for line in properties(component, "CATEGORIES") for value in values_of(line.value) if value]
    found["category"] = ", ".join(dict.fromkeys(categories)) or None
    found["image"] = _image(component, place)
    found["latitude"], found["longitude"] = _coordinates(component)
    found["is_cancelled"] = is_cancelled(component)
    found["extra"] = _besides(component)
    return found


def is_cancelled(component: IcsComponent) -> bool:
    """Whether it says that it does not take place."""
    status = first(component, "STATUS")
    return status is not None and status.value.strip().upper() in ("CANCELLED", "CANCELED")


def _image(component: IcsComponent, place: CalendarContext) -> str | None:
    for line in properties(component, "IMAGE", "ATTACH"):
        is_inline = line.parameters.get("ENCODING", "").upper() == "BASE64"
        is_image = line.name == "IMAGE" or line.parameters.get("FMTTYPE", "").lower().startswith("image/")
        if not is_inline and (is_image or _IMAGE.search(line.value[:2_000])) and (found := absolute(line.text, place.url)):
            return found
    return None


def _coordinates(component: IcsComponent) -> tuple[str | None, str | None]:
    line: IcsProperty | None = first(component, "GEO", "X-APPLE-STRUCTURED-LOCATION")
    match = _GEO.match(line.text) if line else None
    return (match[1], match[2]) if match else (None, None)


def _besides(component: IcsComponent) -> dict[str, str]:
    wanted = [name for name in component.lines if name in _BESIDES or (name.startswith("X-") and name not in _NOT_BESIDES)]
    said = ((name, first(component, name)) for name in wanted[:_MOST_BESIDES])
    return {name: line.text[:_LONGEST_BESIDE] for name, line in said if line and line.text}


MAX_DATES = 10_000
"""So many further dates, and so many taken out, are read of one event."""
MAX_STEPS = 60_000
"""Of one event."""
OWN_STEPS = 800
"""Of every event, whatever the others took: a weekly event in a window of a year takes 400."""
_SERIES_STEPS = 30
"""What it takes to read a rule, before its first date."""
_DATE_STEPS = 4
"""What it takes to make one date, with its end, in its zone."""
_MOST_RULES = 4
_DRESSED_UP = frozenset({time(), time(23, 59), time(23, 59, 59)})


@dataclass(frozen=True, slots=True)
class OccurrenceWindow:
    """Which occurrences are returned."""

    low: datetime
    high: datetime
    most: int


@dataclass(slots=True)
class SeriesOverrides:
    """Changes of single dates of a series, by their original time or day."""

    removed: set[datetime | date] = field(default_factory=set)
    spans: dict[datetime | date, EventSpan] = field(default_factory=dict)
    ends: datetime | None = None
    """The time on the wall from which on none takes place."""
    shifts: list[SeriesShift] = field(default_factory=list)
    """In the order in which they stand: of those that hold for a date, the last one decides."""
    _deciding: tuple[list[datetime], list[SeriesShift]] | None = None

    def shift(self, shift: SeriesShift) -> None:
        """One more shift."""
        self.shifts.append(shift)
        self._deciding = None

    def shift_at(self, wall: datetime) -> SeriesShift | None:
        """The shift that decides about a date."""
        if not self.shifts:
            return None
        if self._deciding is None:
            self._deciding = self._find_deciding()
        times, shifts = self._deciding
        at = bisect_right(times, wall)
        return shifts[at - 1] if at else None

    def _find_deciding(self) -> tuple[list[datetime], list[SeriesShift]]:
        """The times from which on another shift decides, in order, and those shifts: so that none has to be looked for twice."""
        times: list[datetime] = []
        shifts: list[SeriesShift] = []
        last = -1
        for number, shift in sorted(enumerate(self.shifts), key=lambda one: (one[1].since, one[0])):
            if number > last:
                last = number
                times.append(shift.since)
                shifts.append(shift)
        return times, shifts


class SeriesShift(NamedTuple):
    """From this local time on, the series is later by an offset and has another duration."""

    since: datetime
    by: timedelta
    length: IcsDuration | None
    change: IcsComponent


_LATE_REACH = timedelta(days=3660)
"""How long the first date of a series that begins after the window is looked for."""


class IcsSeries:
    """One event with one or more occurrences."""

    def __init__(
        self, component: IcsComponent, span: EventSpan, place: CalendarContext, window: OccurrenceWindow, steps: StepBudget
    ) -> None:
        self._component = component
        self._span = span
        self._place = place
        self._window = window
        self._steps = steps
        self._zone = span.zone or place.zone

    def repeats(self) -> bool:
        """Whether it says that it takes place several times."""
        return first(self._component, "RRULE", "RDATE") is not None

    def occurrences(self, changes: SeriesOverrides) -> list[tuple[datetime, Occurrence]]:
        """Those within the window, in order, at most as many as are wanted, each with its original time on the wall."""
        moved = ((self._original(key), self._moved(span)) for key, span in changes.spans.items())
        found = {one.starts_at: (wall, one) for wall, one in moved if self._is_wanted(one)}
        steps = self._steps.share(OWN_STEPS, MAX_STEPS)
        try:
            steps.spend(_SERIES_STEPS)
            changes.removed.update(self._taken_out(steps))
            for wall, length in self._all(changes, steps):
                steps.spend(_DATE_STEPS)
                occurrence = self._occurrence(wall, length, changes)
                if occurrence and self._is_wanted(occurrence):
                    found.setdefault(occurrence.starts_at, (wall, occurrence))
                if len(found) > self._window.most:
                    self._problem(
                        Message(
                            "The series has more than {limit} dates in the window; the rest is skipped.", limit=self._window.most
                        )
                    )
                    break
        except OutOfSteps:
            self._problem(Message("The recurrence rule takes too long to follow; the dates found so far are kept."))
        self._steps.give_back(steps)
        return sorted(found.values(), key=lambda one: one[1].starts_at)[: self._window.most]

    def key(self, stamp: LocalStamp, zone: CalendarZone | None) -> datetime | date:
        """How a date of the series is named: by its moment, or by its day where only that is given."""
        if stamp.is_date or self._span.is_date:
            return stamp.day
        return (zone or self._zone).moment(stamp.wall).astimezone(UTC)

    def wall(self, stamp: LocalStamp, zone: CalendarZone | None) -> datetime:
        """A stamp as the clock of the series shows it."""
        if stamp.is_date or self._span.is_date or zone is None:
            return stamp.wall
        return wall_of(zone.moment(stamp.wall), self._zone)

    def start_of(self, span: EventSpan) -> datetime:
        """When a changed date starts, as the clock of the series shows it."""
        return wall_of(span.zone.moment(span.start), self._zone) if span.zone else span.start

    def _original(self, key: datetime | date) -> datetime:
        return wall_of(key, self._zone) if isinstance(key, datetime) else datetime.combine(key, time())

    def is_taken_out(self, changes: SeriesOverrides) -> bool:
        """Whether the first date is not left."""
        if not (changes.removed or changes.spans or changes.ends):
            return False
        return self._occurrence(self._span.start, None, changes) is None

    def first_left(self, changes: SeriesOverrides) -> Occurrence | None:
        """The first date that is left of a series without one in the window."""
        steps = self._steps.share(OWN_STEPS, MAX_STEPS)
        left = [self._moved(span) for span in changes.spans.values()]
        try:
            for wall, length in self._all(changes, steps, self._span.start):
                steps.spend(_DATE_STEPS)
                if occurrence := self._occurrence(wall, length, changes):
                    left.append(occurrence)
                    break
        except OutOfSteps:
            self._problem(Message("The recurrence rule takes too long to follow; the dates found so far are kept."))
        self._steps.give_back(steps)
        return min(left, key=lambda one: one.starts_at, default=None)

    def _all(
        self, changes: SeriesOverrides, steps: StepBudget, since: datetime | None = None
    ) -> Iterator[tuple[datetime, IcsDuration | None]]:
        """Every date within reach of the window, or since a time on the wall, with its length if that is its own."""
        reach = (self._span.length.total if self._span.length else timedelta(0)) + timedelta(days=1)
        reach += max((abs(shift.by) for shift in changes.shifts), default=timedelta(0))
        low, high = wall_of(self._window.low, self._zone) - reach, wall_of(self._window.high, self._zone) + reach
        if since:
            low, high = since, max(high, since + _LATE_REACH)
        yield from self._further(steps)
        rules = list(properties(self._component, "RRULE"))[:_MOST_RULES]
        if not rules:
            yield self._span.start, None
        for line in rules:
            try:
                for wall in times_of(self._rule(line.value), self._span.start, low, high, steps):
                    yield wall, None
            except RuleRefused as refused:
                self._problem(Message("{problem} Only its first date is kept.", problem=refused.message), line.value)
                yield self._span.start, None

    def _rule(self, text: str) -> RecurrenceRule:
        """A rule on the wall of the series. Raises RuleRefused."""
        rule = read_rule(text)
        if self._span.is_date:
            if rule.frequency == "HOURLY":
                raise RuleRefused(Message("Whole days cannot take place hourly."))
            rule = replace(rule, hours=(), minutes=(), seconds=())
        return replace(rule, until=self._until(rule.until)) if rule.until else rule

    def _until(self, until: LocalStamp) -> LocalStamp:
        """The last moment of a rule, on the wall of the series."""
        day = until.day
        if until.is_utc and not until.is_date:
            if not self._span.is_date:
                return LocalStamp(wall_of(until.wall.replace(tzinfo=UTC), self._zone))
            # The start or the end of a day in UTC is a date that was dressed up; else it is a time in the calendar's own place.
            if until.wall.time() not in _DRESSED_UP:
                day = wall_of(until.wall.replace(tzinfo=UTC), self._place.zone).date()
        elif not until.is_date and not self._span.is_date:
            return until
        return LocalStamp(datetime.combine(day, time(23, 59, 59)))

    def _further(self, steps: StepBudget) -> Iterator[tuple[datetime, IcsDuration | None]]:
        for value, line in self._values("RDATE"):
            steps.spend(1)
            begin, _, rest = value.partition("/")
            stamp = read_stamp(begin, line.parameters)
            if stamp is None:
                self._problem(Message("An additional date (RDATE) cannot be read and is skipped."), value)
                continue
            if stamp.is_date and not self._span.is_date:  # a day of an event with a time: at that time
                yield datetime.combine(stamp.day, self._span.start.time()), None
                continue
            zone = zone_of(stamp, self._place, self._component.position)
            yield self.wall(stamp, zone), _period_length(rest, stamp, zone or self._zone) if rest else None

    def _taken_out(self, steps: StepBudget) -> Iterator[datetime | date]:
        for value, line in self._values("EXDATE"):
            steps.spend(1)
            if stamp := read_stamp(value, line.parameters):
                yield self.key(stamp, zone_of(stamp, self._place, self._component.position))
            else:
                self._problem(Message("An excluded date (EXDATE) cannot be read."), value)
        for line in list(properties(self._component, "EXRULE"))[:_MOST_RULES]:
            try:
                high = wall_of(self._window.high, self._zone)
                rule, start = self._rule(line.value), self._span.start
                high = high if start <= high else start + _LATE_REACH
                for wall in times_of(rule, start, start, high, steps, has_start=False):
                    yield wall.date() if self._span.is_date else self._zone.moment(wall).astimezone(UTC)
            except RuleRefused as refused:
                self._problem(refused.message, line.value)

    def _values(self, name: str) -> Iterator[tuple[str, IcsProperty]]:
        """The values of all lines of one name, up to a limit that no honest calendar meets."""
        left = MAX_DATES
        for line in properties(self._component, name):
            values = line.value.split(",", left)
            if len(values) > left:
                self._problem(
                    Message("More than {limit} dates are given by {name}; the rest is skipped.", limit=MAX_DATES, name=name)
                )
                values.pop()
            left -= len(values)
            yield from ((value, line) for value in values if value.strip())
            if left <= 0:
                return

    def _occurrence(self, wall: datetime, length: IcsDuration | None, changes: SeriesOverrides) -> Occurrence | None:
        """What one date of the series has become; None when it was taken out or is told by a change."""
        if changes.ends and wall >= changes.ends:
            return None
        if changes.removed or changes.spans:
            day = wall.date()
            key = day if self._span.is_date else self._zone.moment(wall).astimezone(UTC)
            gone: tuple[Container[datetime | date], ...] = (changes.removed, changes.spans)
            if any(key in place or day in place for place in gone):
                return None
        if shift := changes.shift_at(wall):
            return self._made(wall + shift.by, shift.length, self._zone)
        return self._made(wall, length or self._span.length, self._zone)

    def _moved(self, span: EventSpan) -> Occurrence:
        return self._made(span.start, span.length, span.zone or self._zone, is_date=span.is_date)

    def _made(self, wall: datetime, length: IcsDuration | None, zone: CalendarZone, is_date: bool | None = None) -> Occurrence:
        if self._span.is_date if is_date is None else is_date:
            midnight = datetime.combine(wall, time())
            last = midnight + timedelta(days=max(length.days, 1) if length else 1)
            return Occurrence(starts_at=zone.moment(midnight), ends_at=zone.moment(last), has_time=False)
        # What has no name of its own (UTC, a zone that the calendar draws) is shown as in the calendar's own place.
        shown = zone if zone.name else self._place.zone
        begin = zone.moment(wall)
        end = None
        if length:
            end = shown.show(end_of(wall, length, zone) if length.days else begin.astimezone(UTC) + length.passing)
        return Occurrence(starts_at=shown.show(begin), ends_at=end)

    def _is_wanted(self, occurrence: Occurrence) -> bool:
        window, start = self._window, occurrence.starts_at
        return start <= window.high and (start >= window.low or (occurrence.ends_at or start) > window.low)

    def _problem(self, reason: str, sample: str = "") -> None:
        self._place.problems.add(self._component.position, reason, sample)


def _period_length(rest: str, begin: LocalStamp, zone: CalendarZone) -> IcsDuration | None:
    """How long a PERIOD is, of which `rest` is what follows the slash."""
    if length := read_duration(rest):
        return length if length.total >= timedelta(0) else None
    if (end := read_stamp(rest)) is None:
        return None
    passed = (UTC_ZONE if end.is_utc else zone).moment(end.wall).astimezone(UTC) - zone.moment(begin.wall).astimezone(UTC)
    return IcsDuration(0, passed) if timedelta(0) <= passed <= MAX_LENGTH else None
