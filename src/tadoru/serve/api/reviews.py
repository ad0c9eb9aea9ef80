"""The review queue over REST: list, read, and the five ways to resolve a review; undo of merges."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query, Response

from tadoru.i18n.translation import N_
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import parse_completed_row
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.jobs.events.publish.json_documents import review_document, review_json
from tadoru.jobs.events.reviews import incomplete_row
from tadoru.model.event import RawEvent, ReviewReason
from tadoru.serve.api.events import written_values
from tadoru.serve.api.models import MAX_NUMBER, ReviewDetailOut, ReviewPageOut
from tadoru.serve.api.responses import ApiRouter, Call, ListPart, list_part, problem_responses, uncached_response, usage_errors_as
from tadoru.serve.api.source_models import EventIdsOut, MergeIn, RowAnswerOut, RowFixIn
from tadoru.serve.api.sources import Cursor, Limit
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.calendar import records

ReviewState = Literal["open", "answered", "all"]
_IS_OPEN: dict[ReviewState, bool | None] = {"open": True, "answered": False, "all": None}
router = ApiRouter(tags=["reviews"])
REVIEWS_PATH = "/api/v1/admin/reviews"
ReviewId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the review.")]


@router.read(REVIEWS_PATH, ReviewPageOut, "List reviews")
def list_reviews(
    call: Call,
    state: Annotated[ReviewState, Query(description="State of the reviews.")] = "open",
    reason: Annotated[ReviewReason | None, Query(description="Reviews for this reason.")] = None,
    limit: Limit = 50,
    cursor: Cursor = 0,
) -> Response:
    """The review queue, oldest first."""
    found = reviews_page(call.service, state=state, reason=reason, limit=limit, cursor=cursor)
    return call.list(found)


@router.read(REVIEWS_PATH + "/{review_id}", ReviewDetailOut, "Read a review", 404)
def one_review(call: Call, review_id: ReviewId) -> Response:
    """One review with its events and source rows."""
    return call.json(review_document(call.store, find_review(call.service, review_id)))


@router.change("POST", REVIEWS_PATH + "/{review_id}/merge", EventIdsOut, "Merge", 404, 409)
def merge_review(call: Call, review_id: ReviewId, given: MergeIn) -> Response:
    """Merge the events. The merge can be undone."""
    _open_review(call.service, review_id)
    with usage_errors_as(409):
        kept = call.store.reviews.merge(review_id, EventMatcher(), call.caller.name, keep=given.keep)
    call.note(f"review {review_id}", kept=kept)
    return uncached_response({"event_ids": [kept]})


@router.change("POST", REVIEWS_PATH + "/{review_id}/keep-apart", EventIdsOut, "Keep separate", 404, 409)
def keep_apart(call: Call, review_id: ReviewId) -> Response:
    """Keep the events separate permanently."""
    _open_review(call.service, review_id)
    with usage_errors_as(409):
        ids = call.store.reviews.keep_apart(review_id, EventMatcher(), call.caller.name)
    call.note(f"review {review_id}", events=list(ids))
    return uncached_response({"event_ids": list(ids)})


@router.change("POST", REVIEWS_PATH + "/{review_id}/fix", RowAnswerOut, "Fill in missing fields", 404, 409)
def fix_review(call: Call, review_id: ReviewId, given: RowFixIn) -> Response:
    """Fill in missing fields and publish the event. Your values override the source; the others follow it."""
    row = _review_row(call.service, review_id)
    with usage_errors_as(422):
        draft = parse_completed_row(*row, written_values(given))
    with usage_errors_as(409):
        event_id = call.store.reviews.fix(review_id, draft, EventMatcher(), call.caller.name)
    call.note(f"review {review_id}", event=event_id)
    return uncached_response({"event_id": event_id, "is_event": True})


@router.change("POST", REVIEWS_PATH + "/{review_id}/retry", RowAnswerOut, "Re-parse", 404, 409)
def retry_review(call: Call, review_id: ReviewId) -> Response:
    """Parse the item again with the current settings of its source."""
    row = _review_row(call.service, review_id)
    with usage_errors_as(409):
        is_event = call.store.reviews.retry(review_id, normalise(*row), EventMatcher(), call.caller.name)
    call.note(f"review {review_id}", is_event=is_event)
    return uncached_response({"event_id": find_review(call.service, review_id).candidate_ids[0], "is_event": is_event})


@router.post(REVIEWS_PATH + "/{review_id}/dismiss", status_code=204, responses=problem_responses(404, 409), summary="Dismiss")
def dismiss_review(call: Call, review_id: ReviewId) -> Response:
    """Dismiss the review until something changes."""
    _open_review(call.service, review_id)
    with usage_errors_as(409):
        call.store.reviews.dismiss(review_id, call.caller.name)
    call.note(f"review {review_id}")
    return Response(status_code=204)


@router.change("POST", "/api/v1/admin/merges/{merge_id}/undo", EventIdsOut, "Undo a merge", 404, 409)
def undo_merge(call: Call, merge_id: Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the merge.")]) -> Response:
    """Undo a merge. The events stay separate."""
    if not call.store.merges.has(merge_id):
        raise HttpProblem(404, "Merge {id} not found.", id=merge_id)
    with usage_errors_as(409):
        ids = call.store.merges.undo(merge_id, EventMatcher(), call.caller.name)
    call.note(f"merge {merge_id}", events=list(ids))
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
