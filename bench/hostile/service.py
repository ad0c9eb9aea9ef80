"""The service while it works on hostile responses: how late `/healthz` answers, asked all the time from another process."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bench.hostile.jobs import FIELDS, ROOT, SOURCES
from bench.hostile.site import ServedSite, serve
from bench.serve_load import cpu_seconds, free_port, wait_for

SLOWEST = 1.0
"""Seconds in which `/healthz` answers, whatever the service is doing."""
TESTERS = 4
"""Sources that are tested at a time."""
PATIENCE = 120.0
LONGEST_WORK = 240.0
"""Seconds after which no further source is tested."""
VIEWS = ("/events.ics", "/events.rss", "/events.csv", "/api/v1/events?limit=200", "/", "/month")


@dataclass(frozen=True, slots=True)
class ServiceRun:
    """How the service did."""

    answers: int
    slowest: float
    """Seconds that the slowest answer of `/healthz` took."""
    slowest_cpu: float
    """Seconds of CPU that the service had used during that answer."""
    slowest_wait: float
    """Seconds for which its threads together could have run during that answer, and the machine had no core for them."""
    load: float
    """Of the machine, at the end."""
    requests: int
    errors: tuple[str, ...]
    """Requests that were answered with a 500, or not at all."""

    @property
    def complaint(self) -> str:
        if self.slowest > SLOWEST:
            return f"/healthz took {self.slowest:.2f} s"
        return "; ".join(self.errors)


def run_service(numbers: Sequence[int], seed: int) -> ServiceRun:
    """Have the service test sources, crawl and show what it found, all on the responses of these numbers."""
    from tadoru.serve.roles import SCOPES
    from tadoru.store.accounts.audit_log import Actor
    from tadoru.store.service import open_service

    spawn = multiprocessing.get_context("spawn")
    with serve(numbers, seed) as site, tempfile.TemporaryDirectory() as folder:
        store = open_service(str(Path(folder) / "service.db"))
        key = store.keys.add("bench", tuple(SCOPES), Actor(who="bench"))[1]
        store.close()
        port = free_port()
        options = ("--port", str(port), "--rate-limit", "0", "--key-rate-limit", "0", "--crawl-private", "*", "--quiet")
        env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "TADORU_ALLOW_PRIVATE": "1", "TADORU_DELAY": "0"}
        command = [sys.executable, "-m", "tadoru", "serve", "-d", "service.db", *options]
        service = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        ours, theirs = spawn.Pipe()
        probe = spawn.Process(target=_probe, args=(port, service.pid, theirs), daemon=True)
        try:
            wait_for(port)
            probe.start()
            caller = _Caller(port, key)
            _work(site, caller)
            ours.send("stop")
            answers, slowest, cpu, wait = ours.recv() if ours.poll(PATIENCE) else (0, PATIENCE, 0.0, 0.0)
        finally:
            service.terminate()
            try:
                service.wait(30)
            except subprocess.TimeoutExpired:
                service.kill()
                service.wait()
    return ServiceRun(answers, slowest, cpu, wait, os.getloadavg()[0], caller.requests, tuple(caller.errors[:20]))


def _probe(port: int, service: int, stop: Connection) -> None:
    """Ask `/healthz` all the time, and keep the slowest answer."""
    answers, slowest, slowest_cpu, slowest_wait = 0, 0.0, 0.0, 0.0
    while not stop.poll(0.01):
        cpu, wait = cpu_seconds(service), waiting_seconds(service)
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        connection.close()
        took = time.monotonic() - began
        answers += 1
        if took > slowest:
            slowest, slowest_cpu, slowest_wait = took, cpu_seconds(service) - cpu, waiting_seconds(service) - wait
    stop.send((answers, slowest, slowest_cpu, slowest_wait))


def waiting_seconds(pid: int) -> float:
    """For how long the threads of a process have been ready to run without a core."""
    waited = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # It has just ended.
            waited += int((thread / "schedstat").read_text("ascii").split()[1])
    return waited / 1e9


class _Caller:
    """Somebody with a key for everything."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.requests = 0
        self.errors: list[str] = []

    def call(self, method: str, path: str, body: object = None) -> Any:
        """The answer as JSON where it is JSON; None for an error."""
        self.requests += 1
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, self._headers)
            answer = connection.getresponse()
            text = answer.read()
        except OSError as error:
            self.errors.append(f"{method} {path}: {error}")
            return None
        finally:
            connection.close()
        if answer.status >= 500 and answer.status != 503:
            self.errors.append(f"{method} {path}: {answer.status}")
        with suppress(ValueError):
            return json.loads(text) if answer.status < 400 else None
        return None


def _work(site: ServedSite, caller: _Caller) -> None:
    base = site.url.rstrip("/")
    crawls = [
        caller.call(
            "POST", "/api/v1/crawls", {"job": job, "name": job, "starts": [site.url], "options": {"depth": 1, "delay": 0}}
        )
        for job in ("docs", "audit", "links")
    ]
    rows = [
        {"name": f"Source {number}", "type": SOURCES[kind], "url": base + site.paths[number]}
        | ({"settings": FIELDS} if kind == "JSON" else {})
        for number, kind in site.formats.items()
        if kind in SOURCES
    ]
    waiting, end = list(rows), time.monotonic() + LONGEST_WORK

    def test() -> None:
        while waiting and time.monotonic() < end:
            added = caller.call("POST", "/api/v1/admin/sources", waiting.pop())
            if added:
                caller.call("POST", f"/api/v1/admin/sources/{added['id']}/test")
                caller.call("POST", f"/api/v1/admin/sources/{added['id']}/run")
                caller.call("GET", VIEWS[added["id"] % len(VIEWS)])

    threads = [threading.Thread(target=test) for _ in range(TESTERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for crawl in filter(None, crawls):
        _look_at(crawl["id"], caller)


def _look_at(crawl: int, caller: _Caller) -> None:
    """Wait for a crawl, then ask for everything that the service shows of it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and (caller.call("GET", f"/api/v1/crawls/{crawl}") or {}).get("state") in ("queued", "running"):
        time.sleep(0.5)
    for path in ("", "/overview", "/findings", "/pages", "/links", "/graph"):
        caller.call("GET", f"/api/v1/crawls/{crawl}{path}")
        caller.call("GET", f"/manage/crawls/{crawl}{path}")
    pages = caller.call("GET", f"/api/v1/docs-sites/{crawl}/pages?limit=200") or {}
    for one in pages.get("items", ()):
        caller.call("GET", f"/api/v1/docs-sites/{crawl}/pages/{one['number']}")
        caller.call("GET", f"/manage/docs/{crawl}/pages/{one['number']}")
    for query in ("word", "祭り", "a b c", "%22%22"):
        caller.call("GET", f"/api/v1/docs-sites/search?q={query}")
