"""Crawls over REST: which there are, adding, running, pausing, stopping, changing and removing them. What they found is read in
`crawls_reading` and taken away in `crawls_files`; what a person may ask for is decided in `serve.crawling`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.serve.access.audit import by
from tadoru.serve.crawling import control
from tadoru.serve.crawling.allowed import ALLOWED
from tadoru.serve.problems import Refused
from tadoru.serve.rest import models_crawls as models
from tadoru.serve.rest.answers import UNCHANGED, done, json_answer, next_page, problems
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.rest.models import LARGEST
from tadoru.serve.service import Service
from tadoru.store.crawls.register import NoSuchCrawl
from tadoru.store.crawls.values import CrawlRun, ServedCrawl

router = APIRouter(tags=["crawls"])
CRAWLS = "/api/v1/crawls"
ONE = CRAWLS + "/{crawl_id}"
CrawlId = Annotated[int, Path(ge=1, le=LARGEST, description="The crawl's number.")]
Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]
Before = Annotated[int | None, Query(ge=1, le=LARGEST, description="Where the list goes on, as `next` says.")]


@router.get(CRAWLS, response_model=models.CrawlPage, responses=UNCHANGED | problems(), summary="List crawls")
def list_crawls(
    request: Request,
    who: Asker,
    service: The,
    job: Annotated[models.Job | None, Query(description="Only of this job.")] = None,
    limit: Limit = 50,
    cursor: Before = None,
) -> Response:
    """The crawls of the service, the newest first."""
    found = service.store.crawls(job=job, limit=limit + 1, before=cursor)
    next_url = next_page(request, found[limit - 1].id if len(found) > limit else None)
    return json_answer(request, who, {"items": [crawl_json(one) for one in found[:limit]], "next": next_url}, next_url=next_url)


@router.get(
    "/api/v1/crawl-options", response_model=models.CrawlOptions, responses=UNCHANGED | problems(), summary="List what to choose"
)
def list_options(request: Request, who: Asker) -> Response:
    """What may be chosen for a crawl of each job: names, kinds, bounds and defaults."""
    names = ("name", "kind", "default", "least", "most", "values", "admin")
    body = {
        job: [{name: getattr(one, name) for name in names} | {"what": one.words} for one in choices]
        for job, choices in ALLOWED.items()
    }
    return json_answer(request, who, body)


@router.post(CRAWLS, status_code=201, response_model=models.Crawl, responses=problems(409), summary="Add a crawl")
def add_crawl(request: Request, given: models.NewCrawl, who: Asker, service: The) -> Response:
    """A new crawl. It runs as soon as there is room, within its site and never at private addresses."""
    crawl = control.add(
        service, by(request), name=given.name or "", job=given.job, starts=given.starts, options=given.options,
        every=given.every, webhook=given.webhook, role=who.role,
    )  # fmt: skip
    return done(crawl_json(crawl), status=201, headers={"Location": f"{CRAWLS}/{crawl.id}"})


@router.get(ONE, response_model=models.Crawl, responses=UNCHANGED | problems(404), summary="Read a crawl")
def one_crawl(request: Request, crawl_id: CrawlId, who: Asker, service: The) -> Response:
    """One crawl, and the last that was heard of its run."""
    return json_answer(request, who, crawl_json(found_crawl(service, crawl_id)))


@router.patch(ONE, response_model=models.Crawl, responses=problems(404, 409), summary="Change a crawl")
def change_crawl(request: Request, crawl_id: CrawlId, given: models.CrawlEdit, service: The) -> Response:
    """Give a crawl another name, rhythm or webhook; what is not given stays."""
    sent = given.model_fields_set
    if not sent or (sent == {"name"} and given.name is None):
        raise Refused(422, "There is nothing to change: give a field.")
    crawl = control.change(
        service, by(request), crawl_id, name=given.name, every=given.every,
        repeats=False if "every" in sent and given.every is None else None,
        webhook=(given.webhook or "") if "webhook" in sent else None,
    )  # fmt: skip
    return done(crawl_json(crawl))


@router.delete(ONE, status_code=204, responses=problems(404, 409), summary="Remove a crawl")
def remove_crawl(request: Request, crawl_id: CrawlId, service: The) -> Response:
    """Forget a crawl that does not run, with all that it found. Files that an operator added by their path stay."""
    control.remove(service, by(request), crawl_id)
    return Response(status_code=204)


_ACCEPTED: dict[str, Any] = {"status_code": 202, "response_model": models.Crawl, "responses": problems(404, 409)}


@router.post(ONE + "/run", summary="Run a crawl", **_ACCEPTED)
def run_crawl(request: Request, crawl_id: CrawlId, service: The) -> Response:
    """Go on with a crawl that was paused, stopped or failed; one that finished asks for everything again."""
    return _accepted(control.run(service, by(request), crawl_id))


@router.post(ONE + "/resume", summary="Go on with a crawl", **_ACCEPTED)
def resume_crawl(request: Request, crawl_id: CrawlId, service: The) -> Response:
    """The same as run."""
    return _accepted(control.run(service, by(request), crawl_id))


@router.post(ONE + "/pause", summary="Pause a crawl", **_ACCEPTED)
def pause_crawl(request: Request, crawl_id: CrawlId, service: The) -> Response:
    """Let a crawl rest: what is in flight is finished first."""
    return _accepted(control.pause(service, by(request), crawl_id))


@router.post(ONE + "/stop", summary="Stop a crawl", **_ACCEPTED)
def stop_crawl(request: Request, crawl_id: CrawlId, service: The) -> Response:
    """End a crawl. What it found stays, and it can be gone on with."""
    return _accepted(control.stop(service, by(request), crawl_id))


@router.get(
    ONE + "/runs", response_model=models.CrawlRunPage, responses=UNCHANGED | problems(404), summary="List the runs of a crawl"
)
def list_runs(
    request: Request, crawl_id: CrawlId, who: Asker, service: The, limit: Limit = 50, cursor: Before = None
) -> Response:
    """The runs of a crawl, the newest first, with numbers to see a trend by."""
    found_crawl(service, crawl_id)
    found = service.store.crawl_runs(crawl_id, limit=limit + 1, before=cursor)
    next_url = next_page(request, found[limit - 1].id if len(found) > limit else None)
    return json_answer(request, who, {"items": [_run_json(one) for one in found[:limit]], "next": next_url}, next_url=next_url)


@router.get(
    ONE + "/notices", response_model=models.CrawlNotices, responses=UNCHANGED | problems(404), summary="Read what a crawl said"
)
def list_notices(request: Request, crawl_id: CrawlId, who: Asker, service: The, limit: Limit = 50) -> Response:
    """The last that a crawl said about itself, the oldest first. It is kept for a while only; `/ws` tells it live."""
    found_crawl(service, crawl_id)
    found = service.store.notices_about(f"crawl/{crawl_id}", limit=limit)
    items = [{"at": one.at, "level": one.body.get("level", "info"), "text": one.body.get("text", "")} for one in found]
    return json_answer(request, who, {"items": items})


def found_crawl(service: Service, crawl_id: int) -> ServedCrawl:
    """A crawl that is there. Raises Refused."""
    try:
        return service.store.crawl(crawl_id)
    except NoSuchCrawl as error:
        raise Refused(404, str(error)) from None


def crawl_json(crawl: ServedCrawl) -> dict[str, Any]:
    """A crawl without what is nobody's business: where its files are, and the address of its webhook, which may be a secret."""
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
    return done(crawl_json(crawl), status=202, headers={"Location": f"{CRAWLS}/{crawl.id}"})
