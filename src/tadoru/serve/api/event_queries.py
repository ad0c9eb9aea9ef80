"""Query parameters of event lists and feeds, and the database filter they stand for.

Without `from` a list starts today in the time zone of the installation; `all` includes past and archived events.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

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

from tadoru.jobs.events.publish.list_pages import find_city
from tadoru.model.event import EventStatus
from tadoru.serve.api.models import MAX_NUMBER, ShortText
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.listing import EventFilter, EventQueries
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
        near=parse_circle(chosen.near) if chosen.near else None,
    )  # fmt: skip


def local_today(service: Service) -> date:
    """Today in the time zone of the installation."""
    return service.store.db.now().astimezone(zone_or_utc(service.options.timezone)).date()


def resolve_city(store: EventQueries, chosen: EventFilter) -> EventFilter:
    """The filter with the full name of its city."""
    if chosen.city is None:
        return chosen
    return replace(chosen, city=find_city(chosen.city, store.cities()) or chosen.city)
