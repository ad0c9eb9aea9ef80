"""What happens to every request, whichever route it is for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tadoru.serve.middleware import MAX_BODY_BYTES
from tests.serve.auth.conftest import BY, PASSWORD, AuthHarness, OpenHouse, csrf_of


async def test_every_answer_carries_the_headers_that_protect_a_browser(harness: AuthHarness) -> None:
    async with harness.client() as client:
        for path in ("/open", "/nothing-here", "/admin", "/boom", "/healthz"):
            headers = (await client.get(path)).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")
            assert headers["referrer-policy"] == "same-origin"
            assert "server" not in headers


async def test_what_somebody_sees_who_signed_in_is_kept_by_no_shared_cache(harness: AuthHarness) -> None:
    async with harness.client() as client:
        assert (await client.get("/cached")).headers["cache-control"] == "public, max-age=60"
        for known in (harness.session("viewer"), harness.key("events:read")):
            for path in ("/cached", "/open"):
                headers = (await client.get(path, headers=known)).headers
                assert headers["cache-control"] == "private, no-cache"
                assert headers["vary"] == "Authorization, Cookie"


async def test_head_is_get_without_a_body(harness: AuthHarness) -> None:
    async with harness.client() as client:
        got, asked = await client.get("/open"), await client.head("/open")
        assert (asked.status_code, asked.content) == (200, b"")
        assert asked.headers["content-length"] == got.headers["content-length"]
        assert (await client.head("/admin")).status_code == 401


@pytest.mark.parametrize("path, method, status", [("/nothing", "GET", 404), ("/open", "DELETE", 405), ("/edit", "GET", 405)])
async def test_what_is_not_there_is_told_as_a_problem(harness: AuthHarness, path: str, method: str, status: int) -> None:
    async with harness.client() as client:
        told = await client.request(method, path)
        assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
        assert told.json()["status"] == status
        assert status == 404 or told.headers["allow"]


async def test_a_fault_of_ours_is_a_500_that_tells_nothing_of_the_inside(harness: AuthHarness) -> None:
    async with harness.client() as client:
        told = await client.get("/boom")
        assert told.status_code == 500
        assert told.headers["content-type"] == "application/problem+json"
        assert told.headers["x-request-id"] in told.json()["detail"]
        assert "secret" not in told.text
        assert "ValueError" not in told.text
    lines = [json.loads(line) for line in harness.said.getvalue().splitlines()]
    fault = next(line for line in lines if line["level"] == "error")
    assert (fault["event"], fault["request"]) == ("request failed: ValueError", told.headers["x-request-id"])
    assert fault["where"].startswith("conftest.py:")
    assert PASSWORD not in harness.said.getvalue()


async def test_every_request_is_one_line_and_no_secret_is_in_it(harness: AuthHarness) -> None:
    harness.user()
    session, key = harness.session("editor"), harness.key("events:read")
    token = harness.store.users.make_link("mia", BY)
    async with harness.client() as client:
        await client.get("/open?token=in-the-query", headers=key)
        await client.get("/open", headers={"authorization": "Bearer tdr_abcdefgh_" + "s" * 43})
        await client.post("/sign-in", data={"name": "mia", "password": "a wrong password"})
        await client.post("/sign-in", data={"name": "mia", "password": PASSWORD})
        client.cookies.clear()
        await client.post("/welcome", data={"token": token, "password": "another password"})
        await client.get("/desk", headers=session)
        await client.get("/healthz")
    said = harness.said.getvalue()
    lines = [json.loads(line) for line in said.splitlines()]
    told = [(line["method"], line["path"], line["status"], line.get("who")) for line in lines]
    assert told == [
        ("GET", "/open", 200, "key:program"),
        ("GET", "/open", 401, None),
        ("POST", "/sign-in", 422, None),
        ("POST", "/sign-in", 303, None),
        ("POST", "/welcome", 303, None),
        ("GET", "/desk", 401, None),  # The new password ended it.
    ]
    assert {line["address"] for line in lines} == {"198.51.100.7"}
    secrets = (
        "in-the-query",
        "s" * 43,
        "wrong password",
        PASSWORD,
        "another password",
        token,
        session["cookie"][7:],
        key["authorization"][20:],
    )
    assert not [one for one in secrets if one in said]


async def test_a_path_can_not_forge_a_line_of_the_log(harness: AuthHarness) -> None:
    async with harness.client() as client:
        await client.get("/x%0a%7b%22level%22:%22error%22%7d%1b[31m")
    assert len(harness.said.getvalue().splitlines()) == 1


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "a b", "x@y", ""]
)
async def test_a_name_that_is_not_ours_is_turned_away(harness: AuthHarness, host: str) -> None:
    async with harness.client() as client:
        told = await client.get("/open", headers={"host": host})
        assert told.status_code == 421
        assert host == "" or host not in told.text


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "192.168.1.5", "events.example", "other.example."]
)
async def test_our_own_names_are_answered(open_house: OpenHouse, host: str) -> None:
    harness = open_house(base_url="https://events.example", allow_host=("other.example",))
    async with harness.client() as client:
        assert (await client.get("/open", headers={"host": host})).status_code == 200


async def test_who_asks_too_often_is_told_when_to_come_back(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=3, key_rate_limit=5)
    key = harness.key("events:read")
    async with harness.client() as client, harness.client("203.0.113.9") as other:
        remaining = [(await client.get("/open")).headers["ratelimit-remaining"] for _ in range(3)]
        assert remaining == ["2", "1", "0"]
        told = await client.get("/open")
        assert (told.status_code, told.headers["retry-after"], told.headers["ratelimit-limit"]) == (429, "20", "3")
        assert told.headers["ratelimit-reset"] == "60"
        assert (await client.get("/healthz")).status_code == 200
        assert (await other.get("/open")).status_code == 200
        assert (await client.get("/open", headers=key)).headers["ratelimit-limit"] == "5"
        harness.clock.advance(20)
        assert (await client.get("/open")).status_code == 200
        assert (await client.get("/open")).status_code == 429


async def test_a_key_and_a_person_have_a_limit_of_their_own_wherever_they_are(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=100, key_rate_limit=2)
    for headers in (harness.key("events:read"), harness.session("viewer")):
        got = []
        for address in ("198.51.100.1", "198.51.100.2", "198.51.100.3"):
            async with harness.client(address) as client:
                got.append((await client.get("/open", headers=headers)).status_code)
        assert got == [200, 200, 429]


async def test_limits_can_be_switched_off(open_house: OpenHouse) -> None:
    async with open_house(rate_limit=0, key_rate_limit=0).client() as client:
        told = [await client.get("/open") for _ in range(400)]
        assert {one.status_code for one in told} == {200}
        assert "ratelimit-limit" not in told[0].headers


async def test_keys_can_not_be_guessed_for_long(open_house: OpenHouse) -> None:
    harness = open_house(rate_limit=0, key_rate_limit=0)
    good = harness.key("events:read")
    prefix = good["authorization"][7:20]
    async with harness.client() as client, harness.client("203.0.113.9") as other:
        tried = [(await client.get("/open", headers={"authorization": f"Bearer {prefix}{n:043}"})).status_code for n in range(40)]
        assert tried == [401] * 30 + [429] * 10
        assert (await client.get("/open", headers=good)).status_code == 429  # Not even when it is guessed.
        assert (await client.get("/open")).status_code == 200
        assert (await other.get("/open", headers=good)).status_code == 200
        harness.clock.advance(60)
        assert (await client.get("/open", headers=good)).status_code == 200


async def test_a_request_that_is_too_large_is_refused_and_not_read_to_its_end(harness: AuthHarness) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * MAX_BODY_BYTES:
            sent += 65536
            yield b"a=xxxxx&" * 8192

    async with harness.client() as client:
        assert (await client.post("/open", content=b"x" * MAX_BODY_BYTES)).json() == MAX_BODY_BYTES
        for path, kind, status in (
            ("/open", "text/plain", 413),
            ("/edit", "application/json", 413),
            ("/form", "application/x-www-form-urlencoded", 400),  # Too many fields, before it is too large.
        ):
            sent = 0
            told = await client.post(path, content=endless(), headers={"content-type": kind, **harness.key("events:write")})
            assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
            assert sent <= MAX_BODY_BYTES + 2 * 65536


async def test_a_change_is_in_the_audit_log_whether_its_route_thought_of_it_or_not(harness: AuthHarness) -> None:
    headers = harness.session("editor")
    token = await csrf_of(harness, headers)
    async with harness.client() as client:
        await client.post("/form", headers=headers, data={"title": "お祭り", "csrf": token})
        await client.post("/edit", headers=harness.key("events:write"), json={"text": "x"})
        await client.post("/edit", headers=harness.key("events:write"), json={"wrong": "x"})
        await client.post("/open", content=b"x")
        await client.get("/desk", headers=headers)
    made = [one for one in harness.store.audit.entries() if one.what.startswith("POST")]
    assert [(one.what, one.subject, one.who, one.detail) for one in made] == [
        ("POST /edit", "/edit", "key:program", {"status": 200}),
        ("POST /form", "event 7", "mia", {"status": 200, "title": "お祭り"}),
    ]
    assert made[0].key_id is not None
    assert made[1].user_id is not None
    assert made[1].address == "198.51.100.7"


async def test_scripts_of_other_sites_read_what_is_public_only_when_they_may(open_house: OpenHouse) -> None:
    origin = {"origin": "https://town.example"}
    async with open_house().client() as client:
        assert "access-control-allow-origin" not in (await client.get("/open", headers=origin)).headers
    async with open_house(cors=("https://town.example",)).client() as client:
        told = (await client.get("/open", headers=origin)).headers
        assert told["access-control-allow-origin"] == "https://town.example"
        assert "access-control-allow-credentials" not in told
        assert (
            "access-control-allow-origin" not in (await client.get("/open", headers={"origin": "https://evil.example"})).headers
        )


async def test_a_database_that_fails_is_a_503(harness: AuthHarness, tmp_path: Path) -> None:
    session = harness.session("viewer")
    harness.store.close()
    spoil(tmp_path)
    async with harness.client() as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).status_code == 503
        told = await client.get("/desk", headers=session)
        assert (told.status_code, told.headers["retry-after"]) == (503, "5")
        assert "events.db" not in told.text


def spoil(folder: Path) -> None:
    """Make a file of something else out of the database."""
    for file in folder.iterdir():
        file.unlink()
    (folder / "events.db").write_text("This is no database, and it is long enough to be read as one." * 100)


async def test_health_is_told_to_anybody(harness: AuthHarness) -> None:
    async with harness.client() as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).json() == {"status": "ready"}
    assert harness.said.getvalue() == ""
