"""Parses what a person enters about an event, with the rules for sources: dates in any format, cleaned texts, web URLs only.

`parse_new_event` makes a new event, `parse_changes` the changes of a stored one, and `parse_completed_row` an event of a row in
quarantine. Invalid input raises an error; nothing is dropped silently, as it would be for a source.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tadoru.config.parsers import parse_flag, parse_time_zone
from tadoru.errors import Message, UsageError
from tadoru.jobs.events.collect.source_settings import parse_source_settings
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.model.event import EventDraft, Occurrence, QuarantinedEvent, RawEvent
from tadoru.store.calendar.records import CalendarEvent, EventSource, EventTime

FIELDS: dict[str, str] = {
    "title": "title", "description": "description", "starts": "start", "ends": "end", "venue": "venue", "address": "address",
    "city": "city", "lat": "latitude", "lon": "longitude", "category": "category", "price": "price", "organizer": "organizer",
    "url": "url", "image": "image", "timezone": "timezone", "when_note": "when_note",
}  # fmt: skip
"""Field names for people → fields of a raw event."""
FLAGS = ("all_day", "cancelled")
_ALIASES = {"starts_at": "starts", "ends_at": "ends", "start": "starts", "end": "ends", "latitude": "lat", "longitude": "lon"}
_DRAFT_FIELDS: dict[str, tuple[str, ...]] = {
    **{name: (raw,) for name, raw in FIELDS.items()},
    "title": ("title", "title_clean"),
    "venue": ("venue", "venue_clean"),
    **dict.fromkeys(("starts", "ends", "all_day"), ("occurrence", "occurrences")),
    "timezone": ("timezone", "occurrence", "occurrences"),
    "cancelled": ("is_cancelled",),
}
"""Field names for people → fields of a draft."""


def fields_from_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Parse `field=value` pairs. Raises UsageError."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError("Invalid --set {pair}. Write it as field=value, such as --set venue=市民会館.", pair=pair)
        found[resolve_field(name)] = value
    return found


def resolve_field(name: str) -> str:
    """The field with this name or alias. Raises UsageError."""
    wanted = name.strip().lower().replace("-", "_")
    wanted = _ALIASES.get(wanted, wanted)
    every = (*FIELDS, *FLAGS)
    if wanted not in every:
        near = difflib.get_close_matches(wanted, every, n=1)
        if near:
            raise UsageError("Unknown field {field} of an event. Did you mean {near}?", field=name.strip(), near=near[0])
        raise UsageError("Unknown field {field} of an event. Choose from {fields}.", field=name.strip(), fields=", ".join(every))
    return wanted


def draft_fields(names: Iterable[str]) -> frozenset[str]:
    """The fields of a draft for these field names."""
    found = {field for name in names for field in _DRAFT_FIELDS[resolve_field(name)]}
    # A time is always edited together with its zone.
    return frozenset(found | {"timezone"} if "occurrence" in found else found)


def source_rules(source: EventSource | None, default_zone: str, now: datetime) -> SourceRules:
    """The rules for the rows of a source, or for events entered by a person."""
    if source is None:
        return SourceRules(zone=default_zone, now=now)
    settings = parse_source_settings(source.type, source.settings, secret=source.secret)
    return SourceRules(zone=source.timezone or default_zone, now=now, city=source.city, order=settings.order)


def parse_new_event(values: Mapping[str, str], default_zone: str, now: datetime) -> EventDraft:
    """The draft of a new event. Raises UsageError."""
    return _draft(RawEvent(position="by hand"), values, source_rules(None, default_zone, now))


def parse_completed_row(raw: RawEvent, rules: SourceRules, values: Mapping[str, str]) -> EventDraft:
    """An incomplete row with the values of a person applied. Raises UsageError."""
    if {"starts", "ends"} & values.keys():
        raw = replace(raw, occurrences=(), start_time=None, end_time=None)
    return _draft(raw, values, rules)


def parse_changes(
    event: CalendarEvent, times: tuple[EventTime, ...], values: Mapping[str, str], default_zone: str, now: datetime
) -> dict[str, Any]:
    """The changes of a stored event, as fields of a draft. Raises UsageError.

    With a new start it keeps its duration; with a new time zone it keeps its local times.
    """
    if event.starts_at is None:
        raise UsageError("Event {id} is in quarantine. Complete it with `tadoru events review fix`.", id=event.id)
    here = ZoneInfo(event.timezone or default_zone)
    kept = Occurrence(
        starts_at=event.starts_at.astimezone(here),
        ends_at=event.ends_at.astimezone(here) if event.ends_at else None,
        has_time=event.has_time,
    )
    series = tuple(
        Occurrence(starts_at=one.starts_at.astimezone(here), ends_at=one.ends_at.astimezone(here) if one.ends_at else None,
                   has_time=one.has_time)
        for one in times
    ) if len(times) > 1 else ()  # fmt: skip
    is_moved = bool({"starts", "ends"} & values.keys())
    base = RawEvent(
        position="by hand", title=event.title, timezone=event.timezone or default_zone, occurrences=() if is_moved else (kept,),
        start=_written(kept), end=None,
    )  # fmt: skip
    if ("lat" in values) != ("lon" in values):
        base = replace(base, latitude=event.lat, longitude=event.lon)
    draft = _draft(base, values, SourceRules(zone=event.timezone or default_zone, now=now))
    found = {field: getattr(draft, field) for name in values for field in _DRAFT_FIELDS[name]}
    if is_moved:
        if "ends" not in values:
            draft = replace(draft, occurrence=_with_length(draft.occurrence, kept))
        found |= {"occurrence": draft.occurrence, "occurrences": draft.occurrences}
    elif "timezone" in values:
        there = ZoneInfo(draft.timezone)
        moved = tuple(_moved(one, there) for one in series)
        found |= {"occurrence": _moved(kept, there), "occurrences": moved}
    elif "all_day" in values:
        days = tuple(map(_whole_days, series)) if draft.occurrence != kept else series
        found |= {"occurrence": draft.occurrence, "occurrences": days}
    if {"lat", "lon"} & values.keys():
        found |= {"latitude": draft.latitude, "longitude": draft.longitude}
    return found


def _draft(raw: RawEvent, values: Mapping[str, str], rules: SourceRules) -> EventDraft:
    flags = {name: _flag(name, values[name]) for name in FLAGS if name in values}
    given: dict[str, Any] = {FIELDS[name]: value.strip() for name, value in values.items() if name in FIELDS}
    if "timezone" in given:
        given["timezone"] = _zone(given["timezone"])
    raw = replace(raw, **given)
    if "cancelled" in flags:
        raw = replace(raw, is_cancelled=flags["cancelled"])
    outcome = normalise(raw, rules)
    if isinstance(outcome, QuarantinedEvent):
        raise UsageError("Cannot create an event: {reason} {advice}", reason=outcome.why, advice=_advice(raw))
    _check(values, given, outcome)
    if "cancelled" in flags:
        outcome = replace(outcome, is_cancelled=flags["cancelled"])
    if "all_day" in flags:
        outcome = _all_day(outcome, flags["all_day"])
    return outcome


def _advice(raw: RawEvent) -> Message:
    if not (raw.title or "").strip():
        return Message("Enter a title.")
    return Message("Write the start as 2026-08-01 10:00 or 令和8年8月1日 10時.")


def _check(values: Mapping[str, str], given: Mapping[str, Any], draft: EventDraft) -> None:
    """Raise for invalid values, which would be dropped for a source."""
    for name in ("url", "image"):
        if given.get(name) and not getattr(draft, name):
            raise UsageError("{field} {url} is not a web URL. Write it as https://….", field=name, url=given[name])
    if (given.get("latitude") or given.get("longitude")) and draft.latitude is None:
        raise UsageError("Invalid coordinates. Enter both, such as lat=39.70 and lon=141.15.")
    start, end = draft.occurrence.starts_at, draft.occurrence.ends_at
    if given.get("end") and (end is None or end <= start):
        raise UsageError("The end {end} is invalid or not after the start. Write it as 2026-08-01 12:00.", end=values["ends"])


def _flag(name: str, value: str) -> bool:
    try:
        return parse_flag(value)
    except UsageError as error:
        raise UsageError("{field} {problem}.", field=name, problem=error) from None


def _zone(name: str) -> str:
    try:
        return parse_time_zone(name)
    except UsageError as error:
        raise UsageError("timezone {zone} {problem}.", zone=name, problem=error) from None


def _all_day(draft: EventDraft, is_all_day: bool) -> EventDraft:
    if is_all_day:
        occurrences = tuple(map(_whole_days, draft.occurrences))
        return replace(draft, occurrence=_whole_days(draft.occurrence), occurrences=occurrences)
    if not draft.occurrence.has_time:
        raise UsageError("An event that is not all day needs a start time, such as 2026-08-01 10:00.")
    return draft


def _whole_days(one: Occurrence) -> Occurrence:
    """From midnight to the midnight after the last day."""
    last = one.starts_at
    if one.ends_at is not None and one.ends_at > one.starts_at:
        last = (one.ends_at.astimezone(one.starts_at.tzinfo)) - timedelta(microseconds=1)
    begin = datetime.combine(one.starts_at.date(), time(), one.starts_at.tzinfo)
    end = datetime.combine(last.date() + timedelta(days=1), time(), one.starts_at.tzinfo)
    return Occurrence(starts_at=begin, ends_at=end, has_time=False)


def _with_length(new: Occurrence, old: Occurrence) -> Occurrence:
    """A new start keeps the old duration in local time, if both have a time or neither has."""
    if new.ends_at is not None or old.ends_at is None or new.has_time != old.has_time:
        return new
    passed = old.ends_at.replace(tzinfo=None) - old.starts_at.replace(tzinfo=None)
    end = new.starts_at.replace(tzinfo=None) + passed
    return replace(new, ends_at=end.replace(tzinfo=new.starts_at.tzinfo))


def _moved(one: Occurrence, there: ZoneInfo) -> Occurrence:
    """The same local time in another zone."""
    end = one.ends_at.replace(tzinfo=there) if one.ends_at else None
    return replace(one, starts_at=one.starts_at.replace(tzinfo=there), ends_at=end)


def _written(one: Occurrence) -> str:
    return one.starts_at.isoformat() if one.has_time else one.starts_at.date().isoformat()
