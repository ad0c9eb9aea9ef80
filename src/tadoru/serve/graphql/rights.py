"""Which right each field needs: the route of REST that reads the same. There is one table of rights, `serve.roles`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import strawberry
from strawberry.types import Info

from tadoru.serve.graphql.asking import Asking

_API, _ADMIN = "/api/v1", "/api/v1/admin"
_CRAWL, _DOCS = f"{_API}/crawls/{{crawl_id}}", f"{_API}/docs-sites"
RIGHTS = {
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
Asked = Info[Asking, None]


def field(resolver: Callable[..., Any], kind: Any, right: str) -> Any:
    """A field that reads. It is null when it fails or is not allowed, so that the others are still told."""
    path = RIGHTS[right]

    @wraps(resolver)
    def allowed(info: Asked, *given: Any, **named: Any) -> Any:
        info.context.need(path)
        return resolver(info, *given, **named)

    return strawberry.field(resolver=allowed, graphql_type=kind | None, description=(resolver.__doc__ or "").strip())
