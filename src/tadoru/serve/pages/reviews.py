"""The questions for people: listed, shown side by side, answered; and merges, which can be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import UsageError
from tadoru.jobs.events.by_hand import mended, rules_of
from tadoru.jobs.events.dedupe.judge import EventJudge
from tadoru.jobs.events.normalise import SourceRules, normalise
from tadoru.model.event import Quarantined, RawEvent
from tadoru.serve.access.audit import note
from tadoru.serve.pages.desk import A_PAGE, LARGEST, names_of, number_in
from tadoru.serve.pages.forms import Given
from tadoru.serve.pages.rendering import caller_of, render, seen, telling_of
from tadoru.serve.pages.sides import raw_fields, reason_text, rows_of, sides_of
from tadoru.serve.problems import Refused
from tadoru.serve.service import Service, service_of
from tadoru.store.events.values import MergeRecord, Review
from tadoru.store.events.walking import told_all

router = APIRouter(include_in_schema=False)
PLACE = "/manage/reviews"
ANSWERS = ("merge", "keep-apart", "fix", "retry", "dismiss")
_FIXABLE = ("title", "starts", "ends", "venue", "city")
MOST_MERGES = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in the list."""

    review: Review
    titles: str
    why: str


@dataclass(frozen=True, slots=True)
class ShownMerge:
    """A merge in a table."""

    merge: MergeRecord
    title: str
    why: str


@router.get("/manage/reviews")
def reviews_page(request: Request) -> Response:
    """What waits for an answer, the oldest first; or what was answered."""
    service = service_of(request)
    which = "answered" if request.query_params.get("which") == "answered" else "open"
    after = number_in(request.query_params.get("after")) or 0
    found = service.store.reviews(is_open=which == "open", limit=A_PAGE + 1, after=after)
    about = told_all(service.store, {event_id for one in found for event_id in one.candidate_ids})
    shown = []
    for one in found[:A_PAGE]:
        known = [about[event_id].event.title for event_id in one.candidate_ids if event_id in about]
        titles = " / ".join(dict.fromkeys(title for title in known if title))
        reasons = [reason_text(reason) for reason in one.detail.get("reasons", ())][:2]
        shown.append(Asked(one, titles, str(one.detail.get("why") or " · ".join(reasons))))
    more = f"{PLACE}?after={found[A_PAGE - 1].id}&which={which}" if len(found) > A_PAGE else ""
    return render(request, "reviews.html", place=PLACE, reviews=shown, which=which, next_url=more, answers=ANSWERS)


@router.get("/manage/reviews/{review_id}")
def review_page(request: Request, review_id: int) -> Response:
    """One question, with both sides."""
    return _shown(request, _found(service_of(request), review_id))


def _shown(request: Request, review: Review, *, problem: str = "", given: dict[str, str] | None = None) -> Response:
    service, telling = service_of(request), telling_of(request)
    names = names_of(service)
    raw = review.detail.get("raw")
    sides = [] if raw else sides_of(service.store, review, names, telling)
    score = review.detail.get("score")
    merged = [] if raw or review.resolution != "merge" else _merges_of(service, review)
    return render(
        request, "review.html", status=400 if problem else 200, place=PLACE, problem=problem, review=review,
        raw=raw_fields(raw) if raw else [], source_name=names.get(review.source_id or 0, "–"), is_open=review.resolved_at is None,
        given=given or dict.fromkeys(_FIXABLE, ""), sides=sides, rows=rows_of(sides),
        reasons=[reason_text(one) for one in review.detail.get("reasons", ())],
        score=f"{score:.2f}" if isinstance(score, int | float) else None,
        keepable=[one for one in sides if one.event_id is not None], merges=merged, answers=ANSWERS,
    )  # fmt: skip


def _merges_of(service: Service, review: Review) -> list[ShownMerge]:
    about = {one.id: one for event_id in review.candidate_ids for one in service.store.merges(event_id=event_id, limit=10)}
    return shown_merges(service, sorted(about.values(), key=lambda one: -one.id))


@router.post("/manage/reviews/{review_id}/merge")
@router.post("/manage/reviews/{review_id}/keep-apart")
@router.post("/manage/reviews/{review_id}/fix")
@router.post("/manage/reviews/{review_id}/retry")
@router.post("/manage/reviews/{review_id}/dismiss")
def answer_review(request: Request, review_id: int) -> Response:
    """Answer it; the answer is the end of the address."""
    service, answer = service_of(request), request.url.path.rpartition("/")[2]
    review, given = _found(service, review_id), Given(request)
    note(request, f"review {review.id}", answer=answer)
    try:
        return _answered(request, service, review, answer, given)
    except UsageError as error:
        return _shown(request, service.store.review(review.id), problem=str(error), given=given.texts(_FIXABLE))


def _answered(request: Request, service: Service, review: Review, answer: str, given: Given) -> Response:
    store, by, judge = service.store, caller_of(request).name, EventJudge()
    say = telling_of(request).say
    match answer:
        case "merge":
            store.review_merge(review.id, judge, by, keep=number_in(given.text("keep")))
            return seen(f"{PLACE}/{review.id}", "merged")
        case "keep-apart":
            store.review_keep_apart(review.id, judge, by)
            return seen(PLACE, "kept_apart")
        case "fix":
            values = {name: value for name, value in given.texts(_FIXABLE).items() if value}
            if not values:
                raise UsageError(say("review.fix.nothing"))
            event_id = store.review_fix(review.id, mended(_raw(service, review), values, _rules(service, review)), judge, by)
            return seen(f"/manage/events/{event_id}", "fixed")
        case "retry":
            outcome = normalise(_raw(service, review), _rules(service, review))
            if not store.review_retry(review.id, outcome, judge, by):
                raise UsageError(say("review.still", why=outcome.why if isinstance(outcome, Quarantined) else ""))
            return seen(PLACE, "retried")
        case _:
            store.review_dismiss(review.id, by)
            return seen(PLACE, "dismissed")


def _raw(service: Service, review: Review) -> RawEvent:
    raw = service.store.review_raw(review.id)
    if raw is None:
        raise UsageError(f"Question {review.id} is not about a row that lacks something.")
    return raw


def _rules(service: Service, review: Review) -> SourceRules:
    source = service.store.source(review.source_id) if review.source_id is not None else None
    return rules_of(source, service.options.timezone, service.store.now())


def _found(service: Service, review_id: int) -> Review:
    try:
        found = service.store.review(review_id) if 0 < review_id < LARGEST else None
    except UsageError:
        found = None
    if found is None:
        raise Refused(404, "")
    return found


@router.get("/manage/merges")
def merges_page(request: Request) -> Response:
    """What was merged, the newest first."""
    service = service_of(request)
    return render(request, "merges.html", place=PLACE, merges=shown_merges(service, service.store.merges(limit=MOST_MERGES)))


def shown_merges(service: Service, merges: Iterable[MergeRecord]) -> list[ShownMerge]:
    """Merges with the titles of what was kept."""
    found = list(merges)
    about = told_all(service.store, {one.kept_id for one in found})
    return [
        ShownMerge(
            one, about[one.kept_id].event.title if one.kept_id in about else str(one.kept_id),
            " · ".join(reason_text(reason) for reason in one.reasons[:3]),
        )
        for one in found
    ]  # fmt: skip


@router.post("/manage/merges/{merge_id}/undo")
def undo_merge(request: Request, merge_id: int) -> Response:
    """Take a merge back."""
    service = service_of(request)
    if not 0 < merge_id < LARGEST:
        raise Refused(404, "")
    note(request, f"merge {merge_id}")
    try:
        service.store.undo_merge(merge_id, EventJudge(), caller_of(request).name)
    except UsageError as error:
        shown = shown_merges(service, service.store.merges(limit=MOST_MERGES))
        return render(request, "merges.html", status=409, place=PLACE, problem=str(error), merges=shown)
    return seen("/manage/merges", "undone")
