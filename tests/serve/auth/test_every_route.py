"""Each role, and each scope of a key, tried on each route of the real service: exactly what the table says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tadoru.config.options import ServeOptions
from tadoru.serve.app import build_app
from tadoru.serve.auth.authentication import PLAIN_COOKIE
from tadoru.serve.roles import ROUTES, SCOPES, USER_ROLES, Role, Route
from tadoru.serve.service import Service
from tadoru.store.service import open_service
from tests.serve.auth.conftest import BY

NOWHERE = "198.51.100.7"


class RoleClients:
    """The real service on an empty database, with somebody of each role and a key of each scope."""

    def __init__(self, folder: Path) -> None:
        self.store = open_service(str(folder / "events.db"))
        self.app = build_app(Service(store=self.store, options=ServeOptions(rate_limit=0, key_rate_limit=0)))
        self._sessions = {role: self.store.users.add(role.label, role.label, BY) for role in USER_ROLES}
        self._keys = {scope: self.store.keys.add(scope, (scope,), BY)[1] for scope in SCOPES}

    def person(self, role: Role) -> dict[str, str]:
        if role is Role.PUBLIC:
            return {}
        token = self.store.sessions.start(self._sessions[role], BY)  # A new one each time: one route is for signing out.
        return {"cookie": f"{PLAIN_COOKIE}={token}", "x-csrf-token": csrf(token)}

    def key(self, scope: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self._keys[scope]}"}

    async def ask(self, route: Route, headers: dict[str, str]) -> httpx.Response:
        path = re.sub(r"\{[^}]*\}", "999999", route.path)
        if route.method == "WS":
            return await self._connect(path, headers)
        transport = httpx.ASGITransport(self.app, client=(NOWHERE, 50000), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.request(route.method, path, headers=headers)

    async def _connect(self, path: str, headers: dict[str, str]) -> httpx.Response:
        """Open a WebSocket and close it; what is answered instead, or 101."""
        given = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000", **headers}
        scope = {
            "type": "websocket", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "ws", "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": (NOWHERE, 50000), "subprotocols": [],
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "extensions": {"websocket.http.response": {}},
        }  # fmt: skip
        coming = iter([{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}])
        told: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return next(coming)

        async def send(message: Any) -> None:
            told.append(message)

        await self.app(scope, receive, send)
        if told[0]["type"] == "websocket.accept":
            return httpx.Response(101)
        return httpx.Response(told[0]["status"], headers=told[0]["headers"], content=told[1]["body"])


def csrf(token: str) -> str:
    import hashlib
    import hmac

    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


def verdict(told: httpx.Response) -> int:
    """What the guard said: 401, 403, or 200 for whatever the route itself answered. A wrong password is no word of the guard."""
    by_route = told.status_code == 401 and "www-authenticate" not in told.headers
    return told.status_code if told.status_code in (401, 403) and not by_route else 200


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoleClients]:
    made = RoleClients(tmp_path_factory.mktemp("everybody"))
    yield made
    made.store.close()


ROWS = [pytest.param(route, id=f"{route.method} {route.path}") for route in ROUTES]


@pytest.mark.parametrize("route", ROWS)
async def test_people_get_exactly_what_the_table_says(everybody: RoleClients, route: Route) -> None:
    for role in Role:
        told = await everybody.ask(route, everybody.person(role))
        assert told.status_code != 500, told.text
        expected = 200 if role >= route.role else 401 if role is Role.PUBLIC else 403
        assert verdict(told) == expected, role


@pytest.mark.parametrize("route", ROWS)
async def test_a_key_gets_exactly_what_its_scope_says(everybody: RoleClients, route: Route) -> None:
    # What is for everybody needs no scope: one key shows that keys are let in.
    for scope in SCOPES if route.role is not Role.PUBLIC else [*SCOPES][:1]:
        told = await everybody.ask(route, everybody.key(scope))
        may = route.role is Role.PUBLIC or scope in route.scopes
        assert verdict(told) == (200 if may else 403), (scope, told.text)
        assert told.status_code != 500


@pytest.mark.parametrize("route", [one for one in ROWS if one.values[0].method not in ("GET", "WS")])  # type: ignore[union-attr]
async def test_nothing_is_changed_for_a_person_without_the_token_of_a_form(everybody: RoleClients, route: Route) -> None:
    headers = everybody.person(Role.ADMIN)
    del headers["x-csrf-token"]
    assert (await everybody.ask(route, headers)).status_code == 403


def test_the_table_makes_sense() -> None:
    for route in ROUTES:
        where = f"{route.method} {route.path}"
        # Else no key could ever do it.
        assert route.scope == "" or all(SCOPES[scope][0] >= route.role for scope in route.scopes), where
        assert route.role is not Role.PUBLIC or not route.scope, where
        assert route.what.endswith("."), where
        assert route.method == "GET" or route.role is not Role.PUBLIC or route.recorded, where
