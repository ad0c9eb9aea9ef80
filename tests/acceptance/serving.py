"""The service as a process of its own, and a plain way to ask it."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.acceptance.command import PATIENCE, Done, Tadoru, finished


@dataclass(frozen=True, slots=True)
class Told:
    """What the service answered."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def data(self) -> Any:
        return json.loads(self.text)


@dataclass(slots=True)
class Served:
    """A service that runs."""

    process: subprocess.Popen[str]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Told:
        connection = self.connect()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            return read(connection)
        finally:
            connection.close()

    def stop(self, number: int = signal.SIGTERM) -> Done:
        """Ask it to end, and wait until it has."""
        self.process.send_signal(number)
        return finished(self.process)


def read(connection: http.client.HTTPConnection) -> Told:
    answer = connection.getresponse()
    return Told(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode())


@contextmanager
def serving(tadoru: Tadoru, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """The real command, on a port that is free."""
    process = tadoru.start("serve", "-d", "events.db", "--port", "0", *arguments, env=env)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("Tadoru serves http"), line + process.stderr.read()
        yield Served(process, int(line.split()[2].rstrip("/").rpartition(":")[2]))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
