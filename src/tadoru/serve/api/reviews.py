"""The review queue over REST: list, read, and the five ways to resolve a review; undo of merges."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.i18n.translation import N_
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import parse_completed_row
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.jobs.events.publish.json_documents import review_document, review_json
from tadoru.jobs.events.reviews import incomplete_row
from tadoru.model.event import RawEvent, ReviewReason
from tadoru.serve.api.events import CurrentPrincipal, CurrentService, written_values
from tadoru.serve.api.models import MAX_NUMBER, ReviewDetailOut, ReviewPageOut
from tadoru.serve.api.responses import (
    ListPart,
    json_response,
    list_part,
    list_response,
    problem_responses,
    uncached_response,
    usage_errors_as,
)
from tadoru.serve.api.source_models import EventIdsOut, MergeIn, RowAnswerOut, RowFixIn
from tadoru.serve.api.sources import Cursor, Limit
from tadoru.serve.auth.principal import note_change
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.calendar import records

ReviewState = Literal["open", "answered", "all"]
_IS_OPEN: dict[ReviewState, bool | None] = {"open": True, "answered": False, "all": None}
router = APIRouter(tags=["reviews"])
REVIEWS_PATH = "/api/v1/admin/reviews"
ReviewId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the review.")]


@router.get(REVIEWS_PATH, response_model=ReviewPageOut, responses=problem_responses(304), summary="List reviews")
def list_reviews(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    state: Annotated[ReviewState, Query(description="State of the reviews.")] = "open",
    reason: Annotated[ReviewReason | None, Query(description="Reviews for this reason.")] = None,
    limit: Limit = 50,
    cursor: Cursor = 0,
) -> Response:
    """The review queue, oldest first."""
    found = reviews_page(service, state=state, reason=reason, limit=limit, cursor=cursor)
    return list_response(request, who, found)


@router.get(
    REVIEWS_PATH + "/{review_id}",
    response_model=ReviewDetailOut,
    responses=problem_responses(304, 404),
    summary="Read a review",
)
def one_review(request: Request, review_id: ReviewId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """One review with its events and source rows."""
    return json_response(request, who, review_document(service.store, find_review(service, review_id)))


@router.post(
    REVIEWS_PATH + "/{review_id}/merge",
    response_model=EventIdsOut,
    responses=problem_responses(404, 409),
    summary="Merge",
)
def merge_review(
    request: Request, review_id: ReviewId, given: MergeIn, who: CurrentPrincipal, service: CurrentService
) -> Response:
    """Merge the events. The merge can be undone."""
    _open_review(service, review_id)
    with usage_errors_as(409):
        kept = service.store.reviews.merge(review_id, EventMatcher(), who.name, keep=given.keep)
    note_change(request, f"review {review_id}", kept=kept)
    return uncached_response({"event_ids": [kept]})


@router.post(
    REVIEWS_PATH + "/{review_id}/keep-apart",
    response_model=EventIdsOut,
    responses=problem_responses(404, 409),
    summary="Keep separate",
)
def keep_apart(request: Request, review_id: ReviewId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Keep the events separate permanently."""
    _open_review(service, review_id)
    with usage_errors_as(409):
        ids = service.store.reviews.keep_apart(review_id, EventMatcher(), who.name)
    note_change(request, f"review {review_id}", events=list(ids))
    return uncached_response({"event_ids": list(ids)})


@router.post(
    REVIEWS_PATH + "/{review_id}/fix",
    response_model=RowAnswerOut,
    responses=problem_responses(404, 409),
    summary="Fill in missing fields",
)
def fix_review(
    request: Request, review_id: ReviewId, given: RowFixIn, who: CurrentPrincipal, service: CurrentService
) -> Response:
    """Fill in missing fields and publish the event. Your values override the source; the others follow it."""
    row = _review_row(service, review_id)
    with usage_errors_as(422):
        draft = parse_completed_row(*row, written_values(given))
    with usage_errors_as(409):
        event_id = service.store.reviews.fix(review_id, draft, EventMatcher(), who.name)
    note_change(request, f"review {review_id}", event=event_id)
    return uncached_response({"event_id": event_id, "is_event": True})


@router.post(
    REVIEWS_PATH + "/{review_id}/retry",
    response_model=RowAnswerOut,
    responses=problem_responses(404, 409),
    summary="Re-parse",
)
def retry_review(request: Request, review_id: ReviewId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Parse the item again with the current settings of its source."""
    row = _review_row(service, review_id)
    with usage_errors_as(409):
        is_event = service.store.reviews.retry(review_id, normalise(*row), EventMatcher(), who.name)
    note_change(request, f"review {review_id}", is_event=is_event)
    return uncached_response({"event_id": find_review(service, review_id).candidate_ids[0], "is_event": is_event})


@router.post(REVIEWS_PATH + "/{review_id}/dismiss", status_code=204, responses=problem_responses(404, 409), summary="Dismiss")
def dismiss_review(request: Request, review_id: ReviewId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Dismiss the review until something changes."""
    _open_review(service, review_id)
    with usage_errors_as(409):
        service.store.reviews.dismiss(review_id, who.name)
    note_change(request, f"review {review_id}")
    return Response(status_code=204)


@router.post(
    "/api/v1/admin/merges/{merge_id}/undo",
    response_model=EventIdsOut,
    responses=problem_responses(404, 409),
    summary="Undo a merge",
)
def undo_merge(
    request: Request,
    merge_id: Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the merge.")],
    who: CurrentPrincipal,
    service: CurrentService,
) -> Response:
    """Undo a merge. The events stay separate."""
    if not service.store.merges.has(merge_id):
        raise HttpProblem(404, "Merge {id} not found.", id=merge_id)
    with usage_errors_as(409):
        ids = service.store.merges.undo(merge_id, EventMatcher(), who.name)
    note_change(request, f"merge {merge_id}", events=list(ids))
    return uncached_response({"event_ids": list(ids)})


def _open_review(service: Service, review_id: int) -> records.ReviewItem:
    found = find_review(service, review_id)
    if found.resolved_at is not None:
        raise HttpProblem(409, "Review {id} is already resolved ({resolution}).", id=review_id, resolution=found.resolution)
    return found


def _review_row(service: Service, review_id: int) -> tuple[RawEvent, SourceRules]:
    """The source row of a review, and the rules to parse it. Raises HttpProblem."""
    _open_review(service, review_id)
    with usage_errors_as(409):
        return incomplete_row(service.store, review_id, service.options.timezone)


# ---- plain objects, for REST and GraphQL


def reviews_page(service: Service, *, state: ReviewState, reason: ReviewReason | None, limit: int, cursor: int) -> ListPart:
    """Reviews, oldest first."""
    found = service.store.reviews.list(is_open=_IS_OPEN[state], reason=reason, limit=limit + 1, after=cursor)
    return list_part(found, limit, review_json)


def find_review(service: Service, review_id: int) -> records.ReviewItem:
    """The review of an ID. Raises HttpProblem."""
    with usage_errors_as(404, N_("Review {id} not found."), id=review_id):
        return service.store.reviews.get(review_id)
