"""The log of collecting, and how things are, over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.errors import UsageError
from tadoru.jobs.events.publish.records import run_json, sources_health, totals_json
from tadoru.serve.problems import Refused
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
    found = service.store.runs(source_id=source, limit=limit + 1, before=cursor)
    next_url = next_page(request, found[limit - 1].id if len(found) > limit else None)
    return json_answer(request, who, {"items": [run_json(one) for one in found[:limit]], "next": next_url}, next_url=next_url)


@router.get("/api/v1/admin/runs/{run_id}", response_model=Run, responses=UNCHANGED | problems(404), summary="Read a run")
def one_run(
    request: Request, run_id: Annotated[int, Path(ge=1, le=LARGEST, description="The run's number.")], who: Asker, service: The
) -> Response:
    """One collection of one source."""
    try:
        found = service.store.run(run_id)
    except UsageError:
        raise Refused(404, f"There is no run {run_id}.") from None
    return json_answer(request, who, run_json(found), modified=found.finished_at or found.started_at)


@router.get("/api/v1/admin/status", response_model=Status, responses=UNCHANGED | problems(), summary="How things are")
def status(
    request: Request,
    who: Asker,
    service: The,
    days: Annotated[int, Query(ge=1, le=90, description="Count runs of so many days.")] = 30,
) -> Response:
    """How the sources do: what they hold, how often they fail, how much others say too, how late they are."""
    store = service.store
    body = {"totals": totals_json(store.totals()), "sources": list(sources_health(store, days))}
    return json_answer(request, who, body)
