"""Query parameters of event lists and feeds, the database filter they stand for, and the lists, for REST and GraphQL.

Without `from` a list starts today in the time zone of the installation; `all` includes past and archived events.

On SQLite a short list is read in the event loop itself: passing the query to a thread costs more than the query. Everything else
goes to a few threads. Python runs one thread at a time, so a thread per request only adds contention: with four threads a request
costs a fifth less than with forty. (docs/decisions/0021-lists-of-events-in-the-event-loop.md)
"""

from __future__ import annotations

import asyncio
import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Request
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from tadoru.jobs.events.publish.list_pages import (
    DocumentPage,
    event_highlights,
    find_city,
    highlight_json,
    page_by_change,
    page_by_relevance,
    page_by_time,
    page_if_fast,
)
from tadoru.model.event import EventStatus
from tadoru.serve.api.models import MAX_NUMBER, ShortText
from tadoru.serve.api.responses import usage_errors_as
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, service_of
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.listing import EventFilter, EventQueries
from tadoru.store.calendar.page_rows import FastPageReader
from tadoru.store.calendar.search_conditions import GeoCircle

FIRST_DAY, LAST_DAY = date(1, 2, 1), date(9999, 11, 30)
"""The range of dates that stays valid in every time zone."""
_BEGINS_WITH_A_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _written(value: Any) -> Any:
    """Refuse numbers as dates: they may be timestamps or typos."""
    if isinstance(value, str) and _BEGINS_WITH_A_DAY.match(value) is None:
        raise ValueError("Use the format 2026-08-01, or 2026-08-01T10:00:00Z for a time.")
    return value


def _near(day: date) -> date:
    """Check the range of a date: a JSON schema has no bounds for dates."""
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"The date must be from {FIRST_DAY} to {LAST_DAY}.")
    return day


DayParam = Annotated[date, BeforeValidator(_written), AfterValidator(_near)]
MomentParam = Annotated[
    datetime,
    BeforeValidator(_written),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}),
]


EventSort = Literal[
    "starts", "-starts", "updated", "-updated", "relevance", "starts_at", "-starts_at", "updated_at", "-updated_at"
]


class EventQuery(BaseModel):
    """Filters of events."""

    city: ShortText | None = Field(None, description="City; 盛岡 matches 盛岡市.", examples=["盛岡市"])
    since: DayParam | None = Field(None, alias="from", description="First date, local to the event; default: today.")
    until: DayParam | None = Field(None, alias="to", description="Last date, included.")
    category: ShortText | None = Field(None, description="Category.", examples=["music"])
    q: Annotated[str, Field(max_length=200)] | None = Field(None, description="Search words; all must match.")
    near: str | None = Field(None, max_length=80, description="lat,lon,km: within this distance.", examples=["39.70,141.15,10"])
    free: bool = Field(False, description="Only events whose price says that they are free.")
    source: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Events of this source ID.")
    updated_since: MomentParam | None = Field(None, description="Events updated at or after this time.")
    status: Literal["active", "hidden", "quarantine"] | None = Field(
        None, description="Status; other than active only after sign-in."
    )
    every: bool = Field(False, alias="all", description="Include past and archived events.")

    model_config = ConfigDict(populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _said(cls, given: Any) -> Any:
        """Drop empty form fields."""
        return {name: value for name, value in given.items() if value != ""} if isinstance(given, dict) else given

    @field_validator("near")
    @classmethod
    def _a_place(cls, value: str | None) -> str | None:
        if value is not None:
            parse_circle(value)
        return value

    @field_validator("updated_since")
    @classmethod
    def _a_moment(cls, value: datetime | None) -> datetime | None:
        if value is None:
            return None
        if not FIRST_DAY <= value.date() <= LAST_DAY:
            raise ValueError(f"The date must be from {FIRST_DAY} to {LAST_DAY}.")
        return value if value.tzinfo else value.replace(tzinfo=UTC)

    @model_validator(mode="after")
    def _a_period(self) -> EventQuery:
        if self.since is not None and self.until is not None and self.until < self.since:
            raise ValueError(f"“to” ({self.until}) is before “from”. Swap them.")
        return self


class EventListQuery(EventQuery):
    """Filters, page size and order of events."""

    sort: EventSort = Field(
        "starts",
        description="Order: by start, by update (for syncing; without from, to or all), or by relevance (with q). A minus "
        "reverses it. Field names work too: -starts_at.",
    )
    limit: int = Field(20, ge=1, le=200, description="Maximum number of results.")
    cursor: str | None = Field(None, max_length=200, description="Position in the list, from `next`.")

    @property
    def order(self) -> Literal["starts", "updated", "relevance"]:
        """The sort key without direction."""
        by: Any = self.sort.removeprefix("-").removesuffix("_at")
        return by  # type: ignore[no-any-return]

    @property
    def is_backwards(self) -> bool:
        return self.sort.startswith("-")

    @model_validator(mode="after")
    def _an_order(self) -> EventListQuery:
        if self.order == "updated" and (self.since or self.until):
            raise ValueError("A list sorted by updates has no period. Remove “from” and “to”, or “sort”.")
        if self.order == "relevance" and not (self.q or "").strip():
            raise ValueError("Sorting by relevance needs search words. Add “q” or change “sort”.")
        if self.order != "updated" and self.status == "quarantine" and self.sort != "starts":
            raise ValueError("Quarantined events may have no date. Sort by updated or -updated.")
        return self


class StrictQuery(EventListQuery):
    """The same; unknown parameters are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def parse_circle(text: str) -> GeoCircle:
    """The circle of `lat,lon,km`. Raises ValueError."""
    try:
        lat, lon, km = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError("Write “near” as latitude, longitude and kilometres: 39.70,141.15,10.") from None
    if not (abs(lat) <= 90 and abs(lon) <= 180 and 0 < km <= 20_040 and math.isfinite(lat + lon + km)):
        raise ValueError("The latitude must be from -90 to 90, the longitude from -180 to 180, the distance at most 20040 km.")
    return GeoCircle(lat, lon, km)


def event_filter(chosen: EventQuery, caller: Principal, service: Service) -> EventFilter:
    """The database filter of a query. Raises HttpProblem."""
    statuses = (EventStatus(chosen.status or "active"),)
    if statuses != (EventStatus.ACTIVE,) and not caller.may(Role.VIEWER, "events:read"):
        raise HttpProblem(403, "Hidden and quarantined events are available after sign-in only. Sign in or remove “status”.")
    by_change = isinstance(chosen, EventListQuery) and chosen.order == "updated"
    since, is_period = chosen.since, not (chosen.every or by_change)
    if since is None and is_period and statuses == (EventStatus.ACTIVE,):
        since = local_today(service)
        if chosen.until is not None and chosen.until < since:
            raise HttpProblem(422, "“to” is in the past. Add “from” or all=true.")
    return EventFilter(
        city=chosen.city, since=since, until=chosen.until, category=chosen.category, q=chosen.q, source_id=chosen.source,
        updated_since=chosen.updated_since, statuses=statuses, archived=False if is_period and chosen.since is None else None,
        near=parse_circle(chosen.near) if chosen.near else None, free=chosen.free,
    )  # fmt: skip


def local_today(service: Service) -> date:
    """Today in the time zone of the installation."""
    return service.store.db.now().astimezone(zone_or_utc(service.options.timezone)).date()


def resolve_city(store: EventQueries, chosen: EventFilter) -> EventFilter:
    """The filter with the full name of its city."""
    if chosen.city is None:
        return chosen
    return replace(chosen, city=find_city(chosen.city, store.cities()) or chosen.city)


LIST_THREADS = 4
"""More threads would be slower."""
MAX_INLINE_PAGE = 50
"""Maximum page size that is read in the event loop."""


class EventListReader:
    """Reads the event lists of a service; it closes with the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads = ThreadPoolExecutor(LIST_THREADS, thread_name_prefix="list")
        self._quick: FastPageReader | None = None
        self._is_opened = not service.store.db.is_sqlite
        service.at_end.append(self.close)

    def close(self) -> None:
        self._threads.shutdown()
        if self._quick is not None:
            self._quick.close()

    async def read(self, query: EventListQuery, who: Principal) -> DocumentPage:
        """A page of events, as `read_event_page`."""
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._threads)
        if not self._is_opened:
            self._is_opened = True
            self._quick = await in_thread(FastPageReader, self._service.store.events)
        if self._quick is not None and query.limit <= MAX_INLINE_PAGE and query.order == "starts":
            with usage_errors_as(422):
                page = page_if_fast(
                    self._quick, event_filter(query, who, self._service),
                    limit=query.limit, cursor=query.cursor, backwards=query.is_backwards,
                )  # fmt: skip
            if page is not None and page.items:
                return _with_matches(page, query.q)
        return await in_thread(read_event_page, query, who, self._service)


def list_reader_of(request: Request) -> EventListReader:
    """The list reader of a request's service, created on first use."""
    lists: EventListReader | None = getattr(request.app.state, "lists", None)
    if lists is None:
        request.app.state.lists = lists = EventListReader(service_of(request))
    return lists


def read_event_page(query: EventListQuery, who: Principal, service: Service) -> DocumentPage:
    """A page of events. A city without events is tried as a part of a name."""
    events, chosen = service.store.events, event_filter(query, who, service)
    with usage_errors_as(422):
        page = _read_sorted(query, events, chosen)
        if not page.items and chosen.city is not None and (whole := resolve_city(events, chosen)) != chosen:
            page = _read_sorted(query, events, whole)
    return _with_matches(page, query.q)


def _read_sorted(query: EventListQuery, events: EventQueries, chosen: EventFilter) -> DocumentPage:
    """A page in the requested order. Quarantined events may have no date and are sorted by update."""
    if query.order == "relevance":
        return page_by_relevance(events, chosen, limit=query.limit, cursor=query.cursor)
    by_change = query.order == "updated" or query.status == "quarantine"
    read = page_by_change if by_change else page_by_time
    return read(events, chosen, limit=query.limit, cursor=query.cursor, backwards=query.is_backwards)


def _with_matches(page: DocumentPage, words: str | None) -> DocumentPage:
    for item in page.items:
        item["matches"] = [highlight_json(one) for one in event_highlights(item, words)] if words else []
    return page
