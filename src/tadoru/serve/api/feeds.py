"""Feeds: the calendar as ICS, RSS, CSV and JSON-LD, with sources.

They are streamed, so a calendar of any size takes little memory. Their entity tag is derived from the last change in the database
and the query, so that 304 needs no list. The parameters are those of event lists; unknown parameters are ignored, since programs
add their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, time
from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import Field

from tadoru.jobs.events.publish.ics import ics_calendar
from tadoru.jobs.events.publish.json_documents import schema_org_graph
from tadoru.jobs.events.publish.rss_and_csv import csv_rows, rss_feed
from tadoru.model.event import EventStatus
from tadoru.serve.api.event_queries import EventQuery, event_filter, local_today, resolve_city
from tadoru.serve.api.events import EventId, visible_event
from tadoru.serve.api.responses import (
    ApiCall,
    ApiRouter,
    Call,
    Operation,
    Responses,
    StreamResponse,
    cache_headers,
    entity_tag,
    is_not_modified,
    problem_responses,
)
from tadoru.serve.auth.principal import ANONYMOUS
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, request_origin
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import ZoneUse
from tadoru.version import VERSION

router = ApiRouter(tags=["feeds"])
KEPT_SECONDS = 300
"""How long a client may cache a feed."""
PIECE = 16_384
"""Approximate size of a chunk in characters."""
Lang = Literal["en", "ja"]
ICS, RSS, CSV, JSON_LD = "text/calendar; charset=utf-8", "application/rss+xml; charset=utf-8", "text/csv; charset=utf-8", "application/ld+json"  # fmt: skip  # noqa: E501


class FeedQuery(EventQuery):
    """Filters of events, and the language of labels."""

    lang: Lang | None = Field(None, description="Language of labels; default: that of the installation.")


class RssQuery(FeedQuery):
    """Filters of events, and their number."""

    limit: int = Field(100, ge=1, le=500, description="Maximum number of results.")


class CsvQuery(EventQuery):
    """Filters of events, and the encoding."""

    bom: bool = Field(False, description="Start with a byte order mark, for Excel.")


def _feed_responses(media: str, words: str) -> Responses:
    name = media.partition(";")[0]
    schema = {"type": "object" if name == JSON_LD else "string"}
    return problem_responses(304) | {200: {"description": words, "content": {name: {"schema": schema}}}}


def _feed_route(name: str, media: str, words: str, summary: str) -> Callable[[Operation], Operation]:
    """A feed at its short path and at that of the API."""

    def register(operation: Operation) -> Operation:
        for path in (f"/{name}", f"/api/v1/{name}"):
            router.get(path, response_class=Response, responses=_feed_responses(media, words), summary=summary)(operation)
        return operation

    return register


@_feed_route("events.ics", ICS, "A calendar (RFC 5545).", "Subscribe")
def events_ics(call: Call, query: Annotated[FeedQuery, Query()]) -> Response:
    """The calendar for calendar apps. Each event keeps its UID; cancelled events are marked as cancelled."""
    chosen, lang = _feed_filter(query, call.service), _lang(query, call.service)

    def write() -> Iterator[str]:
        zones = call.store.events.zones(chosen)
        events = call.store.events.iterate(chosen)
        return ics_calendar(events, zones, name=_name(chosen, call.service), lang=lang, since=chosen.since, until=chosen.until)

    return _feed(call, ICS, "events.ics", write)


@_feed_route("events.rss", RSS, "A feed (RSS 2.0).", "RSS feed")
def events_rss(call: Call, query: Annotated[RssQuery, Query()]) -> Response:
    """The next events for feed readers."""
    chosen, lang = _feed_filter(query, call.service), _lang(query, call.service)
    site = request_origin(call.request)
    own = f"{site}{call.request.url.path}" + (f"?{call.request.url.query}" if call.request.url.query else "")

    def write() -> Iterator[str]:
        told, built = call.store.events.iterate(chosen, limit=query.limit), call.store.events.last_change()
        return rss_feed(told, name=_name(chosen, call.service), site=site, own=own, lang=lang, built=built)

    return _feed(call, RSS, "events.rss", write)


@_feed_route("events.csv", CSV, "A table (RFC 4180).", "CSV table")
def events_csv(call: Call, query: Annotated[CsvQuery, Query()]) -> Response:
    """The events for spreadsheets, one row per event; the columns are the JSON fields."""
    chosen = _feed_filter(query, call.service)
    return _feed(call, CSV, "events.csv", lambda: csv_rows(call.store.events.iterate(chosen), mark=query.bom), attached=True)


@_feed_route("events.jsonld", JSON_LD, "A graph.", "schema.org JSON-LD")
def events_json_ld(call: Call, query: Annotated[FeedQuery, Query()]) -> Response:
    """The events as schema.org JSON-LD."""
    chosen, site = _feed_filter(query, call.service), request_origin(call.request)
    return _feed(call, JSON_LD, "events.jsonld", lambda: schema_org_graph(call.store.events.iterate(chosen), site))


@router.get(
    "/events/{event_id}/calendar.ics",
    response_class=Response,
    summary="Add to a calendar",
    responses=_feed_responses(ICS, "A calendar with one event.") | problem_responses(404),
)
def event_ics(call: Call, event_id: EventId, lang: Lang | None = None) -> Response:
    """One event for calendar apps, with all of its dates."""
    told = visible_event(event_id, ANONYMOUS, call.service)
    event = told.event
    if event.starts_at is None:
        raise HttpProblem(404, "Event {id} has no date yet.", id=event_id)
    use = ZoneUse(name=event.timezone, first=event.starts_at, last=event.last_day_over or event.starts_at)
    words = lang or _language(call.service)

    def write() -> Iterator[str]:
        return ics_calendar([told], [use], name=event.title, lang=words)

    return _feed(call, ICS, f"event-{event.id}.ics", write, attached=True, modified=event.updated_at)


def _feed_filter(query: EventQuery, service: Service) -> EventFilter:
    """The filter of a feed: always public events, whoever the principal is. Raises HttpProblem."""
    if query.status not in (None, EventStatus.ACTIVE.value):
        raise HttpProblem(422, "Feeds contain public events only. Remove “status”.")
    return resolve_city(service.store.events, event_filter(query, ANONYMOUS, service))


def _lang(query: FeedQuery, service: Service) -> str:
    return query.lang or _language(service)


def _language(service: Service) -> str:
    return service.options.lang if service.options.lang in ("en", "ja") else "en"


def _name(chosen: EventFilter, service: Service) -> str:
    return " ".join([service.options.site_name, *(part for part in (chosen.city, chosen.category) if part)])


def _feed(
    call: ApiCall, media: str, name: str, write: Callable[[], Iterator[str]], *, attached: bool = False,
    modified: datetime | None = None,
) -> Response:  # fmt: skip
    """A streamed response, or 304."""
    service, store = call.service, call.store
    changed, day = modified or store.events.last_change(), local_today(service)
    if modified is None:
        # A list that starts today differs tomorrow.
        midnight = datetime.combine(day, time(), zone_or_utc(service.options.timezone))
        changed = max(changed, midnight) if changed else midnight
    facts = (VERSION, str(changed), store.runs.state() if modified is None else "", str(day), str(call.request.url))
    tag = f"W/{entity_tag(*(fact.encode() + b'|' for fact in facts))}"
    headers = cache_headers(call.caller, tag, changed)
    if call.caller.role is Role.PUBLIC:
        headers["Cache-Control"] = f"public, max-age={KEPT_SECONDS}"
    if is_not_modified(call.request, tag, changed):
        return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = f'{"attachment" if attached else "inline"}; filename="{name}"'
    return StreamResponse(_in_chunks(write()), media_type=media, headers=headers)


def _in_chunks(pieces: Iterator[str]) -> Iterator[bytes]:
    """Chunks of some kilobytes: sending each event alone would cost more than writing it."""
    parts, size = [], 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield "".join(parts).encode()
            parts, size = [], 0
    yield "".join(parts).encode()
