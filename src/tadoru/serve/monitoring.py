"""Endpoints for monitoring: liveness, readiness, Prometheus metrics, and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from tadoru.errors import StoreError
from tadoru.jobs.prometheus import MEDIA_TYPE, format_metric
from tadoru.serve.problems import database_unavailable, problem_response
from tadoru.serve.service import Service, service_of
from tadoru.store.calendar.sources import CalendarTotals, SourceHealthStats

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Liveness: the process responds."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(service: Annotated[Service, Depends(service_of)]) -> Response:
    """Readiness: the database responds too."""
    try:
        service.store.has_users()
    except StoreError as error:
        service.log.write("error", str(error))
        return problem_response(database_unavailable())
    return JSONResponse({"status": "ready"})


@router.get("/openapi.json")
async def description(request: Request) -> Response:
    """The OpenAPI description of the REST API."""
    document: dict[str, Any] = request.app.openapi()
    return JSONResponse(document)


@router.get("/metrics")
def metrics(service: Annotated[Service, Depends(service_of)]) -> Response:
    """Metrics in the text format of Prometheus."""
    lines = [*_of_all(service.store.totals()), *_of_sources(service.store.health())]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=MEDIA_TYPE)


def _of_all(totals: CalendarTotals) -> Iterator[str]:
    yield from format_metric("tadoru_events", "Events by status.", [({"status": name}, n) for name, n in totals.events.items()])
    for name, words, value in (
        ("tadoru_events_archived", "Archived events.", totals.archived),
        ("tadoru_events_vanished", "Events that their sources no longer list.", totals.vanished),
        ("tadoru_rows", "Rows from sources.", totals.rows),
        ("tadoru_rows_merged", "Rows that share an event with another row.", totals.merged_rows),
        ("tadoru_reviews_open", "Open reviews.", totals.open_reviews),
        ("tadoru_sources", "Sources.", totals.sources),
    ):
        yield from format_metric(name, words, [({}, value)])


def _of_sources(health: tuple[SourceHealthStats, ...]) -> Iterator[str]:
    def each(name: str, words: str, value: Any) -> Iterator[str]:
        rows = [({"source": str(one.source_id), "name": one.name}, value(one)) for one in health]
        yield from format_metric(name, words, [(labels, number) for labels, number in rows if number is not None])

    yield from each("tadoru_source_enabled", "1 if the source is enabled.", lambda one: int(one.enabled))
    yield from each("tadoru_source_rows", "Current rows of the source.", lambda one: one.rows)
    yield from each("tadoru_source_runs", "Runs in the last 30 days.", lambda one: one.runs)
    yield from each("tadoru_source_failed_runs", "Failed runs in the last 30 days.", lambda one: one.failed_runs)
    yield from each("tadoru_source_failures", "Consecutive failures.", lambda one: one.failures)
    yield from each("tadoru_source_late_seconds", "Seconds since the source was due.", lambda one: round(one.late))
    yield from each("tadoru_source_incidents_open", "Open incidents.", lambda one: one.open_incidents)
    yield from each(
        "tadoru_source_last_success_timestamp_seconds", "Time of the last successful run.",
        lambda one: None if one.last_success is None else round(one.last_success.timestamp()),
    )  # fmt: skip
