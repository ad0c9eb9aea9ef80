"""A service on a database that a test fills, and those who call it: anybody, a viewer, an editor."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from tadoru.clock import Clock, SystemClock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.log import Log
from tadoru.serve.app import build_app
from tadoru.serve.roles import SCOPES, Role
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import open_service
from tests.support.calendar import Calendar
from tests.support.ready_made import put_ready_made

BASE = "http://127.0.0.1:8000"


class ServiceHarness:
    """The whole application on one calendar."""

    def __init__(self, path: Path | str, *, clock: Clock | None = None, private: bool = False, **options: Any) -> None:
        self.said = io.StringIO()
        clock = clock or SystemClock()
        put_ready_made(path)
        self.store = open_service(str(path), clock)
        self.calendar = Calendar.__new__(Calendar)
        self.calendar.path, self.calendar.store = str(path), self.store
        chosen: dict[str, Any] = {"rate_limit": 0, "key_rate_limit": 0, "timezone": "Asia/Tokyo"} | options
        self.service = Service(
            store=self.store, options=ServeOptions(database=str(path), **chosen), log=Log(self.said, clock, form="json"),
            events=EventsOptions(database=str(path), delay=0.0, allow_private=private, timezone="Asia/Tokyo"), clock=clock,
        )  # fmt: skip
        self.app = build_app(self.service)
        self.anybody = self.client()
        self.viewer = self.client(Role.VIEWER)
        self.editor = self.client(Role.EDITOR)

    def client(self, role: Role = Role.PUBLIC, *scopes: str) -> TestClient:
        """Somebody with a key for all that a role may do, or for these scopes."""
        headers = {}
        if role is not Role.PUBLIC or scopes:
            scopes = scopes or tuple(name for name, (least, _) in SCOPES.items() if least <= role)
            headers["authorization"] = f"Bearer {self.store.keys.add(role.label, scopes, Actor(who='test'))[1]}"
        return TestClient(self.app, base_url=BASE, headers=headers, raise_server_exceptions=False, follow_redirects=False)

    def close(self) -> None:
        self.service.close()
