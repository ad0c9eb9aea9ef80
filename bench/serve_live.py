"""500 WebSocket clients on one process of the service while a crawl is told of: how late, at what cost, and what REST notices.

`python -m bench.serve_live [--clients 500] [--seconds 30] [--rate 5] [--crawl] [--database postgresql://…]`. The service is a
process of its own, the clients are another, and a third tells progress as a crawl's process does, `--rate` times a second, with a
change of state now and then; with `--crawl` the service really crawls a small site meanwhile, and its process tells. A message
carries the time it was told at, so that lateness is from there to receipt; the service looks into the database every 0.4 s, which
is most of it. In between somebody asks REST for a list, ten times a second.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import http.server
import json
import multiprocessing
import resource
import statistics
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from bench.serve import free_port, wait_for


def service(path: str, port: int, clients: int) -> None:
    import uvicorn

    from tadoru.clock import SystemClock
    from tadoru.config.options import ServeOptions
    from tadoru.log import Log
    from tadoru.serve.app import build_app
    from tadoru.serve.live import connection as wire
    from tadoru.serve.live.connection import LiveLimits
    from tadoru.serve.service import Service
    from tadoru.store.service import open_service

    options = ServeOptions(database=path, rate_limit=0, key_rate_limit=0, crawl_private=("*",))
    log = Log(sys.stderr, SystemClock(), level="error")
    app = build_app(Service(store=open_service(path), options=options, log=log))
    app.state.live.set_limits(LiveLimits(for_each=clients + 10, from_address=clients + 10))
    uvicorn.run(app, port=port, log_level="error", access_log=False, **wire.WEBSOCKET_OPTIONS)


class EndlessSite(http.server.BaseHTTPRequestHandler):
    """A site whose every page leads to ten others."""

    def do_GET(self) -> None:
        number = int(self.path.strip("/")) if self.path.strip("/").isdigit() else 0
        links = "".join(f'<a href="/{number * 10 + one}">{one}</a>' for one in range(1, 11))
        found = b"" if self.path == "/robots.txt" else f"<!doctype html><title>{number}</title>{links}".encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)

    def log_message(self, *_: Any) -> None: ...


def crawl(path: str, seconds: float, done: Any) -> None:
    """Have the service crawl a site for so long."""
    from tadoru.store.accounts.audit_log import Actor
    from tadoru.store.service import open_service

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EndlessSite)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    store, by = open_service(path), Actor(who="bench")
    begin = store.messages.span()[1]
    made = store.crawls.add("Bench", "audit", [f"http://127.0.0.1:{site.server_port}/"], {"delay": 0.1, "limit": 100_000}, by)
    time.sleep(seconds)
    store.crawls.stop(made.id, by)
    while store.crawls.get(made.id).is_busy:
        time.sleep(0.2)
    found = store.crawls.get(made.id)
    print(f"crawl: {found.state.value}, {found.progress.get('pages')} pages", file=sys.stderr)
    done.put(sum(one.kind == "crawl.progress" for one in store.messages.list(begin, limit=100_000)))
    store.close()


def teller(path: str, rate: float, seconds: float, done: Any) -> None:
    """A crawl as the service sees it: a row that beats."""
    from tadoru.store.service import open_service

    store = open_service(path)
    end, number = time.time() + seconds, 0
    while (now := time.time()) < end:
        number += 1
        body = {"crawl_id": 1, "pages": number, "errors": 0, "queued": 10, "known": number + 10, "rate": rate, "seconds": 0}
        store.messages.publish("crawl.progress", "crawl/1", body)
        if number % 50 == 0:
            store.messages.publish("crawl.state", "crawl/1", {"crawl_id": 1, "job": "audit", "name": "Bench", "state": "running"})
        time.sleep(max(0.0, now + 1 / rate - time.time()))
    store.close()
    done.put(number)


class ClientPool:
    """All clients, in one loop."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._key = port, key
        self.late: list[float] = []
        self.heard: list[int] = []
        self.spent = 0.0
        """CPU of the service before anything is told."""

    async def one(self, ready: asyncio.Semaphore, up: asyncio.Barrier) -> None:
        from websockets.asyncio.client import connect

        headers = {"authorization": f"Bearer {self._key}"}
        async with ready:
            connection = await connect(
                f"ws://127.0.0.1:{self._port}/ws", additional_headers=headers, compression=None, proxy=None
            )
            await connection.recv()
            await connection.send(json.dumps({"kind": "subscribe", "subjects": ["crawl/*"]}))
            await connection.recv()
        await up.wait()
        count = 0
        try:
            while True:
                text = await connection.recv()
                now = time.time()
                message = json.loads(text)
                if message["kind"] == "crawl.progress":
                    self.late.append(now - datetime.fromisoformat(message["at"]).timestamp())
                    count += 1
        except asyncio.CancelledError:
            self.heard.append(count)
            connection.transport.abort()
            raise


def ask(port: int, took: list[float], stop: float) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while time.time() < stop:
        began = time.perf_counter()
        connection.request("GET", "/api/v1/events?limit=20")
        answer = connection.getresponse()
        answer.read()
        took.append(time.perf_counter() - began)
        time.sleep(0.1)


async def watch(
    port: int, server: int, key: str, clients: int, telling: Any, seconds: float
) -> tuple[ClientPool, list[float], float]:
    crowd, took, up = ClientPool(port, key), list[float](), asyncio.Barrier(clients + 1)
    ready = asyncio.Semaphore(25)
    began = time.perf_counter()
    tasks = [asyncio.create_task(crowd.one(ready, up)) for _ in range(clients)]
    await up.wait()
    connected = time.perf_counter() - began
    crowd.spent = sum(psutil.Process(server).cpu_times()[:2])
    telling.start()
    await asyncio.to_thread(ask, port, took, time.time() + seconds)
    await asyncio.to_thread(telling.join)
    await asyncio.sleep(2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return crowd, took, connected


def told(name: str, values: list[float]) -> str:
    ordered = sorted(values)
    middle, late = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    return f"{name}: p50 {middle * 1000:.0f} ms, p99 {late * 1000:.0f} ms, longest {ordered[-1] * 1000:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=5.0)
    parser.add_argument("--crawl", action="store_true")
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    from tadoru.store.accounts.audit_log import Actor
    from tadoru.store.service import open_service

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = given.database or str(Path(folder) / "service.db")
        store = open_service(path)
        key = store.keys.add("bench", ("crawls:read",), Actor(who="bench"))[1]
        store.close()
        port, done = free_port(), spawn.Queue()
        server = spawn.Process(target=service, args=(path, port, given.clients))
        telling = spawn.Process(target=teller, args=(path, given.rate, given.seconds, done))
        if given.crawl:
            telling = spawn.Process(target=crawl, args=(path, given.seconds, done))
        server.start()
        try:
            wait_for(port)
            process = psutil.Process(server.pid)
            before = process.memory_info().rss
            crowd, took, connected = asyncio.run(watch(port, process.pid, key, given.clients, telling, given.seconds))
            cpu, memory = sum(process.cpu_times()[:2]) - crowd.spent, process.memory_info().rss
            count = done.get()
        finally:
            server.terminate()
            server.join()
    print(f"{given.clients} clients connected in {connected:.1f} s; {count} messages of progress in {given.seconds:.0f} s")
    print(f"heard: each client between {min(crowd.heard)} and {max(crowd.heard)} of {count}, {len(crowd.late):,} in all")
    print(told("commit to receipt", crowd.late))
    print(told("REST meanwhile", took))
    grown = (memory - before) / 1024
    print(f"service: {cpu / given.seconds:.0%} of a core; {memory / 2**20:.0f} MB, {grown / given.clients:.0f} KB a client")


if __name__ == "__main__":
    main()
