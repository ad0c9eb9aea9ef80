"""Sources, their runs and their health over REST. `source_actions` decides what may be changed over the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.jobs.events.publish.json_documents import run_json, sources_health, state_json, totals_json
from tadoru.serve.api import source_actions
from tadoru.serve.api.events import CurrentPrincipal, CurrentService
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import ListPart, json_response, list_part, list_response, problem_responses, uncached_response
from tadoru.serve.api.source_actions import preview_source, start_run
from tadoru.serve.api.source_models import (
    AcceptedOut,
    NewSource,
    RunOut,
    RunPageOut,
    SourceEdit,
    SourceFields,
    SourceHistoryOut,
    SourceOut,
    SourcePageOut,
    StatusOut,
    TrialOut,
)
from tadoru.serve.auth.principal import Principal, note_change
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.calendar import records

router = APIRouter(tags=["sources"])
SOURCES_PATH = "/api/v1/admin/sources"
SourceId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the source.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of results.")]
Cursor = Annotated[int, Query(ge=0, le=MAX_NUMBER, description="Position in the list, from `next`.")]


@router.get(SOURCES_PATH, response_model=SourcePageOut, responses=problem_responses(304), summary="List sources")
@router.get("/admin/sources", response_model=SourcePageOut, responses=problem_responses(304), summary="List sources")
def list_sources(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    enabled: bool | None = None,
    limit: Limit = 100,
    cursor: Cursor = 0,
) -> Response:
    """Sources by ID, with their state."""
    found = sources_page(service, who, enabled=enabled, limit=limit, cursor=cursor)
    return list_response(request, who, found)


@router.post(SOURCES_PATH, status_code=201, response_model=SourceOut, responses=problem_responses(409), summary="Add a source")
@router.post(
    "/admin/sources", status_code=201, response_model=SourceOut, responses=problem_responses(409), summary="Add a source"
)
def add_source(request: Request, given: NewSource, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Add a source. Its first run is due immediately."""
    source = source_actions.add_source(service, _sent_fields(given), who.name)
    note_change(request, f"source {source.id}", name=source.name, url=source.url)
    return uncached_response(_source_json(service, source, who), status=201, headers={"Location": f"{SOURCES_PATH}/{source.id}"})


@router.get(
    SOURCES_PATH + "/{source_id}",
    response_model=SourceOut,
    responses=problem_responses(304, 404),
    summary="Read a source",
)
def one_source(request: Request, source_id: SourceId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """One source with its state."""
    found = source_actions.get_source(service, source_id)
    return json_response(request, who, _source_json(service, found, who), modified=found.updated_at)


@router.patch(
    SOURCES_PATH + "/{source_id}", response_model=SourceOut, responses=problem_responses(404, 409), summary="Edit a source"
)
def change_source(
    request: Request, source_id: SourceId, given: SourceEdit, who: CurrentPrincipal, service: CurrentService
) -> Response:
    """Change fields of a source; other fields stay."""
    changes = _sent_fields(given)
    if not changes:
        raise HttpProblem(422, "Nothing to change. Send at least one field.")
    source = source_actions.edit_source(service, source_id, changes, who.name)
    note_change(request, f"source {source_id}", fields=sorted(changes))
    return uncached_response(_source_json(service, source, who))


@router.delete(SOURCES_PATH + "/{source_id}", status_code=204, responses=problem_responses(404), summary="Remove a source")
def remove_source(request: Request, source_id: SourceId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Remove a source and its snapshots. Its events and its history stay."""
    name = source_actions.get_source(service, source_id).name
    source_actions.remove_source(service, source_id, who.name)
    note_change(request, f"source {source_id}", name=name)
    return Response(status_code=204)


@router.post(
    SOURCES_PATH + "/{source_id}/enable", response_model=SourceOut, responses=problem_responses(404), summary="Enable source"
)
def enable_source(request: Request, source_id: SourceId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Enable a source; its next run is due immediately."""
    source_actions.get_source(service, source_id)
    source = service.store.sources.enable(source_id, who.name)
    service.store.schedule.set_due(source_id, 0.0)
    note_change(request, f"source {source_id}")
    return uncached_response(_source_json(service, source, who))


@router.post(
    SOURCES_PATH + "/{source_id}/disable", response_model=SourceOut, responses=problem_responses(404), summary="Disable source"
)
def disable_source(request: Request, source_id: SourceId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Disable a source; its events stay."""
    source_actions.get_source(service, source_id)
    source = service.store.sources.disable(source_id, who.name)
    note_change(request, f"source {source_id}")
    return uncached_response(_source_json(service, source, who))


@router.get(
    SOURCES_PATH + "/{source_id}/history",
    response_model=SourceHistoryOut,
    responses=problem_responses(304, 404),
    summary="Read the change history",
)
def source_history(request: Request, source_id: SourceId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """The changes of a source, also of a removed one."""
    changes = service.store.sources.history(source_id)
    if not changes:
        raise HttpProblem(404, "Source {id} not found.", id=source_id)
    return json_response(request, who, {"items": [source_actions.visible_change(one, who) for one in changes]})


@router.post(
    SOURCES_PATH + "/{source_id}/test", response_model=TrialOut, responses=problem_responses(404), summary="Test a source"
)
def try_out(request: Request, source_id: SourceId, service: CurrentService, limit: Limit = 20) -> Response:
    """Fetch a source and return what would be parsed, without storing it. The next run within an hour uses this fetch."""
    trial = preview_source(service, source_id)
    found = trial.to_dict()
    counts = {name: len(found[name]) for name in ("events", "quarantined", "missing")}
    note_change(request, f"source {source_id}", error=trial.error)
    return uncached_response(found | {"counts": counts} | {name: found[name][:limit] for name in counts})


@router.post(
    SOURCES_PATH + "/{source_id}/run",
    status_code=202,
    response_model=AcceptedOut,
    responses=problem_responses(404, 409),
    summary="Run a source now",
)
def run_source(request: Request, source_id: SourceId, service: CurrentService) -> Response:
    """Start a run of a source, enabled or not, without waiting for it."""
    start_run(service, source_id)
    note_change(request, f"source {source_id}")
    runs = f"/api/v1/admin/runs?source={source_id}"
    return uncached_response({"source_id": source_id, "runs": runs}, status=202, headers={"Location": runs})


def _sent_fields(given: SourceFields) -> dict[str, Any]:
    """The sent fields; null is ignored, except for `depends_on`, which it clears."""
    sent = given.model_dump(exclude_unset=True)
    return {name: value for name, value in sent.items() if value is not None or name == "depends_on"}


def _source_json(service: Service, source: records.EventSource, who: Principal) -> dict[str, Any]:
    return source_actions.visible_source(source, who) | {"state": state_json(service.store.schedule.state(source.id))}


runs_router = APIRouter(tags=["runs"])


@runs_router.get("/api/v1/admin/runs", response_model=RunPageOut, responses=problem_responses(304), summary="List runs")
def list_runs(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    source: Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Runs of this source.")] = None,
    limit: Limit = 50,
    cursor: Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Position in the list, from `next`.")] = None,
) -> Response:
    """Runs, newest first."""
    found = runs_page(service, source_id=source, limit=limit, cursor=cursor)
    return list_response(request, who, found)


@runs_router.get(
    "/api/v1/admin/runs/{run_id}", response_model=RunOut, responses=problem_responses(304, 404), summary="Read a run"
)
def one_run(
    request: Request,
    run_id: Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the run.")],
    who: CurrentPrincipal,
    service: CurrentService,
) -> Response:
    """One run of a source."""
    found = source_actions.get_run(service, run_id)
    return json_response(request, who, run_json(found), modified=found.finished_at or found.started_at)


@runs_router.get("/api/v1/admin/status", response_model=StatusOut, responses=problem_responses(304), summary="Status")
def status(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    days: Annotated[int, Query(ge=1, le=90, description="Days of runs to count.")] = 30,
) -> Response:
    """The health of the sources: rows, failure rate, duplicate rate, delay."""
    return json_response(request, who, status_document(service, days))


# ---- plain objects, for REST and GraphQL


def sources_page(service: Service, caller: Principal, *, enabled: bool | None, limit: int, cursor: int) -> ListPart:
    """Sources by ID, with their state."""
    found = [one for one in service.store.sources.list(enabled=enabled) if one.id > cursor]
    return ListPart(source_documents(service, found[:limit], caller), found[limit - 1].id if len(found) > limit else None)


def source_documents(service: Service, sources: Sequence[records.EventSource], caller: Principal) -> list[dict[str, Any]]:
    """Sources with their states, read in one query. A source that was removed in between is skipped."""
    states = service.store.schedule.states(one.id for one in sources)
    listed = [one for one in sources if one.id in states]
    return [source_actions.visible_source(one, caller) | {"state": state_json(states[one.id])} for one in listed]


def runs_page(service: Service, *, source_id: int | None, limit: int, cursor: int | None) -> ListPart:
    """Runs, newest first."""
    found = service.store.runs.list(source_id=source_id, limit=limit + 1, before=cursor)
    return list_part(found, limit, run_json)


def status_document(service: Service, days: int) -> dict[str, Any]:
    """The health of the sources: rows, failure rate, duplicate rate, delay."""
    store = service.store
    return {"totals": totals_json(store.statistics.totals()), "sources": list(sources_health(store, days))}
