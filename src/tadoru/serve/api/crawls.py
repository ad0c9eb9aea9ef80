"""Crawls over REST: list, add, run, pause, stop, edit, remove.

`crawl_results` reads and exports their results; `crawl_runner.control` validates what a user may request.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.serve.api import crawl_models as models
from tadoru.serve.api.events import CurrentPrincipal, CurrentService
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import ListPart, json_response, list_part, list_response, problem_responses, uncached_response
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import CRAWL_OPTIONS
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import CrawlRun, ServedCrawl

router = APIRouter(tags=["crawls"])
CRAWLS_PATH = "/api/v1/crawls"
CRAWL_PATH = CRAWLS_PATH + "/{crawl_id}"
CrawlId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the crawl.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of results.")]
Before = Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Position in the list, from `next`.")]


@router.get(CRAWLS_PATH, response_model=models.CrawlPageOut, responses=problem_responses(304), summary="List crawls")
def list_crawls(
    request: Request,
    who: CurrentPrincipal,
    service: CurrentService,
    job: Annotated[models.Job | None, Query(description="Crawls of this job.")] = None,
    limit: Limit = 50,
    cursor: Before = None,
) -> Response:
    """The crawls of the service, newest first."""
    return list_response(request, who, crawls_page(service, job=job, limit=limit, cursor=cursor))


@router.get(
    "/api/v1/crawl-options",
    response_model=models.CrawlOptionsOut,
    responses=problem_responses(304),
    summary="List crawl options",
)
def list_options(request: Request, who: CurrentPrincipal) -> Response:
    """The options of a crawl by job: names, kinds, limits and defaults."""
    names = ("name", "kind", "default", "least", "most", "values", "admin")
    body = {
        job: [{name: getattr(one, name) for name in names} | {"what": one.description} for one in choices]
        for job, choices in CRAWL_OPTIONS.items()
    }
    return json_response(request, who, body)


@router.post(
    CRAWLS_PATH, status_code=201, response_model=models.CrawlOut, responses=problem_responses(409), summary="Add a crawl"
)
def add_crawl(request: Request, given: models.NewCrawl, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Add a crawl and queue it. It stays within its site and never requests private addresses."""
    crawl = control.add(
        service, actor_of(request), name=given.name or "", job=given.job, starts=given.starts, options=given.options,
        every=given.every, webhook=given.webhook, role=who.role,
    )  # fmt: skip
    return uncached_response(crawl_json(crawl), status=201, headers={"Location": f"{CRAWLS_PATH}/{crawl.id}"})


@router.get(CRAWL_PATH, response_model=models.CrawlOut, responses=problem_responses(304, 404), summary="Read a crawl")
def one_crawl(request: Request, crawl_id: CrawlId, who: CurrentPrincipal, service: CurrentService) -> Response:
    """One crawl and its last progress."""
    return json_response(request, who, crawl_json(get_crawl(service, crawl_id)))


@router.patch(CRAWL_PATH, response_model=models.CrawlOut, responses=problem_responses(404, 409), summary="Edit a crawl")
def change_crawl(request: Request, crawl_id: CrawlId, given: models.CrawlEdit, service: CurrentService) -> Response:
    """Change the name, interval or webhook; other fields stay."""
    sent = given.model_fields_set
    if not sent or (sent == {"name"} and given.name is None):
        raise HttpProblem(422, "Nothing to change. Send at least one field.")
    crawl = control.change(
        service, actor_of(request), crawl_id, name=given.name, every=given.every,
        repeats=False if "every" in sent and given.every is None else None,
        webhook=(given.webhook or "") if "webhook" in sent else None,
    )  # fmt: skip
    return uncached_response(crawl_json(crawl))


@router.delete(CRAWL_PATH, status_code=204, responses=problem_responses(404, 409), summary="Remove a crawl")
def remove_crawl(request: Request, crawl_id: CrawlId, service: CurrentService) -> Response:
    """Remove a crawl that does not run, and its results. Files that an operator added by path stay."""
    control.remove(service, actor_of(request), crawl_id)
    return Response(status_code=204)


_ACCEPTED: dict[str, Any] = {"status_code": 202, "response_model": models.CrawlOut, "responses": problem_responses(404, 409)}


@router.post(CRAWL_PATH + "/run", summary="Run a crawl", **_ACCEPTED)
def run_crawl(request: Request, crawl_id: CrawlId, service: CurrentService) -> Response:
    """Resume a crawl that was paused; any other starts again. The results of earlier runs are kept."""
    return _accepted(control.run(service, actor_of(request), crawl_id))


@router.post(CRAWL_PATH + "/resume", summary="Resume a crawl", **_ACCEPTED)
def resume_crawl(request: Request, crawl_id: CrawlId, service: CurrentService) -> Response:
    """The same as run."""
    return _accepted(control.run(service, actor_of(request), crawl_id))


@router.post(CRAWL_PATH + "/pause", summary="Pause a crawl", **_ACCEPTED)
def pause_crawl(request: Request, crawl_id: CrawlId, service: CurrentService) -> Response:
    """Pause a crawl; requests in flight finish first."""
    return _accepted(control.pause(service, actor_of(request), crawl_id))


@router.post(CRAWL_PATH + "/stop", summary="Stop a crawl", **_ACCEPTED)
def stop_crawl(request: Request, crawl_id: CrawlId, service: CurrentService) -> Response:
    """Stop a crawl: its run is over, and the next one starts again. Results are kept. To resume later, pause it instead."""
    return _accepted(control.stop(service, actor_of(request), crawl_id))


@router.get(
    CRAWL_PATH + "/runs",
    response_model=models.CrawlRunPageOut,
    responses=problem_responses(304, 404),
    summary="List the runs of a crawl",
)
def list_runs(
    request: Request, crawl_id: CrawlId, who: CurrentPrincipal, service: CurrentService, limit: Limit = 50, cursor: Before = None
) -> Response:
    """The runs of a crawl, newest first, with figures for trends."""
    get_crawl(service, crawl_id)
    return list_response(request, who, crawl_runs_page(service, crawl_id, limit=limit, cursor=cursor))


@router.get(
    CRAWL_PATH + "/notices",
    response_model=models.CrawlNoticesOut,
    responses=problem_responses(304, 404),
    summary="List crawl notices",
)
def list_notices(
    request: Request, crawl_id: CrawlId, who: CurrentPrincipal, service: CurrentService, limit: Limit = 50
) -> Response:
    """The last notices of a crawl, oldest first. They are stored for a day; `/ws` sends them live."""
    get_crawl(service, crawl_id)
    found = service.store.messages.notices_about(f"crawl/{crawl_id}", limit=limit)
    items = [{"at": one.at, "level": one.body.get("level", "info"), "text": one.body.get("text", "")} for one in found]
    return json_response(request, who, {"items": items})


def crawls_page(service: Service, *, job: str | None, limit: int, cursor: int | None) -> ListPart:
    """The crawls of the service, newest first."""
    return list_part(service.store.crawls.list(job=job, limit=limit + 1, before=cursor), limit, crawl_json)


def crawl_runs_page(service: Service, crawl_id: int, *, limit: int, cursor: int | None) -> ListPart:
    """The runs of a crawl, newest first."""
    return list_part(service.store.crawls.runs(crawl_id, limit=limit + 1, before=cursor), limit, _run_json)


def get_crawl(service: Service, crawl_id: int) -> ServedCrawl:
    """The crawl of an ID. Raises HttpProblem."""
    try:
        return service.store.crawls.get(crawl_id)
    except CrawlNotFound as error:
        raise HttpProblem(404, error) from None


def crawl_json(crawl: ServedCrawl) -> dict[str, Any]:
    """A crawl as JSON, without the path of its files and the URL of its webhook, which may be a secret."""
    return {
        "id": crawl.id, "name": crawl.name, "job": crawl.job, "starts": crawl.starts, "options": crawl.options,
        "state": crawl.state.value, "wanted": crawl.wanted, "error": crawl.error, "every": crawl.every, "next_at": crawl.next_at,
        "has_webhook": bool(crawl.webhook), "has_own_files": crawl.is_ours, "created_at": crawl.created_at,
        "created_by": crawl.created_by, "started_at": crawl.started_at, "ended_at": crawl.ended_at, "progress": crawl.progress,
    }  # fmt: skip


def _run_json(run: CrawlRun) -> dict[str, Any]:
    names = ("id", "started_at", "ended_at", "outcome", "figures", "changes")
    return {name: getattr(run, name) for name in names}


def _accepted(crawl: ServedCrawl) -> Response:
    return uncached_response(crawl_json(crawl), status=202, headers={"Location": f"{CRAWLS_PATH}/{crawl.id}"})
