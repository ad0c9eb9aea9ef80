"""The types of the schema, built from the models of the REST API, so that every object is described once.

Fields are read from the plain objects that the REST API writes too. Numbers that identify an object (`id`, `source_id`) are IDs,
since a GraphQL integer has 32 bits; times are written as in the REST API; objects without fixed fields are JSON.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, NewType, Union, get_args, get_origin, get_type_hints

import strawberry
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from strawberry.scalars import JSON
from strawberry.schema.config import StrawberryConfig

from tadoru.clock import iso
from tadoru.jobs.events.publish.list_pages import DocumentPage
from tadoru.serve.api.models import field_descriptions
from tadoru.serve.api.responses import ListPart
from tadoru.serve.graphql.limits import NODES_FIELD
from tadoru.store.crawl.browse import PublishedRecord

Moment = NewType("Moment", str)
"""A time as text."""


def read_field(holder: Any, name: str) -> Any:
    """A field of an object. Documentation sites use the names of their index.json."""
    if not isinstance(holder, Mapping):
        return getattr(holder, name)
    return holder[name] if name in holder else holder[to_camel(name)]


def _format_moment(at: Any) -> str:
    return iso(at) if isinstance(at, datetime) else str(at)


CONFIG = StrawberryConfig(
    default_resolver=read_field,
    scalar_map={
        Moment: strawberry.scalar(
            name="DateTime", description="A time (RFC 3339): of an event with its local offset, otherwise in UTC.",
            serialize=_format_moment, parse_value=str,
        )
    },
)  # fmt: skip


def object_type(model: type, more: Mapping[str, Any] | None = None, *, name: str = "") -> Any:
    """The type of a model or record, with additional resolved fields."""
    added = dict(more or {})
    namespace: dict[str, Any] = {"__annotations__": {}, "__doc__": model.__doc__}
    for field, (annotation, description) in _described_fields(model).items():
        if field not in added:
            namespace["__annotations__"][field] = _graphql_type(annotation, field)
            namespace[field] = strawberry.field(description=description)
    made = type(name or model.__qualname__, (), namespace | added)
    return strawberry.type(made, description=(model.__doc__ or "").strip())


def _described_fields(model: type) -> dict[str, tuple[Any, str | None]]:
    """The type and the description of each field."""
    if issubclass(model, BaseModel):
        return {name: (one.annotation, one.description) for name, one in model.model_fields.items()}
    described = field_descriptions(model)
    hints = {name: hint for name, hint in get_type_hints(model).items() if get_origin(hint) is not ClassVar}
    return {name: (hint, described.get(name)) for name, hint in hints.items()}


def list_type(kind: Any) -> Any:
    """The type of a list."""
    return list[kind]


def page_type(kind: Any, name: str = "") -> Any:
    """The type of a page of a list."""
    namespace = {
        "__annotations__": {NODES_FIELD: list[kind], "page_info": PageInfo},
        NODES_FIELD: strawberry.field(description="The entries of this page."),
        "page_info": strawberry.field(description="The position of the next page."),
    }
    return strawberry.type(type(name or f"{kind.__name__}Page", (), namespace), description="A page of a list.")


def page_document(part: ListPart | DocumentPage) -> dict[str, Any]:
    """A page of a list as an object."""
    cursor = part.next_cursor
    return {
        NODES_FIELD: part.items,
        "page_info": {"has_next_page": cursor is not None, "end_cursor": None if cursor is None else str(cursor)},
    }


@strawberry.type(description="The position of the next page.")
class PageInfo:
    has_next_page: bool
    end_cursor: str | None = strawberry.field(description="Pass it as `after`; null on the last page.")


_made: dict[type, Any] = {}


def _graphql_type(annotation: Any, field: str) -> Any:
    """The GraphQL type of a field."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _graphql_type(inner[0], field)
    if origin in (Union, types.UnionType):
        members = [one for one in inner if one is not type(None)]
        kind = _graphql_type(members[0], field) if len(members) == 1 else JSON
        return kind | None if len(members) < len(inner) else kind
    if origin is list or (origin is tuple and inner[-1] is Ellipsis):
        return list[_graphql_type(inner[0], field.removesuffix("s"))]  # type: ignore[misc]
    if origin is Literal:
        return str
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | PublishedRecord):
        if annotation not in _made:
            _made[annotation] = object_type(annotation)
        return _made[annotation]
    if annotation is int and (field == "id" or field.endswith("_id") or field == "depends_on"):
        return strawberry.ID
    return _PLAIN.get(annotation, JSON)


_PLAIN: dict[Any, Any] = {str: str, int: int, float: float, bool: bool, datetime: Moment, date: Moment}
