"""The review queue: possible duplicates side by side, incomplete items, and merges that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import UsageError
from tadoru.i18n.translation import N_, Formatter
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.dedupe.reasons import main_difference, probability_first, reason_message
from tadoru.jobs.events.event_input import parse_completed_row
from tadoru.jobs.events.normalise.normaliser import normalise
from tadoru.jobs.events.publish.json_documents import event_time
from tadoru.jobs.events.reviews import compared_texts, incomplete_row, raw_fields, review_subjects
from tadoru.model.event import QuarantinedEvent, ReviewReason
from tadoru.serve.auth.principal import note_change
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.calendar.view_models import format_draft_time, format_event_time
from tadoru.serve.web.rendering import Problem, caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import MAX_ID, PAGE_SIZE, SubmittedForm, find_or_404, parse_id
from tadoru.serve.web.sources import actor_name, source_names
from tadoru.store.calendar.records import MergeRecord, ReviewItem
from tadoru.store.calendar.review_items import detail_message
from tadoru.store.calendar.store import CalendarStore

router = APIRouter(include_in_schema=False)
REVIEWS_URL = "/manage/reviews"
_RESOLUTIONS = {
    "merge": N_("merged"), "keep-apart": N_("kept separate"), "fix": N_("completed"), "retry": N_("re-parsed"),
    "dismiss": N_("dismissed"),
}  # fmt: skip
_FIXABLE = ("title", "starts", "ends", "venue", "city")
MAX_MERGES = 100
_FIELD_LABELS = {
    "title": N_("Title"), "when": N_("When"), "timezone": N_("Time zone"), "venue": N_("Venue"), "address": N_("Address"),
    "city": N_("City"), "category": N_("Category"), "price": N_("Price"), "organizer": N_("Organiser"), "url": N_("Website"),
    "description": N_("Description"), "source": N_("Source"),
}  # fmt: skip
_RAW_LABELS = _FIELD_LABELS | {
    "start": N_("Starts"), "end": N_("Ends"), "start_time": N_("Start time"), "end_time": N_("End time"),
    "when_note": N_("Note about the date"), "recurrence": N_("Recurrence"), "image": N_("Image"), "extra": N_("Other fields"),
}  # fmt: skip
MAX_TEXT = 300


@dataclass(frozen=True, slots=True)
class ReviewSide:
    """One column of a comparison: an event, or a row of a source."""

    event_id: int | None
    """None for a row that may belong to another event."""
    source: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """One field of both sides."""

    label: str
    parts: tuple[str, ...]
    differs: bool


def review_sides(store: CalendarStore, found: ReviewItem, names: Mapping[int, str], formatter: Formatter) -> list[ReviewSide]:
    """The events of a review; or an event and the rows that may not belong to it."""
    events, sightings = review_subjects(store, found)
    sides = []
    for event in (record.event for record in events):
        source = names.get(event.source_id or 0, "–")
        more = {"when": format_event_time(event_time(event), event.timezone, formatter), "source": source}
        sides.append(ReviewSide(event.id, source, compared_texts(event, MAX_TEXT) | more))
    rows = []
    for one, draft in sightings:
        source = names.get(one.source_id or 0, "–")
        more = {"when": format_draft_time(draft, formatter), "source": source}
        rows.append(ReviewSide(None, source, compared_texts(draft, MAX_TEXT) | more))
    return rows if len(rows) > 1 else [*sides, *rows]


def compare_fields(sides: Sequence[ReviewSide]) -> list[FieldComparison]:
    """The fields that at least one side has."""
    found = []
    for name, label in _FIELD_LABELS.items():
        parts = tuple(side.values.get(name, "") for side in sides)
        if any(parts):
            found.append(FieldComparison(label, parts, len(set(parts)) > 1 and name != "source"))
    return [one for one in found if one.differs or one.label != _FIELD_LABELS["timezone"]]


def _reasons(review: ReviewItem, formatter: Formatter, chosen: Callable[[Iterable[Any]], list[Any]]) -> list[str]:
    """The evidence of a review in the language of the page."""
    stored = review.detail.get("conflicts")
    found = list(stored) if stored else chosen(review.detail.get("reasons", ()))
    return [formatter.translator.text(reason_message(one)) for one in found]


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A review in the list."""

    review: ReviewItem
    titles: str
    days: str
    why: str


@dataclass(frozen=True, slots=True)
class MergeRow:
    """A merge in a table."""

    merge: MergeRecord
    by: str
    title: str
    why: str


@router.get("/manage/reviews")
def reviews_page(request: Request) -> Response:
    """Open reviews, oldest first; or resolved ones."""
    service, formatter = service_of(request), formatter_of(request)
    which = "answered" if request.query_params.get("which") == "answered" else "open"
    after = parse_id(request.query_params.get("after")) or 0
    given = request.query_params.get("reason", "")
    reason = ReviewReason(given) if given in set(ReviewReason) else None
    found = service.store.reviews.list(is_open=which == "open", reason=reason, limit=PAGE_SIZE + 1, after=after)
    about = service.store.events.records({event_id for one in found for event_id in one.candidate_ids})
    shown = []
    for one in found[:PAGE_SIZE]:
        known = [about[event_id].event for event_id in one.candidate_ids if event_id in about]
        titles = " / ".join(dict.fromkeys(event.title for event in known if event.title))
        days = " / ".join(dict.fromkeys(formatter.day(event.local_date) for event in known if event.local_date))
        why = formatter.translator.text(detail_message(one.detail)) or " · ".join(_reasons(one, formatter, main_difference)[:3])
        shown.append(ReviewRow(one, titles, days, why))
    kept = {"which": which} | ({"reason": reason.value} if reason else {})
    return render(
        request, "reviews/list.html", place=REVIEWS_URL, reviews=shown, which=which, resolutions=_RESOLUTIONS, reason=reason,
        next_url=_list_url(kept, after=found[PAGE_SIZE - 1].id) if len(found) > PAGE_SIZE else "",
        all_url=_list_url(kept, after=after, select="all"), is_selected=request.query_params.get("select") == "all",
    )  # fmt: skip


def _list_url(kept: Mapping[str, str], **more: object) -> str:
    return f"{REVIEWS_URL}?{urlencode({**kept, **more})}"


@router.get("/manage/reviews/{review_id}")
def review_page(request: Request, review_id: int) -> Response:
    """One review with both sides."""
    return _shown(request, _found(service_of(request), review_id))


def _shown(request: Request, review: ReviewItem, *, problem: Problem = "", given: dict[str, str] | None = None) -> Response:
    service, formatter = service_of(request), formatter_of(request)
    names = source_names(service)
    raw = review.detail.get("raw")
    sides = [] if raw else review_sides(service.store, review, names, formatter)
    merged = [] if raw or review.resolution != "merge" else _merges_of(service, review, formatter)
    return render(
        request, "reviews/detail.html", status=400 if problem else 200, place=REVIEWS_URL, problem=problem, review=review,
        raw=[(_RAW_LABELS.get(name, name), value) for name, value in raw_fields(raw)] if raw else [],
        source_name=names.get(review.source_id or 0, "–"),
        is_open=review.resolved_at is None, given=given or dict.fromkeys(_FIXABLE, ""), sides=sides, rows=compare_fields(sides),
        reasons=_reasons(review, formatter, probability_first), next_url=_next_url(service, review),
        keepable=[one for one in sides if one.event_id is not None], merges=merged, resolutions=_RESOLUTIONS,
        why=formatter.translator.text(detail_message(review.detail)),
    )  # fmt: skip


def _next_url(service: Service, review: ReviewItem) -> str:
    """The next open review, so that many can be answered one after the other; the list if there is none."""
    found = service.store.reviews.list(limit=1, after=review.id)
    return f"{REVIEWS_URL}/{found[0].id}" if found else REVIEWS_URL


def _merges_of(service: Service, review: ReviewItem, formatter: Formatter) -> list[MergeRow]:
    about = {one.id: one for event_id in review.candidate_ids for one in service.store.merges.list(event_id=event_id, limit=10)}
    return merge_rows(service, sorted(about.values(), key=lambda one: -one.id), formatter)


@router.post("/manage/reviews/{review_id}/merge")
@router.post("/manage/reviews/{review_id}/keep-apart")
@router.post("/manage/reviews/{review_id}/fix")
@router.post("/manage/reviews/{review_id}/retry")
@router.post("/manage/reviews/{review_id}/dismiss")
@router.post("/manage/reviews/{review_id}/reopen")
def resolve_review(request: Request, review_id: int) -> Response:
    """Resolve a review as the last segment of the URL says."""
    service, resolution = service_of(request), request.url.path.rpartition("/")[2]
    review, given = _found(service, review_id), SubmittedForm(request)
    note_change(request, f"review {review.id}", answer=resolution)
    try:
        return _resolve(request, service, review, resolution, given)
    except UsageError as error:
        return _shown(request, service.store.reviews.get(review.id), problem=error, given=given.texts(_FIXABLE))


def _resolve(request: Request, service: Service, review: ReviewItem, resolution: str, given: SubmittedForm) -> Response:
    store, by, judge = service.store, caller_of(request).name, EventMatcher()
    match resolution:
        case "merge":
            store.reviews.merge(review.id, judge, by, keep=parse_id(given.text("keep")))
            return redirect_after(f"{REVIEWS_URL}/{review.id}", "merged")
        case "keep-apart":
            store.reviews.keep_apart(review.id, judge, by)
            return redirect_after(_next_url(service, review), "kept_apart")
        case "fix":
            values = {name: value for name, value in given.texts(_FIXABLE).items() if value}
            if not values:
                raise UsageError("Fill in at least one field.")
            row = incomplete_row(store, review.id, service.options.timezone)
            event_id = store.reviews.fix(review.id, parse_completed_row(*row, values), judge, by)
            return redirect_after(f"/manage/events/{event_id}", "fixed")
        case "retry":
            outcome = normalise(*incomplete_row(store, review.id, service.options.timezone))
            if not store.reviews.retry(review.id, outcome, judge, by):
                why = outcome.why if isinstance(outcome, QuarantinedEvent) else ""
                raise UsageError("The item is still incomplete. {why}", why=why)
            return redirect_after(_next_url(service, review), "retried")
        case "reopen":
            store.reviews.reopen(review.id)
            return redirect_after(f"{REVIEWS_URL}/{review.id}", "reopened")
        case _:
            store.reviews.dismiss(review.id, by)
            return redirect_after(_next_url(service, review), "dismissed")


@router.post("/manage/reviews/resolve")
def resolve_several(request: Request) -> Response:
    """Give one answer to several reviews. Those that it does not fit, or that somebody resolved before, stay as they are."""
    service, given, by, judge = service_of(request), SubmittedForm(request), caller_of(request).name, EventMatcher()
    resolution, ids = given.text("resolution"), list(dict.fromkeys(filter(None, map(parse_id, given.all("review")))))[:PAGE_SIZE]
    answers: dict[str, Callable[[int], object]] = {
        "merge": lambda number: service.store.reviews.merge(number, judge, by),
        "keep-apart": lambda number: service.store.reviews.keep_apart(number, judge, by),
        "dismiss": lambda number: service.store.reviews.dismiss(number, by),
    }
    if resolution not in answers:
        raise HttpProblem(404)
    note_change(request, "reviews", answer=resolution, ids=ids)
    left = 0
    for number in ids:
        try:
            answers[resolution](number)
        except UsageError:
            left += 1
    done = "resolved_none" if not ids else "resolved_some" if left else "resolved_several"
    reason = given.text("reason")
    return redirect_after(REVIEWS_URL, done, **({"reason": reason} if reason in set(ReviewReason) else {}))


def _found(service: Service, review_id: int) -> ReviewItem:
    return find_or_404(service.store.reviews.get, review_id)


@router.get("/manage/merges")
def merges_page(request: Request) -> Response:
    """Merges, newest first."""
    service = service_of(request)
    merges = merge_rows(service, service.store.merges.list(limit=MAX_MERGES), formatter_of(request))
    return render(request, "reviews/merges.html", place=REVIEWS_URL, merges=merges)


def merge_rows(service: Service, merges: Iterable[MergeRecord], formatter: Formatter) -> list[MergeRow]:
    """Merges with the titles of the events that were kept."""
    found = list(merges)
    about, names = service.store.events.records({one.kept_id for one in found}), source_names(service)
    return [
        MergeRow(
            one, actor_name(one.by, names), about[one.kept_id].event.title if one.kept_id in about else str(one.kept_id),
            " · ".join(formatter.translator.text(reason_message(reason)) for reason in one.reasons[:3]),
        )
        for one in found
    ]  # fmt: skip


@router.post("/manage/merges/{merge_id}/undo")
def undo_merge(request: Request, merge_id: int) -> Response:
    """Undo a merge."""
    service = service_of(request)
    if not 0 < merge_id < MAX_ID:
        raise HttpProblem(404)
    note_change(request, f"merge {merge_id}")
    try:
        service.store.merges.undo(merge_id, EventMatcher(), caller_of(request).name)
    except UsageError as error:
        shown = merge_rows(service, service.store.merges.list(limit=MAX_MERGES), formatter_of(request))
        return render(request, "reviews/merges.html", status=409, place=REVIEWS_URL, problem=error, merges=shown)
    return redirect_after("/manage/merges", "undone")
