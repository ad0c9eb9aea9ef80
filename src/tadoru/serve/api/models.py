"""Models of the API: base classes, problems, events and reviews. OpenAPI and GraphQL are generated from them.

Responses are written from plain objects (`jobs.events.publish`) and not built from these classes, which would cost more than the
query; tests check every response against them. Every object has all of its fields.
"""

from __future__ import annotations

import ast
import inspect
import sys
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, create_model

LongText = Annotated[str, Field(max_length=20_000)]
ShortText = Annotated[str, Field(max_length=1_000)]
MAX_NUMBER = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""


def _a_number(value: Any) -> Any:
    """Accept 36.0 as an integer, but not false or "36"."""
    if isinstance(value, bool | str):
        raise ValueError("Use an integer.")
    return value


WholeNumber = Annotated[int, BeforeValidator(_a_number)]
RealNumber = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
"""Values of a body are strict: false is not a number, and "yes" is a string."""
IdNumber = Annotated[WholeNumber, Field(ge=1, le=MAX_NUMBER)]
Json = dict[str, Any]


class _Published(BaseModel):
    """A model of the API. OpenAPI and GraphQL show it under `published`, or under its name without the suffix Out."""

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, published: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__qualname__ = cls.model_config["title"] = published or cls.__name__.removesuffix("Out")


class ResponseModel(_Published):
    """An object of a response: no field is missing, and none is unknown."""


class RequestModel(_Published):
    """An object of a request: an unknown field is an error."""


def page_model(name: str, item: Any, about: str, **of_next: Any) -> type[ResponseModel]:
    """The model of a page of a list: its items, and the URL of the next page. `of_next` is said of the latter."""
    fields: dict[str, Any] = {"items": (list[item], ...), "next": (str | None, Field(**of_next))}
    return create_model(name, __base__=ResponseModel, __doc__=about, **fields)


def list_model(name: str, item: Any, about: str) -> type[ResponseModel]:
    """The model of a list that is returned as a whole."""
    return create_model(name, __base__=ResponseModel, __doc__=about, items=(list[item], ...))


@cache
def _attribute_docstrings(module: str) -> dict[str, dict[str, str]]:
    """The docstrings of the attributes of each class of a module."""
    classes = [node for node in ast.parse(inspect.getsource(sys.modules[module])).body if isinstance(node, ast.ClassDef)]
    return {
        node.name: {
            before.target.id: inspect.cleandoc(after.value.value)
            for before, after in pairwise(node.body)
            if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)
            and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        }
        for node in classes
    }  # fmt: skip


def field_descriptions(record: type) -> dict[str, str]:
    """The descriptions of the fields of a published record. (Pydantic would parse the module for each class.)"""
    return _attribute_docstrings(record.__module__).get(record.__name__, {})


class InvalidValueOut(ResponseModel, published="Wrong"):
    """An invalid value."""

    where: list[str] = Field(description="Path of the value: body or query, then names and indexes.")
    what: str


class ProblemOut(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    code: str = Field(description="Stable code of the error.")
    detail: str | None = None
    params: dict[str, str] | None = Field(None, description="The values in the text of `detail`.")
    errors: list[InvalidValueOut] | None = Field(None, description="With 422: each invalid value.")

    model_config = ConfigDict(title="Problem", json_schema_extra={"examples": [
        {"type": "about:blank", "title": "Not Found", "status": 404, "code": "not_found", "detail": "Event 12 not found.",
         "params": {"id": "12"}},
    ]})  # fmt: skip


class EventTimeOut(ResponseModel, published="Time"):
    """A date of an event."""

    starts_at: datetime | None
    ends_at: datetime | None
    all_day: bool
    has_time: bool


class EventOut(ResponseModel):
    """An event. `starts_at` and `ends_at` are local with offset; an all-day event ends at midnight after its last day."""

    id: int
    title: str
    description: str = Field(description="Sanitised HTML, or plain text.")
    starts_at: datetime | None = Field(description="First matching date; null only in quarantine.")
    ends_at: datetime | None
    all_day: bool
    has_time: bool
    timezone: str
    venue: str
    address: str
    city: str
    lat: float | None
    lon: float | None
    category: str
    price: str
    organizer: str
    url: str
    image: str
    source_url: str = Field(description="Page of the event, or of its source.")
    source_id: int | None
    licence: str
    terms_url: str
    dedupe_key: str
    status: Literal["active", "hidden", "quarantine"]
    created_at: datetime
    updated_at: datetime
    last_seen: datetime
    cancelled_at: datetime | None
    vanished_at: datetime | None
    archived_at: datetime | None
    recurrence: str
    when_note: str
    occurrences: list[EventTimeOut] = Field(description="All dates of a series; empty for a single event.")
    uid: str
    sequence: int
    extra: Json

    model_config = ConfigDict(json_schema_extra={"examples": [{
        "id": 12, "title": "星まつり", "description": "", "starts_at": "2026-08-01T10:00:00+09:00",
        "ends_at": "2026-08-01T12:00:00+09:00", "all_day": False, "has_time": True, "timezone": "Asia/Tokyo", "venue": "市民会館",
        "address": "",
        "city": "盛岡市", "lat": None, "lon": None, "category": "祭り", "price": "無料", "organizer": "", "url": "",
        "image": "", "source_url": "https://town.example/events.ics", "source_id": 1, "licence": "CC BY 4.0", "terms_url": "",
        "dedupe_key": "星まつり|2026-08-01|市民会館", "status": "active", "created_at": "2026-07-01T00:00:00Z",
        "updated_at": "2026-07-01T00:00:00Z", "last_seen": "2026-07-02T00:00:00Z", "cancelled_at": None, "vanished_at": None,
        "archived_at": None, "recurrence": "", "when_note": "", "occurrences": [], "uid": "5f0c", "sequence": 0, "extra": {},
    }]})  # fmt: skip


class TextMarkOut(ResponseModel, published="Mark"):
    """A range of a text: start and end (exclusive)."""

    start: int
    end: int


class EventMatchOut(ResponseModel, published="Match"):
    """A field of an event that matches `q`."""

    field: Literal["title", "venue", "address", "city", "category", "organizer", "description"]
    text: str = Field(description="The field or a part of it as plain text; escape it before display.")
    marks: list[TextMarkOut] = Field(description="Ranges of the matches.")

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"field": "title", "text": "夏の花火大会", "marks": [{"start": 2, "end": 4}]},
    ]})  # fmt: skip


class ListedEventOut(EventOut):
    """An event of a list."""

    matches: list[EventMatchOut] = Field(description="Matches of q; empty without q.")


EventPageOut = page_model("EventPage", ListedEventOut, "A page of events.", description="URL of the next page; null on the last.")


class FieldOwnerOut(ResponseModel, published="Owner"):
    """The origin of a field's value."""

    owner: Literal["source", "person"]
    source_id: int | None
    who: str
    at: datetime


class SightingOut(ResponseModel):
    """The data of one source about an event."""

    id: int
    source_id: int | None
    source: str | None
    row_key: str
    title: str | None
    venue: str | None
    city: str | None
    starts_at: datetime | None
    ends_at: datetime | None
    url: str | None
    raw: Any
    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None


class MergeOut(ResponseModel):
    """A merge of two events."""

    id: int
    kept_id: int
    absorbed_id: int | None
    score: float | None
    reasons: list[Any]
    at: datetime
    by: str
    undone_at: datetime | None
    undone_by: str


class ReviewOut(ResponseModel):
    """A review: a case for a person to decide."""

    id: int
    candidate_ids: list[int]
    reason: Literal["dedupe_conflict", "missing_required", "parse_error"]
    created_at: datetime
    resolved_at: datetime | None
    resolution: str
    by: str
    source_id: int | None
    detail: Json


ReviewPageOut = page_model("ReviewPage", ReviewOut, "A page of the review queue.")


class ReviewRowOut(ResponseModel):
    """A source row of a review."""

    id: int
    source_id: int | None
    title: str
    venue: str
    city: str
    starts_at: datetime | None
    url: str


class ReviewDetailOut(ReviewOut, published="ReviewWhole"):
    """A review with its events and source rows."""

    events: list[EventOut]
    rows: list[ReviewRowOut]


class EventHistoryOut(ResponseModel, published="Change"):
    """A change of an event."""

    at: datetime
    by: str
    changes: Any


class EventStoryOut(EventOut, published="Story"):
    """An event with its history."""

    merged_into: int | None
    owners: dict[str, FieldOwnerOut]
    sightings: list[SightingOut]
    merges: list[MergeOut]
    reviews: list[ReviewOut]
    history: list[EventHistoryOut]


class NewEvent(RequestModel):
    """A new event. Dates are accepted in every format that sources use."""

    title: ShortText
    starts_at: ShortText
    ends_at: ShortText | None = None
    description: LongText | None = None
    venue: ShortText | None = None
    address: ShortText | None = None
    city: ShortText | None = None
    lat: RealNumber | None = Field(None, ge=-90, le=90)
    lon: RealNumber | None = Field(None, ge=-180, le=180)
    category: ShortText | None = None
    price: ShortText | None = None
    organizer: ShortText | None = None
    url: ShortText | None = None
    image: ShortText | None = None
    timezone: ShortText | None = None
    when_note: ShortText | None = None
    all_day: Flag | None = None
    cancelled: Flag | None = None

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"title": "朝市", "starts_at": "2026-08-01 06:00", "ends_at": "2026-08-01 09:00", "venue": "駅前広場", "city": "盛岡市"},
    ]})  # fmt: skip


class EventChange(NewEvent):
    """Changes of an event. Each field overrides sources from then on; null clears it."""

    title: ShortText | None = None  # type: ignore[assignment]
    starts_at: ShortText | None = None  # type: ignore[assignment]
    release: list[ShortText] = Field(default=[], max_length=20, description="Fields to revert to the sources.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"venue": "市民会館", "release": ["price"]}]})


NameListOut = list_model("Names", str, "Values for a filter.")
