"""JSON documents of events, sources, runs, reviews, merges and statistics, and events as JSON-LD (schema.org).

`starts_at` and `ends_at` are local times with their offset; for all-day events they are midnights, and the end is the midnight
after the last day. Other timestamps (`created_at`, `last_seen` and so on) are UTC, with a `Z`. The command line and the service
return the same documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta, tzinfo
from enum import Enum
from typing import Any

from tadoru.clock import iso
from tadoru.jobs.events.reviews import review_subjects
from tadoru.model.event import EventDraft
from tadoru.parse.text_cleaning import plain_text
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.records import (
    CalendarEvent,
    CollectionState,
    EventProvenance,
    EventRecord,
    EventSource,
    EventTime,
    MergeRecord,
    ReviewItem,
    RunLog,
    Sighting,
    SourceFieldChange,
)
from tadoru.store.calendar.sources import CalendarTotals, SourceHealthStats
from tadoru.store.calendar.store import CalendarStore

EVENT_FIELDS = tuple(
    "id title description starts_at ends_at all_day has_time timezone venue address city lat lon category price organizer url "
    "image source_url source_id licence terms_url dedupe_key status created_at updated_at last_seen cancelled_at vanished_at "
    "archived_at recurrence when_note occurrences uid sequence extra".split()
)
"""The fields of an event, in order."""
_STAMPS = ("created_at", "updated_at", "last_seen", "cancelled_at", "vanished_at", "archived_at")
_AS_THEY_ARE = tuple(
    "id title description timezone venue address city lat lon category price organizer url image source_url source_id licence "
    "terms_url dedupe_key recurrence when_note uid sequence".split()
)


def format_stamp(at: datetime | None) -> str | None:
    """A timestamp in UTC."""
    return iso(at, "seconds") if at else None


def format_local(at: datetime | None, of: str) -> str | None:
    """A time of an event in its zone, with the offset."""
    return at.astimezone(zone_or_utc(of)).isoformat(timespec="seconds") if at else None


def event_json(record: EventRecord) -> dict[str, Any]:
    """An event as JSON. Its times are those of the occurrence it is listed for."""
    event = record.event
    listed = record.time or event_time(event)
    values: dict[str, Any] = {name: getattr(event, name) for name in _AS_THEY_ARE}
    values |= {name: format_stamp(getattr(event, name)) for name in _STAMPS}
    values |= time_json(listed, event.timezone)
    values["status"] = event.status.value
    values["occurrences"] = [time_json(one, event.timezone) for one in record.times] if len(record.times) > 1 else []
    values["extra"] = dict(event.extra)
    return {name: values[name] for name in EVENT_FIELDS}


def time_json(time: EventTime | None, of: str) -> dict[str, Any]:
    """The fields of an occurrence."""
    if time is None:
        return {"starts_at": None, "ends_at": None, "all_day": False, "has_time": False}
    return {
        "starts_at": format_local(time.starts_at, of),
        "ends_at": format_local(time.ends_at, of),
        "all_day": not time.has_time and time.ends_at is not None,
        "has_time": time.has_time,
    }


def event_time(event: CalendarEvent) -> EventTime | None:
    """The first time of an event, without the other dates of its series."""
    if event.starts_at is None or event.local_date is None:
        return None
    return _time_on(event.local_date, event.starts_at, event.ends_at, zone_or_utc(event.timezone), has_time=event.has_time)


def draft_time(draft: EventDraft) -> EventTime:
    """The first time of an event that is not stored."""
    one = draft.occurrence
    return _time_on(one.starts_at.date(), one.starts_at, one.ends_at, one.starts_at.tzinfo, has_time=one.has_time)


def _time_on(first: date, starts_at: datetime, ends_at: datetime | None, zone: tzinfo | None, *, has_time: bool) -> EventTime:
    last = first
    if ends_at is not None and ends_at > starts_at:
        last = max(first, (ends_at.astimezone(zone) - timedelta(microseconds=1)).date())
    return EventTime(starts_at=starts_at, ends_at=ends_at, has_time=has_time, local_date=first, last_date=last)


def _plain(value: Any, stamp: Callable[[datetime], str | None]) -> Any:
    """A value of a record as JSON has it."""
    match value:
        case datetime():
            return stamp(value)
        case Enum():
            return value.value
        case Mapping():
            return dict(value)
        case tuple():
            return list(value)
        case bytes():
            return value.decode("utf-8", "replace") or None
    return value


def _record_json(record: Any, names: str, stamp: Callable[[datetime], str | None] | None = None) -> dict[str, Any]:
    """These fields of a record; timestamps in seconds unless `stamp` formats them otherwise."""
    return {name: _plain(getattr(record, name), stamp or format_stamp) for name in names.split()}


def json_array(items: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A JSON array in pieces, one object per line."""
    before = "[\n"
    for item in items:
        yield before + json.dumps(item, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def source_json(source: EventSource) -> dict[str, Any]:
    """A source, without its permitted private host."""
    names = """id name type url city frequency enabled notes created_at updated_at settings timezone priority depends_on licence
        terms_url allow_private low_hours secret"""
    return _record_json(source, names, format_exact)


def state_json(state: CollectionState) -> dict[str, Any]:
    """The state of collecting a source."""
    names = "last_attempt last_success next_run_at failures last_error last_count etag last_modified"
    return _record_json(state, names, format_exact)


def change_json(one: SourceFieldChange) -> dict[str, Any]:
    """One change of a source."""
    return _record_json(one, "at by field old new", format_exact)


def format_exact(at: Any) -> str | None:
    """A timestamp in UTC with fractions of a second."""
    return iso(at) if at else None


def run_json(one: RunLog) -> dict[str, Any]:
    """A run with its counts and snapshot paths."""
    names = """id source_id started_at finished_at status fetched_count parsed_count upserted_count error_summary counts
        snapshot_paths"""
    return _record_json(one, names)


def provenance_json(story: EventProvenance, record: EventRecord, names: Mapping[int, str]) -> dict[str, Any]:
    """An event with its owners, sightings, merges, reviews and history."""
    return event_json(record) | {
        "merged_into": story.event.merged_into,
        "owners": {name: _record_json(owner, "owner source_id who at") for name, owner in story.owners.items()},
        "sightings": [_sighting_json(one, names) for one in story.sightings],
        "merges": [merge_json(one) for one in story.merges],
        "reviews": [review_json(one) for one in story.reviews],
        "history": [{"at": format_stamp(one["at"]), "by": one["by"], "changes": one["changes"]} for one in story.history],
    }


def _sighting_json(one: Sighting, names: Mapping[int, str]) -> dict[str, Any]:
    draft = one.draft
    return {
        "id": one.id, "source_id": one.source_id, "source": names.get(one.source_id or 0), "row_key": one.row_key,
        "title": draft.title if draft else None, "venue": draft.venue if draft else None, "city": draft.city if draft else None,
        "starts_at": format_local(draft.occurrence.starts_at, draft.timezone) if draft else None,
        "ends_at": format_local(draft.occurrence.ends_at, draft.timezone) if draft else None,
        "url": draft.url if draft else None, "raw": one.raw,
        "first_seen": format_stamp(one.first_seen), "last_seen": format_stamp(one.last_seen),
        "gone_at": format_stamp(one.gone_at),
    }  # fmt: skip


def merge_json(one: MergeRecord) -> dict[str, Any]:
    """A merge, and whether it was undone."""
    return _record_json(one, "id kept_id absorbed_id score reasons at by undone_at undone_by")


def review_json(one: ReviewItem) -> dict[str, Any]:
    """A review."""
    return _record_json(one, "id candidate_ids reason created_at resolved_at resolution by source_id detail")


def review_document(store: CalendarStore, found: ReviewItem) -> dict[str, Any]:
    """A review with its events, and with its rows if it is about rows."""
    events, sightings = review_subjects(store, found)
    rows = [
        {
            "id": one.id, "source_id": one.source_id, "title": draft.title, "venue": draft.venue, "city": draft.city,
            "starts_at": format_local(draft.occurrence.starts_at, draft.timezone), "url": draft.url,
        }
        for one, draft in sightings
    ]  # fmt: skip
    return review_json(found) | {"events": [event_json(record) for record in events], "rows": rows}


def sources_health(store: CalendarStore, days: int) -> Iterator[dict[str, Any]]:
    """The health of each source; runs are counted over so many days."""
    shared = store.statistics.shared_rows()
    trouble: dict[int, list[str]] = {}
    for incident in store.incidents.list(is_open=True):
        trouble.setdefault(incident.source_id, []).append(incident.kind)
    for one in store.statistics.source_health(days=days):
        state = store.schedule.state(one.source_id)
        yield {
            "source_id": one.source_id, "name": one.name, "enabled": one.enabled, "state": _state(one), "rows": one.rows,
            "runs": one.runs, "failed_runs": one.failed_runs, "failure_rate": ratio(one.failed_runs, one.runs),
            "duplicate_rate": ratio(shared.get(one.source_id, 0), one.rows), "failures_in_a_row": one.failures,
            "last_success": format_stamp(one.last_success),
            "next_run_at": format_stamp(state.next_run_at) if one.enabled else None,
            "lag_seconds": round(one.late), "open_incidents": trouble.get(one.source_id, []), "last_error": one.last_error,
        }  # fmt: skip


def _state(one: SourceHealthStats) -> str:
    if not one.enabled:
        return "disabled"
    if one.failures:
        return "failing"
    return "ok" if one.last_success else "new"


def ratio(part: int, whole: int) -> float | None:
    """The ratio of a part to the whole; None if the whole is 0."""
    return round(part / whole, 4) if whole else None


def totals_json(totals: CalendarTotals) -> dict[str, Any]:
    """Statistics of the calendar."""
    return {
        "events": dict(totals.events), "archived": totals.archived, "vanished": totals.vanished, "rows": totals.rows,
        "duplicate_rows": totals.merged_rows, "duplicate_rate": ratio(totals.merged_rows, totals.rows), "merges": totals.merges,
        "open_reviews": totals.open_reviews, "sources": totals.sources,
    }  # fmt: skip


CONTEXT = "https://schema.org"


def schema_org_event(record: EventRecord, url: str) -> dict[str, Any]:
    """One event as schema.org; `url` is its page in this calendar."""
    event, time = record.event, record.time
    state = "EventCancelled" if event.cancelled_at is not None else "EventScheduled"
    state = "EventPostponed" if event.is_postponed else state
    found: dict[str, Any] = {
        "@type": "Event", "@id": url, "url": event.url or url, "identifier": event.uid, "name": event.title,
        "eventStatus": f"{CONTEXT}/{state}", "dateModified": format_stamp(event.updated_at),
    }  # fmt: skip
    if time is not None:
        found |= _when(event, time)
    optional = {
        "description": plain_text(event.description) if event.description else "", "location": _where(event),
        "organizer": {"@type": "Organization", "name": event.organizer} if event.organizer else None, "image": event.image,
        "keywords": event.category, "isBasedOn": event.source_url, "license": event.licence, "usageInfo": event.terms_url,
        "offers": {"@type": "Offer", "description": event.price} if event.price else None,
    }  # fmt: skip
    found |= {name: value for name, value in optional.items() if value}
    if len(record.times) > 1:
        found["subEvent"] = [{"@type": "Event", "name": event.title, **_when(event, one)} for one in record.times]
    return found


def schema_org_graph(events: Iterable[EventRecord], site: str) -> Iterator[str]:
    """A list of events as one JSON-LD document, in pieces. `site` is the URL of the service without a trailing slash."""
    yield json.dumps({"@context": CONTEXT})[:-1] + ', "@graph": ['
    before = "\n"
    for record in events:
        yield before + json.dumps(schema_org_event(record, f"{site}/events/{record.event.id}"), ensure_ascii=False)
        before = ",\n"
    yield "\n]}\n"


def _when(event: CalendarEvent, time: EventTime) -> dict[str, str]:
    if not time.has_time:
        days = {"startDate": time.local_date.isoformat()}
        return days | ({"endDate": time.last_date.isoformat()} if time.ends_at is not None else {})
    times = {"startDate": format_local(time.starts_at, event.timezone), "endDate": format_local(time.ends_at, event.timezone)}
    return {name: value for name, value in times.items() if value}


def _where(event: CalendarEvent) -> dict[str, Any] | None:
    if not (event.venue or event.address or event.city):
        return None
    place: dict[str, Any] = {"@type": "Place", "name": event.venue or event.address or event.city}
    address = {"streetAddress": event.address, "addressLocality": event.city}
    if any(address.values()):
        place["address"] = {"@type": "PostalAddress", **{name: value for name, value in address.items() if value}}
    if event.lat is not None and event.lon is not None:
        place["geo"] = {"@type": "GeoCoordinates", "latitude": event.lat, "longitude": event.lon}
    return place
