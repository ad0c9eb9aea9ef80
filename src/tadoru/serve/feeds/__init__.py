"""Feeds: the calendar for programs that subscribe to it or take it away. ICS, RSS, CSV and JSON-LD, each with its sources.

They are written while they are read, so that a calendar of any size costs no memory. Their entity tag is made of the last change
in the database and of what was asked for: who has it is told so without a list being read. The parameters are those of the lists
(`rest.asked`), and a parameter that we do not know is not minded: programs add their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from tadoru.jobs.events.publish.calendar_ics import calendar
from tadoru.jobs.events.publish.rows_csv import rows_csv
from tadoru.jobs.events.publish.rss import rss
from tadoru.jobs.events.publish.schema_org import graph
from tadoru.model.event import EventStatus
from tadoru.serve.access.who import NOBODY, Caller
from tadoru.serve.problems import Refused
from tadoru.serve.rest.answers import UNCHANGED, caching, entity_tag, is_known, problems
from tadoru.serve.rest.asked import Chosen, filter_of, today, with_city
from tadoru.serve.rest.events import Asker, EventId, The, shown
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, origin
from tadoru.serve.streams import Stream
from tadoru.store.events.drafts import zone
from tadoru.store.events.listing import EventFilter
from tadoru.store.events.walking import ZoneUse, walk, zones_in_use
from tadoru.version import VERSION

router = APIRouter(tags=["feeds"])
KEPT_SECONDS = 300
"""How long a program may show a feed without asking again."""
PIECE = 16_384
"""Characters that are sent at a time, about."""
Lang = Literal["en", "ja"]
ICS, RSS, CSV, JSON_LD = "text/calendar; charset=utf-8", "application/rss+xml; charset=utf-8", "text/csv; charset=utf-8", "application/ld+json"  # fmt: skip  # noqa: E501


class Feed(Chosen):
    """Which events, and in what language our own words are."""

    lang: Lang | None = Field(None, description="The language of our own words; without it the installation's.")


class News(Feed):
    """Which events, and how many."""

    limit: int = Field(100, ge=1, le=500, description="At most so many.")


class Table(Chosen):
    """Which events."""

    bom: bool = Field(False, description="Begin with a byte order mark, which Excel needs.")


def _described(media: str, words: str) -> dict[int | str, dict[str, Any]]:
    name = media.partition(";")[0]
    schema = {"type": "object" if name == JSON_LD else "string"}
    return UNCHANGED | problems() | {200: {"description": words, "content": {name: {"schema": schema}}}}


@router.get("/events.ics", response_class=Response, responses=_described(ICS, "A calendar (RFC 5545)."), summary="Subscribe")
@router.get(
    "/api/v1/events.ics", response_class=Response, responses=_described(ICS, "A calendar (RFC 5545)."), summary="Subscribe"
)
def events_ics(request: Request, asked: Annotated[Feed, Query()], who: Asker, service: The) -> Response:
    """The calendar for calendar programs. Each event keeps its UID; what was cancelled is there as cancelled."""
    chosen, lang = _chosen(asked, service), _lang(asked, service)

    def write() -> Iterator[str]:
        zones = zones_in_use(service.store, chosen)
        events = walk(service.store, chosen)
        return calendar(events, zones, name=_name(chosen, service), lang=lang, since=chosen.since, until=chosen.until)

    return _feed(request, who, service, ICS, "events.ics", write)


@router.get("/events.rss", response_class=Response, responses=_described(RSS, "A feed (RSS 2.0)."), summary="Read as news")
@router.get("/api/v1/events.rss", response_class=Response, responses=_described(RSS, "A feed (RSS 2.0)."), summary="Read as news")
def events_rss(request: Request, asked: Annotated[News, Query()], who: Asker, service: The) -> Response:
    """The next events for feed readers."""
    chosen, lang = _chosen(asked, service), _lang(asked, service)
    site = origin(request)
    own = f"{site}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")

    def write() -> Iterator[str]:
        told, built = walk(service.store, chosen, limit=asked.limit), service.store.last_change()
        return rss(told, name=_name(chosen, service), site=site, own=own, lang=lang, built=built)

    return _feed(request, who, service, RSS, "events.rss", write)


@router.get("/events.csv", response_class=Response, responses=_described(CSV, "A table (RFC 4180)."), summary="Take as a table")
@router.get(
    "/api/v1/events.csv", response_class=Response, responses=_described(CSV, "A table (RFC 4180)."), summary="Take as a table"
)
def events_csv(request: Request, asked: Annotated[Table, Query()], who: Asker, service: The) -> Response:
    """The events for spreadsheets, a row an event; its columns are the fields of the JSON."""
    chosen = _chosen(asked, service)
    return _feed(
        request, who, service, CSV, "events.csv", lambda: rows_csv(walk(service.store, chosen), mark=asked.bom), attached=True
    )


@router.get("/events.jsonld", response_class=Response, responses=_described(JSON_LD, "A graph."), summary="Read as schema.org")
@router.get(
    "/api/v1/events.jsonld", response_class=Response, responses=_described(JSON_LD, "A graph."), summary="Read as schema.org"
)
def events_json_ld(request: Request, asked: Annotated[Feed, Query()], who: Asker, service: The) -> Response:
    """The events in the words of schema.org."""
    chosen, site = _chosen(asked, service), origin(request)
    return _feed(request, who, service, JSON_LD, "events.jsonld", lambda: graph(walk(service.store, chosen), site))


@router.get(
    "/events/{event_id}/calendar.ics", response_class=Response, summary="Add to a calendar",
    responses=_described(ICS, "A calendar with one event.") | problems(404),
)  # fmt: skip
def event_ics(request: Request, event_id: EventId, who: Asker, service: The, lang: Lang | None = None) -> Response:
    """One event for a calendar program, with all of its times."""
    told = shown(event_id, NOBODY, service)
    event = told.event
    if event.starts_at is None:
        raise Refused(404, f"Event {event_id} has no time yet.")
    use = ZoneUse(name=event.timezone, first=event.starts_at, last=event.last_day_over or event.starts_at)
    words = lang or _language(service)

    def write() -> Iterator[str]:
        return calendar([told], [use], name=event.title, lang=words)

    return _feed(request, who, service, ICS, f"event-{event.id}.ics", write, attached=True, modified=event.updated_at)


def _chosen(asked: Chosen, service: Service) -> EventFilter:
    """What a feed holds: always what everybody may see, whoever asks."""
    if asked.status not in (None, EventStatus.ACTIVE.value):
        raise Refused(422, "A feed holds what everybody may see: leave out status.")
    return with_city(service.store, filter_of(asked, NOBODY, service))


def _lang(asked: Feed, service: Service) -> str:
    return asked.lang or _language(service)


def _language(service: Service) -> str:
    return service.options.lang if service.options.lang in ("en", "ja") else "en"


def _name(chosen: EventFilter, service: Service) -> str:
    return " ".join([service.options.site_name, *(part for part in (chosen.city, chosen.category) if part)])


def _feed(
    request: Request, who: Caller, service: Service, media: str, name: str, write: Callable[[], Iterator[str]], *,
    attached: bool = False, modified: datetime | None = None,
) -> Response:  # fmt: skip
    """A stream of pieces, or 304."""
    store = service.store
    changed, day = modified or store.last_change(), today(service)
    if modified is None:
        # A list that begins today is another one tomorrow.
        midnight = datetime.combine(day, time(), zone(service.options.timezone))
        changed = max(changed, midnight) if changed else midnight
    facts = (VERSION, str(changed), store.runs_state() if modified is None else "", str(day), str(request.url))
    tag = f"W/{entity_tag(*(fact.encode() + b'|' for fact in facts))}"
    headers = caching(who, tag, changed)
    if who.role is Role.PUBLIC:
        headers["Cache-Control"] = f"public, max-age={KEPT_SECONDS}"
    if is_known(request, tag, changed):
        return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = f'{"attachment" if attached else "inline"}; filename="{name}"'
    return Stream(_gathered(write()), media_type=media, headers=headers)


def _gathered(pieces: Iterator[str]) -> Iterator[bytes]:
    """Some kilobytes at a time: a piece an event would cost more to send than to write."""
    parts, size = [], 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield "".join(parts).encode()
            parts, size = [], 0
    yield "".join(parts).encode()
