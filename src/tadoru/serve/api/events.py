"""Events over REST: lists, one event, adding, editing and hiding. `GET /events` and `GET /events/{id}` return the page to
browsers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.convertors import IntegerConvertor, register_url_convertor

from tadoru.errors import UsageError
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import FLAGS, draft_fields, parse_changes, parse_new_event, resolve_field
from tadoru.jobs.events.publish.json_documents import event_json, provenance_json
from tadoru.model.event import EventStatus
from tadoru.serve.api.event_queries import EventListQuery, StrictQuery, list_reader_of, read_event_page
from tadoru.serve.api.models import MAX_NUMBER, EventChange, EventOut, EventPageOut, EventStoryOut, NameListOut, NewEvent
from tadoru.serve.api.responses import ApiCall, ApiRouter, Call, Responses, api_call, uncached_response, usage_errors_as
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem, prefers_html
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.calendar.records import EventRecord

router = ApiRouter(tags=["events"])
list_router = ApiRouter(tags=["events"])
"""Matched before all other routes: the most frequent request."""
EventId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the event.")]


class EventIdConvertor(IntegerConvertor):
    """An ID in a path, of limited length: Python refuses to parse more than 4,300 digits."""

    regex = "[0-9]{1,19}"


register_url_convertor("int", EventIdConvertor())
MOVED: Responses = {307: {"description": "The event was merged into the event at Location."}}


@list_router.read("/api/v1/events", EventPageOut, "List events")
async def list_events(request: Request) -> Response:
    """Events by date, by update or by relevance. Each event is listed once, at its first matching date."""
    call = await api_call(request)
    return call.list(await list_reader_of(request).read(_list_query(request, StrictQuery), call.caller))


@router.read("/events", EventPageOut, "List events (page for browsers)")
def seed_events(call: Call) -> Response:
    """The same list; browsers get the page."""
    from tadoru.serve.web.calendar import pages

    if prefers_html(call.request):
        return pages.list_page(call.request)
    return call.list(read_event_page(_list_query(call.request, EventListQuery), call.caller, call.service))


def _list_query(request: Request, kind: type[EventListQuery]) -> EventListQuery:
    """The query parameters, validated at once: FastAPI's own way takes longer than the database query."""
    try:
        return kind.model_validate(dict(request.query_params))
    except ValidationError as error:
        wrong = [{**one, "loc": ("query", *one["loc"])} for one in error.errors(include_context=False)]
        raise RequestValidationError(wrong) from None


@router.read("/api/v1/events/{event_id}", EventOut, "Read an event", 404, other=MOVED)
def one_event(call: Call, event_id: EventId) -> Response:
    """One event with all of its dates, including archived ones."""
    return _event_response(call, event_id)


@router.read("/events/{event_id:int}", EventOut, "Read an event (page for browsers)", 404, other=MOVED)
def seed_event(call: Call, event_id: EventId) -> Response:
    """The same event; browsers get the page."""
    from tadoru.serve.web.calendar import pages

    return pages.event_page(call.request, event_id) if prefers_html(call.request) else _event_response(call, event_id)


def _event_response(call: ApiCall, event_id: int) -> Response:
    found = visible_event(event_id, call.caller, call.service)
    if found.event.id != event_id:
        where = f"{call.request.url.path.rpartition('/')[0]}/{found.event.id}"
        return Response(status_code=307, headers={"Location": where, "Cache-Control": "no-cache"})
    return call.json(event_json(found), modified=found.event.updated_at)


def visible_event(event_id: int, who: Principal, service: Service) -> EventRecord:
    """The event if the principal may see it; for a merged event, the event it was merged into. Raises HttpProblem."""
    found, seen = service.store.events.record(event_id), set[int]()
    while found is not None and found.event.merged_into is not None and found.event.id not in seen:
        seen.add(found.event.id)
        found = service.store.events.record(found.event.merged_into)
    is_public = found is not None and found.event.status is EventStatus.ACTIVE
    if found is None or not (is_public or who.may(Role.VIEWER, "events:read")):
        raise HttpProblem(404, "Event {id} not found.", id=event_id)
    return found


@router.read("/api/v1/events/{event_id}/story", EventStoryOut, "Read the history of an event", 404)
def event_story(call: Call, event_id: EventId) -> Response:
    """One event with its values by source, edits, merges, reviews and changes."""
    found = _existing_event(call.service, event_id)
    names = {source.id: source.name for source in call.store.sources.list()}
    return call.json(provenance_json(call.store.events.provenance(event_id), found, names), modified=found.event.updated_at)


@router.change("POST", "/api/v1/events", EventOut, "Add an event", status=201)
def add_event(call: Call, given: NewEvent) -> Response:
    """Add an event. It is published without a check for duplicates."""
    store = call.store
    with usage_errors_as(422):
        draft = parse_new_event(written_values(given), call.service.options.timezone, store.db.now())
    event = store.edits.create(draft, EventMatcher(), call.caller.name)
    call.note(f"event {event.id}", title=event.title)
    return uncached_response(_document(call.service, event.id), status=201, headers={"Location": f"/api/v1/events/{event.id}"})


@router.change("PATCH", "/api/v1/events/{event_id}", EventOut, "Edit an event", 404, 409)
def change_event(call: Call, event_id: EventId, given: EventChange) -> Response:
    """Edit fields of an event. Your edits override sources until you release them."""
    store, event = call.store, _unmerged_event(call.service, event_id).event
    values = written_values(given)
    with usage_errors_as(422):
        released = [resolve_field(name) for name in given.release]
        if not values and not released:
            raise UsageError("Nothing to change. Send at least one field, or release one.")
        if both := sorted(values.keys() & set(released)):
            raise UsageError("{field} cannot be set and released at the same time. Do one of them.", field=both[0])
    _check_not_quarantined(event.status, event_id)
    with usage_errors_as(422):
        now = store.db.now()
        changes = parse_changes(event, store.events.times(event_id), values, call.service.options.timezone, now) if values else {}
    with usage_errors_as(409):
        if released:
            store.edits.release_fields(event_id, draft_fields(released), EventMatcher(), call.caller.name)
        if changes:
            store.edits.edit(event_id, changes, EventMatcher(), call.caller.name)
    call.note(f"event {event_id}", fields=sorted(values), released=sorted(released))
    return uncached_response(_document(call.service, event_id))


@router.change("POST", "/api/v1/events/{event_id}/hide", EventOut, "Hide an event", 404, 409)
def hide_event(call: Call, event_id: EventId) -> Response:
    """Hide an event. Sources do not publish it again."""
    _check_not_quarantined(_unmerged_event(call.service, event_id).event.status, event_id)
    with usage_errors_as(409):
        call.store.edits.hide(event_id, call.caller.name)
    call.note(f"event {event_id}")
    return uncached_response(_document(call.service, event_id))


@router.change("POST", "/api/v1/events/{event_id}/unhide", EventOut, "Unhide an event", 404, 409)
def unhide_event(call: Call, event_id: EventId) -> Response:
    """Publish a hidden event again."""
    _check_not_quarantined(_unmerged_event(call.service, event_id).event.status, event_id)
    with usage_errors_as(409):
        call.store.edits.unhide(event_id, call.caller.name)
    call.note(f"event {event_id}")
    return uncached_response(_document(call.service, event_id))


@router.read("/api/v1/cities", NameListOut, "List cities")
def cities(call: Call) -> Response:
    """The cities of all events."""
    return call.json({"items": list(call.store.events.cities())})


@router.read("/api/v1/categories", NameListOut, "List categories")
def categories(call: Call) -> Response:
    """The categories of all events."""
    return call.json({"items": list(call.store.events.categories())})


def written_values(given: NewEvent) -> dict[str, str]:
    """The sent fields as text; null clears a field, except for flags, where it is ignored."""
    named = {resolve_field(name): getattr(given, name) for name in given.model_fields_set if name != "release"}
    named = {name: value for name, value in named.items() if value is not None or name not in FLAGS}
    return {name: _written(value) for name, value in named.items()}


def _written(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat()
    return str(value)


def _existing_event(service: Service, event_id: int) -> EventRecord:
    """The event of an ID in any state. Raises HttpProblem."""
    found = service.store.events.record(event_id)
    if found is None:
        raise HttpProblem(404, "Event {id} not found.", id=event_id)
    return found


def _unmerged_event(service: Service, event_id: int) -> EventRecord:
    """The event of an ID if it was not merged. Raises HttpProblem."""
    found = _existing_event(service, event_id)
    if found.event.merged_into is not None:
        raise HttpProblem(
            409, "Event {id} was merged into event {into}. Use that event, or undo the merge.", id=event_id,
            into=found.event.merged_into,
        )  # fmt: skip
    return found


def _check_not_quarantined(status: EventStatus, event_id: int) -> None:
    if status is EventStatus.QUARANTINE:
        raise HttpProblem(409, "Event {id} is in quarantine. Resolve its review first.", id=event_id)


def _document(service: Service, event_id: int) -> dict[str, Any]:
    found = service.store.events.record(event_id)
    assert found is not None
    return event_json(found)
