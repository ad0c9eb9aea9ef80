"""A service with a few routes of its own: enough to try every door without the rooms behind it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel

from tadoru.config.options import ServeOptions
from tadoru.log import Log
from tadoru.serve.app import build_app
from tadoru.serve.app import monitoring_router as operating
from tadoru.serve.auth.authentication import (
    clear_session_cookie,
    csrf_token,
    open_link,
    safe_redirect,
    set_session_cookie,
    sign_in,
    sign_out,
    use_link,
)
from tadoru.serve.auth.principal import Principal, current_principal, note_change
from tadoru.serve.roles import MONITORING_ROUTES, Role, Route
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import ServiceStore, open_service
from tests.support.clock import FakeClock
from tests.support.ready_made import put_ready_made

PASSWORD = "correct horse battery"
BY = Actor(who="test")


class SampleBody(BaseModel):
    text: str


def sample_routes() -> APIRouter:
    router = APIRouter()

    @router.get("/open")
    @router.get("/also-open")
    def opened(who: Annotated[Principal, Depends(current_principal)]) -> dict[str, Any]:
        return {"role": who.role.label, "name": who.name, "scopes": sorted(who.scopes)}

    @router.post("/open")
    async def sent(request: Request) -> int:
        return len(await request.body())

    @router.get("/desk")
    def manage(request: Request) -> dict[str, str]:
        return {"csrf": csrf_token(request)}

    @router.get("/cached")
    def cached() -> Response:
        return Response("x", headers={"Cache-Control": "public, max-age=60"})

    @router.post("/edit")
    def edit(words: SampleBody) -> str:
        return words.text

    @router.post("/form")
    def form(request: Request, title: Annotated[str, Form()]) -> str:
        note_change(request, "event 7", title=title)
        return f"{title} {sorted(request.state.form)}"

    @router.get("/admin")
    def admin() -> str:
        return "admin"

    @router.get("/people")
    def people() -> str:
        return "people"

    @router.get("/boom")
    def boom() -> str:
        raise ValueError(f"a secret: {PASSWORD}")

    @router.post("/sign-in")
    def enter(request: Request, name: Annotated[str, Form()], password: Annotated[str, Form()], next: str = "/") -> Response:  # noqa: A002
        signed_in = sign_in(request, name, password)
        if signed_in is None:
            return JSONResponse({"detail": "no"}, 422)
        response = RedirectResponse(safe_redirect(next), 303)
        set_session_cookie(response, request, signed_in)
        return response

    @router.post("/welcome")
    def welcome(request: Request, token: Annotated[str, Form()], password: Annotated[str, Form()] = "") -> Response:
        if open_link(request, token) is None:
            return JSONResponse({"detail": "no"}, 422)
        signed_in = use_link(request, token, password)
        assert signed_in is not None
        response = RedirectResponse("/", 303)
        set_session_cookie(response, request, signed_in)
        return response

    @router.post("/sign-out")
    def leave(request: Request) -> Response:
        sign_out(request)
        response = Response(status_code=204)
        clear_session_cookie(response, request)
        return response

    return router


def _row(method: str, path: str, role: Role = Role.PUBLIC, scope: str = "", **more: bool) -> Route:
    return Route(method=method, path=path, role=role, scope=scope, what="A test.", **more)


TABLE = (
    *MONITORING_ROUTES,
    _row("GET", "/open"),
    _row("GET", "/also-open"),
    _row("POST", "/open"),
    _row("GET", "/desk", Role.VIEWER, "events:read", page=True),
    _row("GET", "/cached"),
    _row("POST", "/edit", Role.EDITOR, "events:write"),
    _row("POST", "/form", Role.EDITOR, "events:write"),
    _row("GET", "/admin", Role.ADMIN, "admin"),
    _row("GET", "/people", Role.VIEWER),
    _row("GET", "/boom"),
    _row("POST", "/sign-in", recorded=True),
    _row("POST", "/welcome", recorded=True),
    _row("POST", "/sign-out", Role.VIEWER, "events:read", recorded=True),
)


class AuthHarness:
    """A service, and those who call it."""

    def __init__(self, store: ServiceStore, clock: FakeClock, **options: Any) -> None:
        self.store, self.clock, self.said = store, clock, io.StringIO()
        self.service = Service(
            store=store, clock=clock, options=ServeOptions(**options), log=Log(self.said, clock, form="json", level="debug")
        )
        self.app: FastAPI = build_app(self.service, (operating, sample_routes()), TABLE)

    def client(self, address: str = "198.51.100.7", base: str = "http://127.0.0.1:8000", **options: Any) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, client=(address, 50000), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=base, **options)

    def user(self, role: str = "editor", name: str = "mia") -> str:
        """Somebody with a password."""
        self.store.users.add(name, role, BY, password=PASSWORD)
        return name

    def session(self, role: str = "editor", name: str = "mia") -> dict[str, str]:
        """The headers of somebody who is signed in."""
        user = self.store.users.get(name) or self.store.users.add(name, role, BY)
        return {"cookie": f"tadoru={self.store.sessions.start(user, BY)}"}

    def key(self, *scopes: str, user: str | None = None) -> dict[str, str]:
        """The headers of a program."""
        return {"authorization": f"Bearer {self.store.keys.add('program', scopes, BY, user=user)[1]}"}


OpenHouse = Callable[..., AuthHarness]


CHEAP = 2**4
"""The real cost of a password is half a second each."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def open_house(tmp_path: Path, clock: FakeClock) -> Iterator[OpenHouse]:
    """Makes a service with options."""
    put_ready_made(tmp_path / "events.db")
    store = open_service(str(tmp_path / "events.db"), clock, password_cost=CHEAP)
    yield lambda **options: AuthHarness(store, clock, **options)
    store.close()


@pytest.fixture
def harness(open_house: OpenHouse) -> AuthHarness:
    return open_house()


async def csrf_of(harness: AuthHarness, headers: dict[str, str]) -> str:
    """The token of somebody's forms, read from a page."""
    async with harness.client() as client:
        token: str = (await client.get("/desk", headers=headers)).json()["csrf"]
        return token
