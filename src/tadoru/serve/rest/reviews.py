"""Questions for a person over REST, the five ways to answer them, and taking a merge back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.jobs.events.by_hand import mended, rules_of
from tadoru.jobs.events.dedupe.judge import EventJudge
from tadoru.jobs.events.normalise import SourceRules, normalise
from tadoru.jobs.events.publish.records import review_document
from tadoru.model.event import RawEvent, ReviewReason
from tadoru.serve.access.audit import note
from tadoru.serve.problems import Refused
from tadoru.serve.rest.answers import UNCHANGED, done, json_answer, next_page, problems, refusing
from tadoru.serve.rest.events import Asker, The, written_values
from tadoru.serve.rest.models import LARGEST, ReviewPage, ReviewWhole
from tadoru.serve.rest.models_admin import Answered, Fix, Keep, Kept
from tadoru.serve.rest.reading import ReviewState, reviews_part
from tadoru.serve.rest.reading import one_review as the_review
from tadoru.serve.rest.sources import Cursor, Limit
from tadoru.serve.service import Service
from tadoru.store.events import values

router = APIRouter(tags=["reviews"])
REVIEWS = "/api/v1/admin/reviews"
ReviewId = Annotated[int, Path(ge=1, le=LARGEST, description="The review's number.")]


@router.get(REVIEWS, response_model=ReviewPage, responses=UNCHANGED | problems(), summary="List reviews")
def list_reviews(
    request: Request,
    who: Asker,
    service: The,
    state: Annotated[ReviewState, Query(description="Those that wait, or others.")] = "open",
    reason: Annotated[ReviewReason | None, Query(description="Only for this reason.")] = None,
    limit: Limit = 50,
    cursor: Cursor = 0,
) -> Response:
    """Questions for a person, the oldest first."""
    found = reviews_part(service, state=state, reason=reason, limit=limit, cursor=cursor)
    next_url = next_page(request, found.next_cursor)
    return json_answer(request, who, {"items": found.items, "next": next_url}, next_url=next_url)


@router.get(REVIEWS + "/{review_id}", response_model=ReviewWhole, responses=UNCHANGED | problems(404), summary="Read a review")
def one_review(request: Request, review_id: ReviewId, who: Asker, service: The) -> Response:
    """One question with the events it is about, and the rows when it is about rows."""
    return json_answer(request, who, review_document(service.store, the_review(service, review_id)))


@router.post(REVIEWS + "/{review_id}/merge", response_model=Kept, responses=problems(404, 409), summary="They are one event")
def merge_review(request: Request, review_id: ReviewId, given: Keep, who: Asker, service: The) -> Response:
    """They are one event. Nothing is lost: the merge can be undone."""
    _open(service, review_id)
    with refusing(409):
        kept = service.store.review_merge(review_id, EventJudge(), who.name, keep=given.keep)
    note(request, f"review {review_id}", kept=kept)
    return done({"event_ids": [kept]})


@router.post(REVIEWS + "/{review_id}/keep-apart", response_model=Kept, responses=problems(404, 409), summary="They are different")
def keep_apart(request: Request, review_id: ReviewId, who: Asker, service: The) -> Response:
    """They are different events, whatever a comparison says."""
    _open(service, review_id)
    with refusing(409):
        ids = service.store.review_keep_apart(review_id, EventJudge(), who.name)
    note(request, f"review {review_id}", events=list(ids))
    return done({"event_ids": list(ids)})


@router.post(REVIEWS + "/{review_id}/fix", response_model=Answered, responses=problems(404, 409), summary="Say what is missing")
def fix_review(request: Request, review_id: ReviewId, given: Fix, who: Asker, service: The) -> Response:
    """Say what a row lacks; it becomes an event. What you say is yours, the rest stays the source's."""
    raw = _row(service, review_id)
    with refusing(422):
        draft = mended(raw, written_values(given), _rules(service, review_id))
    with refusing(409):
        event_id = service.store.review_fix(review_id, draft, EventJudge(), who.name)
    note(request, f"review {review_id}", event=event_id)
    return done({"event_id": event_id, "is_event": True})


@router.post(REVIEWS + "/{review_id}/retry", response_model=Answered, responses=problems(404, 409), summary="Read the row again")
def retry_review(request: Request, review_id: ReviewId, who: Asker, service: The) -> Response:
    """Read a row again, with the settings that its source has now."""
    raw = _row(service, review_id)
    with refusing(409):
        is_event = service.store.review_retry(review_id, normalise(raw, _rules(service, review_id)), EventJudge(), who.name)
    note(request, f"review {review_id}", is_event=is_event)
    return done({"event_id": the_review(service, review_id).candidate_ids[0], "is_event": is_event})


@router.post(REVIEWS + "/{review_id}/dismiss", status_code=204, responses=problems(404, 409), summary="Leave it as it is")
def dismiss_review(request: Request, review_id: ReviewId, who: Asker, service: The) -> Response:
    """Leave everything as it is, and do not ask again until something changes."""
    _open(service, review_id)
    with refusing(409):
        service.store.review_dismiss(review_id, who.name)
    note(request, f"review {review_id}")
    return Response(status_code=204)


@router.post("/api/v1/admin/merges/{merge_id}/undo", response_model=Kept, responses=problems(404, 409), summary="Undo a merge")
def undo_merge(
    request: Request,
    merge_id: Annotated[int, Path(ge=1, le=LARGEST, description="The merge's number.")],
    who: Asker,
    service: The,
) -> Response:
    """Take a merge back. The two are kept apart from now on."""
    if not service.store.has_merge(merge_id):
        raise Refused(404, f"There is no merge {merge_id}.")
    with refusing(409):
        ids = service.store.undo_merge(merge_id, EventJudge(), who.name)
    note(request, f"merge {merge_id}", events=list(ids))
    return done({"event_ids": list(ids)})


def _open(service: Service, review_id: int) -> values.Review:
    found = the_review(service, review_id)
    if found.resolved_at is not None:
        raise Refused(409, f"Review {review_id} was answered already ({found.resolution}).")
    return found


def _row(service: Service, review_id: int) -> RawEvent:
    """The row that a question is about. Raises Refused."""
    _open(service, review_id)
    raw = service.store.review_raw(review_id)
    if raw is None:
        raise Refused(409, f"Review {review_id} is not about a row that lacks something: answer it with merge or keep-apart.")
    return raw


def _rules(service: Service, review_id: int) -> SourceRules:
    store = service.store
    source_id = store.review(review_id).source_id
    return rules_of(store.source(source_id) if source_id is not None else None, service.options.timezone, store.now())
