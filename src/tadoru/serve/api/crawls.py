"""Crawls over REST: list, add, run, pause, stop, edit, remove.

`crawl_results` reads and exports their results; `crawl_runner.control` validates what a user may request.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Response

from tadoru.serve.api import crawl_models as models
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import ApiRouter, Call, ListPart, list_part, problem_responses, uncached_response
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import CRAWL_OPTIONS
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import CrawlRun, ServedCrawl

router = ApiRouter(tags=["crawls"])
CRAWLS_PATH = "/api/v1/crawls"
CRAWL_PATH = CRAWLS_PATH + "/{crawl_id}"
CrawlId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the crawl.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of results.")]
Before = Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Position in the list, from `next`.")]


@router.read(CRAWLS_PATH, models.CrawlPageOut, "List crawls")
def list_crawls(
    call: Call,
    job: Annotated[models.Job | None, Query(description="Crawls of this job.")] = None,
    limit: Limit = 50,
    cursor: Before = None,
) -> Response:
    """The crawls of the service, newest first."""
    return call.list(crawls_page(call.service, job=job, limit=limit, cursor=cursor))


@router.read("/api/v1/crawl-options", models.CrawlOptionsOut, "List crawl options")
def list_options(call: Call) -> Response:
    """The options of a crawl by job: names, kinds, limits and defaults."""
    names = ("name", "kind", "default", "least", "most", "values", "admin")
    body = {
        job: [{name: getattr(one, name) for name in names} | {"what": one.description} for one in choices]
        for job, choices in CRAWL_OPTIONS.items()
    }
    return call.json(body)


@router.change("POST", CRAWLS_PATH, models.CrawlOut, "Add a crawl", 409, status=201)
def add_crawl(call: Call, given: models.NewCrawl) -> Response:
    """Add a crawl and queue it. It stays within its site and never requests private addresses."""
    crawl = control.add(
        call.service, call.actor, name=given.name or "", job=given.job, starts=given.starts, options=given.options,
        every=given.every, webhook=given.webhook, schedule=given.schedule or "", report_to=given.report_to or "",
        role=call.caller.role,
    )  # fmt: skip
    return uncached_response(crawl_json(crawl), status=201, headers={"Location": f"{CRAWLS_PATH}/{crawl.id}"})


@router.read(CRAWL_PATH, models.CrawlOut, "Read a crawl", 404)
def one_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """One crawl and its last progress."""
    return call.json(crawl_json(get_crawl(call.service, crawl_id)))


@router.change("PATCH", CRAWL_PATH, models.CrawlOut, "Edit a crawl", 404, 409)
def change_crawl(call: Call, crawl_id: CrawlId, given: models.CrawlEdit) -> Response:
    """Change the name, interval, schedule, webhook or recipients of the report; other fields stay."""
    sent = given.model_fields_set
    if not sent or (sent == {"name"} and given.name is None):
        raise HttpProblem(422, "Nothing to change. Send at least one field.")
    crawl = control.change(
        call.service, call.actor, crawl_id, name=given.name, every=given.every,
        repeats=False if "every" in sent and given.every is None else None,
        webhook=(given.webhook or "") if "webhook" in sent else None,
        schedule=(given.schedule or "") if "schedule" in sent else None,
        report_to=(given.report_to or "") if "report_to" in sent else None,
    )  # fmt: skip
    return uncached_response(crawl_json(crawl))


@router.delete(CRAWL_PATH, status_code=204, responses=problem_responses(404, 409), summary="Remove a crawl")
def remove_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """Remove a crawl that does not run, and its results. Files that an operator added by path stay."""
    control.remove(call.service, call.actor, crawl_id)
    return Response(status_code=204)


@router.change("POST", CRAWL_PATH + "/run", models.CrawlOut, "Run a crawl", 404, 409, status=202)
def run_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """Resume a crawl that was paused; any other starts again. The results of earlier runs are kept."""
    return _accepted(control.run(call.service, call.actor, crawl_id))


@router.change("POST", CRAWL_PATH + "/resume", models.CrawlOut, "Resume a crawl", 404, 409, status=202)
def resume_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """The same as run."""
    return _accepted(control.run(call.service, call.actor, crawl_id))


@router.change("POST", CRAWL_PATH + "/pause", models.CrawlOut, "Pause a crawl", 404, 409, status=202)
def pause_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """Pause a crawl; requests in flight finish first."""
    return _accepted(control.pause(call.service, call.actor, crawl_id))


@router.change("POST", CRAWL_PATH + "/stop", models.CrawlOut, "Stop a crawl", 404, 409, status=202)
def stop_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """Stop a crawl: its run is over, and the next one starts again. Results are kept. To resume later, pause it instead."""
    return _accepted(control.stop(call.service, call.actor, crawl_id))


@router.read(CRAWL_PATH + "/runs", models.CrawlRunPageOut, "List the runs of a crawl", 404)
def list_runs(call: Call, crawl_id: CrawlId, limit: Limit = 50, cursor: Before = None) -> Response:
    """The runs of a crawl, newest first, with figures for trends."""
    get_crawl(call.service, crawl_id)
    return call.list(crawl_runs_page(call.service, crawl_id, limit=limit, cursor=cursor))


@router.read(CRAWL_PATH + "/notices", models.CrawlNoticesOut, "List crawl notices", 404)
def list_notices(call: Call, crawl_id: CrawlId, limit: Limit = 50) -> Response:
    """The last notices of a crawl, oldest first. They are stored for a day; `/ws` sends them live."""
    get_crawl(call.service, crawl_id)
    found = call.store.messages.notices_about(f"crawl/{crawl_id}", limit=limit)
    items = [{"at": one.at, "level": one.body.get("level", "info"), "text": one.body.get("text", "")} for one in found]
    return call.json({"items": items})


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
        "state": crawl.state.value, "wanted": crawl.wanted, "error": crawl.error, "every": crawl.every,
        "schedule": crawl.schedule, "next_at": crawl.next_at, "has_recipients": bool(crawl.report_to),
        "has_webhook": bool(crawl.webhook), "has_own_files": crawl.is_ours, "created_at": crawl.created_at,
        "created_by": crawl.created_by, "started_at": crawl.started_at, "ended_at": crawl.ended_at, "progress": crawl.progress,
    }  # fmt: skip


def _run_json(run: CrawlRun) -> dict[str, Any]:
    names = ("id", "started_at", "ended_at", "outcome", "figures", "changes")
    return {name: getattr(run, name) for name in names}


def _accepted(crawl: ServedCrawl) -> Response:
    return uncached_response(crawl_json(crawl), status=202, headers={"Location": f"{CRAWLS_PATH}/{crawl.id}"})
