"""The guard of WebSockets: what `door` and `access.guard` are for requests.

A WebSocket begins as a GET, and is judged as one: the name it was sent to, who calls, how often, and whether the table of `roles`
allows it. A browser sends the cookie of a session along whoever's page opened the connection, so that one which is known by a
cookie must come from a page of ours. Who is refused is told so over HTTP, before there is a connection.
"""

from __future__ import annotations

import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tadoru.errors import TadoruError
from tadoru.serve.auth.authentication import credential_of, identify, is_secure
from tadoru.serve.auth.guard import RouteRows, check_same_origin, reject
from tadoru.serve.auth.hosts import is_allowed_host
from tadoru.serve.auth.principal import ANONYMOUS, client_address
from tadoru.serve.auth.rate_limits import RateLimits, client_network
from tadoru.serve.auth.security_headers import add_security_headers
from tadoru.serve.problems import HttpProblem, problem_response
from tadoru.serve.roles import Route
from tadoru.serve.service import Service

if TYPE_CHECKING:
    from tadoru.serve.live.hub import LiveHub

WEBSOCKET_METHOD = "WS"
"""How the table of routes writes it."""


class WebSocketHandshake:
    """One WebSocket on its way in, and until it is closed."""

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

    async def go(self, app: ASGIApp, limits: RateLimits, names: frozenset[str]) -> None:
        try:
            await self._enter(limits, names)
            with self._place():
                await app(self._scope, self._hear, self._out)
        except HttpProblem as error:
            await self._deny(error.status_code, error.detail, dict(error.headers or {}))
        except TadoruError:
            await self._deny(503, "The database does not answer just now: try again later.", {"Retry-After": "5"})
        except Exception as error:
            self._log_fault(error)
            await self._deny(500, f"Something went wrong here. The log has more under {self._id}.", {})
        finally:
            self._log_connection()

    async def _enter(self, limits: RateLimits, names: frozenset[str]) -> None:
        request = self._request
        if not is_allowed_host(request.headers.get("host", ""), names):
            raise HttpProblem(421, "This service does not answer for that name: start it with --base-url or --allow-host.")
        refused = None
        try:
            self._caller = await identify(request, limits)
        except HttpProblem as error:
            refused = error  # Counted all the same.
        request.state.caller, request.state.credential = self._caller, credential_of(request)
        caller, taken = self._caller, None
        if caller is ANONYMOUS:
            taken = limits.addresses.take(client_network(client_address(request))) if limits.addresses is not None else None
        elif limits.known is not None:
            taken = limits.known.take(f"key {caller.key_id}" if caller.is_key else f"user {caller.user_id}")
        if taken is not None and not taken.allowed:
            raise HttpProblem(429, "That was too often: wait a little, then go on.", taken.headers())
        if refused is not None:
            raise refused
        self._judge(self._row())

    def _row(self) -> Route:
        rows: RouteRows = self._request.app.state.rows
        for found in rows.values():
            for pattern, row in found:
                if row.method == WEBSOCKET_METHOD and pattern.match(self._scope["path"]):
                    return row
        raise HttpProblem(404, "There is no WebSocket at this address.")

    def _judge(self, row: Route) -> None:
        if not self._caller.is_key:
            check_same_origin(self._request)
            if self._caller is not ANONYMOUS and "origin" not in self._request.headers:
                raise HttpProblem(403, "A session is for browsers, which say where they come from: programs bring a key.")
        if not any(self._caller.may(row.role, scope) for scope in row.scopes):
            reject(self._request, row, self._caller)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of the connections that somebody may have."""
        live: LiveHub = self._request.app.state.live
        with live.place(self._caller, client_network(client_address(self._request))):
            yield

    async def _hear(self) -> Message:
        message = await self._receive()
        if message["type"] == "websocket.disconnect" and self._code is None:
            self._code = message.get("code", 1005)
        return message

    async def _out(self, message: Message) -> None:
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

    async def _deny(self, status: int, detail: str, headers: dict[str, str]) -> None:
        if self._status:  # It was let in before this happened.
            if self._code is None:
                await self._out({"type": "websocket.close", "code": 1011, "reason": ""})
            return
        await problem_response(status, detail, headers)(self._scope, self._hear, self._out)

    def _log_fault(self, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
        self._service.log.write(
            "error", f"A WebSocket failed: {type(error).__name__}", request=self._id, path=self._scope["path"], where=place
        )

    def _log_connection(self) -> None:
        took = round((self._service.clock.monotonic() - self._began) * 1000, 1)
        who = {"who": self._caller.name} if self._caller is not ANONYMOUS else {}
        code = {"code": self._code} if self._code is not None else {}
        self._service.log.write(
            "info", "request", method=WEBSOCKET_METHOD, path=self._scope["path"], status=self._status, ms=took, bytes=self._size,
            address=client_address(self._request), **who, **code, request=self._id,
        )  # fmt: skip
