"""The log of collecting, and how things are, over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.jobs.events.publish.records import run_json
from tadoru.serve.rest import reading
from tadoru.serve.rest.answers import UNCHANGED, json_answer, next_page, problems
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.rest.models import LARGEST
from tadoru.serve.rest.models_admin import Run, RunPage, Status
from tadoru.serve.rest.sources import Limit

router = APIRouter(tags=["runs"])


@router.get("/api/v1/admin/runs", response_model=RunPage, responses=UNCHANGED | problems(), summary="List runs")
def list_runs(
    request: Request,
    who: Asker,
    service: The,
    source: Annotated[int | None, Query(ge=1, le=LARGEST, description="Only of this source.")] = None,
    limit: Limit = 50,
    cursor: Annotated[int | None, Query(ge=1, le=LARGEST, description="Where the list goes on, as `next` says.")] = None,
) -> Response:
    """The log of collecting, the newest run first."""
    found = reading.runs_part(service, source_id=source, limit=limit, cursor=cursor)
    next_url = next_page(request, found.next_cursor)
    return json_answer(request, who, {"items": found.items, "next": next_url}, next_url=next_url)


@router.get("/api/v1/admin/runs/{run_id}", response_model=Run, responses=UNCHANGED | problems(404), summary="Read a run")
def one_run(
    request: Request, run_id: Annotated[int, Path(ge=1, le=LARGEST, description="The run's number.")], who: Asker, service: The
) -> Response:
    """One collection of one source."""
    found = reading.one_run(service, run_id)
    return json_answer(request, who, run_json(found), modified=found.finished_at or found.started_at)


@router.get("/api/v1/admin/status", response_model=Status, responses=UNCHANGED | problems(), summary="How things are")
def status(
    request: Request,
    who: Asker,
    service: The,
    days: Annotated[int, Query(ge=1, le=90, description="Count runs of so many days.")] = 30,
) -> Response:
    """How the sources do: what they hold, how often they fail, how much others say too, how late they are."""
    return json_answer(request, who, reading.status_document(service, days))
