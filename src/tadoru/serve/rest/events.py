"""Events over REST: lists, one event, and what a person does to them. The seed's own paths (`GET /events`) answer the same, and
give a browser the page instead.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.convertors import IntegerConvertor, register_url_convertor

from tadoru.errors import UsageError
from tadoru.jobs.events.by_hand import FLAGS, changes_of, draft_of_new, known_field, owned_fields
from tadoru.jobs.events.dedupe.judge import EventJudge
from tadoru.jobs.events.publish.documents import document
from tadoru.jobs.events.publish.page import DocumentPage
from tadoru.jobs.events.publish.records import story_json
from tadoru.model.event import EventStatus
from tadoru.serve.access.audit import note
from tadoru.serve.access.who import Caller, caller
from tadoru.serve.problems import Refused, prefers_html
from tadoru.serve.rest.answers import UNCHANGED, done, json_answer, next_page, problems, refusing
from tadoru.serve.rest.asked import Exactly, Listed
from tadoru.serve.rest.direct import Direct
from tadoru.serve.rest.lists import lists_of, read_page
from tadoru.serve.rest.models import LARGEST, Event, EventChange, EventPage, Names, NewEvent, Story
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, service_of
from tadoru.store.events.walking import Told, told

router = APIRouter(tags=["events"])
first = APIRouter(tags=["events"], route_class=Direct)
"""Looked at before all others: the list that is asked for most."""
EventId = Annotated[int, Path(ge=1, le=LARGEST, description="The event's number.")]
Asker = Annotated[Caller, Depends(caller)]


class EventNumber(IntegerConvertor):
    """A number in a path. Python reads no more than 4,300 digits, and Starlette would take any number of them."""

    regex = "[0-9]{1,19}"


register_url_convertor("int", EventNumber())


async def the_service(request: Request) -> Service:
    """The service, without a thread for it: a plain function would be given one for each request."""
    return service_of(request)


The = Annotated[Service, Depends(the_service)]
MOVED: dict[int | str, dict[str, Any]] = {307: {"description": "The event was merged into the one at Location."}}


@first.get("/api/v1/events", response_model=EventPage, responses=UNCHANGED | problems(), summary="List events")
async def list_events(request: Request, who: Asker, service: The) -> Response:
    """Events in the order of time, of change, or of how well they fit: each once, at the first of its times that fits."""
    return _listed(request, await lists_of(request).read(_asked(request, Exactly), who), who)


@router.get("/events", response_model=EventPage, responses=UNCHANGED | problems(), summary="List events, or show the page")
def seed_events(request: Request, who: Asker, service: The) -> Response:
    """The same list; a browser gets the page, which reads the form by itself."""
    from tadoru.serve.pages import public

    if prefers_html(request):
        return public.list_page(request)
    return _listed(request, read_page(_asked(request, Listed), who, service), who)


def _asked(request: Request, kind: type[Listed]) -> Listed:
    """The parameters, read at once: FastAPI would read them one by one, which takes longer than the query."""
    try:
        return kind.model_validate(dict(request.query_params))
    except ValidationError as error:
        wrong = [{**one, "loc": ("query", *one["loc"])} for one in error.errors(include_context=False)]
        raise RequestValidationError(wrong) from None


def _listed(request: Request, page: DocumentPage, who: Caller) -> Response:
    next_url = next_page(request, page.next_cursor)
    body = {"items": page.items, "next": next_url}
    return json_answer(request, who, body, modified=page.modified, next_url=next_url)


@router.get(
    "/api/v1/events/{event_id}", response_model=Event, responses=UNCHANGED | MOVED | problems(404), summary="Read an event"
)
def one_event(request: Request, event_id: EventId, who: Asker, service: The) -> Response:
    """One event with all of its times, also one that is archived."""
    return _one(request, event_id, who, service)


@router.get("/events/{event_id:int}", response_model=Event, responses=UNCHANGED | MOVED | problems(404), summary="Read or show")
def seed_event(request: Request, event_id: EventId, who: Asker, service: The) -> Response:
    """The same event; a browser gets the page."""
    from tadoru.serve.pages import public

    return public.event_page(request, event_id) if prefers_html(request) else _one(request, event_id, who, service)


def _one(request: Request, event_id: int, who: Caller, service: Service) -> Response:
    found = shown(event_id, who, service)
    if found.event.id != event_id:
        where = f"{request.url.path.rpartition('/')[0]}/{found.event.id}"
        return Response(status_code=307, headers={"Location": where, "Cache-Control": "no-cache"})
    return json_answer(request, who, document(found), modified=found.event.updated_at)


def shown(event_id: int, who: Caller, service: Service) -> Told:
    """An event that the caller may see; of one that was merged, the event it is a part of. Raises Refused."""
    found, seen = told(service.store, event_id), set[int]()
    while found is not None and found.event.merged_into is not None and found.event.id not in seen:
        seen.add(found.event.id)
        found = told(service.store, found.event.merged_into)
    is_public = found is not None and found.event.status is EventStatus.ACTIVE
    if found is None or not (is_public or who.may(Role.VIEWER, "events:read")):
        raise Refused(404, f"There is no event {event_id}.")
    return found


@router.get(
    "/api/v1/events/{event_id}/story", response_model=Story, responses=UNCHANGED | problems(404), summary="Read an event's story"
)
def event_story(request: Request, event_id: EventId, who: Asker, service: The) -> Response:
    """One event, and where everything about it comes from: sources, people, merges, questions, changes."""
    found = _known(service, event_id)
    names = {source.id: source.name for source in service.store.sources()}
    return json_answer(request, who, story_json(service.store.story(event_id), found, names), modified=found.event.updated_at)


@router.post(
    "/api/v1/events", status_code=201, response_model=Event, responses=problems(), summary="Add an event"
)  # fmt: skip
def add_event(request: Request, given: NewEvent, who: Asker, service: The) -> Response:
    """An event of your own. It is compared with no other: what you add is in the calendar."""
    store = service.store
    with refusing(422):
        draft = draft_of_new(written_values(given), service.options.timezone, store.now())
    event = store.create_event(draft, EventJudge(), who.name)
    note(request, f"event {event.id}", title=event.title)
    return done(_document(service, event.id), status=201, headers={"Location": f"/api/v1/events/{event.id}"})


@router.patch(
    "/api/v1/events/{event_id}", response_model=Event, responses=problems(404, 409), summary="Change an event"
)  # fmt: skip
def change_event(request: Request, event_id: EventId, given: EventChange, who: Asker, service: The) -> Response:
    """Change fields of an event: each is yours from then on, and no source overwrites it until it is released."""
    store, event = service.store, _standing(service, event_id).event
    values = written_values(given)
    with refusing(422):
        released = [known_field(name) for name in given.release]
        if not values and not released:
            raise UsageError("There is nothing to change: give a field, or release one.")
        if both := sorted(values.keys() & set(released)):
            raise UsageError(f"The field {both[0]} can not be set and released at once: do one of them.")
    _not_in_quarantine(event.status, event_id)
    with refusing(422):
        now = store.now()
        changes = changes_of(event, store.times(event_id), values, service.options.timezone, now) if values else {}
    with refusing(409):
        if released:
            store.give_back_fields(event_id, owned_fields(released), EventJudge(), who.name)
        if changes:
            store.edit_event(event_id, changes, EventJudge(), who.name)
    note(request, f"event {event_id}", fields=sorted(values), released=sorted(released))
    return done(_document(service, event_id))


@router.post("/api/v1/events/{event_id}/hide", response_model=Event, responses=problems(404, 409), summary="Hide an event")
def hide_event(request: Request, event_id: EventId, who: Asker, service: The) -> Response:
    """Take an event out of the calendar. It stays known, so that no source brings it back."""
    _not_in_quarantine(_standing(service, event_id).event.status, event_id)
    with refusing(409):
        service.store.hide_event(event_id, who.name)
    note(request, f"event {event_id}")
    return done(_document(service, event_id))


@router.post("/api/v1/events/{event_id}/unhide", response_model=Event, responses=problems(404, 409), summary="Show it again")
def unhide_event(request: Request, event_id: EventId, who: Asker, service: The) -> Response:
    """Put an event back into the calendar."""
    _not_in_quarantine(_standing(service, event_id).event.status, event_id)
    with refusing(409):
        service.store.unhide_event(event_id, who.name)
    note(request, f"event {event_id}")
    return done(_document(service, event_id))


@router.get("/api/v1/cities", response_model=Names, responses=UNCHANGED | problems(), summary="List cities")
def cities(request: Request, who: Asker, service: The) -> Response:
    """Every city that something takes place in."""
    return json_answer(request, who, {"items": list(service.store.cities())})


@router.get("/api/v1/categories", response_model=Names, responses=UNCHANGED | problems(), summary="List categories")
def categories(request: Request, who: Asker, service: The) -> Response:
    """Every category that an event of the calendar has."""
    return json_answer(request, who, {"items": list(service.store.categories())})


def written_values(given: NewEvent) -> dict[str, str]:
    """Fields as a person would write them; null empties one, and says nothing where there is only yes or no."""
    named = {known_field(name): getattr(given, name) for name in given.model_fields_set if name != "release"}
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


def _known(service: Service, event_id: int) -> Told:
    """An event that is there, whatever became of it. Raises Refused."""
    found = told(service.store, event_id)
    if found is None:
        raise Refused(404, f"There is no event {event_id}.")
    return found


def _standing(service: Service, event_id: int) -> Told:
    """An event that is there and was not merged. Raises Refused."""
    found = _known(service, event_id)
    if found.event.merged_into is not None:
        raise Refused(409, f"Event {event_id} was merged into {found.event.merged_into}: use that one, or undo the merge.")
    return found


def _not_in_quarantine(status: EventStatus, event_id: int) -> None:
    if status is EventStatus.QUARANTINE:
        raise Refused(409, f"Event {event_id} is in quarantine: answer its review first.")


def _document(service: Service, event_id: int) -> dict[str, Any]:
    found = told(service.store, event_id)
    assert found is not None
    return document(found)
