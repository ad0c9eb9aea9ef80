"""Lists of sources, runs and reviews as plain objects, for REST and GraphQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tadoru.errors import UsageError
from tadoru.jobs.events.publish.json_documents import review_json, run_json, sources_health, state_json, totals_json
from tadoru.model.event import ReviewReason
from tadoru.serve.api.responses import ListPart, list_part
from tadoru.serve.api.source_actions import visible_source
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.calendar import records

ReviewState = Literal["open", "answered", "all"]
_IS_OPEN: dict[ReviewState, bool | None] = {"open": True, "answered": False, "all": None}


def sources_page(service: Service, caller: Principal, *, enabled: bool | None, limit: int, cursor: int) -> ListPart:
    """Sources by ID, with their state."""
    found = [one for one in service.store.sources.list(enabled=enabled) if one.id > cursor]
    return ListPart(source_documents(service, found[:limit], caller), found[limit - 1].id if len(found) > limit else None)


def source_documents(service: Service, sources: Sequence[records.EventSource], caller: Principal) -> list[dict[str, Any]]:
    """Sources with their states, read in one query. A source that was removed in between is skipped."""
    states = service.store.schedule.states(one.id for one in sources)
    return [visible_source(one, caller) | {"state": state_json(states[one.id])} for one in sources if one.id in states]


def runs_page(service: Service, *, source_id: int | None, limit: int, cursor: int | None) -> ListPart:
    """Runs, newest first."""
    found = service.store.runs.list(source_id=source_id, limit=limit + 1, before=cursor)
    return list_part(found, limit, run_json)


def get_run(service: Service, run_id: int) -> records.RunLog:
    """The run of an ID. Raises HttpProblem."""
    try:
        return service.store.runs.get(run_id)
    except UsageError:
        raise HttpProblem(404, "Run {id} not found.", id=run_id) from None


def reviews_page(service: Service, *, state: ReviewState, reason: ReviewReason | None, limit: int, cursor: int) -> ListPart:
    """Reviews, oldest first."""
    found = service.store.reviews.list(is_open=_IS_OPEN[state], reason=reason, limit=limit + 1, after=cursor)
    return list_part(found, limit, review_json)


def get_review(service: Service, review_id: int) -> records.ReviewItem:
    """The review of an ID. Raises HttpProblem."""
    try:
        return service.store.reviews.get(review_id)
    except UsageError:
        raise HttpProblem(404, "Review {id} not found.", id=review_id) from None


def status_document(service: Service, days: int) -> dict[str, Any]:
    """The health of the sources: rows, failure rate, duplicate rate, delay."""
    store = service.store
    return {"totals": totals_json(store.statistics.totals()), "sources": list(sources_health(store, days))}
