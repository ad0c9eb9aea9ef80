"""The metrics of a worker in the text format of Prometheus, and the HTTP server that publishes them.

A broad crawl sends requests to a million hosts, and a time series for each would be too many: only the hosts with the most
requests are listed, and only a limited number is counted. The numbers live as long as the process. The server answers `/metrics`
and `/healthz` over plain HTTP and nothing else; it keeps no connection open. On loopback it answers only to names of this
machine, so that a page in a browser cannot read it under a name of its own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from tadoru.clock import Clock
from tadoru.engine.notifications import CrawlNotification, HostSlowed, PageDone, PageFailed, PageRefused, PageRetried
from tadoru.errors import UsageError, quoted
from tadoru.rules.url import host_key
from tadoru.version import VERSION

SHOWN_HOSTS = 20
KEPT_HOSTS = 2_000
"""Maximum hosts that are counted; beyond it the half with the fewest requests is dropped."""
WINDOW = 30
"""Seconds for the average of pages per second."""
LAG_SAMPLES = 15
"""Number of measured delays of the event loop of which the largest is shown."""
LAG_INTERVAL = 1.0
# Each counter would have a second series with its start; one gauge has the start of all.
prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(slots=True)
class HostTally:
    """The requests to a host."""

    requests: int = 0
    failures: int = 0
    seconds: float = 0.0


class WorkerMetrics:
    """The metrics of a worker. Everything is counted on its event loop without waiting."""

    def __init__(self, clock: Clock, name: str, *, shown_hosts: int = SHOWN_HOSTS, kept_hosts: int = KEPT_HOSTS) -> None:
        self._clock, self._name = clock, name
        self._shown_hosts, self._kept_hosts = shown_hosts, kept_hosts
        self._started = clock.now()
        self._held: Counter[str] = Counter()
        self._hosts: dict[str, HostTally] = {}
        self._recent_pages: deque[tuple[int, int]] = deque()
        self._lags: deque[float] = deque([0.0], maxlen=LAG_SAMPLES)
        self._registry = prometheus.CollectorRegistry()
        counter = partial(prometheus.Counter, namespace="tadoru_worker", registry=self._registry)
        gauge = partial(prometheus.Gauge, namespace="tadoru_worker", registry=self._registry)
        gauge("info", "Name and version of the worker.", ["name", "version"]).labels(name, VERSION).set(1)
        self._requests = counter("requests", "Requests by outcome.", ["outcome"])
        self._slices = counter("slices", "Slices by result.", ["outcome"])
        for outcome in ("done", "failed"):
            self._slices.labels(outcome)
        self._pages = counter("pages", "Pages read or failed.")
        self._refused = counter("refused", "URLs that were not requested.")
        self._slowed = counter("slowdowns", "Times that a host was slowed down.")
        self._trips = counter("database_round_trips", "Measured database round trips.")
        self._trip_seconds = counter("database_seconds", "Total seconds of these round trips.")
        self._last_trip = gauge("database_last_seconds", "Duration of the last database round trip.")
        self._connected = gauge("database_connected", "Whether the database is connected.")
        gauge("pages_per_second", "Pages per second over the last half minute.").set_function(lambda: round(self.rate, 3))
        gauge("hosts_held", "Hosts that are crawled now.").set_function(lambda: len(self._held))
        gauge("loop_lag_seconds", "Largest recent delay of the event loop.").set_function(lambda: max(self._lags))
        gauge("start_timestamp_seconds", "Start time of the worker.").set(round(self._started))
        self._registry.register(self)

    @property
    def pages(self) -> int:
        """The number of pages that were read."""
        return int(self._registry.get_sample_value("tadoru_worker_pages_total") or 0)

    # ---- counting
    def notify(self, notification: CrawlNotification) -> None:
        """Count a notification of a crawler."""
        match notification:
            case PageDone():
                self.page(host_key(notification.url), f"{notification.status // 100}xx", notification.seconds)
            case PageFailed():
                self.page(host_key(notification.url), notification.kind, is_failure=True)
            case PageRetried():
                self.request(host_key(notification.url), notification.kind, is_failure=True)
            case PageRefused():
                self._refused.inc()
            case HostSlowed():
                self._slowed.inc()

    def page(self, host: str, outcome: str, seconds: float = 0.0, *, is_failure: bool = False) -> None:
        """Count a page: it was read, or failed for good."""
        self._pages.inc()
        now = int(self._clock.monotonic())
        if self._recent_pages and self._recent_pages[-1][0] == now:
            self._recent_pages[-1] = (now, self._recent_pages[-1][1] + 1)
        else:
            self._recent_pages.append((now, 1))
            self._forget_before(now - WINDOW)
        self.request(host, outcome, seconds, is_failure=is_failure)

    def request(self, host: str, outcome: str, seconds: float = 0.0, *, is_failure: bool = False) -> None:
        """Count a request; `outcome` is one of few values: 2xx, timeout."""
        self._requests.labels(outcome).inc()
        if host not in self._hosts and len(self._hosts) >= self._kept_hosts:
            self._hosts = dict(self._busiest_hosts(self._kept_hosts // 2))
        tally = self._hosts.setdefault(host, HostTally())
        tally.requests += 1
        tally.failures += is_failure
        tally.seconds += seconds

    def slice_started(self, host: str) -> None:
        self._held[host] += 1

    def slice_ended(self, host: str, *, failed: bool = False) -> None:
        self._slices.labels("failed" if failed else "done").inc()
        self._held[host] -= 1
        if self._held[host] <= 0:
            del self._held[host]

    def round_trip(self, seconds: float) -> None:
        """Record a round trip to the database."""
        self._trips.inc()
        self._trip_seconds.inc(seconds)
        self._last_trip.set(seconds)
        self._connected.set(1)

    def disconnected(self) -> None:
        """The database is gone, until the next round trip."""
        self._connected.set(0)
        self._held.clear()

    def lag(self, seconds: float) -> None:
        """Record a delay of the event loop."""
        self._lags.append(max(0.0, seconds))

    async def measure(self) -> None:
        """Measure the delay of the event loop forever, as a task of the worker."""
        while True:
            before = self._clock.monotonic()
            await self._clock.sleep(LAG_INTERVAL)
            self.lag(self._clock.monotonic() - before - LAG_INTERVAL)

    # ---- output
    @property
    def rate(self) -> float:
        """Pages per second over the last half minute, or since the start if that is shorter."""
        self._forget_before(int(self._clock.monotonic()) - WINDOW)
        lived = min(max(self._clock.now() - self._started, 1.0), WINDOW)
        return sum(count for _, count in self._recent_pages) / lived

    def _forget_before(self, second: int) -> None:
        while self._recent_pages and self._recent_pages[0][0] <= second:
            self._recent_pages.popleft()

    def _busiest_hosts(self, most: int) -> list[tuple[str, HostTally]]:
        return sorted(self._hosts.items(), key=lambda item: (-item[1].requests, item[0]))[:most]

    def text(self) -> str:
        """All metrics in the text format of Prometheus."""
        return prometheus.generate_latest(self._registry).decode()

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The metrics of the hosts with the most requests, for the registry."""
        shown = self._busiest_hosts(self._shown_hosts)
        for name, help_text in (
            ("requests", "Requests to the hosts with the most requests."),
            ("failures", "Failed requests to these hosts."),
            ("seconds", "Total response time in seconds."),
        ):
            family = CounterMetricFamily(f"tadoru_worker_host_{name}", help_text, labels=["host"])
            for host, tally in shown:
                family.add_metric([host], round(getattr(tally, name), 3))
            yield family


MAX_HEAD_BYTES = 8192
REQUEST_TIMEOUT = 5.0
"""Seconds for a request and its response."""
MAX_CONNECTIONS = 16
PLAIN_TEXT = "text/plain; charset=utf-8"
_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,2048}) HTTP/1\.[01]")
_REASON_PHRASES = {
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 421: "Misdirected Request",
    431: "Request Header Fields Too Large",
}  # fmt: skip
HttpAnswer = tuple[int, str, str]


def parse_listen_address(text: str) -> tuple[str, int]:
    """The host and port of `127.0.0.1:9464`, `[::1]:9464` or `:9464` (loopback). Raises UsageError."""
    host, colon, port = text.strip().rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) < 6 and 1 <= int(port) <= 65535
    if not colon or not is_port or (":" in host and host[0] != "["):
        raise UsageError(
            "Cannot serve metrics at {address}. Use an address and a port, such as 127.0.0.1:9464.", address=quoted(text)
        )
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


async def serve_metrics(metrics: WorkerMetrics, host: str, port: int) -> asyncio.Server:
    """Start the server. Raises UsageError when the address cannot be used."""
    handler = _MetricsServer(metrics, is_private=_is_loopback(host))
    try:
        return await asyncio.start_server(handler.call, host, port, limit=MAX_HEAD_BYTES)
    except OSError as error:
        raise UsageError(
            "Cannot serve metrics at {host}:{port}: {reason}. Choose another address with --metrics.",
            host=host,
            port=port,
            reason=error.strerror or error,
        ) from None


@asynccontextmanager
async def metrics_endpoint(metrics: WorkerMetrics, address: str | None) -> AsyncIterator[None]:
    """Measure the event loop and serve metrics at an address during the body; without an address do nothing."""
    if address is None:
        yield
        return
    server = await serve_metrics(metrics, *parse_listen_address(address))
    measuring = asyncio.create_task(metrics.measure())
    try:
        yield
    finally:
        measuring.cancel()
        server.close()


class _MetricsServer:
    """Answers requests for metrics."""

    def __init__(self, metrics: WorkerMetrics, *, is_private: bool) -> None:
        self._metrics, self._is_private = metrics, is_private
        self._connections = 0

    async def call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= MAX_CONNECTIONS:
                async with asyncio.timeout(REQUEST_TIMEOUT):
                    await self._respond(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass  # The client has closed the connection or sent no request.
        finally:
            self._connections -= 1
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        request_line = _LINE.fullmatch(line)
        if request_line is None:
            return 400, PLAIN_TEXT, "This is not an HTTP/1.1 request.\n"
        if request_line[1] not in (b"GET", b"HEAD"):
            return 405, PLAIN_TEXT, "Only GET and HEAD are supported.\n"
        if self._is_private and not _is_local_name(_host_header(fields)):
            return 421, PLAIN_TEXT, "This worker answers only on this machine, by its address or as localhost.\n"
        match request_line[2].partition(b"?")[0]:
            case b"/metrics":
                return 200, CONTENT_TYPE_PLAIN_0_0_4, self._metrics.text()
            case b"/healthz":
                return 200, PLAIN_TEXT, "ok\n"
        return 404, PLAIN_TEXT, "Not found. Only /metrics and /healthz exist.\n"


def _host_header(fields: list[bytes]) -> str:
    """The Host header of a request."""
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
