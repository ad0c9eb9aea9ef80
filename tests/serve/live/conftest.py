"""A service that listens on loopback, and those who listen to it."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from tadoru.clock import Clock, SystemClock
from tadoru.config.options import ServeOptions
from tadoru.log import Log
from tadoru.serve.app import build_app
from tadoru.serve.live import connection
from tadoru.serve.live import connection as wire
from tadoru.serve.live.connection import LiveHub, LiveLimits
from tadoru.serve.roles import LIVE_ROUTES
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import ServiceStore, open_service
from tests.support.listening import listening
from tests.support.ready_made import put_ready_made

BY = Actor(who="test")
QUICK = LiveLimits(every=0.01)
"""A reader that hardly rests: tests wait for it."""


class CapturedLog(io.StringIO):
    """What a service writes, and a way to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def write(self, text: str) -> int:
        with self._changed:
            self._changed.notify_all()
            return super().write(text)

    def wait_for(self, part: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: part in self.getvalue(), timeout=60), self.getvalue()


class LiveServer:
    """A running service."""

    def __init__(self, store: ServiceStore, live: LiveHub, said: CapturedLog, port: int, server: uvicorn.Server) -> None:
        self.store, self.live, self.said, self.port, self.server = store, live, said, port, server
        self.origin = f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        self.server.should_exit = True

    def person(self, role: str = "viewer") -> dict[str, str]:
        """The headers of somebody who is signed in."""
        user = self.store.users.get(role) or self.store.users.add(role, role, BY)
        return {"cookie": f"tadoru={self.store.sessions.start(user, BY)}"}

    def key(self, *scopes: str) -> dict[str, str]:
        """The headers of a program."""
        return {"authorization": f"Bearer {self.store.keys.add('program', scopes, BY)[1]}"}

    def tell(self, number: int = 1, *, kind: str = "crawl.notice", **body: Any) -> int:
        """Something happens to a crawl; the number of the message."""
        self.store.messages.publish(kind, f"crawl/{number}", {"crawl_id": number, "text": "", **body})
        return self.store.messages.span()[1]

    @asynccontextmanager
    async def client(self, headers: dict[str, str] | None = None, **options: Any) -> AsyncIterator[Client]:
        """Somebody who listens: by default a person, from a page of the service."""
        options = {"origin": Origin(self.origin), "path": "/ws", "name": "127.0.0.1"} | options
        address = f"ws://{options.pop('name')}:{self.port}{options.pop('path')}"
        options |= {"host": "127.0.0.1", "port": self.port, "proxy": None}
        async with connect(address, additional_headers=self.person() if headers is None else headers, **options) as connection:
            yield Client(connection)


class Client:
    """One connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def hear(self) -> dict[str, Any]:
        async with asyncio.timeout(60):
            found: dict[str, Any] = json.loads(await self.connection.recv())
            return found

    async def hear_until(self, last: int) -> list[dict[str, Any]]:
        """What is told, up to a message."""
        found = [await self.hear()]
        while found[-1].get("id") != last:
            found.append(await self.hear())
        return found

    async def say(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def subscribe(self, *subjects: str, after: int | None = None) -> dict[str, Any]:
        """Listen to something; what is answered. The greeting is taken as well when it has not been."""
        await self.say(kind="subscribe", subjects=list(subjects or ("crawl/*",)), after=after)
        found = await self.hear()
        return await self.hear() if found["kind"] == "hello" else found

    async def closed(self) -> int | None:
        """The code that it is closed with."""
        async with asyncio.timeout(60):
            await self.connection.wait_closed()
        return self.connection.close_code


@contextmanager
def opened(database: str, terms: LiveLimits = QUICK, *, clock: Clock | None = None, **options: Any) -> Iterator[LiveServer]:
    """A service on a database, until the block ends."""
    clock, said = clock or SystemClock(), CapturedLog()
    put_ready_made(database)
    store = open_service(database, clock)
    chosen: dict[str, Any] = {"rate_limit": 0, "key_rate_limit": 0} | options
    log = Log(said, clock, form="json", level="info")
    service = Service(store=store, options=ServeOptions(database=database, **chosen), clock=clock, log=log)
    app = build_app(service, (connection.router,), LIVE_ROUTES)
    app.state.live.set_limits(terms)
    # With a small buffer, little is on its way to who does not read.
    with listening(app, send_buffer=8192, timeout_graceful_shutdown=20, **wire.WEBSOCKET_OPTIONS) as (port, server):
        yield LiveServer(store, app.state.live, said, port, server)


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "service.db")


@pytest.fixture
def live_server(database: str) -> Iterator[LiveServer]:
    with opened(database) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One for the tests of a module that do not mind each other."""
    with opened(str(tmp_path_factory.mktemp("shared") / "service.db")) as running:
        yield running
