"""The guard: checks before every route whether the principal may call it.

It is a dependency of the whole application, so that no router can omit it. It finds the row of a route by the function that is
about to run.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import WebSocketRoute, compile_path

from tadoru.serve.auth.authentication import is_valid_csrf_token
from tadoru.serve.auth.http_security import is_allowed_host
from tadoru.serve.auth.principal import ANONYMOUS, SAFE_METHODS, Principal, client_address
from tadoru.serve.problems import HttpProblem, prefers_html
from tadoru.serve.roles import ROUTES, Route
from tadoru.serve.service import service_of

RouteRows = dict[tuple[Callable[..., Any], str], list[tuple[re.Pattern[str], Route]]]
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def bind_routes(app: FastAPI, routes: Iterable[Route] = ROUTES) -> None:
    """Bind every registered route to its row of the table. Raises RuntimeError if routes and table differ."""
    table: dict[tuple[str, str], Route] = {}
    for route in routes:
        if (route.method, route.path) in table:
            raise RuntimeError(f"{route.method} {route.path} is in the table of routes twice.")
        table[route.method, route.path] = route
    rows: RouteRows = {}
    unknown, seen = [], set()
    for context in iter_route_contexts(app.routes):
        is_socket = type(context.original_route) is WebSocketRoute  # `live.handshake` enforces the same table.
        if not (is_socket or isinstance(context.original_route, APIRoute)) or context.endpoint is None or context.path is None:
            raise RuntimeError(f"{context.path} is not covered by the guard. Register it on a router.")
        for method in ("WS",) if is_socket else context.methods or ():
            found = table.get((method, context.path))
            if found is None:
                unknown.append(f"{method} {context.path}")
                continue
            seen.add((method, context.path))
            rows.setdefault((context.endpoint, method), []).append((compile_path(context.path)[0], found))
    missing = [f"{method} {path}" for method, path in table.keys() - seen]
    if unknown or missing:
        raise RuntimeError(f"The table of routes lacks {sorted(unknown)} and has unregistered {sorted(missing)}.")
    app.state.rows = rows


def route_of(request: Request) -> Route:
    """The row of the route that is about to run. A function may serve several paths."""
    rows: RouteRows = request.app.state.rows
    found = rows[request.scope["endpoint"], request.method]
    return next(row for pattern, row in found if len(found) == 1 or pattern.match(request.scope["path"]))


def allowed_methods(request: Request) -> list[str]:
    """The methods allowed at the path of a request."""
    rows: RouteRows = request.app.state.rows
    here = {row.method for found in rows.values() for pattern, row in found if pattern.match(request.scope["path"])}
    return sorted(here | ({"HEAD"} if "GET" in here else set()))


def check_host(request: Request, hosts: frozenset[str]) -> None:
    """Refuse a request whose Host header is not a name of this service. Raises HttpProblem."""
    if not is_allowed_host(request.headers.get("host", ""), hosts):
        raise HttpProblem(421, "Unknown host name. Start the service with --base-url or --allow-host to accept it.")


async def guard(request: Request) -> None:
    """Allow the request or raise HttpProblem; a FastAPI dependency."""
    row = route_of(request)
    request.state.row = row
    caller: Principal = getattr(request.state, "caller", ANONYMOUS)
    unsafe = request.method not in SAFE_METHODS
    if unsafe and not caller.is_key:
        check_same_origin(request)
    if not caller.may(row.role, row.scope) and not (row.loopback and _is_local_request(request)):
        reject(request, row, caller)
    if unsafe:
        await _check_form(request, caller)


def reject(request: Request, row: Route, caller: Principal) -> None:
    """Redirect to the sign-in page, or refuse. Raises HttpProblem."""
    if caller is ANONYMOUS and row.page and request.method == "GET" and prefers_html(request):
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        raise HttpProblem(303, "Sign in first.", {"Location": f"/sign-in?next={quote(here, safe='')}"})
    raise access_denied(row, caller)


def access_denied(row: Route, caller: Principal) -> HttpProblem:
    """The problem of a principal without the permission of a row."""
    if caller is ANONYMOUS:
        return HttpProblem(401, "Sign in, or send an API key as “Authorization: Bearer …”.", {"WWW-Authenticate": "Bearer"})
    if caller.is_key and not row.scope:
        return HttpProblem(403, "API keys cannot access this page. Sign in instead.")
    if caller.is_key and caller.role >= row.role:
        return HttpProblem(
            403, "The API key needs the scope {scope}. Use a key with that scope.", code="scope_missing", scope=row.scope
        )
    return HttpProblem(
        403, "This requires the role {role}. Ask an administrator for access.", code="role_missing", role=row.role.label
    )


def check_same_origin(request: Request) -> None:
    """Refuse a request that a page of another site made a browser send. Raises HttpProblem."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise _cross_site_request()
    sent_by = request.headers.get("origin")
    if sent_by is None:
        return
    own = {request.headers.get("host", "").lower(), urlsplit(service_of(request).options.base_url or "").netloc.lower()}
    if urlsplit(sent_by).netloc.lower() not in own - {""}:
        raise _cross_site_request()


def _cross_site_request() -> HttpProblem:
    return HttpProblem(
        403, "The request came from another site. Open the page on this site and try again.", code="cross_site_request"
    )


async def _check_form(request: Request, caller: Principal) -> None:
    """Parse a form, and check the CSRF token of a request with a session. Raises HttpProblem."""
    is_form = request.headers.get("content-type", "").partition(";")[0].strip().lower() in FORM_TYPES
    if is_form:
        request.state.form = await request.form(max_files=10, max_fields=500)
    if caller.user_id is None or caller.is_key:
        return
    given = request.headers.get("x-csrf-token") or (request.state.form.get("csrf") if is_form else None)
    if not isinstance(given, str) or not is_valid_csrf_token(request, given):
        raise HttpProblem(403, "This form has expired. Reload the page and try again.", code="form_expired")


def _is_local_request(request: Request) -> bool:
    """Whether the request comes from this machine and not through a proxy on it."""
    if {"forwarded", "x-forwarded-for", "x-real-ip", "via"} & set(request.headers):
        return False
    base = service_of(request).options.base_url
    hosts = [client_address(request), request.url.hostname or "", *([urlsplit(base).hostname or ""] if base else [])]
    return all(_is_loopback(host) for host in hosts)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
