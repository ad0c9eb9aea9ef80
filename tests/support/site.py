"""A programmable site on loopback that misbehaves on demand. Every test of the engine runs against it.

    async with Site() as site:                       # in the test's own loop
        site.page("/", links=["/a", "/b"])
        site.redirect("/old", "/new")
        site.reply("/p", status=503, times=2)        # twice, and then …
        site.reply("/p", body="<h1>up</h1>")         # … this, for ever
        site.misbehave("/robots.txt", "drop")        # any behaviour of `hostile`
        gate = site.hold("/slow")                    # answers wait until gate.release()
        await site.requested("/slow")                # until the request has come in
        assert site.hits("/slow") == 1

`with Site() as site:` serves from a thread of its own, for tests that start commands; `python -m tests.support.site` is the
same site as a process, for tests that kill. `/bad/…` (`hostile`) and the generated sites (`worlds`) are always there. What is
not defined is 404, robots.txt too. The site adds no Date or Server header: its answers are the same every time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from tests.support.exchange import Exchange, Handler, Pairs, ReceivedRequest, Reply, pairs
from tests.support.generated_sites import WORLDS, document, sitemap
from tests.support.hostile import BEHAVIOURS, bad

TURNS = 6
"""Turns of the loop in which a connection is accepted, made, served and closed."""
PATIENCE = 30.0
"""Seconds after which waiting for a request that does not come fails the test."""


class ResponseGate:
    """Holds back the answers of one path."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._open = asyncio.Event()

    def release(self) -> None:
        """Let the answers go, those that wait and those to come."""
        self._site.in_loop(self._open.set)

    async def passed(self) -> None:
        """Until it is released."""
        await self._open.wait()


class _Script:
    """The replies of one path, one after the other; the last one stays."""

    def __init__(self) -> None:
        self._steps: list[tuple[Reply, int | None]] = []

    def add(self, reply: Reply, times: int | None) -> None:
        if self._steps and self._steps[-1][1] is None:
            self._steps.clear()
        self._steps.append((reply, times))

    async def __call__(self, exchange: Exchange, _: str) -> None:
        reply, times = self._steps[0]
        if times is not None and len(self._steps) > 1:
            self._steps[0] = (reply, times - 1)
            if times <= 1:
                self._steps.pop(0)
        await exchange.send(reply)


class Site:
    """The site. Define paths before or while it serves."""

    def __init__(
        self, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None, log: Path | None = None
    ) -> None:
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self._host, self._port, self._tls = host, port, tls
        self._log = None if log is None else log.open("a", encoding="utf-8", buffering=1)
        self._routes: dict[str, Handler] = {}
        self._prefixes: dict[str, Handler] = {"/bad/": bad, **WORLDS}
        self._gates: dict[str, ResponseGate] = {}
        self._hits: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._changed = threading.Condition()
        self._ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None
        self._thread: threading.Thread | None = None

    # -- what it serves ---------------------------------------------------------------------------------------------

    def reply(
        self,
        path: str,
        *,
        status: int = 200,
        body: str | bytes = b"",
        content_type: str = "text/html; charset=utf-8",
        headers: Mapping[str, str] | Pairs = (),
        compress: bool = False,
        times: int | None = None,
    ) -> None:
        """Answer `path` so. With `times` only so often; call again for what comes after."""
        raw = body.encode() if isinstance(body, str) else body
        script = self._routes.get(path)
        if not isinstance(script, _Script):
            script = self._routes[path] = _Script()
        script.add(Reply(status, raw, content_type, pairs(headers), compress), times)

    def html(self, path: str, text: str, **options: Any) -> None:
        """Answer with this HTML."""
        self.reply(path, body=text, **options)

    def page(self, path: str, *, links: Iterable[str] = (), title: str = "", body: str = "", **options: Any) -> None:
        """Answer with a page that has these links."""
        self.reply(path, body=document(title or f"Page {path}", links, body), **options)

    def redirect(self, path: str, to: str, status: int = 302, **options: Any) -> None:
        """Answer with a redirect."""
        self.reply(path, status=status, headers={"Location": to}, **options)

    def robots(self, text: str, **options: Any) -> None:
        """Answer /robots.txt."""
        self.reply("/robots.txt", body=text, **{"content_type": "text/plain", **options})

    def sitemap(self, path: str, targets: Iterable[str], *, index: bool = False, **options: Any) -> None:
        """Answer with a sitemap of these paths or URLs, or with an index of sitemaps."""
        urls = (self.url(target) if target.startswith("/") else target for target in targets)
        self.reply(path, body=sitemap(urls, index=index), **{"content_type": "application/xml", **options})

    def misbehave(self, path: str, behaviour: str, argument: str = "") -> None:
        """Answer with one of `hostile.BEHAVIOURS`."""
        handler = BEHAVIOURS[behaviour]
        self._routes[path] = lambda exchange, _: handler(exchange, argument)

    def handle(self, path: str, handler: Handler) -> None:
        """Answer with a function of your own; a path that ends in `*` takes everything below it."""
        if path.endswith("*"):
            self._prefixes[path[:-1]] = handler
        else:
            self._routes[path] = handler

    def hold(self, path: str) -> ResponseGate:
        """Keep requests for `path` waiting until the gate is released."""
        return self._gates.setdefault(path, ResponseGate(self))

    # -- what it saw ------------------------------------------------------------------------------------------------

    def url(self, path: str = "/") -> str:
        """The absolute URL of a path."""
        return self.base + path

    @property
    def base(self) -> str:
        """`http://127.0.0.1:port`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    @property
    def paths(self) -> list[str]:
        """The targets that were requested, in order."""
        return [seen.path for seen in self.requests]

    def hits(self, path: str) -> int:
        """How often a target (path and query) was requested."""
        return self._hits[path]

    async def requested(self, path: str, times: int = 1) -> None:
        """Until the target has been requested so often."""
        async with asyncio.timeout(PATIENCE):
            while self._hits[path] < times:
                await self._news.wait()

    async def news(self) -> None:
        """Until the next request comes in."""
        await self._news.wait()

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the test, in the site's loop; it ends with the site at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wait_for(self, reached: Callable[[Site], bool]) -> None:
        """For tests that are not in the site's loop: block until this is true of it, asked at every request."""
        with self._changed:
            if not self._changed.wait_for(lambda: reached(self), PATIENCE):
                raise TimeoutError(f"it did not come to that; {len(self.requests)} requests so far")

    # -- serving ----------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    def __enter__(self) -> Self:
        ready = threading.Event()

        async def serve() -> None:
            await self._start()
            ready.set()
            await self._ended.wait()
            await self._stop()

        self._thread = threading.Thread(target=lambda: asyncio.run(serve()), name="site")
        self._thread.start()
        if not ready.wait(PATIENCE):
            raise TimeoutError("the site did not start")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._thread is not None
        self.in_loop(self._ended.set)
        self._thread.join()

    def in_loop(self, call: Callable[[], object]) -> None:
        """Do something in the site's loop, from whichever thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(call)

    async def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._accept, self._host, self._port, ssl=self._tls, limit=1024 * 1024)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        assert self._server is not None
        # First nothing new is accepted: a server that is closed while a connection is being made leaves it open.
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(TURNS):
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            # A turn of the loop even if there is no task yet: a connection that was just accepted becomes one in it.
            await asyncio.gather(*tasks, asyncio.sleep(0), return_exceptions=True)
        self._server.close()
        await self._server.wait_closed()
        if self._log is not None:
            self._log.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer, self.connections))
        self._tasks.add(task)

        def end(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            writer.close()  # Also of a task that was cancelled before it began.

        task.add_done_callback(end)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            while await self._one(reader, writer, number):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # The client has gone, or speaks no HTTP.
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        """Serve one request; whether the connection stays."""
        return await self.answer(reader, writer, (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"), number)

    async def answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str, number: int, origin: str = ""
    ) -> bool:
        """Answer a request whose head was read; whether the connection stays."""
        start, *lines = head.split("\r\n")[:-2]
        method, target, _ = start.split(" ", 2)
        target = origin + target
        split = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in split}
        await reader.readexactly(int(headers.get("content-length", 0)))
        seen = ReceivedRequest(time.monotonic(), method, target, headers, number)
        self._record(seen)
        if target in self._gates:
            await self._gates[target].passed()
        exchange = Exchange(seen, writer, self._hits[target], self.base)
        handler, rest = self._handler(target)
        await handler(exchange, rest)
        return exchange.keep_alive and headers.get("connection", "").lower() != "close"

    def _record(self, seen: ReceivedRequest) -> None:
        with self._changed:
            self.requests.append(seen)
            self._hits[seen.path] += 1
            self._changed.notify_all()
        if self._log is not None:
            self._log.write(json.dumps(asdict(seen)) + "\n")
        self._news.set()
        self._news = asyncio.Event()

    def _handler(self, target: str) -> tuple[Handler, str]:
        bare = target.partition("?")[0]
        for path in (target, bare):
            if path in self._routes:
                return self._routes[path], ""
        fitting = [prefix for prefix in self._prefixes if bare.startswith(prefix)]
        if not fitting:
            return _missing, ""
        prefix = max(fitting, key=len)
        return self._prefixes[prefix], target.removeprefix(prefix)


async def _missing(exchange: Exchange, _: str) -> None:
    await exchange.send(Reply(status=404, body=document("Not found", ())))


def read_log(log: IO[str]) -> list[ReceivedRequest]:
    """The requests in the log of a site that runs as a process; a line that is still being written is left for later."""
    return [ReceivedRequest(**json.loads(line)) for line in log if line.endswith("\n")]


def main() -> None:
    """Serve until stopped. The first line on stdout is the site's URL."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="append every request as a line of JSON")
    parser.add_argument("--routes", type=Path, help='JSON: {"/": {"links": ["/a"]}, "/a": {"status": 503}}')
    options = parser.parse_args()
    site = Site(host=options.host, port=options.port, log=options.log)
    for path, route in json.loads(options.routes.read_text("utf-8") if options.routes else "{}").items():
        define = site.page if "links" in route else site.reply
        define(path, **route)

    async def serve() -> None:
        async with site:
            print(site.url(), flush=True)
            await asyncio.Event().wait()

    with suppress(KeyboardInterrupt):
        asyncio.run(serve())


if __name__ == "__main__":
    main()
