"""Middleware around the application, for requests and for WebSockets.

For each request, in this order: check the Host header, identify the principal, apply the rate limit, run the route with a limit
on the body, record changes in the audit log, add security headers, write a log line. Unexpected exceptions become 500 without
details.

A WebSocket starts as a GET request and is checked like one. A browser sends the session cookie with connections that another
site's page opens, so a connection with a session must come from a page of this service. A refusal is an HTTP response; no
connection is made.
"""

from __future__ import annotations

import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tadoru.errors import TadoruError
from tadoru.serve.auth.authentication import credential_of, identify, is_secure
from tadoru.serve.auth.guard import RouteRows, check_host, check_same_origin, reject
from tadoru.serve.auth.http_security import add_security_headers, allowed_hosts
from tadoru.serve.auth.principal import ANONYMOUS, SAFE_METHODS, client_address, record_change
from tadoru.serve.auth.rate_limits import RateLimitResult, RateLimits, client_network
from tadoru.serve.problems import (
    HttpProblem,
    database_unavailable,
    error_response,
    internal_error,
    problem_response,
    rate_limit_exceeded,
)
from tadoru.serve.roles import Route
from tadoru.serve.service import Service
from tadoru.serve.web.request_input import api_language

if TYPE_CHECKING:
    from tadoru.serve.live.connection import LiveHub

WEBSOCKET_METHOD = "WS"
"""The method of a WebSocket in the table of routes."""


class WebSocketHandshake:
    """One WebSocket, from its request until it is closed."""

    def __init__(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})
        self._service, self._scope, self._receive, self._send = service, scope, receive, send
        self._began = service.clock.monotonic()
        scheme = "https" if scope.get("scheme") == "wss" else "http"
        self._request = Request({**scope, "type": "http", "method": "GET", "scheme": scheme})
        self._caller = ANONYMOUS
        self._id = secrets.token_hex(8)
        self._status = 0
        self._code: int | None = None
        self._size = 0

    async def run(self, app: ASGIApp, limits: RateLimits, hosts: frozenset[str]) -> None:
        try:
            await self._admit(limits, hosts)
            with self._connection_slot():
                await app(self._scope, self._receive_message, self._send_message)
        except HttpProblem as problem:
            await self._deny(problem)
        except TadoruError:
            await self._deny(database_unavailable())
        except Exception as error:
            self._log_exception(error)
            await self._deny(internal_error(self._id))
        finally:
            self._log_connection()

    async def _admit(self, limits: RateLimits, hosts: frozenset[str]) -> None:
        request = self._request
        check_host(request, hosts)
        refused = None
        try:
            self._caller = await identify(request, limits)
        except HttpProblem as error:
            refused = error  # It counts for the rate limit too.
        request.state.caller, request.state.credential = self._caller, credential_of(request)
        result = limits.take(self._caller, client_address(request))
        if result is not None and not result.allowed:
            raise rate_limit_exceeded(result.headers(), result.retry)
        if refused is not None:
            raise refused
        self._check_permission(self._route())

    def _route(self) -> Route:
        rows: RouteRows = self._request.app.state.rows
        for found in rows.values():
            for pattern, row in found:
                if row.method == WEBSOCKET_METHOD and pattern.match(self._scope["path"]):
                    return row
        raise HttpProblem(404, "No WebSocket at this URL.")

    def _check_permission(self, row: Route) -> None:
        if not self._caller.is_key:
            check_same_origin(self._request)
            if self._caller is not ANONYMOUS and "origin" not in self._request.headers:
                raise HttpProblem(403, "A session needs the Origin header of a browser. Programs use an API key.")
        if not any(self._caller.may(row.role, scope) for scope in row.scopes):
            reject(self._request, row, self._caller)

    @contextmanager
    def _connection_slot(self) -> Iterator[None]:
        """One of the connections that a principal may have."""
        hub: LiveHub = self._request.app.state.live
        with hub.connection_slot(self._caller, client_network(client_address(self._request))):
            yield

    async def _receive_message(self) -> Message:
        message = await self._receive()
        if message["type"] == "websocket.disconnect" and self._code is None:
            self._code = message.get("code", 1005)
        return message

    async def _send_message(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._status = 101
        elif message["type"] == "websocket.http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            add_security_headers(headers, self._caller, secure=is_secure(self._request))
            headers["X-Request-Id"] = self._id
        elif message["type"] == "websocket.send":
            self._size += len(message.get("text") or "")
        elif message["type"] == "websocket.close":
            self._code = message.get("code", 1000)
        await self._send(message)

    async def _deny(self, problem: HttpProblem) -> None:
        if self._status:  # The connection was already accepted.
            if self._code is None:
                await self._send_message({"type": "websocket.close", "code": 1011, "reason": ""})
            return
        await problem_response(problem, api_language(self._request))(self._scope, self._receive_message, self._send_message)

    def _log_exception(self, error: Exception) -> None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        self._service.log.write(
            "error", f"WebSocket failed: {type(error).__name__}", request=self._id, path=self._scope["path"], where=where
        )

    def _log_connection(self) -> None:
        took = round((self._service.clock.monotonic() - self._began) * 1000, 1)
        who = {"who": self._caller.name} if self._caller is not ANONYMOUS else {}
        code = {"code": self._code} if self._code is not None else {}
        self._service.log.write(
            "info", "request", method=WEBSOCKET_METHOD, path=self._scope["path"], status=self._status, ms=took, bytes=self._size,
            address=client_address(self._request), **who, **code, request=self._id,
        )  # fmt: skip


MAX_BODY_BYTES = 2 * 1024 * 1024
_QUIET = frozenset({"/healthz", "/readyz"})
"""Neither limited nor logged: monitoring polls them all day."""


class RequestMiddleware:
    """ASGI middleware for HTTP requests and WebSocket handshakes."""

    def __init__(self, app: ASGIApp, service: Service, limits: RateLimits) -> None:
        self._app, self._service, self._limits = app, service, limits
        self._hosts = allowed_hosts(service.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketHandshake(self._service, dict(scope), receive, send).run(self._app, self._limits, self._hosts)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await _HttpExchange(self._service, dict(scope), receive, send).run(self._app, self._limits, self._hosts)


class _HttpExchange:
    """One request and its response."""

    def __init__(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        self._service, self._scope, self._receive, self._send = service, scope, receive, send
        self._began = service.clock.monotonic()
        self._method = scope["method"]
        if self._method == "HEAD":
            scope["method"] = "GET"  # The same response, without its body.
        scope.setdefault("state", {})
        self._request = Request(scope, self._limited_receive)
        self._id = secrets.token_hex(8)
        self._caller = ANONYMOUS
        self._limit_result: RateLimitResult | None = None
        self._status = 0
        self._sent_bytes = 0
        self._received_bytes = 0

    async def run(self, app: ASGIApp, limits: RateLimits, hosts: frozenset[str]) -> None:
        try:
            await self._admit(limits, hosts)
            await app(self._scope, self._limited_receive, self._send_message)
        except HttpProblem as problem:
            await self._respond(problem)
        except TadoruError:
            await self._respond(database_unavailable())
        except Exception as error:
            self._log_exception(error)
            if self._status:
                raise  # The response has started: only the connection can be closed.
            await self._respond(internal_error(self._id))
        finally:
            self._log_request()

    async def _admit(self, limits: RateLimits, hosts: frozenset[str]) -> None:
        request = self._request
        check_host(request, hosts)
        if self._scope["path"] in _QUIET:
            return
        refused = None
        try:
            self._caller = await identify(request, limits)
        except HttpProblem as error:
            refused = error  # It counts for the rate limit too.
        request.state.caller = self._caller
        self._limit_result = limits.take(self._caller, client_address(request))
        if self._limit_result is not None and not self._limit_result.allowed:
            raise rate_limit_exceeded(self._limit_result.headers(), self._limit_result.retry)
        if refused is not None:
            raise refused

    async def _limited_receive(self) -> Message:
        message = await self._receive()
        self._received_bytes += len(message.get("body", b""))
        if self._received_bytes > MAX_BODY_BYTES:
            raise HttpProblem(
                413, "The request is too large. The maximum is {limit} KiB.", limit=f"{MAX_BODY_BYTES // 1024:,}"
            )  # fmt: skip
        return message

    async def _respond(self, problem: HttpProblem) -> None:
        response = error_response(self._request, problem)
        await response(self._scope, self._limited_receive, self._send_message)

    async def _send_message(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            await self._record_change()
            headers = MutableHeaders(scope=message)
            add_security_headers(headers, self._caller, secure=is_secure(self._request))
            headers.append("X-Request-Id", self._id)
            if self._limit_result is not None:
                for name, value in self._limit_result.headers().items():
                    headers.setdefault(name, value)
        elif message["type"] == "http.response.body":
            self._sent_bytes += len(message.get("body", b""))
            if self._method == "HEAD":
                message = {**message, "body": b""}
        await self._send(message)

    async def _record_change(self) -> None:
        row = self._scope["state"].get("row")
        if (
            self._scope["method"] in SAFE_METHODS
            or row is None
            or row.recorded
            or self._status >= 400
            or self._caller is ANONYMOUS
        ):
            return
        try:
            await run_in_threadpool(record_change, self._request, row, self._status)
        except TadoruError as error:
            self._service.log.write(
                "error", "change not recorded in the audit log", route=f"{row.method} {row.path}", why=str(error)
            )

    def _log_exception(self, error: Exception) -> None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        fields: dict[str, Any] = {"request": self._id, "path": self._scope["path"], "where": where}
        # Without the message of the exception, which may contain user input.
        self._service.log.write("error", f"request failed: {type(error).__name__}", **fields)

    def _log_request(self) -> None:
        if self._scope["path"] in _QUIET or not self._service.log.is_enabled("info"):
            return
        took = round((self._service.clock.monotonic() - self._began) * 1000, 1)
        who = {"who": self._caller.name} if self._caller is not ANONYMOUS else {}
        self._service.log.write(
            "info", "request", method=self._method, path=self._scope["path"], status=self._status, ms=took,
            bytes=self._sent_bytes, address=client_address(self._request), **who, request=self._id,
        )  # fmt: skip
