"""The proxy in front of the browser: whom it serves, where it connects, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.fetch.browser import proxy as proxy_module
from tadoru.fetch.browser.proxy import Dialer, GuardedProxy, ProxyClient, UpstreamProxy, read_head
from tadoru.fetch.guard import AddressGuard, DnsCache
from tadoru.model.web import FailureKind
from tadoru.rules.address import Exemptions
from tests.support.site import Site

PATIENCE = 60.0


async def anybody(_: str) -> bool:
    return True


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as serving:
        yield serving


@pytest.fixture
async def trap() -> AsyncIterator[Site]:
    """A site that nobody named."""
    async with Site() as serving:
        yield serving


class ProxySetup:
    """A proxy that knows a few names, and a client that speaks to it byte by byte."""

    def __init__(
        self,
        named: Site,
        answers: dict[str, list[str]] | None = None,
        upstream: UpstreamProxy | None = None,
        *,
        exemptions: Exemptions | None = None,
    ) -> None:
        self.asked: list[str] = []
        self.answers = answers or {}
        self.names = DnsCache(SystemClock(), self._resolve)
        guard = AddressGuard(exemptions or Exemptions.for_urls([named.url()]))
        self.proxy = GuardedProxy(Dialer(guard, self.names, upstream, timeout=PATIENCE))

    async def _resolve(self, host: str) -> list[str]:
        self.asked.append(host)
        if host not in self.answers:
            raise OSError("unknown")
        return self.answers[host]

    async def __aenter__(self) -> ProxySetup:
        await self.proxy.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.proxy.close()
        await self.names.close()
        assert not [task for task in asyncio.all_tasks() if "fetch/proxy" in repr(task) or "fetch/relay" in repr(task)]

    def client(self, **options: Any) -> ProxyClient:
        return self.proxy.add_client(**{"admit": anybody, **options})

    async def say(self, data: bytes, client: ProxyClient | None = None) -> bytes:
        """Everything that comes back until the proxy closes."""
        if client is not None:
            data = data.replace(b"\r\n", f"\r\nProxy-Authorization: {client.authorization}\r\n".encode(), 1)
        host, _, port = self.proxy.address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            try:
                answer = await reader.read()
            except ConnectionError:
                answer = b""
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        return answer


def get(url: str, *fields: str) -> bytes:
    return "\r\n".join((f"GET {url} HTTP/1.1", f"Host: {url.split('/')[2]}", *fields, "", "")).encode()


async def test_a_plain_request_goes_on_as_the_only_one_of_its_connection(site: Site) -> None:
    site.reply("/a?b=%7e", body="hello", headers={"Keep-Alive": "5", "X-Own": "yes"})
    async with ProxySetup(site) as setup:
        client = setup.client()
        fields = ("Proxy-Connection: keep-alive", "Connection: keep-alive", "Accept: */*")
        answer = await setup.say(get(site.url("/a?b=%7e"), *fields), client)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert body == b"hello"
    assert head.splitlines()[0] == b"HTTP/1.1 200 OK"
    assert b"X-Own: yes" in head
    assert b"Connection: close" in head
    assert b"Keep-Alive" not in head
    (seen,) = site.requests
    assert seen.path == "/a?b=%7e"
    assert seen.headers == {"host": f"127.0.0.1:{site.port}", "accept": "*/*", "connection": "close"}
    assert client.loaded == len(answer)


async def test_a_body_is_sent_on_and_nothing_after_it(site: Site) -> None:
    bodies: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            bodies.append(await reader.readexactly(4))
            writer.write(b"HTTP/1.0 200 OK\r\n\r\nok")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with ProxySetup(site, exemptions=Exemptions(allow_all=True)) as setup:
        client = setup.client()
        request = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody".encode()
        assert (await setup.say(request, client)).endswith(b"\r\n\r\nok")
        assert b"200 OK" not in await setup.say(request.replace(b"Content-Length: 4", b"Transfer-Encoding: chunked"), client)
    assert bodies == [b"body"]
    server.close()
    await server.wait_closed()


async def test_a_tunnel_is_copied_as_it_is(site: Site) -> None:
    site.reply("/t", body="through")
    async with ProxySetup(site) as setup:
        request = get(site.url("/t"), "Connection: close").replace(site.base.encode(), b"")
        connect = f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n".encode()
        answer = await setup.say(connect + request, setup.client())
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"through")


@pytest.mark.parametrize(
    "credentials",
    [None, "Basic Og==", "Basic not-base64", "Bearer x", "basic {lower}", "Basic {name_only}", "Basic {other}"],
    ids=["none", "empty", "broken", "another scheme", "another spelling", "without the password", "a client that has left"],
)
async def test_strangers_are_not_served(site: Site, credentials: str | None) -> None:
    async with ProxySetup(site) as setup:
        client, former = setup.client(), setup.client()
        await setup.proxy.remove_client(former)
        if credentials is not None:
            credentials = credentials.format(
                lower=client.authorization.removeprefix("Basic "),
                name_only=base64.b64encode(f"{client.name}:".encode()).decode(),
                other=former.authorization.removeprefix("Basic "),
            )
        fields = () if credentials is None else (f"Proxy-Authorization: {credentials}",)
        answer = await setup.say(get(site.url("/"), *fields))
        assert answer.startswith(b"HTTP/1.1 407 ")
        assert b"\r\nProxy-Authenticate: Basic " in answer
    assert site.connections == 0


async def test_no_two_guests_have_the_same_name_or_password(site: Site) -> None:
    async with ProxySetup(site) as setup:
        guests = [setup.client() for _ in range(50)]
        assert len({client.name for client in guests}) == len({client.password for client in guests}) == 50
        assert guests[0].password not in repr(guests[0])


HOSTILE = [
    *("127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"),
    *("private.example", "mixed-case.EXAMPLE", "mapped.example", "169.254.169.254", "metadata.example", "[fe80::1]"),
]
LYING = {
    "localhost": ["127.0.0.1"],
    "private.example": ["127.0.0.1"],
    "mixed-case.example": ["127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
}


@pytest.mark.parametrize("host", HOSTILE)
@pytest.mark.parametrize("form", ["plain", "tunnel"])
async def test_what_is_not_public_is_not_connected_to(site: Site, trap: Site, host: str, form: str) -> None:
    place = f"{host}:{trap.port}"
    request = get(f"http://{place}/") if form == "plain" else f"CONNECT {place} HTTP/1.1\r\n\r\n".encode()
    async with ProxySetup(site, LYING) as setup:
        client = setup.client()
        assert await setup.say(request, client) == b""
        (fault,) = client.failures.values()
        assert fault.kind == FailureKind.BLOCKED_ADDRESS
    assert trap.connections == site.connections == 0


async def test_a_name_is_asked_once_and_what_it_would_say_next_plays_no_role(site: Site, trap: Site) -> None:
    async with ProxySetup(site, {"rebind.example": ["10.0.0.1"]}) as setup:
        client = setup.client()
        assert await setup.say(get(f"http://rebind.example:{trap.port}/"), client) == b""
        setup.answers["rebind.example"] = ["127.0.0.1"]
        assert await setup.say(get(f"http://rebind.example:{trap.port}/"), client) == b""
        assert setup.asked == ["rebind.example"]
    assert trap.connections == 0


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/bad/drop", FailureKind.NETWORK),
        ("/bad/reset", FailureKind.NETWORK),
        ("/bad/garbage", FailureKind.PROTOCOL),
        ("/407", FailureKind.PROXY),
        ("/bad/heavy-headers", FailureKind.NETWORK),
    ],
)
async def test_an_answer_that_is_none_ends_the_connection_and_is_told(site: Site, path: str, kind: FailureKind) -> None:
    site.reply("/407", status=407, headers={"Proxy-Authenticate": "Basic realm=mine"})
    async with ProxySetup(site) as setup:
        client = setup.client()
        assert await setup.say(get(site.url(path)), client) == b""
        assert client.failures[f"127.0.0.1:{site.port}"].kind == kind


async def test_interim_answers_are_passed_over(site: Site) -> None:
    async with ProxySetup(site) as setup:
        answer = await setup.say(get(site.url("/bad/continues")), setup.client())
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("answers, kind", [({}, FailureKind.DNS), ({"gone.example": ["127.0.0.1"]}, FailureKind.BLOCKED_ADDRESS)])
async def test_a_name_without_an_address(site: Site, answers: dict[str, list[str]], kind: FailureKind) -> None:
    async with ProxySetup(site, answers) as setup:
        client = setup.client()
        assert await setup.say(get("http://gone.example/"), client) == b""
        assert client.failures["gone.example"].kind == kind


async def test_nobody_listens_there() -> None:
    async with Site() as closed:
        pass
    async with ProxySetup(closed) as setup:
        client = setup.client()
        assert await setup.say(get(closed.url("/")), client) == b""
        assert client.failures[f"127.0.0.1:{closed.port}"].kind == FailureKind.REFUSED


async def test_leave_is_asked_before_anything_is_looked_up(site: Site) -> None:
    asked: list[str] = []

    async def refuse(url: str) -> bool:
        asked.append(url)
        return False

    async with ProxySetup(site, {"a.example": ["127.0.0.1"]}) as setup:
        client = setup.client(admit=refuse)
        assert await setup.say(get("http://a.example/path?q"), client) == b""
        assert await setup.say(b"CONNECT A.example:443 HTTP/1.1\r\n\r\n", client) == b""
        assert await setup.say(b"CONNECT [::1]:8443 HTTP/1.1\r\n\r\n", client) == b""
        assert setup.asked == []
    assert asked == ["http://a.example/path?q", "https://a.example/", "https://[::1]:8443/"]


async def test_who_waits_for_leave_and_goes_away_is_not_connected(site: Site) -> None:
    gate, waits = asyncio.Event(), asyncio.Event()

    async def slow(url: str) -> bool:
        waits.set()
        await gate.wait()
        return True

    async with ProxySetup(site) as setup:
        client = setup.client(admit=slow)
        asking = asyncio.create_task(setup.say(get(site.url("/")), client))
        await waits.wait()
        await setup.proxy.remove_client(client)
        assert await asking == b""
        gate.set()
    assert site.connections == 0


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET https://127.0.0.1/ HTTP/1.1\r\n\r\n",
        b"GET ftp://127.0.0.1/ HTTP/1.1\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n",
        b"CONNECT evil@[::1 HTTP/1.1\r\n\r\n",
        b"GET\r\n\r\n",
    ],
)
async def test_what_no_browser_would_ask_is_not_answered(site: Site, request_bytes: bytes) -> None:
    async with ProxySetup(site) as setup:
        assert await setup.say(request_bytes, setup.client()) == b""
    assert site.connections == 0


async def test_a_client_that_says_nothing_is_not_waited_for_for_ever(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "HEAD_SECONDS", 0.05)
    async with ProxySetup(site) as setup:
        assert await setup.say(b"GET http://127.0.0.1/ HTTP/1.1\r\nHo") == b""


@pytest.mark.parametrize("form", ["plain", "tunnel"])
async def test_a_site_that_falls_silent_is_not_waited_for_for_ever(
    site: Site, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_module, "IDLE_SECONDS", 0.1)
    async with ProxySetup(site) as setup:
        client = setup.client()
        if form == "plain":
            assert await setup.say(get(site.url("/bad/never")), client) == b""
            assert client.failures[f"127.0.0.1:{site.port}"].kind == FailureKind.RESPONSE_TIMEOUT
        else:
            answer = await setup.say(f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n".encode(), client)
            assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n"


@pytest.mark.parametrize("form", ["plain", "tunnel"])
async def test_a_guest_gets_no_more_bytes_than_it_may(site: Site, form: str) -> None:
    async with ProxySetup(site) as setup:
        client = setup.client(max_bytes=300_000)
        request = get(site.url("/bad/endless"))
        if form == "tunnel":
            request = f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n".encode() + request.replace(site.base.encode(), b"")
        assert len(await setup.say(request, client)) <= 301_000
        assert client.failures[f"127.0.0.1:{site.port}"].kind == FailureKind.TOO_LARGE


async def test_one_client_cannot_take_all_connections(site: Site) -> None:
    gate = site.hold("/held")
    site.reply("/held", body="x")
    site.reply("/free", body="free")
    async with ProxySetup(site) as setup:
        greedy, other = setup.client(), setup.client()
        asking = [asyncio.create_task(setup.say(get(site.url("/held")), greedy)) for _ in range(40)]
        await site.requested("/held", proxy_module.CLIENT_CONNECTIONS)
        assert (await setup.say(get(site.url("/free")), other)).endswith(b"free")
        assert site.hits("/held") == proxy_module.CLIENT_CONNECTIONS
        gate.release()
        assert all(answer.endswith(b"x") for answer in await asyncio.gather(*asking))


async def test_a_guest_that_is_sent_away_loses_its_connections_and_no_other_does(site: Site) -> None:
    gate = site.hold("/held")
    site.reply("/held", body="x")
    async with ProxySetup(site) as setup:
        leaving, staying = setup.client(), setup.client()
        cut = asyncio.create_task(setup.say(get(site.url("/held")), leaving))
        kept = asyncio.create_task(setup.say(get(site.url("/held")), staying))
        await site.requested("/held", 2)
        await setup.proxy.remove_client(leaving)
        assert await cut == b""
        gate.release()
        assert (await kept).endswith(b"x")


async def test_closing_ends_everything_that_is_open(site: Site) -> None:
    async with ProxySetup(site) as setup:
        asking = asyncio.create_task(setup.say(get(site.url("/bad/never")), setup.client()))
        await site.requested("/bad/never")
    assert await asking == b""


async def test_with_the_persons_proxy_everything_goes_through_it(site: Site) -> None:
    """The second proxy is one of ours, which lets everything through and asks for a password."""
    site.reply("/", body="seen")
    async with ProxySetup(site, exemptions=Exemptions(allow_all=True)) as outer:
        outer_client = outer.client()
        upstream = UpstreamProxy.parse(f"http://{outer_client.name}:{outer_client.password}@{outer.proxy.address}")
        async with ProxySetup(site, {"private.example": ["10.0.0.1"]}, upstream) as inner:
            client = inner.client()
            assert (await inner.say(get(site.url("/")), client)).endswith(b"seen")
            request = get(site.url("/"), "Connection: close").replace(site.base.encode(), b"")
            connect = f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n".encode()
            assert (await inner.say(connect + request, client)).endswith(b"seen")
            assert await inner.say(get("http://private.example/"), client) == b""
            assert client.failures["private.example"].kind == FailureKind.BLOCKED_ADDRESS
        assert site.connections == 2
        assert all("proxy-authorization" not in seen.headers for seen in site.requests)
        wrong = UpstreamProxy.parse(f"http://{outer_client.name}:wrong@{outer.proxy.address}")
        async with ProxySetup(site, upstream=wrong) as inner:
            for request in (get(site.url("/")), connect):
                client = inner.client()
                assert await inner.say(request, client) == b""
                assert client.failures[f"127.0.0.1:{site.port}"].kind == FailureKind.PROXY
    async with ProxySetup(site, upstream=upstream) as inner:
        client = inner.client()
        assert await inner.say(get(site.url("/")), client) == b""
        assert client.failures[f"127.0.0.1:{site.port}"].kind == FailureKind.PROXY


@pytest.mark.parametrize("text", ["socks5://me:pw@h:1", "http://:pw@", "http://me:pw@h:port", "me:pw@h:80", "http://me:pw@[::1"])
def test_a_proxy_that_cannot_be_used_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UsageError, match="http://host:port") as raised:
        UpstreamProxy.parse(text)
    assert "pw" not in str(raised.value)


def test_the_password_of_a_proxy_is_not_shown() -> None:
    upstream = UpstreamProxy.parse("http://me:s%40cret@proxy.example:8080")
    assert base64.b64decode(upstream.authorization.removeprefix("Basic ")) == b"me:s@cret"
    assert repr(upstream) == "Upstream(proxy.example:8080)"


@given(st.binary(max_size=400))
async def test_no_bytes_make_reading_a_head_fail_in_another_way(data: bytes) -> None:
    reader = asyncio.StreamReader(limit=1000)
    reader.feed_data(data + b"\r\n\r\nrest")
    reader.feed_eof()
    head = await read_head(reader)
    assert all(name == name.strip() and name and "\n" not in value for name, value in head.fields)
    again = asyncio.StreamReader()
    again.feed_data(head.encoded())
    again.feed_eof()
    assert (await read_head(again)).start == head.start
