"""The context of a GraphQL request, and the permission of each field: that of the REST route that reads the same.

A `BatchLoader` collects the IDs that the fields of a response will need and reads them in one query, so that a page of a hundred
events does not cost a hundred queries for their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import strawberry
from strawberry.types import Info

from tadoru.i18n.translation import SOURCE_LANGUAGE, Translator, translator
from tadoru.jobs.events.publish.json_documents import event_json
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.sources import source_documents
from tadoru.serve.auth.guard import access_denied
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import ROUTES, Route
from tadoru.serve.service import Service

Document = dict[str, Any]
_ROWS = {(row.method, row.path): row for row in ROUTES}


def route_for(path: str) -> Route:
    """The row of the route table for GET on this path. Raises KeyError for an unknown path."""
    return _ROWS["GET", path]


class BatchLoader:
    """Loads objects by ID, several in one query."""

    def __init__(self, read: Callable[[set[int]], dict[int, Document]]) -> None:
        self._read, self._wanted, self._known = read, set[int](), dict[int, Document | None]()

    def want(self, ids: Iterable[int | None]) -> None:
        """Announce IDs that will be taken."""
        self._wanted.update(one for one in ids if one is not None and one not in self._known)

    def take(self, one: int | None) -> Document | None:
        """The object of an ID, or None."""
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
    """The context of one request, which every field gets."""

    service: Service
    caller: Principal
    lang: str = SOURCE_LANGUAGE
    """The language of error messages."""
    sources: BatchLoader = field(init=False)
    events: BatchLoader = field(init=False)

    def __post_init__(self) -> None:
        self.sources, self.events = BatchLoader(self._sources), BatchLoader(self._events)

    @property
    def messages(self) -> Translator:
        return translator(self.lang)

    def require(self, path: str) -> None:
        """Check that the principal may read this path of the REST API. Raises HttpProblem."""
        row = route_for(path)
        if not self.caller.may(row.role, row.scope):
            raise access_denied(row, self.caller)

    def _sources(self, ids: set[int]) -> dict[int, Document]:
        every = self.service.store.sources.list()
        return {one["id"]: one for one in source_documents(self.service, [one for one in every if one.id in ids], self.caller)}

    def _events(self, ids: set[int]) -> dict[int, Document]:
        return {number: event_json(one) for number, one in self.service.store.events.records(ids).items()}


def parse_number(value: Any, name: str, *, least: int = 1, most: int = MAX_NUMBER) -> int:
    """An integer argument, also as text. Raises HttpProblem."""
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_NUMBER)) and least <= int(text) <= most):
        raise HttpProblem(422, "{name} must be an integer from {least} to {most}.", name=name, least=least, most=most)
    return int(text)


def parse_choice(value: str, name: str, allowed: tuple[str, ...]) -> Any:
    """An argument with fixed values. Raises HttpProblem."""
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
    "CrawlDetail.table": f"{_CRAWL}/tables/{{table}}", "CrawlDetail.views": f"{_CRAWL}/views",
    "CrawlDetail.segments": f"{_CRAWL}/segments", "CrawlDetail.priorities": f"{_CRAWL}/priorities",
    "CrawlDetail.ignored": f"{_CRAWL}/ignored", "CrawlDetail.shares": f"{_CRAWL}/shares",
    "CrawlDetail.pages": f"{_CRAWL}/pages", "docsSites": _DOCS, "docsSite": f"{_DOCS}/{{site_id}}",
    "DocsSiteDetail.contents": f"{_DOCS}/{{site_id}}/pages",
}  # fmt: skip
"""Field (or type and field) → the path of the route whose permission it needs."""
FieldInfo = Info[GraphqlContext, None]


def guarded_field(resolver: Callable[..., Any], kind: Any, right: str) -> Any:
    """A field with a permission check. It is null if it fails or is not permitted, so that other fields are still returned."""
    path = FIELD_ROUTES[right]

    @wraps(resolver)
    def allowed(info: FieldInfo, *given: Any, **named: Any) -> Any:
        info.context.require(path)
        return resolver(info, *given, **named)

    return strawberry.field(resolver=allowed, graphql_type=kind | None, description=(resolver.__doc__ or "").strip())
