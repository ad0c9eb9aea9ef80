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
from tadoru.serve.service import service_of


class Direct(APIRoute):
    """Its function takes the request, the caller and the service."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        endpoint: Callable[..., Coroutine[Any, Any, Response]] = self.endpoint

        async def handle(request: Request) -> Response:
            await guard(request)
            return await endpoint(request, await caller(request), service_of(request))

        return handle
