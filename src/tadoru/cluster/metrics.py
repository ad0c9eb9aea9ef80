"""What one worker counts, for Prometheus: pages, requests by what became of them, slices, and how well it keeps up.

A broad crawl asks a million hosts, and a time series for each would drown whoever collects them: only the hosts that were asked
most are told apart, and only so many are kept. Numbers live as long as the process, whatever becomes of the database meanwhile.
`metrics_door` answers with them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.engine.notifications import CrawlNotification, HostSlowed, PageDone, PageFailed, PageRefused, PageRetried
from tadoru.errors import UsageError, quoted
from tadoru.jobs.prometheus import MEDIA_TYPE, format_metric
from tadoru.rules.url import host_key
from tadoru.version import VERSION

SHOWN_HOSTS = 20
KEPT_HOSTS = 2_000
"""When so many are known, the half that was asked least is forgotten."""
WINDOW = 30
"""Seconds over which pages a second are told."""
LAG_SAMPLES = 15
"""How many measures of the loop the worst is told of."""
LAG_INTERVAL = 1.0


@dataclass(slots=True)
class HostTally:
    """How a host was asked."""

    requests: int = 0
    failures: int = 0
    seconds: float = 0.0


class WorkerMetrics:
    """The numbers of a worker. Everything is counted on its loop; nothing here waits."""

    def __init__(self, clock: Clock, name: str, *, shown_hosts: int = SHOWN_HOSTS, kept_hosts: int = KEPT_HOSTS) -> None:
        self._clock, self._name = clock, name
        self._shown_hosts, self._kept_hosts = shown_hosts, kept_hosts
        self._started = clock.now()
        self._requests: Counter[str] = Counter()
        self._pages = self._refused = self._slowed = 0
        self._slices: Counter[str] = Counter()
        self._held: Counter[str] = Counter()
        self._hosts: dict[str, HostTally] = {}
        self._lately: deque[tuple[int, int]] = deque()
        self._lags: deque[float] = deque([0.0], maxlen=LAG_SAMPLES)
        self._trips, self._trip_seconds, self._last_trip = 0, 0.0, 0.0
        self._is_connected = False

    @property
    def pages(self) -> int:
        """How many were read."""
        return self._pages

    # ---- what happens
    def hear(self, notice: CrawlNotification) -> None:
        """What an engine announces."""
        match notice:
            case PageDone():
                self.page(host_key(notice.url), f"{notice.status // 100}xx", notice.seconds)
            case PageFailed():
                self.page(host_key(notice.url), notice.kind, is_failure=True)
            case PageRetried():
                self.request(host_key(notice.url), notice.kind, is_failure=True)
            case PageRefused():
                self._refused += 1
            case HostSlowed():
                self._slowed += 1

    def page(self, host: str, outcome: str, seconds: float = 0.0, *, is_failure: bool = False) -> None:
        """A page is settled: an answer was read, or there is none for good."""
        self._pages += 1
        now = int(self._clock.monotonic())
        if self._lately and self._lately[-1][0] == now:
            self._lately[-1] = (now, self._lately[-1][1] + 1)
        else:
            self._lately.append((now, 1))
            self._forget_before(now - WINDOW)
        self.request(host, outcome, seconds, is_failure=is_failure)

    def request(self, host: str, outcome: str, seconds: float = 0.0, *, is_failure: bool = False) -> None:
        """A host was asked; `outcome` is one of few words: 2xx, timeout."""
        self._requests[outcome] += 1
        if host not in self._hosts and len(self._hosts) >= self._kept_hosts:
            self._hosts = dict(self._most_asked(self._kept_hosts // 2))
        tally = self._hosts.setdefault(host, HostTally())
        tally.requests += 1
        tally.failures += is_failure
        tally.seconds += seconds

    def slice_began(self, host: str) -> None:
        self._held[host] += 1

    def slice_ended(self, host: str, *, failed: bool = False) -> None:
        self._slices["failed" if failed else "done"] += 1
        self._held[host] -= 1
        if self._held[host] <= 0:
            del self._held[host]

    def round_trip(self, seconds: float) -> None:
        """The database answered after so long."""
        self._trips, self._trip_seconds, self._last_trip = self._trips + 1, self._trip_seconds + seconds, seconds
        self._is_connected = True

    def disconnected(self) -> None:
        """The database is gone; the next round trip says that it is back."""
        self._is_connected = False
        self._held.clear()

    def lag(self, seconds: float) -> None:
        """Something was done so much later than it was to be."""
        self._lags.append(max(0.0, seconds))

    async def measure(self) -> None:
        """Measure the loop for ever: run it as a task of the worker."""
        while True:
            before = self._clock.monotonic()
            await self._clock.sleep(LAG_INTERVAL)
            self.lag(self._clock.monotonic() - before - LAG_INTERVAL)

    # ---- what is told
    @property
    def rate(self) -> float:
        """Pages a second over the last half minute, or since the start when that is shorter ago."""
        self._forget_before(int(self._clock.monotonic()) - WINDOW)
        lived = min(max(self._clock.now() - self._started, 1.0), WINDOW)
        return sum(count for _, count in self._lately) / lived

    def _forget_before(self, second: int) -> None:
        while self._lately and self._lately[0][0] <= second:
            self._lately.popleft()

    def _most_asked(self, most: int) -> list[tuple[str, HostTally]]:
        return sorted(self._hosts.items(), key=lambda item: (-item[1].requests, item[0]))[:most]

    def text(self) -> str:
        """All of it in the text format of Prometheus."""
        return "\n".join([*self._of_worker(), *self._of_hosts()]) + "\n"

    def _of_worker(self) -> Iterator[str]:
        outcomes = [({"outcome": name}, count) for name, count in sorted(self._requests.items())]
        slices = [({"outcome": name}, self._slices[name]) for name in ("done", "failed")]
        info = {"name": self._name, "version": VERSION}
        yield from format_metric("tadoru_worker_info", "Which worker this is.", [(info, 1)])
        yield from format_metric("tadoru_worker_requests_total", "Requests by what became of them.", outcomes, "counter")
        yield from format_metric("tadoru_worker_slices_total", "Slices by how they ended.", slices, "counter")
        for name, words, value in (
            ("pages_total", "Pages that were settled.", self._pages),
            ("refused_total", "URLs that were not requested.", self._refused),
            ("slowdowns_total", "Times that a host asked for patience.", self._slowed),
            ("database_round_trips_total", "Questions to the database that were measured.", self._trips),
            ("database_seconds_total", "Seconds that these took.", round(self._trip_seconds, 6)),
        ):
            yield from format_metric(f"tadoru_worker_{name}", words, [({}, value)], "counter")
        for name, words, gauge in (
            ("pages_per_second", "Pages a second over the last half minute.", round(self.rate, 3)),
            ("hosts_held", "Hosts that are asked now.", len(self._held)),
            ("loop_lag_seconds", "The worst delay of the event loop lately.", round(max(self._lags), 6)),
            ("database_last_seconds", "How long the database took to answer last.", round(self._last_trip, 6)),
            ("database_connected", "Whether the database answers.", int(self._is_connected)),
            ("start_timestamp_seconds", "When the worker started.", round(self._started)),
        ):
            yield from format_metric(f"tadoru_worker_{name}", words, [({}, gauge)])

    def _of_hosts(self) -> Iterator[str]:
        shown = [({"host": host}, tally) for host, tally in self._most_asked(self._shown_hosts)]
        for name, words, rows in (
            ("requests_total", "Requests to the hosts that were asked most.", [(host, one.requests) for host, one in shown]),
            ("failures_total", "Requests to them that failed.", [(host, one.failures) for host, one in shown]),
            ("seconds_total", "Seconds that their answers took.", [(host, round(one.seconds, 3)) for host, one in shown]),
        ):
            yield from format_metric(f"tadoru_worker_host_{name}", words, rows, "counter")


MAX_HEAD_BYTES = 8192
REQUEST_TIMEOUT = 5.0
"""Seconds that a caller has to say what it wants, and to take the answer."""
MAX_CONNECTIONS = 16
PLAIN_TEXT = "text/plain; charset=utf-8"
_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,2048}) HTTP/1\.[01]")
_REASON_PHRASES = {
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 421: "Misdirected Request",
    431: "Request Header Fields Too Large",
}  # fmt: skip
HttpAnswer = tuple[int, str, str]


def parse_listen_address(text: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:9464`, `[::1]:9464`, `:9464` (loopback). Raises UsageError."""
    host, colon, port = text.strip().rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) < 6 and 1 <= int(port) <= 65535
    if not colon or not is_port or (":" in host and host[0] != "["):
        raise UsageError(f"Metrics cannot be served at {quoted(text)}: write an address and a port, such as 127.0.0.1:9464.")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


async def serve_metrics(metrics: WorkerMetrics, host: str, port: int) -> asyncio.Server:
    """Answer from now on, until the server that comes back is closed. Raises UsageError where nobody can listen."""
    door = _MetricsServer(metrics, is_private=_is_loopback(host))
    try:
        return await asyncio.start_server(door.call, host, port, limit=MAX_HEAD_BYTES)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"Metrics cannot be served at {host}:{port} ({why}): choose another place with --metrics.") from None


@asynccontextmanager
async def metrics_endpoint(metrics: WorkerMetrics, place: str | None) -> AsyncIterator[None]:
    """Measure the loop and answer at a place for as long as this lasts; without a place nothing is done."""
    if place is None:
        yield
        return
    server = await serve_metrics(metrics, *parse_listen_address(place))
    measuring = asyncio.create_task(metrics.measure())
    try:
        yield
    finally:
        measuring.cancel()
        server.close()


class _MetricsServer:
    """Who calls, and what they are told."""

    def __init__(self, metrics: WorkerMetrics, *, is_private: bool) -> None:
        self._metrics, self._is_private = metrics, is_private
        self._callers = 0

    async def call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._callers += 1
        try:
            if self._callers <= MAX_CONNECTIONS:
                async with asyncio.timeout(REQUEST_TIMEOUT):
                    await self._talk(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass  # They have gone, or never said what they want.
        finally:
            self._callers -= 1
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            head, (status, kind, body) = b"", (431, PLAIN_TEXT, "The request is too long.\n")
        else:
            status, kind, body = self._answer(head)
        content = body.encode()
        lines = [
            f"HTTP/1.1 {status} {_REASON_PHRASES[status]}", f"Content-Type: {kind}", f"Content-Length: {len(content)}",
            "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Connection: close",
            *(["Allow: GET, HEAD"] if status == 405 else []),
        ]  # fmt: skip
        writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if head.startswith(b"HEAD ") else content))
        await writer.drain()

    def _answer(self, head: bytes) -> HttpAnswer:
        line, *fields = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        asked = _LINE.fullmatch(line)
        if asked is None:
            return 400, PLAIN_TEXT, "This is no request of HTTP/1.1.\n"
        if asked[1] not in (b"GET", b"HEAD"):
            return 405, PLAIN_TEXT, "There is nothing to change here: use GET.\n"
        if self._is_private and not _is_local_name(_host_header(fields)):
            return 421, PLAIN_TEXT, "This worker answers to this machine only, by its address or as localhost.\n"
        match asked[2].partition(b"?")[0]:
            case b"/metrics":
                return 200, MEDIA_TYPE, self._metrics.text()
            case b"/healthz":
                return 200, PLAIN_TEXT, "ok\n"
        return 404, PLAIN_TEXT, "There is only /metrics here, and /healthz.\n"


def _host_header(fields: list[bytes]) -> str:
    """Whom the caller believes to talk to."""
    for field in fields:
        name, _, value = field.partition(b":")
        if name.strip().lower() == b"host":
            return value.strip().decode("latin-1")
    return "localhost"


def _is_local_name(name: str) -> bool:
    host = re.sub(r":\d*$", "", name).removeprefix("[").removesuffix("]")
    return _is_loopback(host)


def _is_loopback(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
