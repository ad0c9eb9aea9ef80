"""Endpoints for monitoring: liveness, readiness, Prometheus metrics, and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from tadoru.errors import StoreError
from tadoru.serve.problems import database_unavailable, problem_response
from tadoru.serve.service import Service, service_of
from tadoru.store.calendar.sources import SourceHealthStats

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Liveness: the process responds."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(service: Annotated[Service, Depends(service_of)]) -> Response:
    """Readiness: the database responds too."""
    try:
        service.store.users.has_any()
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
    registry, totals, health = CollectorRegistry(), service.store.statistics.totals(), service.store.statistics.source_health()
    events = Gauge("tadoru_events", "Events by status.", ["status"], registry=registry)
    for status, count in totals.events.items():
        events.labels(status).set(count)
    for name, help_text, value in (
        ("tadoru_events_archived", "Archived events.", totals.archived),
        ("tadoru_events_vanished", "Events that their sources no longer list.", totals.vanished),
        ("tadoru_rows", "Rows from sources.", totals.rows),
        ("tadoru_rows_merged", "Rows that share an event with another row.", totals.merged_rows),
        ("tadoru_reviews_open", "Open reviews.", totals.open_reviews),
        ("tadoru_sources", "Sources.", totals.sources),
    ):
        Gauge(name, help_text, registry=registry).set(value)
    for name, help_text, read in _SOURCE_METRICS:
        gauge = Gauge(f"tadoru_source_{name}", help_text, ["source", "name"], registry=registry)
        for one in health:
            if (number := read(one)) is not None:
                gauge.labels(one.source_id, one.name).set(number)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


_SOURCE_METRICS: tuple[tuple[str, str, Callable[[SourceHealthStats], float | None]], ...] = (
    ("enabled", "1 if the source is enabled.", lambda one: one.enabled),
    ("rows", "Current rows of the source.", lambda one: one.rows),
    ("runs", "Runs in the last 30 days.", lambda one: one.runs),
    ("failed_runs", "Failed runs in the last 30 days.", lambda one: one.failed_runs),
    ("failures", "Consecutive failures.", lambda one: one.failures),
    ("late_seconds", "Seconds since the source was due.", lambda one: round(one.late)),
    ("incidents_open", "Open incidents.", lambda one: one.open_incidents),
    (
        "last_success_timestamp_seconds", "Time of the last successful run.",
        lambda one: None if one.last_success is None else round(one.last_success.timestamp()),
    ),
)  # fmt: skip
