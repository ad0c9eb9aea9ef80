"""Who may call what, and what must be shown for it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import Mount

from tadoru.serve.app import build_app
from tadoru.serve.app import monitoring_router as operating
from tadoru.serve.auth.guard import bind_routes
from tadoru.serve.roles import MONITORING_ROUTES, SCOPES, Role, Route, role_for_scopes
from tests.serve.auth.conftest import BY, TABLE, AuthHarness, OpenHouse, csrf_of, sample_routes

HTML = {"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


async def test_who_calls_is_known_to_the_route(harness: AuthHarness) -> None:
    async with harness.client() as client:
        assert (await client.get("/open")).json() == {"role": "public", "name": "", "scopes": []}
        assert (await client.get("/also-open", headers=harness.session("admin"))).json() == {
            "role": "admin",
            "name": "mia",
            "scopes": [],
        }
        told = (await client.get("/open", headers=harness.key("events:read", "runs:start"))).json()
        assert told == {"role": "editor", "name": "key:program", "scopes": ["events:read", "runs:start"]}


async def test_nobody_is_told_to_sign_in_and_a_browser_is_led_there(harness: AuthHarness) -> None:
    async with harness.client() as client:
        told = await client.get("/desk?a=1&b=盛岡")
        assert (told.status_code, told.headers["www-authenticate"]) == (401, "Bearer")
        assert told.headers["content-type"] == "application/problem+json"
        led = await client.get("/desk?a=1&b=盛岡", headers=HTML)
        assert (led.status_code, led.headers["location"]) == (
            303,
            "/sign-in?next=%2Fdesk%3Fa%3D1%26b%3D%25E7%259B%259B%25E5%25B2%25A1",
        )
        assert (await client.get("/admin", headers=HTML)).status_code == 401  # Not a page.


async def test_a_key_needs_the_scope_and_its_owner_the_role(harness: AuthHarness) -> None:
    harness.user("viewer", "mia")
    async with harness.client() as client:
        for headers, status in (
            (harness.key("admin"), 200),
            (harness.key(*(scope for scope in SCOPES if scope != "admin")), 403),
            (harness.key("admin", user="mia"), 403),
        ):
            assert (await client.get("/admin", headers=headers)).status_code == status
        words = (await client.get("/desk", headers=harness.key("runs:read"))).json()["detail"]
        assert words == "The API key needs the scope events:read. Use a key with that scope."


async def test_what_has_no_scope_is_for_people_only(harness: AuthHarness) -> None:
    async with harness.client() as client:
        told = await client.get("/people", headers=harness.key(*SCOPES))
        assert (told.status_code, told.json()["detail"]) == (403, "API keys cannot access this page. Sign in instead.")
        assert (await client.get("/people", headers=harness.session("viewer"))).status_code == 200


async def test_a_key_does_less_as_soon_as_its_owner_may_less(harness: AuthHarness) -> None:
    harness.user("admin", "root")
    harness.user("editor", "mia")
    key = harness.key("events:write", user="mia")
    async with harness.client() as client:
        assert (await client.post("/edit", headers=key, json={"text": "x"})).status_code == 200
        harness.store.users.set_role("mia", "viewer", BY)
        assert (await client.post("/edit", headers=key, json={"text": "x"})).status_code == 403


async def test_a_session_lasts_until_it_is_signed_out_of(harness: AuthHarness) -> None:
    headers = harness.session("viewer")
    async with harness.client() as client:
        assert (await client.get("/desk", headers=headers)).status_code == 200
        token = await csrf_of(harness, headers)
        assert (await client.post("/sign-out", headers={**headers, "x-csrf-token": token})).status_code == 204
        assert (await client.get("/desk", headers=headers)).status_code == 401


async def test_a_key_that_does_not_hold_is_refused_even_where_none_is_needed(harness: AuthHarness) -> None:
    async with harness.client() as client:
        told = await client.get("/open", headers={"authorization": "Bearer tdr_abcdefgh_" + "x" * 43, **harness.session("admin")})
        assert told.status_code == 401
        assert told.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        # What a proxy in front asks for is none of our business.
        assert (await client.get("/open", headers={"authorization": "Basic bWU6bWU="})).status_code == 200


@pytest.mark.parametrize("sent", ["nothing", "wrong", "another's", "empty"])
async def test_a_form_without_the_token_of_the_session_changes_nothing(harness: AuthHarness, sent: str) -> None:
    headers = harness.session("editor")
    token = {
        "nothing": None,
        "wrong": "0" * 64,
        "another's": await csrf_of(harness, harness.session("viewer", "ben")),
        "empty": "",
    }[sent]
    data = {"title": "x"} | ({"csrf": token} if token is not None else {})
    async with harness.client() as client:
        told = await client.post("/form", headers=headers, data=data)
        assert (told.status_code, told.json()["detail"]) == (
            403,
            "This form has expired. Reload the page and try again.",
        )
        extra = {"x-csrf-token": token} if token else {}
        assert (await client.post("/edit", headers={**headers, **extra}, json={"text": "x"})).status_code == 403
    assert "POST /form" not in {one.what for one in harness.store.audit.entries()}


async def test_a_form_with_the_token_works_and_the_route_sees_its_fields(harness: AuthHarness) -> None:
    headers = harness.session("editor")
    token = await csrf_of(harness, headers)
    async with harness.client() as client:
        told = await client.post("/form", headers=headers, data={"title": "x", "csrf": token})
        assert (told.status_code, told.json()) == (200, "x ['csrf', 'title']")
        many = await client.post("/form", headers=headers, data={"title": "y", "csrf": token}, files={"file": b"z"})
        assert (many.status_code, many.json()) == (200, "y ['csrf', 'file', 'title']")
        by_script = await client.post("/edit", headers={**headers, "x-csrf-token": token}, json={"text": "z"})
        assert by_script.json() == "z"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1:8000.evil.example"},
    ],
)
async def test_a_form_that_another_site_sends_is_refused_also_at_the_sign_in(
    harness: AuthHarness, headers: dict[str, str]
) -> None:
    harness.user()
    async with harness.client() as client:
        told = await client.post("/sign-in", data={"name": "mia", "password": "correct horse battery"}, headers=headers)
        assert told.status_code == 403
        assert "set-cookie" not in told.headers
        signed = {**harness.session(), **headers}
        signed["x-csrf-token"] = await csrf_of(harness, {"cookie": signed["cookie"]})
        assert (await client.post("/edit", headers=signed, json={"text": "x"})).status_code == 403
        # A program is not led astray by pages.
        assert (
            await client.post("/edit", headers={**harness.key("events:write"), **headers}, json={"text": "x"})
        ).status_code == 200


async def test_behind_a_proxy_the_name_of_the_world_is_our_own(open_house: OpenHouse) -> None:
    harness = open_house(base_url="https://events.example")
    harness.user()
    data = {"name": "mia", "password": "correct horse battery"}
    async with harness.client(base="http://127.0.0.1:8000") as client:
        told = await client.post("/sign-in", data=data, headers={"origin": "https://events.example"})
        assert told.status_code == 303
        assert told.headers["set-cookie"].startswith("__Host-tadoru=")
        for attribute in ("Secure", "HttpOnly", "SameSite=lax", "Path=/"):
            assert attribute in told.headers["set-cookie"].split("; ")
        assert told.headers["strict-transport-security"] == "max-age=31536000"


async def test_metrics_are_for_admins_and_for_the_machine_itself(open_house: OpenHouse) -> None:
    harness = open_house()
    cases = (
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("198.51.100.7", {}, 401),
        ("198.51.100.7", harness.session("editor"), 403),
        ("198.51.100.7", harness.session("admin", "root"), 200),
        ("198.51.100.7", harness.key("admin"), 200),
        ("127.0.0.1", {"x-forwarded-for": "203.0.113.5"}, 401),
        ("127.0.0.1", {"forwarded": "for=203.0.113.5"}, 401),
    )
    for address, headers, status in cases:
        async with harness.client(address) as client:
            assert (await client.get("/metrics", headers=headers)).status_code == status, (address, headers)
    async with open_house(base_url="https://events.example").client("127.0.0.1") as client:
        assert (await client.get("/metrics")).status_code == 401  # A proxy on this machine asks for the world.


def test_an_application_that_does_not_agree_with_the_table_does_not_start(harness: AuthHarness) -> None:
    with pytest.raises(RuntimeError, match=r"lacks \['GET /also-open'\]"):
        build_app(
            harness.service,
            (sample_routes(),),
            [one for one in TABLE if one not in MONITORING_ROUTES and one.path != "/also-open"],
        )
    more = Route(method="GET", path="/nothing", role=Role.PUBLIC, what="Nothing.")
    with pytest.raises(RuntimeError, match=r"unregistered \['GET /nothing'\]"):
        build_app(harness.service, (operating, sample_routes()), [*TABLE, more])
    with pytest.raises(RuntimeError, match="GET /open is in the table of routes twice"):
        build_app(harness.service, (sample_routes(),), [*TABLE, TABLE[len(MONITORING_ROUTES)]])


def test_an_application_with_a_door_that_the_guard_does_not_see_does_not_start() -> None:
    app = FastAPI(openapi_url=None)
    app.include_router(APIRouter())
    app.router.routes.append(Mount("/files", app=FastAPI()))
    with pytest.raises(RuntimeError, match="/files is not covered by the guard"):
        bind_routes(app, ())


def test_a_key_acts_in_the_least_role_that_has_its_scopes() -> None:
    assert role_for_scopes(frozenset()) is Role.PUBLIC
    assert role_for_scopes(frozenset({"events:read"})) is Role.VIEWER
    assert role_for_scopes(frozenset({"events:read", "runs:start"})) is Role.EDITOR
    assert role_for_scopes(frozenset({"admin", "events:read", "of another time"})) is Role.ADMIN


async def test_a_key_that_expired_is_refused_with_the_day(harness: AuthHarness) -> None:
    expires = harness.store.db.now() + timedelta(days=1)
    key, whole = harness.store.keys.add("program", ("events:read",), BY, expires_at=expires)
    async with harness.client(headers={"authorization": f"Bearer {whole}"}) as client:
        assert (await client.get("/open")).status_code == 200
        harness.clock.advance(86400)
        told = await client.get("/open")
        assert (told.status_code, told.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
        assert told.json()["detail"] == f"The API key expired on {expires:%Y-%m-%d}. Ask an administrator for a new one."
        client.headers["authorization"] = f"Bearer {whole[:-1]}{'A' if whole[-1] != 'A' else 'B'}"
        assert "expired on" not in (await client.get("/open")).json()["detail"]  # It is the secret that says whose it is.
        harness.store.keys.revoke(key.id, BY)
        client.headers["authorization"] = f"Bearer {whole}"
        assert "expired on" not in (await client.get("/open")).json()["detail"]
