"""The register of sources over REST. What may be said about a source over the network is in `register`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.jobs.events.publish.records import state_json
from tadoru.serve.access.audit import note
from tadoru.serve.access.who import Caller
from tadoru.serve.problems import Refused
from tadoru.serve.rest import register
from tadoru.serve.rest.answers import UNCHANGED, done, json_answer, next_page, problems
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.rest.models import LARGEST
from tadoru.serve.rest.models_admin import (
    Accepted,
    NewSource,
    Source,
    SourceEdit,
    SourceFields,
    SourceHistory,
    SourcePage,
    Trial,
)
from tadoru.serve.rest.reading import sources_part
from tadoru.serve.rest.running import start_run, trial_of
from tadoru.serve.service import Service
from tadoru.store.events import values

router = APIRouter(tags=["sources"])
SOURCES = "/api/v1/admin/sources"
SourceId = Annotated[int, Path(ge=1, le=LARGEST, description="The source's number.")]
Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]
Cursor = Annotated[int, Query(ge=0, le=LARGEST, description="Where the list goes on, as `next` says.")]


@router.get(SOURCES, response_model=SourcePage, responses=UNCHANGED | problems(), summary="List sources")
@router.get("/admin/sources", response_model=SourcePage, responses=UNCHANGED | problems(), summary="List sources")
def list_sources(
    request: Request, who: Asker, service: The, enabled: bool | None = None, limit: Limit = 100, cursor: Cursor = 0
) -> Response:
    """The sources by their number, with what collecting them has taught."""
    found = sources_part(service, who, enabled=enabled, limit=limit, cursor=cursor)
    next_url = next_page(request, found.next_cursor)
    return json_answer(request, who, {"items": found.items, "next": next_url}, next_url=next_url)


@router.post(SOURCES, status_code=201, response_model=Source, responses=problems(409), summary="Add a source")
@router.post("/admin/sources", status_code=201, response_model=Source, responses=problems(409), summary="Add a source")
def add_source(request: Request, given: NewSource, who: Asker, service: The) -> Response:
    """A new source. It is collected when its time comes, which is at once."""
    source = register.add_source(service, _given(given), who.name)
    note(request, f"source {source.id}", name=source.name, url=source.url)
    return done(_source(service, source, who), status=201, headers={"Location": f"{SOURCES}/{source.id}"})


@router.get(SOURCES + "/{source_id}", response_model=Source, responses=UNCHANGED | problems(404), summary="Read a source")
def one_source(request: Request, source_id: SourceId, who: Asker, service: The) -> Response:
    """One source, with what collecting it has taught."""
    found = register.found_source(service, source_id)
    return json_answer(request, who, _source(service, found, who), modified=found.updated_at)


@router.patch(SOURCES + "/{source_id}", response_model=Source, responses=problems(404, 409), summary="Change a source")
def change_source(request: Request, source_id: SourceId, given: SourceEdit, who: Asker, service: The) -> Response:
    """Change fields of a source; those that are not given stay."""
    changes = _given(given)
    if not changes:
        raise Refused(422, "There is nothing to change: give a field.")
    source = register.edit_source(service, source_id, changes, who.name)
    note(request, f"source {source_id}", fields=sorted(changes))
    return done(_source(service, source, who))


@router.delete(SOURCES + "/{source_id}", status_code=204, responses=problems(404), summary="Remove a source")
def remove_source(request: Request, source_id: SourceId, who: Asker, service: The) -> Response:
    """Forget a source and its snapshots. Its events and its history stay."""
    name = register.found_source(service, source_id).name
    register.remove_source(service, source_id, who.name)
    note(request, f"source {source_id}", name=name)
    return Response(status_code=204)


@router.post(SOURCES + "/{source_id}/enable", response_model=Source, responses=problems(404), summary="Collect it again")
def enable_source(request: Request, source_id: SourceId, who: Asker, service: The) -> Response:
    """Collect a source again, beginning now."""
    register.found_source(service, source_id)
    source = service.store.enable_source(source_id, who.name)
    service.store.schedule(source_id, 0.0)
    note(request, f"source {source_id}")
    return done(_source(service, source, who))


@router.post(SOURCES + "/{source_id}/disable", response_model=Source, responses=problems(404), summary="Leave it alone")
def disable_source(request: Request, source_id: SourceId, who: Asker, service: The) -> Response:
    """Leave a source alone; its events stay."""
    register.found_source(service, source_id)
    source = service.store.disable_source(source_id, who.name)
    note(request, f"source {source_id}")
    return done(_source(service, source, who))


@router.get(
    SOURCES + "/{source_id}/history",
    response_model=SourceHistory,
    responses=UNCHANGED | problems(404),
    summary="Read its history",
)
def source_history(request: Request, source_id: SourceId, who: Asker, service: The) -> Response:
    """Who changed what about a source, and when; of a removed source too."""
    changes = service.store.source_history(source_id)
    if not changes:
        raise Refused(404, f"There never was a source {source_id}.")
    return json_answer(request, who, {"items": [register.shown_change(one, who) for one in changes]})


@router.post(SOURCES + "/{source_id}/test", response_model=Trial, responses=problems(404), summary="Try a source")
def try_out(request: Request, source_id: SourceId, service: The, limit: Limit = 20) -> Response:
    """Fetch a source and tell what would be read, without storing it. The next run uses what was fetched, for an hour."""
    trial = trial_of(service, source_id)
    found = trial.to_dict()
    counts = {name: len(found[name]) for name in ("events", "quarantined", "missing")}
    note(request, f"source {source_id}", error=trial.error)
    return done(found | {"counts": counts} | {name: found[name][:limit] for name in counts})


@router.post(
    SOURCES + "/{source_id}/run", status_code=202, response_model=Accepted, responses=problems(404, 409), summary="Collect it now"
)
def run_source(request: Request, source_id: SourceId, service: The) -> Response:
    """Begin to collect a source, enabled or not, and do not wait for it."""
    start_run(service, source_id)
    note(request, f"source {source_id}")
    runs = f"/api/v1/admin/runs?source={source_id}"
    return done({"source_id": source_id, "runs": runs}, status=202, headers={"Location": runs})


def _given(given: SourceFields) -> dict[str, Any]:
    """The fields that were sent; null is nothing said, but of `depends_on`, which it empties."""
    sent = given.model_dump(exclude_unset=True)
    return {name: value for name, value in sent.items() if value is not None or name == "depends_on"}


def _source(service: Service, source: values.Source, who: Caller) -> dict[str, Any]:
    return register.shown_source(source, who) | {"state": state_json(service.store.state(source.id))}
