"""The ASGI application: routers, middleware and error handlers, with every route bound to the table of `roles`; endpoints for
monitoring; and the periodic removal of expired sessions, unused sign-in links and old audit log entries.

Each process of a service cleans up; the second one finds nothing to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from tadoru.errors import StoreError, TadoruError
from tadoru.serve import api, graphql, problems, web
from tadoru.serve.api import events, openapi
from tadoru.serve.auth.guard import bind_routes, guard
from tadoru.serve.auth.rate_limits import RateLimits
from tadoru.serve.crawl_runner.dispatcher import start_dispatcher
from tadoru.serve.live import connection as live_room
from tadoru.serve.middleware import RequestMiddleware
from tadoru.serve.problems import database_unavailable, problem_response
from tadoru.serve.roles import ROUTES, Route
from tadoru.serve.service import Service, service_of
from tadoru.store.calendar.sources import SourceHealthStats
from tadoru.version import VERSION

monitoring_router = APIRouter(include_in_schema=False)


@monitoring_router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Liveness: the process responds."""
    return {"status": "ok"}


@monitoring_router.get("/readyz")
def readyz(service: Annotated[Service, Depends(service_of)]) -> Response:
    """Readiness: the database responds too."""
    try:
        service.store.users.has_any()
    except StoreError as error:
        service.log.write("error", str(error))
        return problem_response(database_unavailable())
    return JSONResponse({"status": "ready"})


@monitoring_router.get("/openapi.json")
async def description(request: Request) -> Response:
    """The OpenAPI description of the REST API."""
    document: dict[str, Any] = request.app.openapi()
    return JSONResponse(document)


@monitoring_router.get("/metrics")
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
    ("last_run_fetched", "Documents that the last run fetched.", lambda one: one.fetched),
    ("last_run_parsed", "Items that the last run parsed.", lambda one: one.parsed),
    (
        "publishing_delay_seconds", "Seconds from the start of the last run until its events were published.",
        lambda one: one.publishing_delay,
    ),
    ("late_seconds", "Seconds since the source was due.", lambda one: round(one.late)),
    ("incidents_open", "Open incidents.", lambda one: one.open_incidents),
    (
        "last_success_timestamp_seconds", "Time of the last successful run.",
        lambda one: None if one.last_success is None else round(one.last_success.timestamp()),
    ),
)  # fmt: skip


# Each router by itself: FastAPI builds the routes of a router that includes others once more.
ROUTERS = (events.list_router, monitoring_router, *api.ROUTERS, *web.ROUTERS, live_room.router, graphql.router)


def build_app(service: Service, routers: Iterable[APIRouter] = ROUTERS, routes: Iterable[Route] = ROUTES) -> FastAPI:
    """The ASGI application of a service. It closes the service at shutdown. Tests pass their own routers and table."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        start_dispatcher(service)
        async with live.open(), periodic_cleanup(service):
            yield
        await run_in_threadpool(service.close)
        limits.close()

    app = FastAPI(
        title=service.options.site_name, version=VERSION, docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False,
        dependencies=[Depends(guard)], lifespan=lifespan,
    )  # fmt: skip
    options = service.options
    live = live_room.LiveHub(service)
    limits = RateLimits(service.clock, per_address=options.rate_limit, per_key=options.key_rate_limit, table=service.limits_table)
    app.state.service, app.state.limits, app.state.live = service, limits, live
    app.router.routes.extend(_product_routes() if routers is ROUTERS else _guarded_routes(routers))
    problems.install_error_handlers(app)
    openapi.install_openapi(app)
    bind_routes(app, routes)
    app.add_middleware(PublicGZip, minimum_size=1000, compresslevel=6)
    app.add_middleware(RequestMiddleware, service=service, limits=limits)
    if options.cors:
        # Without credentials: a script of another site sees public data only, unless it sends an API key.
        app.add_middleware(
            CORSMiddleware, allow_origins=options.cors, allow_methods=["*"], allow_headers=["Authorization", "Content-Type"],
            expose_headers=["ETag", "Link", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
        )  # fmt: skip
    return app


class PublicGZip(GZipMiddleware):
    """Compresses what is the same for everyone. Pages of a session are not: their size could reveal their token (BREACH)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_public(scope):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _is_public(scope: Scope) -> bool:
    sent = {name for name, _ in scope["headers"]}
    return scope["path"].startswith("/static/") or not (sent & {b"cookie", b"authorization"} or scope["path"] in _WITH_TOKENS)


_WITH_TOKENS = frozenset({"/sign-in", "/welcome"})


def _guarded_routes(routers: Iterable[APIRouter]) -> list[BaseRoute]:
    """The routes of these routers, each behind the guard."""
    guarded = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(guard)])
    for router in routers:
        guarded.include_router(router, dependencies=[Depends(web.note_live_position)] if router in web.ROUTERS else None)
    return guarded.router.routes


@cache
def _product_routes() -> list[BaseRoute]:
    """The routes of the product, built once per process: a route takes the service from the request."""
    return _guarded_routes(ROUTERS)


CLEANUP_INTERVAL = 6 * 3600.0
"""Seconds between two cleanups."""


def clean_up(service: Service) -> None:
    """Clean up once. A failure is logged and retried the next time."""
    days = service.options.audit_days
    try:
        pruned = service.store.sessions.prune(timedelta(days=days) if days else None)
    except TadoruError as error:
        service.log.write("warning", "cleanup failed", why=str(error))
        return
    if pruned.lines or pruned.sessions or pruned.links:
        service.log.write("info", "tidied", lines=pruned.lines, sessions=pruned.sessions, links=pruned.links)


@asynccontextmanager
async def periodic_cleanup(service: Service, period: float = CLEANUP_INTERVAL) -> AsyncIterator[None]:
    """Clean up periodically while the service runs."""
    ended = asyncio.Event()

    async def repeat() -> None:
        while not ended.is_set():
            await run_in_threadpool(clean_up, service)
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), period)

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        ended.set()
        await task
