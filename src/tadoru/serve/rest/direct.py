"""A route that is called thousands of times a second, without what FastAPI does for any route.

FastAPI solves the dependencies of a route anew for each request, which takes longer than the query of a list. Such a route has
none but those that every route has: the guard, who calls, and the service. They are handed to it here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from tadoru.serve.access.guard import guard
from tadoru.serve.access.who import caller
from tadoru.serve.rest.threads import Threads
from tadoru.serve.service import Service, service_of

AT_ONCE = 4
"""Threads; more of them would be slower."""


class Direct(APIRoute):
    """Its function takes the request, the caller and the service, and is run in a thread."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        endpoint: Callable[..., Response] = self.endpoint

        async def handle(request: Request) -> Response:
            await guard(request)
            return await _threads(request).run(endpoint, request, await caller(request), service_of(request))

        return handle


def _threads(request: Request) -> Threads:
    """Those of the service; they end with it."""
    threads: Threads | None = getattr(request.app.state, "list_threads", None)
    if threads is None:
        service: Service = request.app.state.service
        request.app.state.list_threads = threads = Threads(AT_ONCE)
        service.at_end.append(threads.close)
    return threads
