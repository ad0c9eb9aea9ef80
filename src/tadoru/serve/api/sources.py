"""Sources, their runs and their health over REST. `source_actions` decides what may be changed over the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Query, Response

from tadoru.jobs.events.publish.json_documents import run_json, sources_health, state_json, totals_json
from tadoru.serve.api import source_actions, source_models
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import ApiRouter, Call, ListPart, list_part, problem_responses, uncached_response
from tadoru.serve.api.source_actions import preview_source, start_run
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.calendar import records

router = ApiRouter(tags=["sources"])
SOURCES_PATH = "/api/v1/admin/sources"
SourceId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the source.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of results.")]
Cursor = Annotated[int, Query(ge=0, le=MAX_NUMBER, description="Position in the list, from `next`.")]


@router.read(SOURCES_PATH, source_models.SourcePageOut, "List sources")
@router.read("/admin/sources", source_models.SourcePageOut, "List sources")
def list_sources(call: Call, enabled: bool | None = None, limit: Limit = 100, cursor: Cursor = 0) -> Response:
    """Sources by ID, with their state."""
    found = sources_page(call.service, call.caller, enabled=enabled, limit=limit, cursor=cursor)
    return call.list(found)


@router.change("POST", SOURCES_PATH, source_models.SourceOut, "Add a source", 409, status=201)
@router.change("POST", "/admin/sources", source_models.SourceOut, "Add a source", 409, status=201)
def add_source(call: Call, given: source_models.NewSource) -> Response:
    """Add a source. Its first run is due immediately."""
    source = source_actions.add_source(call.service, _sent_fields(given), call.caller.name)
    call.note(f"source {source.id}", name=source.name, url=source.url)
    return uncached_response(
        _source_json(call.service, source, call.caller), status=201, headers={"Location": f"{SOURCES_PATH}/{source.id}"}
    )


@router.read(SOURCES_PATH + "/{source_id}", source_models.SourceOut, "Read a source", 404)
def one_source(call: Call, source_id: SourceId) -> Response:
    """One source with its state."""
    found = source_actions.get_source(call.service, source_id)
    return call.json(_source_json(call.service, found, call.caller), modified=found.updated_at)


@router.change("PATCH", SOURCES_PATH + "/{source_id}", source_models.SourceOut, "Edit a source", 404, 409)
def change_source(call: Call, source_id: SourceId, given: source_models.SourceEdit) -> Response:
    """Change fields of a source; other fields stay."""
    changes = _sent_fields(given)
    if not changes:
        raise HttpProblem(422, "Nothing to change. Send at least one field.")
    source = source_actions.edit_source(call.service, source_id, changes, call.caller.name)
    call.note(f"source {source_id}", fields=sorted(changes))
    return uncached_response(_source_json(call.service, source, call.caller))


@router.delete(SOURCES_PATH + "/{source_id}", status_code=204, responses=problem_responses(404), summary="Remove a source")
def remove_source(call: Call, source_id: SourceId) -> Response:
    """Remove a source and its snapshots. Its events and its history stay."""
    name = source_actions.get_source(call.service, source_id).name
    source_actions.remove_source(call.service, source_id, call.caller.name)
    call.note(f"source {source_id}", name=name)
    return Response(status_code=204)


@router.change("POST", SOURCES_PATH + "/{source_id}/enable", source_models.SourceOut, "Enable source", 404)
def enable_source(call: Call, source_id: SourceId) -> Response:
    """Enable a source; its next run is due immediately."""
    source_actions.get_source(call.service, source_id)
    source = call.store.sources.enable(source_id, call.caller.name)
    call.store.schedule.set_due(source_id, 0.0)
    call.note(f"source {source_id}")
    return uncached_response(_source_json(call.service, source, call.caller))


@router.change("POST", SOURCES_PATH + "/{source_id}/disable", source_models.SourceOut, "Disable source", 404)
def disable_source(call: Call, source_id: SourceId) -> Response:
    """Disable a source; its events stay."""
    source_actions.get_source(call.service, source_id)
    source = call.store.sources.disable(source_id, call.caller.name)
    call.note(f"source {source_id}")
    return uncached_response(_source_json(call.service, source, call.caller))


@router.read(SOURCES_PATH + "/{source_id}/history", source_models.SourceHistoryOut, "Read the change history", 404)
def source_history(call: Call, source_id: SourceId) -> Response:
    """The changes of a source, also of a removed one."""
    changes = call.store.sources.history(source_id)
    if not changes:
        raise HttpProblem(404, "Source {id} not found.", id=source_id)
    return call.json({"items": [source_actions.visible_change(one, call.caller) for one in changes]})


@router.change("POST", SOURCES_PATH + "/{source_id}/test", source_models.TrialOut, "Test a source", 404)
def try_out(call: Call, source_id: SourceId, limit: Limit = 20) -> Response:
    """Fetch a source and return what would be parsed, without storing it. The next run within an hour uses this fetch."""
    trial = preview_source(call.service, source_id)
    found = trial.to_dict()
    counts = {name: len(found[name]) for name in ("events", "quarantined", "missing")}
    call.note(f"source {source_id}", error=trial.error)
    return uncached_response(found | {"counts": counts} | {name: found[name][:limit] for name in counts})


@router.change("POST", SOURCES_PATH + "/{source_id}/run", source_models.AcceptedOut, "Run a source now", 404, 409, status=202)
def run_source(call: Call, source_id: SourceId) -> Response:
    """Start a run of a source, enabled or not, without waiting for it."""
    start_run(call.service, source_id)
    call.note(f"source {source_id}")
    runs = f"/api/v1/admin/runs?source={source_id}"
    return uncached_response({"source_id": source_id, "runs": runs}, status=202, headers={"Location": runs})


def _sent_fields(given: source_models.SourceFields) -> dict[str, Any]:
    """The sent fields; null is ignored, except for `depends_on`, which it clears."""
    sent = given.model_dump(exclude_unset=True)
    return {name: value for name, value in sent.items() if value is not None or name == "depends_on"}


def _source_json(service: Service, source: records.EventSource, who: Principal) -> dict[str, Any]:
    return source_actions.visible_source(source, who) | {"state": state_json(service.store.schedule.state(source.id))}


runs_router = ApiRouter(tags=["runs"])


@runs_router.read("/api/v1/admin/runs", source_models.RunPageOut, "List runs")
def list_runs(
    call: Call,
    source: Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Runs of this source.")] = None,
    limit: Limit = 50,
    cursor: Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Position in the list, from `next`.")] = None,
) -> Response:
    """Runs, newest first."""
    found = runs_page(call.service, source_id=source, limit=limit, cursor=cursor)
    return call.list(found)


@runs_router.read("/api/v1/admin/runs/{run_id}", source_models.RunOut, "Read a run", 404)
def one_run(call: Call, run_id: Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the run.")]) -> Response:
    """One run of a source."""
    found = source_actions.get_run(call.service, run_id)
    return call.json(run_json(found), modified=found.finished_at or found.started_at)


@runs_router.read("/api/v1/admin/status", source_models.StatusOut, "Status")
def status(call: Call, days: Annotated[int, Query(ge=1, le=90, description="Days of runs to count.")] = 30) -> Response:
    """The health of the sources: rows, failure rate, duplicate rate, delay."""
    return call.json(status_document(call.service, days))


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
