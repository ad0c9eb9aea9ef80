"""What somebody asks of the calendar: the parameters of lists and feeds, and the filter they stand for.

Without `from` a list begins today, in the time zone of the installation; `all` shows also what is over or archived.
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
"""Days that a time zone cannot push out of what a calendar knows."""
_BEGINS_WITH_A_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _written(value: Any) -> Any:
    """A day or a time as people write it; a bare number could be seconds of some clock, or a slip of the pen."""
    if isinstance(value, str) and _BEGINS_WITH_A_DAY.match(value) is None:
        raise ValueError("Use the format 2026-08-01, or 2026-08-01T10:00:00Z for a time.")
    return value


def _near(day: date) -> date:
    """A day that can be counted with. Said in a sentence: a schema has no bounds for days."""
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
    """Which events."""

    city: ShortText | None = Field(None, description="Only in this city; 盛岡 finds 盛岡市.", examples=["盛岡市"])
    since: DayParam | None = Field(None, alias="from", description="From this day on, local to the event; without it from today.")
    until: DayParam | None = Field(None, alias="to", description="Until this day, included.")
    category: ShortText | None = Field(None, description="Only of this category.", examples=["music"])
    q: Annotated[str, Field(max_length=200)] | None = Field(None, description="Only with all of these words in them.")
    near: str | None = Field(
        None, max_length=80, description="lat,lon,km: within so many kilometres.", examples=["39.70,141.15,10"]
    )
    source: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Only what this source speaks of.")
    updated_since: MomentParam | None = Field(None, description="Only what changed at or after this time.")
    status: Literal["active", "hidden", "quarantine"] | None = Field(
        None, description="For who is signed in: what was hidden, or lacks something."
    )
    every: bool = Field(False, alias="all", description="Also what is over or archived.")

    model_config = ConfigDict(populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _said(cls, given: Any) -> Any:
        """A field of a form that was left empty says nothing."""
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
    """Which events, how many, and in what order."""

    sort: EventSort = Field(
        "starts",
        description="The order: of time, of the last change (for who keeps a copy; it takes no from, to or all), or the best "
        "first (relevance, with q). A minus turns it around: the last first. The names of the fields mean the same: -starts_at.",
    )
    limit: int = Field(20, ge=1, le=200, description="At most so many.")
    cursor: str | None = Field(None, max_length=200, description="Where the list goes on, as `next` says.")

    @property
    def order(self) -> Literal["starts", "updated", "relevance"]:
        """By what it is sorted, in whichever direction."""
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
    """The same, and nothing else: a parameter with a slip of the pen is told, not ignored."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def parse_circle(text: str) -> GeoCircle:
    """`lat,lon,km`. Raises ValueError."""
    try:
        lat, lon, km = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError("Write “near” as latitude, longitude and kilometres: 39.70,141.15,10.") from None
    if not (abs(lat) <= 90 and abs(lon) <= 180 and 0 < km <= 20_040 and math.isfinite(lat + lon + km)):
        raise ValueError("The latitude must be from -90 to 90, the longitude from -180 to 180, the distance at most 20040 km.")
    return GeoCircle(lat, lon, km)


def event_filter(chosen: EventQuery, caller: Principal, service: Service) -> EventFilter:
    """What the database is asked."""
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
    """The day it is, where the installation is."""
    return service.store.now().astimezone(zone_or_utc(service.options.timezone)).date()


def resolve_city(store: EventQueries, chosen: EventFilter) -> EventFilter:
    """The same with the city's whole name, when people said less."""
    if chosen.city is None:
        return chosen
    return replace(chosen, city=find_city(chosen.city, store.cities()) or chosen.city)
