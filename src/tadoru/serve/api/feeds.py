"""Feeds: the calendar as ICS, RSS, CSV and JSON-LD, with sources.

They are streamed, so a calendar of any size takes little memory. Their entity tag is derived from the last change in the database
and the query, so that 304 needs no list. The parameters are those of event lists; unknown parameters are ignored, since programs
add their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from tadoru.jobs.events.publish.ics import ics_calendar
from tadoru.jobs.events.publish.json_documents import schema_org_graph
from tadoru.jobs.events.publish.rss_and_csv import csv_rows, rss_feed
from tadoru.model.event import EventStatus
from tadoru.serve.api.event_queries import EventQuery, event_filter, local_today, resolve_city
from tadoru.serve.api.events import CurrentPrincipal, CurrentService, EventId, visible_event
from tadoru.serve.api.responses import StreamResponse, cache_headers, entity_tag, is_not_modified, problem_responses
from tadoru.serve.auth.principal import ANONYMOUS, Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, request_origin
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import ZoneUse
from tadoru.version import VERSION

router = APIRouter(tags=["feeds"])
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


def _feed_responses(media: str, words: str) -> dict[int | str, dict[str, Any]]:
    name = media.partition(";")[0]
    schema = {"type": "object" if name == JSON_LD else "string"}
    return problem_responses(304) | {200: {"description": words, "content": {name: {"schema": schema}}}}


@router.get("/events.ics", response_class=Response, responses=_feed_responses(ICS, "A calendar (RFC 5545)."), summary="Subscribe")
@router.get(
    "/api/v1/events.ics", response_class=Response, responses=_feed_responses(ICS, "A calendar (RFC 5545)."), summary="Subscribe"
)
def events_ics(
    request: Request, query: Annotated[FeedQuery, Query()], who: CurrentPrincipal, service: CurrentService
) -> Response:
    """The calendar for calendar apps. Each event keeps its UID; cancelled events are marked as cancelled."""
    chosen, lang = _feed_filter(query, service), _lang(query, service)

    def write() -> Iterator[str]:
        zones = service.store.events.zones(chosen)
        events = service.store.events.iterate(chosen)
        return ics_calendar(events, zones, name=_name(chosen, service), lang=lang, since=chosen.since, until=chosen.until)

    return _feed(request, who, service, ICS, "events.ics", write)


@router.get("/events.rss", response_class=Response, responses=_feed_responses(RSS, "A feed (RSS 2.0)."), summary="RSS feed")
@router.get(
    "/api/v1/events.rss", response_class=Response, responses=_feed_responses(RSS, "A feed (RSS 2.0)."), summary="RSS feed"
)
def events_rss(request: Request, query: Annotated[RssQuery, Query()], who: CurrentPrincipal, service: CurrentService) -> Response:
    """The next events for feed readers."""
    chosen, lang = _feed_filter(query, service), _lang(query, service)
    site = request_origin(request)
    own = f"{site}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")

    def write() -> Iterator[str]:
        told, built = service.store.events.iterate(chosen, limit=query.limit), service.store.events.last_change()
        return rss_feed(told, name=_name(chosen, service), site=site, own=own, lang=lang, built=built)

    return _feed(request, who, service, RSS, "events.rss", write)


@router.get("/events.csv", response_class=Response, responses=_feed_responses(CSV, "A table (RFC 4180)."), summary="CSV table")
@router.get(
    "/api/v1/events.csv",
    response_class=Response,
    responses=_feed_responses(CSV, "A table (RFC 4180)."),
    summary="CSV table",
)
def events_csv(request: Request, query: Annotated[CsvQuery, Query()], who: CurrentPrincipal, service: CurrentService) -> Response:
    """The events for spreadsheets, one row per event; the columns are the JSON fields."""
    chosen = _feed_filter(query, service)
    return _feed(
        request,
        who,
        service,
        CSV,
        "events.csv",
        lambda: csv_rows(service.store.events.iterate(chosen), mark=query.bom),
        attached=True,
    )


@router.get(
    "/events.jsonld", response_class=Response, responses=_feed_responses(JSON_LD, "A graph."), summary="schema.org JSON-LD"
)
@router.get(
    "/api/v1/events.jsonld", response_class=Response, responses=_feed_responses(JSON_LD, "A graph."), summary="schema.org JSON-LD"
)
def events_json_ld(
    request: Request, query: Annotated[FeedQuery, Query()], who: CurrentPrincipal, service: CurrentService
) -> Response:
    """The events as schema.org JSON-LD."""
    chosen, site = _feed_filter(query, service), request_origin(request)
    return _feed(
        request, who, service, JSON_LD, "events.jsonld", lambda: schema_org_graph(service.store.events.iterate(chosen), site)
    )


@router.get(
    "/events/{event_id}/calendar.ics", response_class=Response, summary="Add to a calendar",
    responses=_feed_responses(ICS, "A calendar with one event.") | problem_responses(404),
)  # fmt: skip
def event_ics(
    request: Request, event_id: EventId, who: CurrentPrincipal, service: CurrentService, lang: Lang | None = None
) -> Response:
    """One event for calendar apps, with all of its dates."""
    told = visible_event(event_id, ANONYMOUS, service)
    event = told.event
    if event.starts_at is None:
        raise HttpProblem(404, "Event {id} has no date yet.", id=event_id)
    use = ZoneUse(name=event.timezone, first=event.starts_at, last=event.last_day_over or event.starts_at)
    words = lang or _language(service)

    def write() -> Iterator[str]:
        return ics_calendar([told], [use], name=event.title, lang=words)

    return _feed(request, who, service, ICS, f"event-{event.id}.ics", write, attached=True, modified=event.updated_at)


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
    request: Request, who: Principal, service: Service, media: str, name: str, write: Callable[[], Iterator[str]], *,
    attached: bool = False, modified: datetime | None = None,
) -> Response:  # fmt: skip
    """A streamed response, or 304."""
    store = service.store
    changed, day = modified or store.events.last_change(), local_today(service)
    if modified is None:
        # A list that starts today differs tomorrow.
        midnight = datetime.combine(day, time(), zone_or_utc(service.options.timezone))
        changed = max(changed, midnight) if changed else midnight
    facts = (VERSION, str(changed), store.runs.state() if modified is None else "", str(day), str(request.url))
    tag = f"W/{entity_tag(*(fact.encode() + b'|' for fact in facts))}"
    headers = cache_headers(who, tag, changed)
    if who.role is Role.PUBLIC:
        headers["Cache-Control"] = f"public, max-age={KEPT_SECONDS}"
    if is_not_modified(request, tag, changed):
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
