"""Who asks, and what they may: each field that not everybody may read names the route of REST whose right it needs.

A `Shelf` holds what several fields of one answer want: they say beforehand what they will need, and the first to take something
has all of it read at once, so that a page of a hundred events costs no hundred questions for their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import strawberry
from strawberry.types import Info

from tadoru.jobs.events.publish.json_documents import event_json
from tadoru.serve.api.admin_lists import source_documents
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.auth.guard import access_denied
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import ROUTES, Route
from tadoru.serve.service import Service
from tadoru.store.calendar.event_records import event_records

Document = dict[str, Any]
_ROWS = {(row.method, row.path): row for row in ROUTES}


def route_for(path: str) -> Route:
    """The row of the table that says who may read this path. A path that is not there is a fault of ours."""
    return _ROWS["GET", path]


class BatchLoader:
    """Things by their id, read together."""

    def __init__(self, read: Callable[[set[int]], dict[int, Document]]) -> None:
        self._read, self._wanted, self._known = read, set[int](), dict[int, Document | None]()

    def want(self, ids: Iterable[int | None]) -> None:
        """These will be asked for."""
        self._wanted.update(one for one in ids if one is not None and one not in self._known)

    def take(self, one: int | None) -> Document | None:
        """One of them; None when it is not there."""
        if one is None:
            return None
        if one not in self._known:
            wanted = self._wanted | {one}
            found = self._read(wanted)
            self._known.update({number: found.get(number) for number in wanted})
            self._wanted.clear()
        return self._known[one]


@dataclass(slots=True)
class GraphqlContext:
    """One request: the context of every field."""

    service: Service
    caller: Principal
    sources: BatchLoader = field(init=False)
    events: BatchLoader = field(init=False)

    def __post_init__(self) -> None:
        self.sources, self.events = BatchLoader(self._sources), BatchLoader(self._events)

    def need(self, path: str) -> None:
        """Go on only when the caller may read this path of REST. Raises HttpProblem."""
        row = route_for(path)
        if not self.caller.may(row.role, row.scope):
            raise access_denied(row, self.caller)

    def _sources(self, ids: set[int]) -> dict[int, Document]:
        every = self.service.store.sources()
        return {one["id"]: one for one in source_documents(self.service, [one for one in every if one.id in ids], self.caller)}

    def _events(self, ids: set[int]) -> dict[int, Document]:
        return {number: event_json(one) for number, one in event_records(self.service.store, ids).items()}


def parse_number(value: Any, name: str, *, least: int = 1, most: int = MAX_NUMBER) -> int:
    """A number that somebody gave, also as text. Raises HttpProblem."""
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_NUMBER)) and least <= int(text) <= most):
        raise HttpProblem(422, "{name} must be an integer from {least} to {most}.", name=name, least=least, most=most)
    return int(text)


def parse_choice(value: str, name: str, allowed: tuple[str, ...]) -> Any:
    """One of a few words. Raises HttpProblem."""
    if value not in allowed:
        raise HttpProblem(422, "{name} must be one of {values}.", name=name, values=", ".join(allowed))
    return value


_API, _ADMIN = "/api/v1", "/api/v1/admin"
_CRAWL, _DOCS = f"{_API}/crawls/{{crawl_id}}", f"{_API}/docs-sites"
FIELD_ROUTES = {
    "events": f"{_API}/events", "event": f"{_API}/events/{{event_id}}", "cities": f"{_API}/cities",
    "categories": f"{_API}/categories", "sources": f"{_ADMIN}/sources", "source": f"{_ADMIN}/sources/{{source_id}}",
    "runs": f"{_ADMIN}/runs", "run": f"{_ADMIN}/runs/{{run_id}}", "reviews": f"{_ADMIN}/reviews",
    "review": f"{_ADMIN}/reviews/{{review_id}}", "status": f"{_ADMIN}/status", "Event.source": f"{_ADMIN}/sources/{{source_id}}",
    "Run.source": f"{_ADMIN}/sources/{{source_id}}", "Review.events": f"{_ADMIN}/reviews/{{review_id}}",
    "crawls": f"{_API}/crawls", "crawl": _CRAWL, "CrawlDetail.runs": f"{_CRAWL}/runs",
    "CrawlDetail.overview": f"{_CRAWL}/overview", "CrawlDetail.findings": f"{_CRAWL}/findings",
    "CrawlDetail.pages": f"{_CRAWL}/pages", "docsSites": _DOCS, "docsSite": f"{_DOCS}/{{site_id}}",
    "DocsSiteDetail.contents": f"{_DOCS}/{{site_id}}/pages",
}  # fmt: skip
"""Each field that reads, by its name or by its type and name, and the path."""
FieldInfo = Info[GraphqlContext, None]


def guarded_field(resolver: Callable[..., Any], kind: Any, right: str) -> Any:
    """A field that reads. It is null when it fails or is not allowed, so that the others are still told."""
    path = FIELD_ROUTES[right]

    @wraps(resolver)
    def allowed(info: FieldInfo, *given: Any, **named: Any) -> Any:
        info.context.need(path)
        return resolver(info, *given, **named)

    return strawberry.field(resolver=allowed, graphql_type=kind | None, description=(resolver.__doc__ or "").strip())
