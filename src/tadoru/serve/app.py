"""The ASGI application: routers, middleware and error handlers, with every route bound to the table of `roles`."""

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
    app.add_middleware(RequestMiddleware, service=service, limits=limits)
    if options.cors:
        # Without credentials: a script of another site sees public data only, unless it sends an API key.
        app.add_middleware(
            CORSMiddleware, allow_origins=options.cors, allow_methods=["*"], allow_headers=["Authorization", "Content-Type"],
            expose_headers=["ETag", "Link", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
        )  # fmt: skip
    return app


def _guarded_routes(routers: Iterable[APIRouter]) -> list[BaseRoute]:
    """The routes of these routers, each behind the guard."""
    guarded = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, dependencies=[Depends(guard)])
    for router in routers:
        guarded.include_router(router)
    return guarded.router.routes


@cache
def _product_routes() -> list[BaseRoute]:
    """The routes of the product, built once per process: a route takes the service from the request."""
    return _guarded_routes(ROUTERS)
