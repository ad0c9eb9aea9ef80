"""Management of events: list, add, edit, hide. Fields that a person edits are not overwritten by sources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import UsageError
from tadoru.i18n.translation import N_
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import FIELDS, FLAGS, draft_fields, parse_changes, parse_new_event
from tadoru.jobs.events.publish.json_documents import event_time
from tadoru.jobs.events.reviews import shorten
from tadoru.model.event import EventStatus
from tadoru.serve.auth.principal import note_change
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.calendar.view_models import format_draft_time, format_event_time, format_place
from tadoru.serve.web.rendering import Problem, caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import PAGE_SIZE, SubmittedForm, find_or_404, parse_id
from tadoru.serve.web.reviews import MAX_TEXT, merge_rows
from tadoru.serve.web.sources import actor_name, source_names
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import CalendarEvent, EventProvenance

router = APIRouter(include_in_schema=False)
EVENTS_URL = "/manage/events"
STATUS_LABELS = {
    EventStatus.ACTIVE: N_("Published"), EventStatus.HIDDEN: N_("Hidden"), EventStatus.QUARANTINE: N_("Quarantined"),
}  # fmt: skip
_SORT_LABELS = {"-updated": N_("Recently updated first"), "updated": N_("Least recently updated first")}
FIELD_LABELS = {
    "title": N_("Title"), "starts": N_("Starts"), "ends": N_("Ends"), "timezone": N_("Time zone"), "venue": N_("Venue"),
    "address": N_("Address"), "city": N_("City"), "lat": N_("Latitude"), "lon": N_("Longitude"), "category": N_("Category"),
    "price": N_("Price"), "organizer": N_("Organiser"), "url": N_("Website"), "image": N_("Image URL"),
    "when_note": N_("Date note"), "description": N_("Description"), "all_day": N_("All day"), "cancelled": N_("Cancelled"),
}  # fmt: skip
"""The fields of the form."""


@router.get("/manage/events")
def events_page(request: Request) -> Response:
    """Events in any state by their last update, newest first by default."""
    service, formatter = service_of(request), formatter_of(request)
    asked = request.query_params
    _, status = formatter.gettext, asked.get("status", "")
    statuses = tuple(one for one in EventStatus if one.value == status) or tuple(EventStatus)
    source, q = parse_id(asked.get("source")), asked.get("q", "").replace("\0", "").strip()[:200]
    sort = "updated" if asked.get("sort") == "updated" else "-updated"
    wanted = EventFilter(q=q or None, source_id=source, statuses=statuses, archived=None)
    try:
        page = service.store.events.list_by_change(
            wanted, limit=PAGE_SIZE, cursor=asked.get("cursor") or None, backwards=sort == "-updated"
        )
    except UsageError as error:
        raise HttpProblem(400, error) from None
    items = [
        {
            "event": one.event,
            "when": format_event_time(event_time(one.event), one.event.timezone, formatter),
            "place": format_place(one.event),
        }
        for one in page.items
        if one.event.merged_into is None
    ]
    query = request.url.include_query_params(cursor=page.next_cursor or "").query
    return render(
        request, "events/list.html", place=EVENTS_URL, items=items, q=q, state=status, source=source or "",
        statuses=[("", _("All")), *((one.value, _(STATUS_LABELS[one])) for one in EventStatus)],
        sources=[("", _("All sources")), *((key, name) for key, name in source_names(service).items())],
        next_url=f"{EVENTS_URL}?{query}" if page.next_cursor else "", sort=sort,
        sorts=[(one, _(_SORT_LABELS[one])) for one in ("-updated", "updated")],
    )  # fmt: skip


@router.get("/manage/events/new")
def new_event_page(request: Request) -> Response:
    """The form of a new event."""
    return _new(request, dict.fromkeys((*FIELDS, *FLAGS), "") | {"timezone": service_of(request).options.timezone})


def _new(request: Request, values: Mapping[str, str], problem: Problem = "") -> Response:
    return render(
        request, "events/form.html", status=400 if problem else 200, place=EVENTS_URL, problem=problem, event=None,
        values=values, heading=formatter_of(request).gettext("Add event"), action=f"{EVENTS_URL}/new",
        field_labels=FIELD_LABELS, may_edit=True, edited=[],
    )  # fmt: skip


@router.post("/manage/events/new")
def add_event_page(request: Request) -> Response:
    """Save the form."""
    service, typed = service_of(request), _typed(SubmittedForm(request))
    try:
        values = {name: value for name, value in typed.items() if value and (name not in FLAGS or value == "yes")}
        draft = parse_new_event(values, service.options.timezone, service.store.db.now())
        event = service.store.edits.create(draft, EventMatcher(), caller_of(request).name)
    except UsageError as error:
        return _new(request, typed, error)
    note_change(request, f"event {event.id}", title=event.title)
    return redirect_after(f"{EVENTS_URL}/{event.id}", "event_added")


@router.get("/manage/events/{event_id}")
def edit_event_page(request: Request, event_id: int) -> Response:
    """The form of an event, with its values by source, merges and history."""
    return _edit(request, _found(service_of(request), event_id))


@router.post("/manage/events/{event_id}")
def save_event_page(request: Request, event_id: int) -> Response:
    """Save the fields that were changed, and release those that were selected to follow the source again."""
    service, given = service_of(request), SubmittedForm(request)
    store, by, judge = service.store, caller_of(request).name, EventMatcher()
    story = _found(service, event_id)
    event, before, typed = story.event, _values(story.event), _typed(given)
    changed = {name: value for name, value in typed.items() if value != before[name]}
    released = [name for name in given.all("release") if name in FIELDS or name in FLAGS]
    try:
        for name in released:
            changed.pop(name, None)
        changes = parse_changes(event, story.occurrences, changed, service.options.timezone, store.db.now()) if changed else {}
        if released:
            store.edits.release_fields(event_id, draft_fields(released), judge, by)
        if changes:
            store.edits.edit(event_id, changes, judge, by)
    except UsageError as error:
        return _edit(request, story, typed, error)
    note_change(request, f"event {event_id}", fields=sorted(changed), released=sorted(released))
    return redirect_after(f"{EVENTS_URL}/{event_id}", "event_saved" if changes or released else "event_same")


@router.post("/manage/events/{event_id}/hide")
@router.post("/manage/events/{event_id}/unhide")
def switch_event_page(request: Request, event_id: int) -> Response:
    """Hide an event or publish it again, depending on the last segment of the URL."""
    service, by = service_of(request), caller_of(request).name
    story, is_hiding = _found(service, event_id), request.url.path.endswith("/hide")
    note_change(request, f"event {event_id}")
    try:
        (service.store.edits.hide if is_hiding else service.store.edits.unhide)(event_id, by)
    except UsageError as error:
        return _edit(request, story, problem=error)
    return redirect_after(f"{EVENTS_URL}/{event_id}", "event_hidden" if is_hiding else "event_shown")


def _found(service: Service, event_id: int) -> EventProvenance:
    return find_or_404(service.store.events.provenance, event_id)


def _edit(request: Request, story: EventProvenance, typed: Mapping[str, str] | None = None, problem: Problem = "") -> Response:
    service, formatter = service_of(request), formatter_of(request)
    _, event, names = formatter.gettext, story.event, source_names(service)
    may_edit = caller_of(request).role >= Role.EDITOR and event.starts_at is not None and event.merged_into is None
    by_source = [
        {"source": names.get(one.source_id or 0, _("Entered manually")), "last_seen": one.last_seen,
         "title": one.draft.title if one.draft else "", "when": format_draft_time(one.draft, formatter) if one.draft else "",
         "is_gone": one.gone_at is not None}
        for one in story.sightings
    ]  # fmt: skip
    history = [
        {
            "at": one["at"],
            "by": actor_name(one["by"], names),
            "what": "; ".join(_change(name, values) for name, values in one["changes"].items()),
        }
        for one in reversed(story.history)
    ]
    return render(
        request, "events/form.html", status=400 if problem else 200, place=EVENTS_URL, problem=problem, event=event,
        values=typed or _values(event), may_edit=may_edit,
        heading=_("Edit {title}", title=event.title or "–") if may_edit else event.title or _("Untitled"),
        action=f"{EVENTS_URL}/{event.id}", field_labels=FIELD_LABELS, edited=_edited_fields(story), by_source=by_source,
        history=history[:50], merges=merge_rows(service, reversed(story.merges), formatter),
        open_reviews=[one for one in story.reviews if not one.resolved_at],
    )  # fmt: skip


def _edited_fields(story: EventProvenance) -> list[str]:
    """The fields that a person edited; none for an event without sources, because they cannot be released."""
    if all(one.source_id is None for one in story.sightings):
        return []
    owned = {name for name, owner in story.owners.items() if owner.owner == "person"}
    # An edited time includes its zone; that alone does not make the zone an edited field.
    of = {name: draft_fields([name]) - (set() if name == "timezone" else {"timezone"}) for name in (*FIELDS, *FLAGS)}
    return [name for name, fields in of.items() if owned & fields]


def _change(name: str, values: Any) -> str:
    if isinstance(values, list | tuple) and len(values) == 2:
        old, new = (shorten(str(value), MAX_TEXT) if value not in (None, "") else "–" for value in values)
        return f"{name}: {old} → {new}"
    return f"{name}: {values}"


def _typed(given: SubmittedForm) -> dict[str, str]:
    return given.texts(FIELDS) | {name: "yes" if given.has(name) else "no" for name in FLAGS}


def _values(event: CalendarEvent) -> dict[str, str]:
    """The values of the form of an event."""
    here = zone_or_utc(event.timezone)
    form = "%Y-%m-%d %H:%M" if event.has_time else "%Y-%m-%d"
    found = {name: getattr(event, name, None) for name in FIELDS}
    found["starts"] = event.starts_at.astimezone(here).strftime(form) if event.starts_at else ""
    found["ends"] = _end(event)
    flags = {"all_day": "yes" if event.all_day else "no", "cancelled": "yes" if event.cancelled_at else "no"}
    return {name: "" if value is None else str(value).replace("\r\n", "\n").strip() for name, value in found.items()} | flags


def _end(event: CalendarEvent) -> str:
    """The end in the form: without a time the last day, and empty if the event lasts one day."""
    if event.ends_at is None:
        return ""
    end = event.ends_at.astimezone(zone_or_utc(event.timezone))
    if event.has_time:
        return end.strftime("%Y-%m-%d %H:%M")
    last = (end - timedelta(microseconds=1)).date()
    return last.isoformat() if last != event.local_date else ""
