"""Middleware around the application.

For each request, in this order: check the Host header, identify the principal, apply the rate limit, run the route with a limit
on the body, record changes in the audit log, add security headers, write a log line. Unexpected exceptions become 500 without
details.
"""

from __future__ import annotations

import secrets
import traceback
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tadoru.errors import TadoruError
from tadoru.serve.auth.authentication import identify, is_secure
from tadoru.serve.auth.guard import check_host
from tadoru.serve.auth.http_security import add_security_headers, allowed_hosts
from tadoru.serve.auth.principal import ANONYMOUS, SAFE_METHODS, client_address, record_change
from tadoru.serve.auth.rate_limits import RateLimitResult, RateLimits
from tadoru.serve.live.handshake import WebSocketHandshake
from tadoru.serve.problems import HttpProblem, database_unavailable, error_response, internal_error, rate_limit_exceeded
from tadoru.serve.service import Service

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
