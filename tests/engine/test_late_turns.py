"""Requests whose turn is over before they are sent wait for another one: their host sees no two requests close together."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.engine.polite_client import PoliteClient, PoliteClientContext, RequestPolicy
from tadoru.engine.request_flow import Expiry
from tadoru.engine.url_filter import UrlFilter
from tadoru.fetch.base import TurnExpired
from tadoru.fetch.http import HttpFetcher
from tadoru.model.web import Failure, Request, Response
from tadoru.rules.address import Exemptions
from tadoru.rules.scope import Scope
from tadoru.store.calendar.store import open_calendar
from tadoru.store.crawl.open import open_store
from tests.support.clock import FakeClock
from tests.support.exchange import Exchange, Reply
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import server
from tests.support.site import Site
from tests.support.turns import SingleTurn

NAME = "shop.example"
GAP = 0.4
LEASE = 0.4


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "SQLite":
        yield str(tmp_path / "crawl.db")
    else:
        with crawl_on(server()) as address:
            yield address


def start_worker(checkout: Path, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.engine.late_worker", *map(str, arguments)]
    return subprocess.Popen(command, cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout / "src")})


async def test_a_worker_that_stood_still_until_others_had_the_slot_waits_for_another(database: str, checkout: Path) -> None:
    async with Site() as site:
        start = site.url("/").replace("127.0.0.1", NAME)
        host = f"{NAME}:{site.url('/').rsplit(':')[-1].rstrip('/')}"
        store = open_store(database, SystemClock())
        await store.frontier.add(
            [UrlFilter(Scope(sites=(start,)), check_external=False, follow=True, trap_cap=0).start_target(start)], seed=True
        )
        worker = await store.frontier.join(60.0)
        late = start_worker(checkout, database, start, GAP, LEASE)
        try:
            await asyncio.to_thread(os.waitid, os.P_PID, late.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            while (wait := await store.hosts.take_slot(worker, host, 60.0)) > 0:
                await asyncio.sleep(wait)  # What the store asks every worker to wait, on its own clock.
                await store.frontier.recover(worker)
            fetcher = HttpFetcher(user_agent="other", exemptions=Exemptions(allow_all=True))
            await fetcher.fetch(Request(url=site.url("/")))
            late.send_signal(signal.SIGCONT)
            await store.hosts.sent(worker, host)
            assert await asyncio.to_thread(late.wait, 60.0) == 0
        finally:
            late.kill()
            late.wait()
        await fetcher.close()
        await store.close()
    of_other, of_late = (next(one.at for one in site.requests if one.headers["user-agent"] == name) for name in ("other", "late"))
    assert of_late - of_other > GAP * 0.9


async def test_a_request_that_a_closed_connection_swallowed_is_not_repeated_in_the_same_turn() -> None:
    async with Site() as site:
        site.misbehave("/", "drop")
        site.page("/first")
        fetcher = HttpFetcher(user_agent="x", exemptions=Exemptions(allow_all=True))
        assert isinstance(await fetcher.fetch(Request(url=site.url("/first")), SingleTurn()), Response)
        with pytest.raises(TurnExpired):
            await fetcher.fetch(Request(url=site.url("/")), SingleTurn())
        assert site.connections == 1
        answer = await fetcher.fetch(Request(url=site.url("/")), SingleTurn())
        await fetcher.close()
    assert isinstance(answer, Failure)
    assert (site.hits("/"), site.connections) == (2, 2)


async def test_a_source_is_requested_in_another_turn_when_its_own_is_over(tmp_path: Path) -> None:
    clock = FakeClock()
    store = open_calendar(str(tmp_path / "events.db"), clock)
    worker, other = (store.schedule.join(3600) for _ in range(2))
    waits: list[float] = []

    async def lose_the_slot(host: str) -> Sequence[str]:
        """Time passes until another worker has the slot."""
        if not waits:
            clock.advance(600)
            host = f"{NAME}:{port}"
            waits.append(store.hosts.take_slot(other, host, 60, gap=GAP))
            store.hosts.sent(other, host)
            store.hosts.give_back(other, host)
            waits.append(store.hosts.take_slot(other, host, 60, gap=GAP))
        return ["127.0.0.1"]

    async with Site() as site:
        port = site.url("/").rsplit(":")[-1].rstrip("/")
        seen: list[float] = []

        async def answer(exchange: Exchange, _: str) -> None:
            seen.append(clock.now())
            await exchange.send(Reply())

        site.handle("/feed", answer)
        policy = RequestPolicy(gap=GAP, timeout=5.0, max_bytes=1000, obey_robots=False)
        context = PoliteClientContext(store.hosts, clock, worker, policy)
        context.lease = Expiry(clock, 3600)
        fetcher = HttpFetcher(user_agent="x", exemptions=Exemptions(allow_all=True), resolver=lose_the_slot)
        client = PoliteClient(context, fetcher)
        lost_at = clock.now() + 600
        assert isinstance(await client.fetch(f"http://{NAME}:{port}/feed"), Response)
        await client.close()
    store.close()
    assert waits == [0, pytest.approx(GAP)]
    assert [at - lost_at >= GAP for at in seen] == [True]
