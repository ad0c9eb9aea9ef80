"""The overview for those who look after the calendar, and the log of collecting."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import StoreError, UsageError
from tadoru.jobs.events.collect import log_key
from tadoru.model.event import RunStatus
from tadoru.serve.pages.charting import Chart, runs_chart
from tadoru.serve.pages.cluster import cluster_line
from tadoru.serve.pages.crawls_desk import crawl_desk
from tadoru.serve.pages.crawls_showing import reason_in
from tadoru.serve.pages.public import today_of
from tadoru.serve.pages.rendering import render, telling_of
from tadoru.serve.problems import Refused
from tadoru.serve.service import Service, service_of
from tadoru.store.events.drafts import zone
from tadoru.store.events.values import RunLog, Source
from tadoru.store.files import Files, beside, open_files

router = APIRouter(include_in_schema=False)
A_PAGE = 50
CHARTED = 20_000
"""Runs that the chart counts at most."""
LARGEST = 2**62
_KINDS = {RunStatus.SUCCESS: "good", RunStatus.PARTIAL: "warn", RunStatus.FAIL: "bad"}


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as tables show it."""

    id: int
    source_id: int
    started_at: datetime
    finished_at: datetime | None
    seconds: float | None
    parsed_count: int
    upserted_count: int
    error_summary: str
    snapshot_paths: tuple[str, ...]
    kind: str
    words: str


def shown_run(one: RunLog) -> ShownRun:
    return ShownRun(
        one.id, one.source_id, one.started_at, one.finished_at,
        (one.finished_at - one.started_at).total_seconds() if one.finished_at else None, one.parsed_count, one.upserted_count,
        one.error_summary, one.snapshot_paths, _KINDS[one.status] if one.status else "",
        f"run.{one.status.value}" if one.status else "run.under_way",
    )  # fmt: skip


def names_of(service: Service) -> dict[int, str]:
    return {one.id: one.name for one in service.store.sources()}


def number_in(text: str | None, *, least: int = 1) -> int | None:
    """A number of an address that the database can hold."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > len(str(LARGEST)):
        return None
    return number if least <= (number := int(text)) < LARGEST else None


@router.get("/manage")
def dashboard(request: Request) -> Response:
    """The overview."""
    service, say = service_of(request), telling_of(request).say
    store, health = service.store, service.store.health()
    totals = store.totals()
    trouble = sorted((one for one in health if one.enabled and one.failures), key=lambda one: -one.failures)
    tiles = [
        (say("desk.active"), totals.events["active"], "/manage/events"),
        (say("desk.hidden"), totals.events["hidden"], "/manage/events?status=hidden"),
        (say("desk.quarantine"), totals.events["quarantine"], "/manage/events?status=quarantine"),
        (say("desk.reviews"), totals.open_reviews, "/manage/reviews"),
        (say("desk.sources"), totals.sources, "/manage/sources"),
        (say("desk.failing"), len(trouble), "/manage/sources"),
    ]
    runs = [shown_run(one) for one in store.runs(limit=8)]
    return render(
        request, "dashboard.html", place="/manage", tiles=tiles, chart=_chart(service), trouble=trouble[:8], runs=runs,
        names={one.source_id: one.name for one in health}, crawls=crawl_desk(service, today_of(service)),
        reason_in=reason_in, cluster_line=cluster_line(service, say),
    )  # fmt: skip


def _chart(service: Service) -> Chart:
    here = zone(service.options.timezone)
    since = service.store.now() - timedelta(days=31)
    runs = [one for one in service.store.runs(limit=CHARTED) if one.started_at >= since and one.status is not None]
    return runs_chart(((one.started_at.astimezone(here).date(), one.status is RunStatus.FAIL) for one in runs), today_of(service))


@router.get("/manage/runs")
def runs_page(request: Request) -> Response:
    """What was collected, the newest first."""
    service = service_of(request)
    source_id, before = number_in(request.query_params.get("source")), number_in(request.query_params.get("before"))
    names = names_of(service)
    found = service.store.runs(source_id=source_id, limit=A_PAGE + 1, before=before)
    more = f"?before={found[A_PAGE - 1].id}" + (f"&source={source_id}" if source_id else "") if len(found) > A_PAGE else ""
    source = service.store.source(source_id) if source_id in names and source_id is not None else None
    return render(
        request, "runs.html", place="/manage/runs", runs=[shown_run(one) for one in found[:A_PAGE]], names=names,
        source=source, next_url=f"/manage/runs{more}" if more else "", is_newest=before is None,
    )  # fmt: skip


@router.get("/manage/runs/{run_id}")
def run_page(request: Request, run_id: int) -> Response:
    """One run, with its log."""
    service = service_of(request)
    try:
        run = service.store.run(run_id) if 0 < run_id < LARGEST else None
    except UsageError:
        run = None
    if run is None:
        raise Refused(404, "")
    return render(
        request, "run.html", place="/manage/runs", run=shown_run(run), source=_source(service, run.source_id),
        counts=sorted(run.counts.items()), log=_log(service, run),
    )  # fmt: skip


def _source(service: Service, source_id: int) -> Source | None:
    """The source of a run; it may have been removed."""
    try:
        return service.store.source(source_id)
    except UsageError:
        return None


def files_of(service: Service) -> Files:
    """Where snapshots and run logs are kept."""
    return open_files(service.events.files or beside(service.store.database))


def _log(service: Service, run: RunLog) -> str:
    """The file that the run left, for people."""
    try:
        content = files_of(service).get(log_key(run))
    except (StoreError, OSError):
        content = None
    if content is None:
        return ""
    try:
        found: Any = json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")
    return json.dumps(found, ensure_ascii=False, indent=2)
