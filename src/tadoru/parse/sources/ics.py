"""Calendars (ICS, RFC 5545): bytes in, one raw event per event or series out.

This module groups the VEVENTs of one UID. `ics_lines` reads lines and values, `ics_rule` rules, `ics_zones` time zones,
`ics_events` events and series.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tadoru.errors import Message
from tadoru.model.event import Occurrence, ParsedSource, RawEvent
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.sources.ics_events import (
    CalendarContext,
    EventSpan,
    IcsSeries,
    OccurrenceWindow,
    SeriesOverrides,
    SeriesShift,
    UnreadableComponent,
    event_texts,
    is_cancelled,
    span_of,
    times,
    zone_of,
)
from tadoru.parse.sources.ics_lines import MAX_COMPONENTS, IcsComponent, first, read_components, read_duration, read_stamp
from tadoru.parse.sources.ics_rule import OutOfSteps, StepBudget
from tadoru.parse.sources.ics_zones import UTC_ZONE, CalendarZones, known_zone
from tadoru.parse.sources.raw_fields import ReadProblems
from tadoru.parse.sources.source_settings import SettingsReader

TOTAL_STEPS = 200_000
"""Of one calendar: less than half a second."""
RESERVED_STEPS = 400_000
"""For series that take little: a thousand weekly ones have enough of it."""
_COMPONENTS = 20_000
"""That are read of a calendar besides its events: time zones and changed dates."""
_COMPONENT_STEPS = 15
"""What it takes to read a component, with its lines and its texts."""
_CHANGE_STEPS = 20
"""What it takes to look at a changed date once more, for another series of the same UID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IcsSettings:
    """The settings of a calendar."""

    days_back: int = 1
    days_ahead: int = 366
    """Dates of a series are read in this window around now; single events are read whenever they are."""
    occurrences: int = 500
    """Of one series, at most."""
    limit: int = 20_000
    """Events of one calendar, at most."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> IcsSettings:
        """From the settings of a source. Raises ConfigError."""
        given = SettingsReader(mapping)
        found = cls(
            days_back=given.number("days_back", 1, least=0, most=3660),
            days_ahead=given.number("days_ahead", 366, least=0, most=3660),
            occurrences=given.number("occurrences", 500, least=1, most=5000),
            limit=given.number("limit", 20_000, least=1, most=100_000),
        )
        given.done()
        return found


@dataclass(slots=True)
class _Group:
    """The VEVENTs of one UID."""

    events: list[IcsComponent] = field(default_factory=list)
    changes: list[IcsComponent] = field(default_factory=list)


_NOT_PUBLIC = frozenset({"PRIVATE", "CONFIDENTIAL"})


def _is_public(component: IcsComponent) -> bool:
    line = first(component, "CLASS")
    return line is None or line.value.strip().upper() not in _NOT_PUBLIC


def _newest(components: list[IcsComponent]) -> list[IcsComponent]:
    """Without those that a higher SEQUENCE replaces; several with the same one are several events with one UID."""
    numbers = [_sequence(component) for component in components]
    highest = max(numbers, default=0)
    return [component for component, number in zip(components, numbers, strict=True) if number == highest]


def _sequence(component: IcsComponent) -> int:
    line = first(component, "SEQUENCE")
    text = line.value.strip() if line else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


@paused_gc()
def read_ics(
    body: bytes,
    content_type: str | None,
    url: str,
    settings: IcsSettings | None = None,
    *,
    now: datetime,
    zone: str = "UTC",
) -> ParsedSource:
    """What a calendar says. `zone` is the source's: dates of series that name none are meant there."""
    settings = settings or IcsSettings()
    problems = ReadProblems()
    root = read_components(body, content_type, problems, min(MAX_COMPONENTS, _COMPONENTS + settings.limit))
    calendars = list(root.of("VCALENDAR"))
    if any(root.of("VEVENT")):
        problems.add("start", Message("There are events outside of a VCALENDAR; they are read anyway."))
        calendars.append(root)
    if not calendars:
        problems.add("start", Message("There is no calendar (BEGIN:VCALENDAR)."), body[:300].decode("utf-8", "replace"))
    window = OccurrenceWindow(
        now - timedelta(days=settings.days_back), now + timedelta(days=settings.days_ahead), settings.occurrences
    )
    steps = _steps(calendars)
    events: list[RawEvent] = []
    for calendar in calendars:
        for event in _Calendar(calendar, url, zone, window, steps, problems).events():
            if len(events) == settings.limit:
                problems.cut(
                    event.position, Message("There are more than {limit} events; the rest is not read.", limit=settings.limit)
                )
                break
            events.append(event)
    ttl = max((_ttl(calendar) for calendar in calendars), default=0.0)
    return ParsedSource(events=tuple(events), problems=problems.all(), ttl=ttl or None)


def _steps(calendars: list[IcsComponent]) -> StepBudget:
    """The steps for the series of these calendars: the fewer, the more components were read."""
    components = sum(1 + len(one.children) for calendar in calendars for one in calendar.children)
    share = max(0.2, 1 - _COMPONENT_STEPS * components / (TOTAL_STEPS + RESERVED_STEPS))
    return StepBudget(int(TOTAL_STEPS * share), int(RESERVED_STEPS * share))


def _ttl(calendar: IcsComponent) -> float:
    line = first(calendar, "REFRESH-INTERVAL") or first(calendar, "X-PUBLISHED-TTL")
    length = read_duration(line.value) if line else None
    return max(0.0, length.total.total_seconds()) if length else 0.0


def _is_from_here_on(change: IcsComponent) -> bool:
    line = first(change, "RECURRENCE-ID")
    return line is not None and line.parameters.get("RANGE", "").upper() == "THISANDFUTURE"


class _Calendar:
    """One VCALENDAR."""

    def __init__(
        self, calendar: IcsComponent, url: str, zone: str, window: OccurrenceWindow, steps: StepBudget, problems: ReadProblems
    ) -> None:
        own = first(calendar, "X-WR-TIMEZONE") or first(calendar, "TIMEZONE-ID")
        zones = CalendarZones(calendar.of("VTIMEZONE"), window.high, steps)
        own_zone = zones.find(own.text) if own else None
        if own and own_zone is None:
            problems.add("start", Message("The calendar's time zone is not known."), own.text)
        self._place = CalendarContext(zones, own_zone or known_zone(zone) or UTC_ZONE, own_zone, url, problems)
        self._calendar = calendar
        self._window = window
        self._steps = steps
        method = first(calendar, "METHOD")
        self._is_cancelled = method is not None and method.value.strip().upper() == "CANCEL"

    def events(self) -> Iterator[RawEvent]:
        """Its events, in the order in which they stand."""
        for group in map(self._published, self._groups()):
            readable = list(self._readable(group.events))
            for number, (component, span) in enumerate(readable):
                if span is None:
                    yield RawEvent(position=component.position, **self._words(component))
                else:
                    yield from self._event(component, span, self._changes(group, component, is_first=number == 0))
            # Where the series is not here, a changed date stands alone.
            for change, span in self._readable([] if readable else list(filter(_is_public, group.changes))):
                yield self._alone(change, span)

    def _published(self, group: _Group) -> _Group:
        """The current revisions of the VEVENTs of one UID: events that are meant for everybody, and all changed dates of them."""
        changes: dict[str, list[IcsComponent]] = {}
        for change in group.changes:
            line = first(change, "RECURRENCE-ID")
            changes.setdefault(line.value.strip() if line else "", []).append(change)
        current = [one for revisions in changes.values() for one in _newest(revisions)]
        newest = _newest(group.events)
        for component in (*newest, *current):
            if not _is_public(component):
                self._place.problems.add(component.position, Message("The event is not public (CLASS); it is skipped."))
        public = list(filter(_is_public, newest))
        return _Group(public, [] if newest and not public else current)

    def _changes(self, group: _Group, component: IcsComponent, *, is_first: bool) -> list[IcsComponent]:
        """The changed dates of a series; steps are counted when they are looked at again for another series of the same UID."""
        try:
            if not is_first:
                self._steps.spend(_CHANGE_STEPS * len(group.changes))
        except OutOfSteps:
            reason = Message("Too many series and changed dates have one UID; the changes are skipped here.")
            self._place.problems.add(component.position, reason)
            return []
        return group.changes

    def _groups(self) -> Iterator[_Group]:
        groups: dict[str, _Group] = {}
        for component in self._calendar.of("VEVENT"):
            uid = first(component, "UID")
            group = groups.setdefault(uid.text if uid else component.position, _Group())
            (group.changes if first(component, "RECURRENCE-ID") else group.events).append(component)
        yield from groups.values()

    def _readable(self, components: list[IcsComponent]) -> Iterator[tuple[IcsComponent, EventSpan | None]]:
        for component in components:
            try:
                yield component, span_of(component, self._place)
            except UnreadableComponent as unreadable:
                reason, sample = unreadable.args
                self._place.problems.add(component.position, reason, sample)

    def _event(self, component: IcsComponent, span: EventSpan, changed: list[IcsComponent]) -> Iterator[RawEvent]:
        series = IcsSeries(component, span, self._place, self._window, self._steps)
        start, end, zone = times(span, self._place)
        event = RawEvent(position=component.position, start=start, end=end, timezone=zone, **self._words(component))
        if not series.repeats() and not changed:
            yield event
            return
        changes = SeriesOverrides()
        # Those that hold from a date on first: they decide how the dates after it are called.
        readable = sorted(self._readable(changed), key=lambda one: not _is_from_here_on(one[0]))
        alone = [self._alone(change, own) for change, own in readable if not self._fold(change, own, series, changes, event)]
        shifts = [(shift.since, shift.change, self._is_renamed(shift.change, event)) for shift in changes.shifts]
        renamed = any(is_renamed for _, _, is_renamed in shifts)
        occurrences = series.occurrences(changes)
        rule = first(component, "RRULE")
        event = replace(event, recurrence=rule.value.strip() if rule else None)
        own: list[tuple[datetime, Occurrence]] = []  # from a change on that gives the first title back
        for since, change, is_renamed in sorted(shifts if renamed else (), key=lambda one: one[0], reverse=True):
            later = [one for one in occurrences if one[0] >= since]
            occurrences = [one for one in occurrences if one[0] < since]
            if not is_renamed:
                own += later
            elif later:
                alone.append(self._part(event, change, tuple(one for _, one in later)))
        occurrences = sorted(occurrences + own, key=lambda one: one[1].starts_at)
        if occurrences or not (renamed or series.is_taken_out(changes)):
            yield replace(event, occurrences=tuple(one for _, one in occurrences))
        elif not alone:
            left = series.first_left(changes)
            if left is not None:
                yield replace(event, occurrences=(left,))
            else:
                reason = Message("All dates of the series are excluded; the event is skipped.")
                self._place.problems.add(component.position, reason)
        yield from alone

    def _part(self, event: RawEvent, change: IcsComponent, occurrences: tuple[Occurrence, ...]) -> RawEvent:
        """The part of a series from a change on that gives it another title or venue."""
        said = {name: value for name, value in self._words(change).items() if value}
        line = first(change, "RECURRENCE-ID")
        first_one = occurrences[0]
        uid = f"{event.uid or change.position}#{line.value.strip() if line else ''}"
        given = said | {"uid": uid, "position": change.position, "start": first_one.starts_at, "end": first_one.ends_at}
        return replace(event, **given, occurrences=occurrences)

    def _fold(
        self, change: IcsComponent, span: EventSpan | None, series: IcsSeries, changes: SeriesOverrides, event: RawEvent
    ) -> bool:
        """Take a changed date into the series. False when it is an event of its own, with another title or venue."""
        line = first(change, "RECURRENCE-ID")
        stamp = read_stamp(line.value, line.parameters) if line else None
        if line is None or stamp is None:
            self._place.problems.add(
                change.position, Message("Which date is changed (RECURRENCE-ID) cannot be read."), line.value if line else ""
            )
            return True
        zone = zone_of(stamp, self._place, change.position)
        key, wall = series.key(stamp, zone), series.wall(stamp, zone)
        is_from_here_on = _is_from_here_on(change)
        if is_cancelled(change) or not _is_public(change):
            changes.removed.add(key)
            changes.ends = wall if is_from_here_on else changes.ends
            return True
        if span is None:
            return True
        if is_from_here_on:
            changes.shift(SeriesShift(wall, series.start_of(span) - wall, span.length, change))
            return True
        if self._is_renamed(change, event, changes.shift_at(wall)):
            changes.removed.add(key)
            return False
        changes.spans[key] = span
        return True

    def _is_renamed(self, change: IcsComponent, event: RawEvent, shift: SeriesShift | None = None) -> bool:
        """Whether a changed date has another title or venue than its series, or than the part of it that a shift renames."""
        own, part = self._words(change), self._words(shift.change) if shift else {}
        title, venue = part.get("title") or event.title, part.get("venue") or event.venue
        return (own.get("title") or title, own.get("venue") or venue) != (title, venue)

    def _alone(self, change: IcsComponent, span: EventSpan | None) -> RawEvent:
        """A changed date as an event of its own, with a name of its own."""
        start, end, zone = times(span, self._place) if span else (None, None, None)
        event = RawEvent(position=change.position, start=start, end=end, timezone=zone, **self._words(change))
        line = first(change, "RECURRENCE-ID")
        return replace(event, uid=f"{event.uid or change.position}#{line.value.strip() if line else ''}")

    def _words(self, component: IcsComponent) -> dict[str, Any]:
        found = event_texts(component, self._place)
        found["is_cancelled"] = found["is_cancelled"] or self._is_cancelled
        return found
