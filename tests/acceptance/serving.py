"""The service as a process of its own, and a plain way to ask it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.command import PATIENCE, CommandResult, Tadoru, finished


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """What the service answered."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def data(self) -> Any:
        return json.loads(self.text)


@dataclass(slots=True)
class RunningService:
    """A service that runs."""

    process: subprocess.Popen[str]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> ServiceResponse:
        connection = self.connect()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            return read(connection)
        finally:
            connection.close()

    def holders(self) -> set[int]:
        """The processes that hold a connection to somebody: which one gets it is the system's choice, and seen only here."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        established = {row[9] for row in rows if row[3] == "01" and int(row[1].rpartition(":")[2], 16) == self.port}
        found = set()
        for folder in Path("/proc").glob("[0-9]*/fd"):
            with suppress(OSError):
                held = {str(one.readlink()) for one in folder.iterdir()}
                if held & {f"socket:[{inode}]" for inode in established}:
                    found.add(int(folder.parent.name))
        return found

    def wait_for(self, processes: int) -> None:
        """Until so many processes take connections: one that is still starting takes none."""
        until = time.monotonic() + PATIENCE
        with ThreadPoolExecutor(12) as pool:
            while True:
                connections = [self.connect() for _ in range(12)]
                list(pool.map(lambda one: one.connect(), connections))
                found = self.holders() & set(self._children())
                for one in connections:
                    one.close()
                if len(found) >= processes:
                    return
                assert time.monotonic() < until, f"only {len(found)} take connections"

    def _children(self) -> Iterator[int]:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if stat.read_text().rpartition(")")[2].split()[1] == str(self.process.pid):
                    yield int(stat.parent.name)

    def stop(self, number: int = signal.SIGTERM) -> CommandResult:
        """Ask it to end, and wait until it has."""
        self.process.send_signal(number)
        return finished(self.process)


def read(connection: http.client.HTTPConnection) -> ServiceResponse:
    answer = connection.getresponse()
    return ServiceResponse(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode())


def announced(process: subprocess.Popen[str]) -> RunningService:
    """The service of a command, once it has told its port. What it says after that is left to whoever waits for its end."""
    assert process.stderr is not None
    line = b""
    while not line.endswith(b"\n") and (more := os.read(process.stderr.fileno(), 1)):
        line += more
    if not line.startswith(b"Serving on http"):
        process.kill()  # So that all it wrote can be read.
        raise AssertionError(line.decode() + process.stderr.read())
    return RunningService(process, int(line.split()[2].rstrip(b"/.").rpartition(b":")[2]))


@contextmanager
def serving(
    tadoru: Tadoru, *arguments: str, env: Mapping[str, str] | None = None, collects: bool = False
) -> Iterator[RunningService]:
    """The real command, on a port that is free; without its collector unless the test is about it."""
    collector = () if collects else ("--no-collector",)
    process = tadoru.start("serve", "-d", "events.db", "--port", "0", *collector, *arguments, env=env)
    try:
        yield announced(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
