"""What a worker counts, and the HTTP server that publishes it, over real connections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tadoru.cluster.metrics import MAX_HEAD_BYTES, WorkerMetrics, metrics_endpoint, parse_listen_address, serve_metrics
from tadoru.engine.notifications import HostSlowed, PageDone, PageFailed, PageRefused, PageRetried, SitemapRead
from tadoru.errors import UsageError
from tests.support.clock import FakeClock

_SAMPLE = re.compile(r'([a-z_]+)((?:\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (-?[0-9.]+(?:e[-+]?[0-9]+)?)')


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def metrics(clock: FakeClock) -> WorkerMetrics:
    return WorkerMetrics(clock, "den-1", shown_hosts=2, kept_hosts=4)


def samples(text: str) -> dict[str, float]:
    """Every number by its name and labels; the format is held to while reading."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP [a-z_]+ .+|TYPE [a-z_]+ (gauge|counter))", line), line
        else:
            match = _SAMPLE.fullmatch(line)
            assert match is not None, line
            assert match[1] + match[2] not in found, line
            found[match[1] + match[2]] = float(match[3])
    assert text.endswith("\n")
    return found


def done(host: str, status: int = 200, seconds: float = 0.5) -> PageDone:
    return PageDone(url=f"https://{host}/a", status=status, depth=0, links=0, seconds=seconds)


def test_what_engines_announce_is_counted_by_what_became_of_it(metrics: WorkerMetrics) -> None:
    for notice in (
        done("a.example"), done("a.example", 404), done("b.example", 503),
        PageRetried(url="https://b.example/b", kind="timeout", after=3.0),
        PageFailed(url="https://b.example/b", kind="timeout", message="No answer."),
        PageRefused(url="https://a.example/c", reason="robots"), HostSlowed(host="b.example", gap=2.0, pause=1.0),
        SitemapRead(url="https://a.example/sitemap.xml", urls=1, problem=""),
    ):  # fmt: skip
        metrics.notify(notice)
    found = samples(metrics.text())
    assert {name: value for name, value in found.items() if "requests_total{outcome" in name} == {
        'tadoru_worker_requests_total{outcome="2xx"}': 1, 'tadoru_worker_requests_total{outcome="4xx"}': 1,
        'tadoru_worker_requests_total{outcome="5xx"}': 1, 'tadoru_worker_requests_total{outcome="timeout"}': 2,
    }  # fmt: skip
    assert (found["tadoru_worker_pages_total"], found["tadoru_worker_refused_total"]) == (4, 1)
    assert found["tadoru_worker_slowdowns_total"] == 1
    assert found['tadoru_worker_host_requests_total{host="b.example"}'] == 3
    assert found['tadoru_worker_host_failures_total{host="b.example"}'] == 2
    assert found['tadoru_worker_host_seconds_total{host="a.example"}'] == 1.0


def test_slices_are_held_until_they_end(metrics: WorkerMetrics) -> None:
    for host in ("a.example", "b.example", "a.example"):
        metrics.slice_started(host)
    metrics.slice_ended("a.example")
    assert samples(metrics.text())["tadoru_worker_hosts_held"] == 2
    metrics.slice_ended("a.example", failed=True)
    found = samples(metrics.text())
    assert found["tadoru_worker_hosts_held"] == 1
    assert (found['tadoru_worker_slices_total{outcome="done"}'], found['tadoru_worker_slices_total{outcome="failed"}']) == (1, 1)


def test_pages_a_second_are_those_of_the_last_half_minute(metrics: WorkerMetrics, clock: FakeClock) -> None:
    for _ in range(60):
        metrics.notify(done("a.example"))
        clock.advance(1)
    assert metrics.rate == pytest.approx(1.0, abs=0.05)
    clock.advance(15)
    assert metrics.rate == pytest.approx(0.5, abs=0.05)
    clock.advance(30)
    assert metrics.rate == 0


def test_only_the_hosts_that_were_asked_most_are_told_and_few_are_kept(metrics: WorkerMetrics) -> None:
    for number in range(500):
        metrics.notify(done(f"h{number}.example"))
        metrics.notify(done("big.example"))
    told = [name for name in samples(metrics.text()) if name.startswith("tadoru_worker_host_requests_total")]
    assert len(told) == 2
    assert samples(metrics.text())['tadoru_worker_host_requests_total{host="big.example"}'] == 500
    assert samples(metrics.text())["tadoru_worker_pages_total"] == metrics.pages == 1000


def test_only_a_limited_number_of_hosts_is_counted(clock: FakeClock) -> None:
    metrics = WorkerMetrics(clock, "den-1", shown_hosts=100, kept_hosts=4)
    for number in range(500):
        metrics.notify(done(f"h{number}.example"))
    assert 0 < sum(name.startswith("tadoru_worker_host_requests_total") for name in samples(metrics.text())) <= 4


def test_the_database_is_told_with_its_round_trips_until_it_is_gone(metrics: WorkerMetrics) -> None:
    assert samples(metrics.text())["tadoru_worker_database_connected"] == 0
    metrics.slice_started("a.example")
    metrics.round_trip(0.25)
    metrics.round_trip(0.5)
    found = samples(metrics.text())
    assert (found["tadoru_worker_database_last_seconds"], found["tadoru_worker_database_seconds_total"]) == (0.5, 0.75)
    assert (found["tadoru_worker_database_round_trips_total"], found["tadoru_worker_database_connected"]) == (2, 1)
    metrics.disconnected()
    found = samples(metrics.text())
    assert (found["tadoru_worker_database_connected"], found["tadoru_worker_hosts_held"]) == (0, 0)


async def test_the_lag_of_the_loop_is_the_worst_of_late(metrics: WorkerMetrics, clock: FakeClock) -> None:
    class Late(FakeClock):
        """Whoever sleeps on it is woken late."""

        by = 0.75

        async def sleep(self, seconds: float) -> None:
            if not self.by:
                raise asyncio.CancelledError
            await super().sleep(seconds + self.by)
            self.by = 0.0

    late = WorkerMetrics(Late(), "den-1")
    with pytest.raises(asyncio.CancelledError):
        await late.measure()
    assert samples(late.text())["tadoru_worker_loop_lag_seconds"] == 0.75
    for _ in range(15):
        late.lag(-0.1)
    assert samples(late.text())["tadoru_worker_loop_lag_seconds"] == 0


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_of_a_label_leaves_its_quotes(name: str) -> None:
    families = text_string_to_metric_families(WorkerMetrics(FakeClock(), name).text())
    assert [one.labels["name"] for family in families for one in family.samples if one.name == "tadoru_worker_info"] == [name]


@pytest.mark.parametrize(
    "text,expected",
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)), ("[::1]:9", ("::1", 9)), (":80", ("127.0.0.1", 80)),
        ("w.internal:65535", ("w.internal", 65535)),
    ],
)  # fmt: skip
def test_an_address_has_a_host_and_a_port(text: str, expected: tuple[str, int]) -> None:
    assert parse_listen_address(text) == expected


@pytest.mark.parametrize("text", ["", "*", "9464", "a:0", "a:65536", "a:x", "::1:9", "a:９", "a:" + "9" * 5000])
def test_an_address_that_is_none_is_one_sentence(text: str) -> None:
    with pytest.raises(UsageError, match=r"such as 127.0.0.1:9464\.$"):
        parse_listen_address(text)


@given(st.text())
def test_any_text_is_an_address_or_one_sentence(text: str) -> None:
    try:
        host, port = parse_listen_address(text)
    except UsageError:
        return
    assert host
    assert 1 <= port <= 65535


@pytest.fixture
async def port(metrics: WorkerMetrics) -> AsyncIterator[int]:
    server = await serve_metrics(metrics, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()


async def talk(port: int, said: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    answer = await reader.read()
    writer.close()
    return answer


async def test_metrics_are_answered_as_prometheus_asks(port: int, metrics: WorkerMetrics) -> None:
    metrics.notify(done("a.example"))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        told = await client.get("/metrics?x=1")
        assert (told.status_code, told.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert told.text == metrics.text()
        assert 'tadoru_worker_info{name="den-1"' in told.text
        head = await client.head("/metrics")
        assert (head.content, head.headers["content-length"]) == (b"", str(len(metrics.text().encode())))
        assert (await client.get("/healthz")).text == "ok\n"
        assert (await client.get("/")).status_code == 404
        assert (await client.get("/metrics/../etc/passwd")).status_code == 404
        assert (await client.post("/metrics", content=b"x" * 10)).headers["allow"] == "GET, HEAD"


async def test_a_name_that_is_not_this_machine_is_turned_away_on_loopback(port: int) -> None:
    for name, status in (
        ("evil.example", 421), (f"evil.example:{port}", 421), ("10.0.0.1", 421), ("", 421),
        ("localhost", 200), (f"LOCALHOST:{port}", 200), (f"127.0.0.1:{port}", 200), (f"[::1]:{port}", 200),
    ):  # fmt: skip
        answer = await talk(port, f"GET /metrics HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        assert answer.startswith(f"HTTP/1.1 {status} ".encode()), name


@pytest.mark.parametrize(
    "said,status",
    [
        (b"GET /metrics\r\n\r\n", b"400"), (b"\x16\x03\x01\r\n\r\n", b"400"), (b"get /metrics HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/2\r\n\r\n", b"400"), (b"DELETE /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"GET /metrics HTTP/1.1\r\nA: " + b"x" * 4 * MAX_HEAD_BYTES + b"\r\n\r\n", b"431"),
    ],
)  # fmt: skip
async def test_what_is_no_request_for_metrics_is_refused(port: int, said: bytes, status: bytes) -> None:
    try:
        answer = await talk(port, said)
    except ConnectionResetError:  # The rest of what was too long was not read.
        assert status == b"431"
    else:
        assert answer[:12] == b"HTTP/1.1 " + status


async def test_who_goes_away_or_says_nothing_keeps_nobody_else_from_being_answered(port: int) -> None:
    silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    answer = await talk(port, b"GET /healthz HTTP/1.0\r\n\r\n")
    assert answer.endswith(b"\r\n\r\nok\n")
    for _, writer in silent:
        writer.close()


async def test_a_place_that_is_taken_is_one_sentence(port: int, metrics: WorkerMetrics) -> None:
    with pytest.raises(UsageError, match=f"Cannot serve metrics at 127.0.0.1:{port}: .* Choose another address with --metrics"):
        await serve_metrics(metrics, "127.0.0.1", port)


async def test_a_worker_answers_as_long_as_it_works_and_only_where_it_was_told_to(metrics: WorkerMetrics) -> None:
    free = await serve_metrics(metrics, "127.0.0.1", 0)
    port = free.sockets[0].getsockname()[1]
    free.close()
    await free.wait_closed()
    async with metrics_endpoint(metrics, None):
        with pytest.raises(ConnectionRefusedError):
            await talk(port, b"")
    async with metrics_endpoint(metrics, f"127.0.0.1:{port}"):
        assert (await talk(port, b"GET /healthz HTTP/1.1\r\n\r\n")).endswith(b"ok\n")
    with pytest.raises(ConnectionRefusedError):
        await talk(port, b"")
