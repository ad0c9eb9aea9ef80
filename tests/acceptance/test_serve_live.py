"""`tadoru serve` with several processes: whoever listens hears of what another command does, and that the service ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import AsyncExitStack, closing

from websockets.asyncio.client import ClientConnection, connect

from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import open_service
from tests.acceptance.command import PATIENCE, Tadoru
from tests.acceptance.serving import RunningService, serving
from tests.support.site import Site

CALENDAR = "\r\n".join([
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "BEGIN:VEVENT", "UID:1", "DTSTAMP:20260701T000000Z", "SUMMARY:Fair",
    "DTSTART:20500801T100000Z", "END:VEVENT", "END:VCALENDAR", "",
])  # fmt: skip


def test_a_run_of_another_command_is_heard_on_every_process_and_so_is_the_end(tadoru: Tadoru) -> None:
    with Site() as site:
        site.reply("/town.ics", body=CALENDAR, content_type="text/calendar")
        with closing(open_service(str(tadoru.folder / "events.db"))) as store:
            source = {"name": "Town", "type": "ics", "url": site.url("/town.ics"), "allow_private": True}
            store.sources.add(source, "test")
            key = store.keys.add("one", ("runs:read", "sources:read"), Actor(who="test"))[1]
        with serving(tadoru, "--workers", "2", "--log-format", "json") as service:
            try:
                assert service.ask("/readyz").status == 200
                asyncio.run(listen(tadoru, service, key))
            finally:
                done = service.stop()
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    ended = [line for line in lines if line.get("method") == "WS"]
    assert {(line["status"], line["code"]) for line in ended} == {(101, 1001)}
    assert len({line["worker"] for line in ended}) == 2
    assert not [line for line in lines if line["level"] == "error"]


async def listen(tadoru: Tadoru, service: RunningService, key: str) -> None:
    async with AsyncExitStack() as stack:
        clients: list[ClientConnection] = []
        await asyncio.to_thread(service.wait_for, 2)
        while len(service.holders() - {os.getpid()}) < 2:
            assert len(clients) < 48, "one process takes them all"
            clients += await asyncio.gather(*(stack.enter_async_context(connected(service, key)) for _ in range(6)))
        for one in clients:
            await one.send(json.dumps({"kind": "subscribe", "subjects": ["source/*"]}))
            assert [(await heard(one))["kind"] for _ in range(2)] == ["hello", "subscribed"]
        done = await asyncio.to_thread(tadoru, "events", "-d", "events.db", "run", "--all")
        assert done.code == 0, done.err
        for one in clients:
            told = [await heard(one) for _ in range(3)]
            assert [(message["kind"], message["body"]["status"]) for message in told] == [
                ("run.started", "running"), ("run.ended", "success"), ("source.health", "well"),
            ]  # fmt: skip
            assert told[1]["body"]["counts"]["parsed"] == 1
        service.process.send_signal(signal.SIGTERM)
        for one in clients:
            await one.wait_closed()
            assert one.close_code == 1001


def connected(service: RunningService, key: str) -> connect:
    return connect(
        f"ws://127.0.0.1:{service.port}/ws",
        additional_headers={"authorization": f"Bearer {key}"},
        proxy=None,
        open_timeout=PATIENCE,
    )


async def heard(one: ClientConnection) -> dict[str, object]:
    async with asyncio.timeout(PATIENCE):
        found: dict[str, object] = json.loads(await one.recv())
        return found
