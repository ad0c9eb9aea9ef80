"""A route that is called thousands of times a second, without what FastAPI does for any route.

FastAPI solves the dependencies of a route anew for each request, which takes longer than the query of a list. Such a route has
none but those that every route has: the guard, who calls, and the service. They are handed to it here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.convertors import IntegerConvertor, register_url_convertor

from tadoru.errors import UsageError
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import FLAGS, draft_fields, parse_changes, parse_new_event, resolve_field
from tadoru.jobs.events.publish.json_documents import event_json, provenance_json
from tadoru.jobs.events.publish.list_pages import DocumentPage
from tadoru.model.event import EventStatus
from tadoru.serve.api.event_lists import list_reader_of, read_event_page
from tadoru.serve.api.event_queries import EventListQuery, StrictQuery
from tadoru.serve.api.models import MAX_NUMBER, EventChange, EventOut, EventPageOut, EventStoryOut, NameListOut, NewEvent
from tadoru.serve.api.responses import (
    NOT_MODIFIED,
    json_response,
    next_page_url,
    problem_responses,
    uncached_response,
    usage_errors_as,
)
from tadoru.serve.auth.guard import guard
from tadoru.serve.auth.principal import Principal, current_principal, note_change
from tadoru.serve.problems import HttpProblem, prefers_html
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, service_of
from tadoru.store.calendar.event_records import EventRecord, find_event_record


class DirectRoute(APIRoute):
    """Its function takes the request, the caller and the service."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        endpoint: Callable[..., Coroutine[Any, Any, Response]] = self.endpoint

        async def handle(request: Request) -> Response:
            await guard(request)
            return await endpoint(request, await current_principal(request), service_of(request))

        return handle


router = APIRouter(tags=["events"])
list_router = APIRouter(tags=["events"], route_class=DirectRoute)
"""Looked at before all others: the list that is asked for most."""
EventId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="The event's number.")]
CurrentPrincipal = Annotated[Principal, Depends(current_principal)]


class EventIdConvertor(IntegerConvertor):
    """A number in a path. Python reads no more than 4,300 digits, and Starlette would take any number of them."""

    regex = "[0-9]{1,19}"


register_url_convertor("int", EventIdConvertor())


async def current_service(request: Request) -> Service:
    """The service, without a thread for it: a plain function would be given one for each request."""
    return service_of(request)


CurrentService = Annotated[Service, Depends(current_service)]
MOVED: dict[int | str, dict[str, Any]] = {307: {"description": "The event was merged into the one at Location."}}


@list_router.get(
    "/api/v1/events", response_model=EventPageOut, responses=NOT_MODIFIED | problem_responses(), summary="List events"
)
async def list_events(request: Request, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Events in the order of time, of change, or of how well they fit: each once, at the first of its times that fits."""
    return _list_response(request, await list_reader_of(request).read(_list_query(request, StrictQuery), who), who)


@router.get(
    "/events", response_model=EventPageOut, responses=NOT_MODIFIED | problem_responses(), summary="List events, or show the page"
)
def seed_events(request: Request, who: CurrentPrincipal, service: CurrentService) -> Response:
    """The same list; a browser gets the page, which reads the form by itself."""
    from tadoru.serve.web.calendar import pages

    if prefers_html(request):
        return pages.list_page(request)
    return _list_response(request, read_event_page(_list_query(request, EventListQuery), who, service), who)


def _list_query(request: Request, kind: type[EventListQuery]) -> EventListQuery:
    """The parameters, read at once: FastAPI would read them one by one, which takes longer than the query."""
    try:
        return kind.model_validate(dict(request.query_params))
    except ValidationError as error:
        wrong = [{**one, "loc": ("query", *one["loc"])} for one in error.errors(include_context=False)]
        raise RequestValidationError(wrong) from None


def _list_response(request: Request, page: DocumentPage, who: Principal) -> Response:
    next_url = next_page_url(request, page.next_cursor)
    body = {"items": page.items, "next": next_url}
    return json_response(request, who, body, modified=page.modified, next_url=next_url)


@router.get(
    "/api/v1/events/{event_id}",
    response_model=EventOut,
    responses=NOT_MODIFIED | MOVED | problem_responses(404),
    summary="Read an event",
)
def one_event(request: Request, event_id: EventId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """One event with all of its times, also one that is archived."""
    return _event_response(request, event_id, who, service)


@router.get(
    "/events/{event_id:int}",
    response_model=EventOut,
    responses=NOT_MODIFIED | MOVED | problem_responses(404),
    summary="Read or show",
)
def seed_event(request: Request, event_id: EventId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """The same event; a browser gets the page."""
    from tadoru.serve.web.calendar import pages

    return pages.event_page(request, event_id) if prefers_html(request) else _event_response(request, event_id, who, service)


def _event_response(request: Request, event_id: int, who: Principal, service: Service) -> Response:
    found = visible_event(event_id, who, service)
    if found.event.id != event_id:
        where = f"{request.url.path.rpartition('/')[0]}/{found.event.id}"
        return Response(status_code=307, headers={"Location": where, "Cache-Control": "no-cache"})
    return json_response(request, who, event_json(found), modified=found.event.updated_at)


def visible_event(event_id: int, who: Principal, service: Service) -> EventRecord:
    """An event that the caller may see; of one that was merged, the event it is a part of. Raises HttpProblem."""
    found, seen = find_event_record(service.store, event_id), set[int]()
    while found is not None and found.event.merged_into is not None and found.event.id not in seen:
        seen.add(found.event.id)
        found = find_event_record(service.store, found.event.merged_into)
    is_public = found is not None and found.event.status is EventStatus.ACTIVE
    if found is None or not (is_public or who.may(Role.VIEWER, "events:read")):
        raise HttpProblem(404, "Event {id} not found.", id=event_id)
    return found


@router.get(
    "/api/v1/events/{event_id}/story",
    response_model=EventStoryOut,
    responses=NOT_MODIFIED | problem_responses(404),
    summary="Read an event's story",
)
def event_story(request: Request, event_id: EventId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """One event, and where everything about it comes from: sources, people, merges, questions, changes."""
    found = _existing_event(service, event_id)
    names = {source.id: source.name for source in service.store.sources()}
    return json_response(
        request, who, provenance_json(service.store.provenance(event_id), found, names), modified=found.event.updated_at
    )


@router.post(
    "/api/v1/events", status_code=201, response_model=EventOut, responses=problem_responses(), summary="Add an event"
)  # fmt: skip
def add_event(request: Request, given: NewEvent, who: CurrentPrincipal, service: CurrentService) -> Response:
    """An event of your own. It is compared with no other: what you add is in the calendar."""
    store = service.store
    with usage_errors_as(422):
        draft = parse_new_event(written_values(given), service.options.timezone, store.now())
    event = store.create_event(draft, EventMatcher(), who.name)
    note_change(request, f"event {event.id}", title=event.title)
    return uncached_response(_document(service, event.id), status=201, headers={"Location": f"/api/v1/events/{event.id}"})


@router.patch(
    "/api/v1/events/{event_id}", response_model=EventOut, responses=problem_responses(404, 409), summary="Change an event"
)  # fmt: skip
def change_event(
    request: Request, event_id: EventId, given: EventChange, who: CurrentPrincipal, service: CurrentService
) -> Response:
    """Change fields of an event: each is yours from then on, and no source overwrites it until it is released."""
    store, event = service.store, _unmerged_event(service, event_id).event
    values = written_values(given)
    with usage_errors_as(422):
        released = [resolve_field(name) for name in given.release]
        if not values and not released:
            raise UsageError("Nothing to change. Send at least one field, or release one.")
        if both := sorted(values.keys() & set(released)):
            raise UsageError("{field} cannot be set and released at the same time. Do one of them.", field=both[0])
    _check_not_quarantined(event.status, event_id)
    with usage_errors_as(422):
        now = store.now()
        changes = parse_changes(event, store.times(event_id), values, service.options.timezone, now) if values else {}
    with usage_errors_as(409):
        if released:
            store.release_fields(event_id, draft_fields(released), EventMatcher(), who.name)
        if changes:
            store.edit_event(event_id, changes, EventMatcher(), who.name)
    note_change(request, f"event {event_id}", fields=sorted(values), released=sorted(released))
    return uncached_response(_document(service, event_id))


@router.post(
    "/api/v1/events/{event_id}/hide", response_model=EventOut, responses=problem_responses(404, 409), summary="Hide an event"
)
def hide_event(request: Request, event_id: EventId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Take an event out of the calendar. It stays known, so that no source brings it back."""
    _check_not_quarantined(_unmerged_event(service, event_id).event.status, event_id)
    with usage_errors_as(409):
        service.store.hide_event(event_id, who.name)
    note_change(request, f"event {event_id}")
    return uncached_response(_document(service, event_id))


@router.post(
    "/api/v1/events/{event_id}/unhide", response_model=EventOut, responses=problem_responses(404, 409), summary="Show it again"
)
def unhide_event(request: Request, event_id: EventId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Put an event back into the calendar."""
    _check_not_quarantined(_unmerged_event(service, event_id).event.status, event_id)
    with usage_errors_as(409):
        service.store.unhide_event(event_id, who.name)
    note_change(request, f"event {event_id}")
    return uncached_response(_document(service, event_id))


@router.get("/api/v1/cities", response_model=NameListOut, responses=NOT_MODIFIED | problem_responses(), summary="List cities")
def cities(request: Request, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Every city that something takes place in."""
    return json_response(request, who, {"items": list(service.store.cities())})


@router.get(
    "/api/v1/categories", response_model=NameListOut, responses=NOT_MODIFIED | problem_responses(), summary="List categories"
)
def categories(request: Request, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Every category that an event of the calendar has."""
    return json_response(request, who, {"items": list(service.store.categories())})


def written_values(given: NewEvent) -> dict[str, str]:
    """Fields as a person would write them; null empties one, and says nothing where there is only yes or no."""
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
    """An event that is there, whatever became of it. Raises HttpProblem."""
    found = find_event_record(service.store, event_id)
    if found is None:
        raise HttpProblem(404, "Event {id} not found.", id=event_id)
    return found


def _unmerged_event(service: Service, event_id: int) -> EventRecord:
    """An event that is there and was not merged. Raises HttpProblem."""
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
    found = find_event_record(service.store, event_id)
    assert found is not None
    return event_json(found)
