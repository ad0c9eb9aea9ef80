"""Runs of sources and source health over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.jobs.events.publish.json_documents import run_json
from tadoru.serve.api import admin_lists
from tadoru.serve.api.events import CurrentPrincipal, CurrentService
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import NOT_MODIFIED, json_response, list_response, problem_responses
from tadoru.serve.api.source_models import RunOut, RunPageOut, StatusOut
from tadoru.serve.api.sources import Limit

router = APIRouter(tags=["runs"])


@router.get("/api/v1/admin/runs", response_model=RunPageOut, responses=NOT_MODIFIED | problem_responses(), summary="List runs")
def list_runs(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    source: Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Runs of this source.")] = None,
    limit: Limit = 50,
    cursor: Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Position in the list, from `next`.")] = None,
) -> Response:
    """Runs, newest first."""
    found = admin_lists.runs_page(service, source_id=source, limit=limit, cursor=cursor)
    return list_response(request, who, found)


@router.get(
    "/api/v1/admin/runs/{run_id}", response_model=RunOut, responses=NOT_MODIFIED | problem_responses(404), summary="Read a run"
)
def one_run(
    request: Request,
    run_id: Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the run.")],
    who: CurrentPrincipal,
    service: CurrentService,
) -> Response:
    """One run of a source."""
    found = admin_lists.get_run(service, run_id)
    return json_response(request, who, run_json(found), modified=found.finished_at or found.started_at)


@router.get("/api/v1/admin/status", response_model=StatusOut, responses=NOT_MODIFIED | problem_responses(), summary="Status")
def status(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    days: Annotated[int, Query(ge=1, le=90, description="Days of runs to count.")] = 30,
) -> Response:
    """The health of the sources: rows, failure rate, duplicate rate, delay."""
    return json_response(request, who, admin_lists.status_document(service, days))
