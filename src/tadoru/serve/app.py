"""The application: the rooms put together, and every route held to the table of `roles`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import cache

from fastapi import APIRouter, Depends, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute

from tadoru.serve import api, graphql, monitoring, problems, web
from tadoru.serve.api import events, feeds, openapi
from tadoru.serve.auth.guard import bind_routes, guard
from tadoru.serve.auth.rate_limits import RateLimits
from tadoru.serve.cleanup import periodic_cleanup
from tadoru.serve.crawl_runner.dispatcher import start_dispatcher
from tadoru.serve.live import hub as live_room
from tadoru.serve.middleware import RequestMiddleware
from tadoru.serve.roles import ROUTES, Route
from tadoru.serve.service import Service
from tadoru.version import VERSION

ROUTERS = (events.list_router, monitoring.router, api.router, feeds.router, web.router, live_room.router, graphql.router)


def build_app(service: Service, rooms: Iterable[APIRouter] = ROUTERS, routes: Iterable[Route] = ROUTES) -> FastAPI:
    """The ASGI application of a service. It closes the service when it ends. Tests bring rooms and a table of their own."""

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
    app.router.routes.extend(_own_routes() if rooms is ROUTERS else _routes(rooms))
    problems.install_error_handlers(app)
    openapi.install_openapi(app)
    bind_routes(app, routes)
    app.add_middleware(RequestMiddleware, service=service, limits=limits)
    if options.cors:
        # Without credentials: a script of another site sees what everybody sees, or brings a key of its own.
        app.add_middleware(
            CORSMiddleware, allow_origins=options.cors, allow_methods=["*"], allow_headers=["Authorization", "Content-Type"],
            expose_headers=["ETag", "Link", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
        )  # fmt: skip
    return app


def _routes(rooms: Iterable[APIRouter]) -> list[BaseRoute]:
    """What the rooms offer, each route behind the guard."""
    guarded = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(guard)])
    for room in rooms:
        guarded.include_router(room)
    return guarded.router.routes


@cache
def _own_routes() -> list[BaseRoute]:
    """Those of the product, made once for a process: a route knows no service but that of the request's application."""
    return _routes(ROUTERS)
