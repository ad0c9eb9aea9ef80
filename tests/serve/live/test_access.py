"""Who may listen, to what, from where, and for how long."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from datetime import timedelta

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from tadoru.serve.live.connection import LiveLimits
from tadoru.serve.roles import SCOPES
from tests.serve.live.conftest import BY, LiveServer, opened
from tests.support.clock import FakeClock


async def refusal(live_server: LiveServer, headers: dict[str, str] | None = None, **options: object) -> tuple[int, str]:
    """How somebody is turned away: the status, and the sentence."""
    with pytest.raises(InvalidStatus) as refused:
        async with live_server.client(headers, **options):
            pass
    answer = refused.value.response
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    return answer.status_code, json.loads(answer.body)["detail"]


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
async def test_whoever_is_signed_in_may_listen_to_everything(shared: LiveServer, role: str) -> None:
    async with shared.client(shared.person(role)) as client:
        hello = await client.hear()
        assert {kind.partition(".")[0] for kind in hello["kinds"]} == {"crawl", "run", "source"}


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_key_hears_what_its_scope_says(shared: LiveServer, scope: str) -> None:
    headers = shared.key(scope)
    heard = {"crawls:read": {"crawl"}, "runs:read": {"run"}, "sources:read": {"source"}}.get(scope)
    if heard is None:
        assert (await refusal(shared, headers))[0] == 403
        return
    async with shared.client(headers, origin=None) as client:
        assert {kind.partition(".")[0] for kind in (await client.hear())["kinds"]} == heard
        theirs, others = ("crawl/*", "source/*") if scope == "crawls:read" else ("source/*", "crawl/*")
        assert (await client.subscribe(others))["kind"] == "error"
        await client.subscribe(theirs)
        shared.store.messages.publish("run.started", "source/1", {"run_id": 1, "source_id": 1, "status": "running"})
        shared.store.messages.publish("source.health", "source/1", {"source_id": 1, "name": "a", "status": "well"})
        shared.tell(1)
        shared.store.messages.publish("run.ended", "source/1", {"run_id": 1, "source_id": 1, "status": "success"})
        shared.store.messages.publish("source.health", "source/1", {"source_id": 1, "name": "last", "status": "well"})
        shared.tell(1, text="last")
        found = [await client.hear() for _ in range(1 if scope == "crawls:read" else 2)]
        assert {one["kind"].partition(".")[0] for one in found} == heard


async def test_nobody_is_told_to_sign_in(shared: LiveServer) -> None:
    assert await refusal(shared, {}) == (401, "Sign in, or send an API key as “Authorization: Bearer …”.")
    assert (await refusal(shared, {"cookie": "tadoru=made-up"}))[0] == 401
    assert (await refusal(shared, {"authorization": "Bearer tdr_made_up"}))[0] == 401


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", "http://127.0.0.1:1", "", None])
async def test_a_page_of_somebody_elses_can_not_listen_with_a_visitors_session(shared: LiveServer, origin: str | None) -> None:
    given = Origin(origin) if origin is not None else None
    assert (await refusal(shared, shared.person(), origin=given))[0] == 403


async def test_a_name_that_is_not_ours_is_turned_away(shared: LiveServer) -> None:
    assert (await refusal(shared, shared.person(), name="evil.example"))[0] == 421
    assert (await refusal(shared, shared.person(), name="localhost"))[0] == 403  # Ours, but the page is of another.


async def test_there_is_no_other_websocket_and_no_page_at_its_address(shared: LiveServer) -> None:
    assert (await refusal(shared, shared.person(), path="/api/v1/events"))[0] == 404
    assert (await refusal(shared, shared.person(), path="/"))[0] == 404
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{shared.origin}/ws")).status_code == 404


async def test_guessing_keys_is_refused_after_a_while(database: str) -> None:
    with opened(database) as live_server:
        told = [(await refusal(live_server, {"authorization": f"Bearer tdr_{n:08}_wrong"}))[0] for n in range(31)]
        assert told == [401] * 30 + [429]
        assert (await refusal(live_server, live_server.key("crawls:read")))[0] == 429  # Even the right one, from there.


async def test_connections_are_counted_like_requests(database: str) -> None:
    with opened(database, clock=FakeClock(), key_rate_limit=2, rate_limit=1) as live_server:
        headers = live_server.person()
        for _ in range(2):
            async with live_server.client(headers):
                pass
        assert (await refusal(live_server, headers))[0] == 429
        assert (await refusal(live_server, {}))[0] == 401
        assert (await refusal(live_server, {}))[0] == 429


@pytest.mark.parametrize("terms", [LiveLimits(for_each=2), LiveLimits(from_address=2), LiveLimits(in_all=2)])
async def test_only_so_many_connections_are_open_at_once(database: str, terms: LiveLimits) -> None:
    with opened(database, terms) as live_server:
        headers = live_server.person()
        async with AsyncExitStack() as stack:
            for _ in range(2):
                await stack.enter_async_context(live_server.client(headers))
            assert (await refusal(live_server, headers))[0] == 429
        live_server.said.wait_for('"code": 1000')
        async with live_server.client(headers) as client:
            assert (await client.hear())["kind"] == "hello"


@pytest.mark.parametrize("how", ["signed out", "key revoked", "user revoked", "key over"])
async def test_who_may_no_longer_listen_is_disconnected(database: str, how: str) -> None:
    clock = FakeClock()
    with opened(database, LiveLimits(every=0.01, check=30), clock=clock) as live_server:
        headers = live_server.person() if how in ("signed out", "user revoked") else live_server.key("crawls:read")
        if how == "key over":
            until = live_server.store.db.now() + timedelta(seconds=20)
            headers = {
                "authorization": f"Bearer {live_server.store.keys.add('short', ('crawls:read',), BY, expires_at=until)[1]}"
            }
        others = live_server.person("admin")
        async with live_server.client(headers) as client, live_server.client(others) as other:
            await client.subscribe()
            await other.subscribe()
            if how == "signed out":
                live_server.store.sessions.end(headers["cookie"].partition("=")[2], BY)
            elif how == "user revoked":
                live_server.store.users.revoke("viewer", BY)
            elif how == "key revoked":
                live_server.store.keys.revoke(live_server.store.keys.list()[0].id, BY)
            clock.advance(31)
            assert await client.closed() == 4401
            last = live_server.tell(1)
            assert (await other.hear())["id"] == last


async def test_the_log_has_a_line_of_each_connection_and_no_secret(database: str) -> None:
    with opened(database) as live_server:
        cookie, key = live_server.person(), live_server.key("crawls:read")
        async with live_server.client(cookie), live_server.client(key):
            pass
        await refusal(live_server, {"authorization": "Bearer tdr_wrong_secret"})
    lines = [json.loads(line) for line in live_server.said.getvalue().splitlines()]
    assert sorted((one["method"], one["status"], one.get("who")) for one in lines if one["path"] == "/ws") == [
        ("WS", 101, "key:program"), ("WS", 101, "viewer"), ("WS", 401, None),
    ]  # fmt: skip
    for secret in (cookie["cookie"].partition("=")[2], key["authorization"].partition(" ")[2], "wrong_secret"):
        assert secret not in live_server.said.getvalue()
