"""Events in the words of schema.org, as JSON-LD: for search engines and for programs that read many calendars."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tadoru.jobs.events.publish.documents import local, stamp
from tadoru.parse.normal_text import plain_text
from tadoru.store.events.values import Event, EventTime
from tadoru.store.events.walking import Told

CONTEXT = "https://schema.org"


def schema_org(told: Told, url: str) -> dict[str, Any]:
    """One event at the time it is told for; `url` is where we show it."""
    event, time = told.event, told.time
    state = "EventCancelled" if event.cancelled_at is not None else "EventScheduled"
    found: dict[str, Any] = {
        "@type": "Event", "@id": url, "url": event.url or url, "identifier": event.uid, "name": event.title,
        "eventStatus": f"{CONTEXT}/{state}", "dateModified": stamp(event.updated_at),
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
    if len(told.times) > 1:
        found["subEvent"] = [{"@type": "Event", "name": event.title, **_when(event, one)} for one in told.times]
    return found


def graph(events: Iterable[Told], site: str) -> Iterator[str]:
    """A list of events in pieces: one JSON-LD document. `site` is the address of the service without a slash at its end."""
    yield json.dumps({"@context": CONTEXT})[:-1] + ', "@graph": ['
    before = "\n"
    for told in events:
        yield before + json.dumps(schema_org(told, f"{site}/events/{told.event.id}"), ensure_ascii=False)
        before = ",\n"
    yield "\n]}\n"


def _when(event: Event, time: EventTime) -> dict[str, str]:
    if not time.has_time:
        days = {"startDate": time.local_date.isoformat()}
        return days | ({"endDate": time.last_date.isoformat()} if time.ends_at is not None else {})
    times = {"startDate": local(time.starts_at, event.timezone), "endDate": local(time.ends_at, event.timezone)}
    return {name: value for name, value in times.items() if value}


def _where(event: Event) -> dict[str, Any] | None:
    if not (event.venue or event.address or event.city):
        return None
    place: dict[str, Any] = {"@type": "Place", "name": event.venue or event.address or event.city}
    address = {"streetAddress": event.address, "addressLocality": event.city}
    if any(address.values()):
        place["address"] = {"@type": "PostalAddress", **{name: value for name, value in address.items() if value}}
    if event.lat is not None and event.lon is not None:
        place["geo"] = {"@type": "GeoCoordinates", "latitude": event.lat, "longitude": event.lon}
    return place
