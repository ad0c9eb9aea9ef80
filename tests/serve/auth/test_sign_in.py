"""Signing in: what it takes, what it leaves behind, and what cannot be made of it."""

from __future__ import annotations

import asyncio
import contextlib

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.serve.auth.authentication import safe_redirect
from tadoru.serve.auth.rate_limits import MAX_PASSWORD_CHECKS
from tests.serve.auth.conftest import BY, PASSWORD, AuthHarness, OpenHouse


async def enter(client: httpx.AsyncClient, name: str = "mia", password: str = PASSWORD, **more: object) -> httpx.Response:
    return await client.post("/sign-in", data={"name": name, "password": password}, **more)  # type: ignore[arg-type]


async def test_a_password_opens_and_the_cookie_is_out_of_reach_of_scripts(harness: AuthHarness) -> None:
    harness.user()
    async with harness.client() as client:
        told = await enter(client)
        assert (told.status_code, told.headers["location"]) == (303, "/")
        name, *attributes = told.headers["set-cookie"].split("; ")
        assert name.startswith("tadoru=")
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(attributes)
        assert "Secure" not in attributes  # It would not come back over http.
        assert (await client.get("/open")).json()["name"] == "mia"


async def test_wrong_names_and_passwords_are_told_apart_by_nothing(harness: AuthHarness) -> None:
    harness.user()
    async with harness.client() as client:
        told = [
            await enter(client, name, word)
            for name, word in (("mia", "wrong password"), ("ben", PASSWORD), ("", ""), ("mia", ""))
        ]
    assert {(one.status_code, one.text) for one in told[:2]} == {(422, '{"detail":"no"}')}
    assert not [one for one in told if "set-cookie" in one.headers]


async def test_a_session_that_was_planted_is_worth_nothing_afterwards(harness: AuthHarness) -> None:
    harness.user("admin")
    harness.user("viewer", "mallory")
    for planted in (harness.session(name="mallory")["cookie"][7:], "a-token-that-was-made-up"):
        async with harness.client(cookies={"tadoru": planted}) as client:
            if planted.startswith("a-token"):
                told = await enter(client)
            else:
                token = (await client.get("/desk")).json()["csrf"]
                told = await client.post("/sign-in", data={"name": "mia", "password": PASSWORD, "csrf": token})
            assert told.status_code == 303
            fresh = told.headers["set-cookie"].partition(";")[0]
        assert planted not in fresh
        async with harness.client() as client:
            assert (await client.get("/open", headers={"cookie": f"tadoru={planted}"})).json()["role"] == "public"
            assert (await client.get("/open", headers={"cookie": fresh})).json()["name"] == "mia"


async def test_passwords_can_not_be_guessed_for_long_from_one_place(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0)
    harness.user()
    async with harness.client() as client, harness.client("203.0.113.9") as other:
        tried = [(await enter(client, f"user{n}", "wrong password")).status_code for n in range(32)]
        assert tried == [422] * 30 + [429] * 2
        told = await enter(client)
        assert told.status_code == 429
        assert int(told.headers["retry-after"]) > 0
        assert (await enter(other)).status_code == 303


async def test_the_password_of_one_person_cannot_be_guessed_for_long(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0)
    harness.user()
    async with harness.client() as client:
        tried = [(await enter(client, "MIA", "wrong password")).status_code for _ in range(22)]
        assert tried == [422] * 20 + [429] * 2
        assert (await enter(client, "ben", "wrong password")).status_code == 422  # Who was refused did not count for the rest.
        harness.clock.advance(45)
        assert (await enter(client)).status_code == 303


async def test_a_stranger_cannot_lock_a_name_for_everyone(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0)
    harness.user()
    for number in range(3):
        async with harness.client(f"203.0.113.{number}") as stranger:
            for _ in range(21):
                await enter(stranger, "mia", "wrong password")
            assert (await enter(stranger)).status_code == 429
    async with harness.client() as client:
        assert (await enter(client)).status_code == 303


@pytest.mark.parametrize("address", ["2001:db8::{}", "203.0.113.9"])
async def test_guesses_at_the_same_time_are_no_more_than_one_after_another(open_house: OpenHouse, address: str) -> None:
    harness = open_house(rate_limit=0)
    harness.store.users.password_cost = 2**13  # Dear enough that all of them come before the first one is done.
    harness.user()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(harness.client(address.format(number))) for number in range(1, 60)]
        tried = [one.status_code for one in await asyncio.gather(*(enter(one, password="wrong") for one in clients))]
    assert tried.count(422) <= 20
    assert set(tried) <= {422, 429, 503}


async def test_who_signs_in_uses_nothing_up(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0)
    harness.user()
    async with harness.client() as client:
        for _ in range(40):
            client.cookies.clear()
            assert (await enter(client)).status_code == 303


async def test_a_crowd_at_the_sign_in_page_leaves_the_rest_of_the_service_alone(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0)
    harness.user()
    hashing = harness.app.state.limits.hashing
    async with harness.client() as client:
        for _ in range(MAX_PASSWORD_CHECKS):
            assert hashing.acquire(blocking=False)
        told = [await enter(client, password="wrong password") for _ in range(25)]
        assert {(one.status_code, one.headers["retry-after"]) for one in told} == {(503, "2")}
        assert (await client.get("/open")).status_code == 200
        for _ in range(MAX_PASSWORD_CHECKS):
            hashing.release()
        assert (await enter(client)).status_code == 303  # Who was not tried was not counted.


async def test_a_link_signs_in_once_and_lets_a_password_be_chosen(harness: AuthHarness) -> None:
    harness.store.users.add("mia", "admin", BY)
    token = harness.store.users.make_link("mia", BY)
    async with harness.client() as client:
        assert (await client.post("/welcome", data={"token": token, "password": "short"})).status_code == 400
        told = await client.post("/welcome", data={"token": token, "password": PASSWORD})
        assert told.status_code == 303
        assert (await client.get("/open")).json()["role"] == "admin"
        client.cookies.clear()
        assert (await client.post("/welcome", data={"token": token})).status_code == 422
        assert (await enter(client)).status_code == 303


async def test_links_can_not_be_guessed_for_long(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0)
    async with harness.client() as client:
        tried = [(await client.post("/welcome", data={"token": f"{n}"})).status_code for n in range(32)]
        assert tried == [422] * 30 + [429] * 2


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/a\\b", "", "a",
        "/\t/evil.example", "/x\r\nSet-Cookie: a=b", " /x", "/\u2028/evil.example",
    ],
)  # fmt: skip
async def test_signing_in_leads_nowhere_else(harness: AuthHarness, target: str) -> None:
    harness.user()
    async with harness.client() as client:
        told = await enter(client, params={"next": target})
        assert (told.status_code, told.headers["location"]) == (303, "/")
        assert len(told.headers.get_list("set-cookie")) == 1


async def test_signing_in_leads_back_to_where_one_was_going(harness: AuthHarness) -> None:
    harness.user()
    async with harness.client() as client:
        told = await enter(client, params={"next": "/admin/reviews?page=2&q=a%20b"})
        assert told.headers["location"] == "/admin/reviews?page=2&q=a%20b"


@given(st.text(alphabet=st.sampled_from("/\\ahttp:evil.@\r\n\t%#? \u00a0\u2028"), max_size=12))
def test_where_to_go_is_always_a_path_of_ours(target: str) -> None:
    found = safe_redirect(target)
    assert found.startswith("/")
    assert not found.startswith(("//", "/\\"))
    assert found.isprintable()
