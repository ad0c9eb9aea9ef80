"""The real service, and those who mean it ill: smuggled requests, heads and bodies without end, slow ones, and a whole day of use
whose log is searched for every secret that was issued."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import quote, urlencode

import pytest

from tests.acceptance.command import PATIENCE, Tadoru
from tests.acceptance.serving import RunningService, ServiceResponse, read, serving

FORM = "application/x-www-form-urlencoded"
HOST = b"Host: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with serving(Tadoru(tmp_path_factory.mktemp("hostile")), "--rate-limit", "0") as running:
        yield running


def _raw(service: RunningService, sent: bytes) -> bytes:
    """Everything that comes back until the connection is closed; the sender has nothing more to say, if it is heard at all."""
    parts = []
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as raw:
        with suppress(OSError):
            raw.sendall(sent)
            raw.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while part := raw.recv(65536):
                parts.append(part)
    return b"".join(parts)


POST, HIDDEN = b"POST /sign-in HTTP/1.1\r\n" + HOST, b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        POST + b"Content-Length: 5\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
        POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
        POST + b"Content-Length : 5\r\n\r\n" + HIDDEN,
        POST + b"X: a\r\n folded\x00: b\r\n\r\n",
    ],
)
def test_no_request_is_smuggled_inside_another(service: RunningService, sent: bytes) -> None:
    told = _raw(service, sent)
    assert b"tadoru_events" not in told
    assert told.count(b"HTTP/1.1 ") <= 1
    assert service.ask("/healthz").status == 200


def test_a_head_without_end_is_cut_off(service: RunningService) -> None:
    assert b" 200 " not in _raw(service, b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 2_000_000 + b"\r\n\r\n")
    many = b"".join(b"X-%d: a\r\n" % number for number in range(50_000))
    assert b" 200 " not in _raw(service, b"GET /healthz HTTP/1.1\r\n" + HOST + many + b"\r\n")
    assert service.ask("/healthz").status == 200


@pytest.mark.parametrize("body", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, '"\\ud800"', "1e999999", ""])
def test_json_of_any_depth_is_an_answer_and_no_fault(service: RunningService, body: str) -> None:
    told = service.ask("/api/v1/events", "POST", body, Content_Type="application/json")
    assert told.status == 401
    told = service.ask("/graphql", "POST", body, Content_Type="application/json")
    assert 400 <= told.status < 500


def test_slow_ones_keep_nobody_waiting(service: RunningService) -> None:
    slow = [socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) for _ in range(60)]
    try:
        for number, one in enumerate(slow):
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127" if number % 2 else POST + b"Content-Length: 99\r\n\r\na")
        assert service.ask("/healthz").status == 200
        assert service.ask("/api/v1/events").status == 200
    finally:
        for one in slow:
            one.close()


@pytest.mark.parametrize("text", ["a\r\nSet-Cookie: evil=1", "a\nX-Evil: 1", '"; filename="evil.exe', "é\u2028\r\n\r\n<script>"])
def test_no_parameter_reaches_a_header_as_it_is(service: RunningService, text: str) -> None:
    asked = quote(text, safe="")
    for path in (
        f"/events.csv?city={asked}", f"/events.ics?category={asked}", f"/api/v1/events?q={asked}&limit=1",
        f"/sign-in?next={asked}", f"/month?q={asked}", f"/manage/events?next={asked}", f"/?lang={asked}",
        f"/events/{asked}/calendar.ics", f"/static/{asked}",
    ):  # fmt: skip
        told = service.ask(path, Accept="text/html")
        assert told.status < 500, path
        assert {"x-evil"} & set(told.headers) == set()
        assert "evil=1" not in told.headers.get("set-cookie", "")
        assert "evil.exe" not in told.headers.get("content-disposition", "")
        assert all("\n" not in value for value in told.headers.values())
        assert not told.headers.get("location", "/").startswith(("//", "http"))


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1@evil.example", "127.0.0.1:80:80", "[::1", "localhost.evil.example", ""]
)
def test_a_false_name_gets_no_page_and_no_link(service: RunningService, host: str) -> None:
    for path in ("/", "/events.rss", "/sign-in", "/openapi.json"):
        told = service.ask(path, Host=host, X_Forwarded_Host="evil.example")
        assert told.status in (400, 421)
    told = service.ask("/events.rss", X_Forwarded_Host="evil.example", X_Forwarded_Proto="https", Forwarded="host=evil.example")
    assert (told.status, "evil.example" in told.text) == (200, False)


def asked_of_all(service: RunningService, processes: int) -> list[ServiceResponse]:
    """More requests than the limit lets in, over connections that at least so many processes hold."""
    connections: list[http.client.HTTPConnection] = []
    service.wait_for(processes)
    try:
        while len(service.holders() - {os.getpid()}) < processes:
            assert len(connections) < 60, "one process takes them all"
            fresh = [service.connect() for _ in range(6)]
            with ThreadPoolExecutor(6) as pool:
                list(pool.map(lambda one: one.connect(), fresh))
            connections += fresh
        told = []
        for connection in [*connections] * -(-120 // len(connections)):
            connection.request("GET", "/api/v1/cities")
            told.append(read(connection))
        return told
    finally:
        for one in connections:
            one.close()


def test_limits_are_one_for_all_processes(tadoru: Tadoru) -> None:
    with serving(tadoru, "--workers", "3", "--rate-limit", "30", "--log-format", "json") as service:
        assert service.ask("/readyz").status == 200
        began = time.monotonic()
        told = asked_of_all(service, 2)
        took = time.monotonic() - began
        done = service.stop()
    lines = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert len({line["worker"] for line in lines}) > 1, "one process answered them all, and nothing was tried"
    let_in = [one for one in told if one.status == 200]
    assert 30 <= len(let_in) <= 30 + took * 30 / 60 + 1
    assert {one.status for one in told} == {200, 429}
    refused = next(one for one in told if one.status == 429)
    assert (refused.headers["ratelimit-limit"], refused.headers["ratelimit-remaining"]) == ("30", "0")
    assert int(refused.headers["retry-after"]) >= 1


def test_wrong_keys_are_counted_by_all_processes_together(tadoru: Tadoru) -> None:
    with serving(tadoru, "--workers", "2", "--rate-limit", "0") as service:
        wrong = {"Authorization": f"Bearer tdr_aaaaaaaa_{'a' * 43}"}
        told = [service.ask("/api/v1/cities", **wrong) for _ in range(60)]
    assert 30 <= [one.status for one in told].count(401) < 60
    assert told[-1].status == 429


def test_no_secret_of_a_whole_day_is_in_the_log_an_error_or_the_numbers(tadoru: Tadoru) -> None:
    link = re.search(r"token=(\S+)", tadoru("serve", "-d", "events.db", "users", "link", "admin").out)
    key = re.search(r"tdr_\w{8}_\S+", tadoru("serve", "-d", "events.db", "keys", "add", "ci", "--scope", "admin").out)
    assert link is not None
    assert key is not None
    password, wrong = "correct horse battery staple", "a wrong horse battery"
    said = []
    with serving(tadoru, "--log-format", "json") as service:

        def form(path: str, cookie: str = "", **fields: str) -> tuple[str, str]:
            told = service.ask(path, "POST", urlencode(fields), Content_Type=FORM, Cookie=cookie, Accept="text/html")
            if told.status >= 400:
                said.append(told.text)
            return told.headers.get("set-cookie", "").partition(";")[0], told.text

        service.ask(f"/welcome?token={link[1]}", Accept="text/html")
        first, _ = form("/welcome", token=link[1], password=password, again=password)
        form("/sign-in", name="admin", password=wrong)
        form("/sign-in", name="nobody", password=wrong)
        second, _ = form("/sign-in", name="admin", password=password)
        page = service.ask("/manage/keys", Cookie=second, Accept="text/html").text
        csrf = re.search(r'name="csrf" value="(\w+)"', page)
        assert csrf is not None
        form("/manage/keys", second, name="new", csrf="wrong")
        _, made = form("/manage/keys", second, name="new", scopes="admin", csrf=csrf[1])
        for headers in ({"Authorization": f"Bearer {key[0]}"}, {"Authorization": f"Bearer {key[0]}x"}, {"Cookie": f"{second}x"}):
            paths = (
                "/metrics",
                "/api/v1/nothing",
                "/manage/log",
                "/api/v1/events/99999",
                "/api/v1/events?from=never",
                "/healthz",
            )
            said += [service.ask(path, **headers).text for path in paths]
        form("/sign-out", second, csrf=csrf[1])
        done = service.stop()
    issued = [link[1], key[0].split("_", 2)[2], password, wrong, first.partition("=")[2], second.partition("=")[2], csrf[1]]
    issued += [one.split("_", 2)[2] for one in re.findall(r"tdr_[a-z0-9]{8}_[A-Za-z0-9_-]{43}", made)]
    assert all(len(one) > 15 for one in issued)
    assert len(issued) >= 7
    answers = "".join(said)
    assert "request" in done.err
    assert [one for one in issued if one in done.err] == []
    # The page that refuses a form has forms too, with the token that belongs to who looks at it.
    assert [one for one in issued if one in answers and one != csrf[1]] == []
    assert '"level": "error"' not in done.err
