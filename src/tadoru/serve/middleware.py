"""The door: what happens to every request before and after its route, in this order.

A name that is not ours is turned away; who calls is found out; a request is counted; the route runs, its body bounded; a change
goes into the audit log; the answer gets its headers; a line is written. Errors that nobody foresaw end here, as 500 without a
word about the inside.
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
from tadoru.serve.auth.hosts import allowed_hosts, is_allowed_host
from tadoru.serve.auth.principal import ANONYMOUS, SAFE_METHODS, client_address, record_change
from tadoru.serve.auth.rate_limits import RateLimitResult, RateLimits, client_network
from tadoru.serve.auth.security_headers import add_security_headers
from tadoru.serve.live.handshake import WebSocketHandshake
from tadoru.serve.problems import HttpProblem, error_response
from tadoru.serve.service import Service

MAX_BODY_BYTES = 2 * 1024 * 1024
_QUIET = frozenset({"/healthz", "/readyz"})
"""Not counted and not logged: whoever watches the service asks them all day."""


class RequestMiddleware:
    """Middleware around the whole application."""

    def __init__(self, app: ASGIApp, service: Service, limits: RateLimits) -> None:
        self._app, self._service, self._limits = app, service, limits
        self._names = allowed_hosts(service.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketHandshake(self._service, dict(scope), receive, send).go(self._app, self._limits, self._names)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await _HttpExchange(self._service, dict(scope), receive, send).go(self._app, self._limits, self._names)


class _HttpExchange:
    """One request on its way through."""

    def __init__(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        self._service, self._scope, self._receive, self._send = service, scope, receive, send
        self._began = service.clock.monotonic()
        self._method = scope["method"]
        if self._method == "HEAD":
            scope["method"] = "GET"  # The same answer, without its body.
        scope.setdefault("state", {})
        self._request = Request(scope, self._bounded)
        self._id = secrets.token_hex(8)
        self._caller = ANONYMOUS
        self._taken: RateLimitResult | None = None
        self._status = 0
        self._size = 0
        self._body = 0

    async def go(self, app: ASGIApp, limits: RateLimits, names: frozenset[str]) -> None:
        try:
            await self._enter(limits, names)
            await app(self._scope, self._bounded, self._out)
        except HttpProblem as error:
            await self._tell(error.status_code, error.detail, dict(error.headers or {}))
        except TadoruError:
            await self._tell(503, "The database does not answer just now: try again later.", {"Retry-After": "5"})
        except Exception as error:
            self._log_fault(error)
            if self._status:
                raise  # The answer has begun; the connection is all that can be closed.
            await self._tell(500, f"Something went wrong here. The log has more under {self._id}.", {})
        finally:
            self._log_request()

    async def _enter(self, limits: RateLimits, names: frozenset[str]) -> None:
        request = self._request
        if not is_allowed_host(request.headers.get("host", ""), names):
            raise HttpProblem(421, "This service does not answer for that name: start it with --base-url or --allow-host.")
        if self._scope["path"] in _QUIET:
            return
        refused = None
        try:
            self._caller = await identify(request, limits)
        except HttpProblem as error:
            refused = error  # Counted all the same.
        request.state.caller = self._caller
        self._taken = self._count(limits)
        if self._taken is not None and not self._taken.allowed:
            raise HttpProblem(429, "That was too often: wait a little, then go on.", self._taken.headers())
        if refused is not None:
            raise refused

    def _count(self, limits: RateLimits) -> RateLimitResult | None:
        caller = self._caller
        if caller is ANONYMOUS:
            return limits.addresses.take(client_network(client_address(self._request))) if limits.addresses is not None else None
        name = f"key {caller.key_id}" if caller.is_key else f"user {caller.user_id}"
        return limits.known.take(name) if limits.known is not None else None

    async def _bounded(self) -> Message:
        message = await self._receive()
        self._body += len(message.get("body", b""))
        if self._body > MAX_BODY_BYTES:
            raise HttpProblem(413, f"The request is too large: at most {MAX_BODY_BYTES // 1024:,} KiB are taken.")
        return message

    async def _tell(self, status: int, detail: str, headers: dict[str, str]) -> None:
        response = error_response(self._request, status, detail, headers)
        await response(self._scope, self._bounded, self._out)

    async def _out(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            await self._record()
            headers = MutableHeaders(scope=message)
            add_security_headers(headers, self._caller, secure=is_secure(self._request))
            headers.append("X-Request-Id", self._id)
            if self._taken is not None:
                for name, value in self._taken.headers().items():
                    headers.setdefault(name, value)
        elif message["type"] == "http.response.body":
            self._size += len(message.get("body", b""))
            if self._method == "HEAD":
                message = {**message, "body": b""}
        await self._send(message)

    async def _record(self) -> None:
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
                "error", "A change is missing in the audit log", route=f"{row.method} {row.path}", why=str(error)
            )

    def _log_fault(self, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
        fields: dict[str, Any] = {"request": self._id, "path": self._scope["path"], "where": place}
        # Not its words: they may hold what somebody typed.
        self._service.log.write("error", f"A request failed: {type(error).__name__}", **fields)

    def _log_request(self) -> None:
        if self._scope["path"] in _QUIET or not self._service.log.hears("info"):
            return
        took = round((self._service.clock.monotonic() - self._began) * 1000, 1)
        who = {"who": self._caller.name} if self._caller is not ANONYMOUS else {}
        self._service.log.write(
            "info", "request", method=self._method, path=self._scope["path"], status=self._status, ms=took, bytes=self._size,
            address=client_address(self._request), **who, request=self._id,
        )  # fmt: skip
