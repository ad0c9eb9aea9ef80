"""The HTTP fetcher against a real site on loopback: what a good answer holds, and the name of everything that goes wrong."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.fetch.guard import DnsCache, private_exemptions
from tadoru.fetch.http import MAX_IDLE_HOSTS, HttpFetcher
from tadoru.model.web import Answer, Failure, FailureKind, Request, Response
from tadoru.rules.address import Exemptions
from tests.acceptance.command import Tadoru
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site
from tests.support.turns import SingleTurn

SOON = 0.2
"""A timeout short enough to wait for, long enough for loopback."""
MEBIBYTE = 1024 * 1024


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[HttpFetcher]:
    async with fetching(site) as fetcher:
        yield fetcher


@asynccontextmanager
async def fetching(site: Site, **options: object) -> AsyncIterator[HttpFetcher]:
    settings = {"user_agent": "Tadoru/1 (+https://example.com)", "exemptions": Exemptions.for_urls([site.url()]), **options}
    fetcher = HttpFetcher(**settings)  # type: ignore[arg-type]
    try:
        yield fetcher
    finally:
        await fetcher.close()


def good(answer: Answer) -> Response:
    assert isinstance(answer, Response), answer
    return answer


def failed(answer: Answer) -> Failure:
    assert isinstance(answer, Failure), answer
    return answer


async def test_an_answer_holds_status_headers_body_address_and_times(site: Site, fetcher: HttpFetcher) -> None:
    site.html("/a?b=c", "<h1>hello</h1>", status=404, headers={"X-One": "1"})
    answer = good(await fetcher.fetch(Request(url=site.url("/a?b=c"))))
    assert (answer.url, answer.status, answer.body) == (site.url("/a?b=c"), 404, b"<h1>hello</h1>")
    assert (answer.header("x-one"), answer.media_type) == ("1", "text/html")
    assert (answer.address, answer.http_version, answer.transferred) == ("127.0.0.1", "1.1", 14)
    times = answer.timings
    assert times.dns is None
    assert times.tls is None
    assert None not in (times.connect, times.ttfb, times.download)


async def test_a_reused_connection_has_no_connect_time(site: Site, fetcher: HttpFetcher) -> None:
    site.page("/")
    await fetcher.fetch(Request(url=site.url()))
    second = good(await fetcher.fetch(Request(url=site.url())))
    assert site.connections == 1
    assert second.timings.connect is None
    assert second.timings.ttfb is not None
    assert second.address == "127.0.0.1"


async def test_the_request_says_who_we_are_and_what_we_can_read_and_carries_its_own_headers(
    site: Site, fetcher: HttpFetcher
) -> None:
    await fetcher.fetch(Request(url=site.url(), headers=(("Accept", "text/html"), ("X-Own", "yes"))))
    headers = site.requests[0].headers
    assert headers["user-agent"] == "Tadoru/1 (+https://example.com)"
    assert headers["accept-encoding"] == "gzip, deflate, br, zstd"
    assert (headers["accept"], headers["x-own"]) == ("text/html", "yes")
    assert "cookie" not in headers


@pytest.mark.parametrize("path", ["/a%2Fb|c", "/%E8%BE%BF?q=a+b%20c&q=%26", "/a//b/;x='y'", "/x?a=b=c??"])
async def test_the_target_is_sent_exactly_as_the_url_has_it(site: Site, fetcher: HttpFetcher, path: str) -> None:
    await fetcher.fetch(Request(url=site.url(path)))
    assert site.paths == [path]


async def test_redirects_are_reported_and_not_followed(site: Site, fetcher: HttpFetcher) -> None:
    site.redirect("/old", "/new", status=308)
    answer = good(await fetcher.fetch(Request(url=site.url("/old"))))
    assert (answer.status, answer.header("location"), answer.is_redirect) == (308, "/new", True)
    assert site.paths == ["/old"]


async def test_cookies_that_a_site_sets_are_not_sent_back(site: Site, fetcher: HttpFetcher) -> None:
    site.reply("/", headers={"Set-Cookie": "id=1"})
    await fetcher.fetch(Request(url=site.url()))
    await fetcher.fetch(Request(url=site.url()))
    assert "cookie" not in site.requests[1].headers


async def test_head_reads_the_headers_and_no_body(site: Site, fetcher: HttpFetcher) -> None:
    site.html("/", "x" * 100, compress=True)
    answer = good(await fetcher.fetch(Request(url=site.url(), method="HEAD", max_bytes=1)))
    assert (answer.status, answer.body) == (200, b"")
    again = good(await fetcher.fetch(Request(url=site.url())))
    assert again.body == b"x" * 100
    assert site.connections == 1


async def test_sent_is_called_once_when_the_request_is_out_and_before_the_answer(site: Site, fetcher: HttpFetcher) -> None:
    gate = site.hold("/")
    called = asyncio.Event()
    turn = SingleTurn(called.set)
    task = asyncio.create_task(fetcher.fetch(Request(url=site.url()), turn))
    await called.wait()
    assert not task.done()
    gate.release()
    good(await task)
    assert turn.sendings == 1


async def test_sent_is_not_called_when_there_is_no_connection(fetcher: HttpFetcher, site: Site) -> None:
    turn = SingleTurn()
    failed(await fetcher.fetch(Request(url="http://10.1.2.3/"), turn))
    assert turn.sendings == 0


# -- headers ----------------------------------------------------------------------------------------------------------


async def test_headers_that_come_twice_are_all_kept_in_order(site: Site, fetcher: HttpFetcher) -> None:
    answer = good(await fetcher.fetch(Request(url=site.url("/bad/duplicates"))))
    assert answer.header_all("x-twice") == ("one", "two")
    assert answer.header_all("location") == ("/a", "/b")
    assert answer.media_type == "text/html"


async def test_header_values_are_utf8_or_else_latin1(site: Site, fetcher: HttpFetcher) -> None:
    async def odd(exchange: Exchange, _: str) -> None:
        await exchange.raw(b"HTTP/1.1 200 OK\r\nX-U: \xe8\xbe\xbf\r\nX-L: caf\xe9\r\nContent-Length: 0\r\n\r\n")

    site.handle("/", odd)
    answer = good(await fetcher.fetch(Request(url=site.url())))
    assert (answer.header("x-u"), answer.header("x-l")) == ("辿", "café")


@pytest.mark.parametrize("status, path", [(204, "no-content"), (304, "not-modified")])
async def test_a_status_without_a_body_is_read_whatever_length_it_announces(
    site: Site, fetcher: HttpFetcher, status: int, path: str
) -> None:
    answer = good(await fetcher.fetch(Request(url=site.url(f"/bad/{path}"), max_bytes=1)))
    assert (answer.status, answer.body) == (status, b"")


async def test_interim_answers_are_skipped(site: Site, fetcher: HttpFetcher) -> None:
    answer = good(await fetcher.fetch(Request(url=site.url("/bad/continues"))))
    assert (answer.status, answer.body) == (200, b"ok")


async def test_http_1_0_without_a_length_is_complete_when_the_connection_ends(site: Site, fetcher: HttpFetcher) -> None:
    answer = good(await fetcher.fetch(Request(url=site.url("/bad/old"))))
    assert (answer.body, answer.http_version) == (b"<h1>old but well</h1>", "1.0")


# -- bodies -----------------------------------------------------------------------------------------------------------


async def test_a_compressed_body_is_decoded_and_its_bytes_on_the_wire_are_counted(site: Site, fetcher: HttpFetcher) -> None:
    site.html("/", "a" * 50_000, compress=True)
    answer = good(await fetcher.fetch(Request(url=site.url())))
    assert answer.body == b"a" * 50_000
    assert 0 < answer.transferred < 1000


async def test_content_encoding_in_two_headers_is_undone_from_the_last(site: Site, fetcher: HttpFetcher) -> None:
    packer = zlib.compressobj(wbits=31)
    twice = packer.compress(zlib.compress(b"inside")) + packer.flush()
    site.reply("/", body=twice, headers=(("Content-Encoding", "deflate"), ("Content-Encoding", "gzip")))
    assert good(await fetcher.fetch(Request(url=site.url()))).body == b"inside"


@pytest.mark.parametrize("size, kind", [(1000, None), (1001, FailureKind.TOO_LARGE)], ids=["at the cap", "one over"])
@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
async def test_the_cap_counts_bytes_after_decompression(
    site: Site, fetcher: HttpFetcher, compress: bool, size: int, kind: FailureKind | None
) -> None:
    site.html("/", "a" * size, compress=compress)
    answer = await fetcher.fetch(Request(url=site.url(), max_bytes=1000))
    assert (answer.kind if isinstance(answer, Failure) else None) == kind


async def test_a_body_of_an_unwanted_type_is_left_unread(site: Site, fetcher: HttpFetcher) -> None:
    async def film(exchange: Exchange, _: str) -> None:
        await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: Video/MP4\r\nContent-Length: 99999999\r\n\r\n")
        await asyncio.Event().wait()

    site.handle("/film", film)
    answer = good(await fetcher.fetch(Request(url=site.url("/film"), body_types=("text/html", "application/xhtml"))))
    assert (answer.body, answer.body_read, answer.timings.download) == (b"", False, None)


@pytest.mark.parametrize("content_type", ["TEXT/HTML ; charset=x", "application/xhtml+xml", ""], ids=["html", "xhtml", "none"])
async def test_a_body_of_a_wanted_or_unnamed_type_is_read(site: Site, fetcher: HttpFetcher, content_type: str) -> None:
    site.reply("/", body="text", content_type=content_type)
    answer = good(await fetcher.fetch(Request(url=site.url(), body_types=("text/html", "application/xhtml"))))
    assert (answer.body, answer.body_read) == (b"text", True)


# -- faults of sites --------------------------------------------------------------------------------------------------

FAULTS = [
    ("drop", FailureKind.NETWORK),
    ("reset", FailureKind.NETWORK),
    ("partial", FailureKind.INCOMPLETE),
    ("partial-reset", FailureKind.INCOMPLETE),
    ("chunks", FailureKind.INCOMPLETE),
    ("cut-chunks", FailureKind.INCOMPLETE),
    ("endless", FailureKind.TOO_LARGE),
    ("bomb", FailureKind.TOO_LARGE),
    ("not-gzip", FailureKind.BAD_ENCODING),
    ("long-header", FailureKind.HEADERS_TOO_LARGE),
    ("many-headers", FailureKind.HEADERS_TOO_LARGE),
    ("heavy-headers", FailureKind.HEADERS_TOO_LARGE),
    ("garbage", FailureKind.PROTOCOL),
]


@pytest.mark.parametrize("behaviour, kind", FAULTS, ids=[name for name, _ in FAULTS])
async def test_a_fault_has_a_name_and_the_next_request_is_unaffected(
    site: Site, fetcher: HttpFetcher, behaviour: str, kind: FailureKind
) -> None:
    failure = failed(await fetcher.fetch(Request(url=site.url(f"/bad/{behaviour}?token=s3cret"), max_bytes=MEBIBYTE)))
    assert failure.kind == kind
    assert failure.address == "127.0.0.1"
    assert failure.message.endswith(".")
    assert "s3cret" not in failure.message
    assert site.hits(f"/bad/{behaviour}?token=s3cret") == 1
    site.page("/next")
    assert good(await fetcher.fetch(Request(url=site.url("/next")))).status == 200


SLOW = [
    ("never", FailureKind.RESPONSE_TIMEOUT),
    ("drip-headers", FailureKind.RESPONSE_TIMEOUT),
    ("drip", FailureKind.DOWNLOAD_TIMEOUT),
]


@pytest.mark.parametrize("behaviour, kind", SLOW, ids=[name for name, _ in SLOW])
async def test_a_slow_site_ends_in_the_timeout_of_its_phase(
    site: Site, fetcher: HttpFetcher, behaviour: str, kind: FailureKind
) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    # The headers in front of a slow body have to come in time on a busy machine, too.
    timeout = 10 * SOON if behaviour == "drip" else SOON
    failure = failed(await fetcher.fetch(Request(url=site.url(f"/bad/{behaviour}"), timeout=timeout)))
    assert failure.kind == kind
    assert timeout <= loop.time() - began < 100 * SOON


@asynccontextmanager
async def listening(greeting: bytes) -> AsyncIterator[str]:
    """The https URL of a listener that says its greeting and then nothing."""
    writers: list[asyncio.StreamWriter] = []

    def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        writer.write(greeting)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


TLS_TROUBLE = [
    pytest.param(b"", FailureKind.CONNECT_TIMEOUT, id="a handshake that never ends"),
    pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", FailureKind.TLS, id="plain HTTP"),
]


@pytest.mark.parametrize("greeting, kind", TLS_TROUBLE)
async def test_a_listener_that_does_not_speak_tls(greeting: bytes, kind: FailureKind) -> None:
    async with listening(greeting) as url:
        fetcher = HttpFetcher(user_agent="x", exemptions=Exemptions.for_urls([url]))
        failure = failed(await fetcher.fetch(Request(url=url, timeout=SOON)))
        await fetcher.close()
    assert failure.kind == kind


async def test_waiting_for_a_free_connection_is_not_the_sites_time(site: Site) -> None:
    site.page("/b")
    gate = site.hold("/a")
    async with fetching(site, connections=1) as fetcher:
        first = asyncio.create_task(fetcher.fetch(Request(url=site.url("/a"), timeout=30)))
        await site.requested("/a")
        second = asyncio.create_task(fetcher.fetch(Request(url=site.url("/b"), timeout=5 * SOON)))
        done, _ = await asyncio.wait([second], timeout=6 * SOON)
        assert not done
        gate.release()
        assert good(await second).status == 200
        good(await first)


async def test_nobody_listening_is_a_refused_connection(fetcher: HttpFetcher) -> None:
    async with Site() as gone:
        url = gone.url()
    exempt = HttpFetcher(user_agent="x", exemptions=Exemptions.for_urls([url]))
    failure = failed(await exempt.fetch(Request(url=url)))
    await exempt.close()
    assert failure.kind == FailureKind.REFUSED
    assert failure.address is None


async def test_a_name_that_does_not_resolve_is_a_dns_failure(site: Site) -> None:
    async def nothing(host: str) -> list[str]:
        raise OSError(f"no such host: {host}")

    async with fetching(site, resolver=nothing) as fetcher:
        failure = failed(await fetcher.fetch(Request(url="http://nowhere.example/path?secret")))
    assert failure.kind == FailureKind.DNS
    assert failure.message == "nowhere.example cannot be resolved."


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "nowhere.invalid"], ids=["a label too long", "a reserved name"])
async def test_the_systems_resolver_fails_as_a_dns_failure_too(site: Site, fetcher: HttpFetcher, host: str) -> None:
    assert failed(await fetcher.fetch(Request(url=f"http://{host}/"))).kind == FailureKind.DNS


async def test_resolving_is_timed_apart_and_its_answer_is_shared_and_reused(site: Site) -> None:
    asked: list[str] = []

    async def loopback(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    url = f"http://site.example:{site.port}/"
    async with fetching(site, resolver=loopback, exemptions=Exemptions.for_urls([url])) as fetcher:
        gate = site.hold("/")
        tasks = [asyncio.create_task(fetcher.fetch(Request(url=url))) for _ in range(3)]
        await site.requested("/", 3)
        gate.release()
        answers = [good(await task) for task in tasks]
    assert asked == ["site.example"]
    assert answers[0].timings.dns is not None
    assert site.requests[0].headers["host"] == f"site.example:{site.port}"


# -- pooled connections -----------------------------------------------------------------------------------------------


async def test_connections_are_kept_open_to_a_bounded_number_of_hosts(site: Site) -> None:
    async def loopback(host: str) -> list[str]:
        return ["127.0.0.1"]

    site.reply("/", body=b"ok")
    urls = [f"http://{number}.example:{site.port}/" for number in range(MAX_IDLE_HOSTS + 3)]
    async with fetching(site, resolver=loopback, exemptions=Exemptions.for_urls(urls)) as fetcher:
        for url in (*urls, urls[0], urls[-1]):
            good(await fetcher.fetch(Request(url=url)))
    # The first ones had to go, and were connected to again; the last one was still there.
    assert site.connections == MAX_IDLE_HOSTS + 4


async def test_a_pooled_connection_that_the_server_closes_is_replaced_by_a_new_one_and_the_request_repeated(
    site: Site, fetcher: HttpFetcher
) -> None:
    async def once_per_connection(exchange: Exchange, _: str) -> None:
        earlier = [seen for seen in site.requests if seen.connection == exchange.seen.connection]
        if len(earlier) > 1:
            exchange.drop()
        else:
            await exchange.send(Reply(body=b"ok"))

    site.handle("/*", once_per_connection)
    gate = site.hold("/first")
    # Two connections lie in the pool afterwards, and the server is done with both.
    pooled = [asyncio.create_task(fetcher.fetch(Request(url=site.url("/first")))) for _ in range(2)]
    await site.requested("/first", 2)
    gate.release()
    await asyncio.gather(*pooled)
    answer = good(await fetcher.fetch(Request(url=site.url("/second"))))
    assert answer.body == b"ok"
    assert [seen.path for seen in site.requests[2:]] == ["/second", "/second"]
    assert site.connections == 3


async def test_a_request_with_effects_is_not_repeated(site: Site, fetcher: HttpFetcher) -> None:
    site.page("/")
    site.misbehave("/post", "drop")
    await fetcher.fetch(Request(url=site.url()))
    assert failed(await fetcher.fetch(Request(url=site.url("/post"), method="POST"))).kind == FailureKind.NETWORK
    assert site.hits("/post") == 1


async def test_a_fresh_connection_that_is_dropped_is_not_tried_again(site: Site, fetcher: HttpFetcher) -> None:
    assert failed(await fetcher.fetch(Request(url=site.url("/bad/drop")))).kind == FailureKind.NETWORK
    assert site.hits("/bad/drop") == 1


async def test_a_request_that_is_given_up_frees_its_connection(site: Site) -> None:
    site.hold("/held")
    site.page("/")
    async with fetching(site, connections=1) as fetcher:
        task = asyncio.create_task(fetcher.fetch(Request(url=site.url("/held"))))
        await site.requested("/held")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert good(await fetcher.fetch(Request(url=site.url()))).status == 200


# -- TLS --------------------------------------------------------------------------------------------------------------


def server_context(authority: trustme.CA, *names: str, expired: bool = False) -> ssl.SSLContext:
    until = datetime(2020, 1, 1, tzinfo=UTC) if expired else None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names, not_after=until).configure_cert(context)
    return context


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA) -> None:
    """The system trusts the test's authority."""
    import aiohttp.connector

    authority.configure_trust(aiohttp.connector._SSL_CONTEXT_VERIFIED)


@pytest.mark.usefixtures("trusted")
async def test_a_trusted_certificate_is_accepted_and_the_handshake_is_timed_apart(authority: trustme.CA) -> None:
    async with Site(tls=server_context(authority, "127.0.0.1")) as site, fetching(site) as fetcher:
        site.page("/")
        answer = good(await fetcher.fetch(Request(url=site.url())))
    assert answer.timings.connect is not None
    assert answer.timings.tls is not None
    assert answer.timings.tls > 0


BAD_CERTIFICATES = [
    pytest.param("127.0.0.1", True, "certificate has expired", id="expired"),
    pytest.param("other.example", False, "mismatch", id="another host's"),
]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("name, expired, reason", BAD_CERTIFICATES)
async def test_a_bad_certificate_is_a_tls_failure_with_its_reason(
    authority: trustme.CA, name: str, expired: bool, reason: str
) -> None:
    async with Site(tls=server_context(authority, name, expired=expired)) as site, fetching(site) as fetcher:
        failure = failed(await fetcher.fetch(Request(url=site.url("/?s3cret"))))
    assert failure.kind == FailureKind.TLS
    assert reason in failure.message
    assert "s3cret" not in failure.message


async def test_an_unknown_authority_is_refused_unless_verification_is_switched_off() -> None:
    stranger = trustme.CA()
    async with Site(tls=server_context(stranger, "127.0.0.1")) as site:
        site.page("/")
        async with fetching(site) as fetcher:
            failure = failed(await fetcher.fetch(Request(url=site.url())))
        async with fetching(site, verify_tls=False) as fetcher:
            answer = good(await fetcher.fetch(Request(url=site.url())))
    assert failure.kind == FailureKind.TLS
    assert "certificate" in failure.message
    assert answer.status == 200


# -- proxies ----------------------------------------------------------------------------------------------------------


async def public(host: str) -> list[str]:
    return ["93.184.216.34"]


NO_EXEMPTIONS = Exemptions()


@pytest.fixture
def proxy(site: Site) -> str:
    return site.url().replace("http://", "http://me:pw@").rstrip("/")


async def test_a_proxy_gets_the_whole_url_and_its_own_password(site: Site, proxy: str) -> None:
    site.handle("http://far.example/*", answer_ok)
    async with fetching(site, proxy=proxy, resolver=public, exemptions=NO_EXEMPTIONS) as fetcher:
        answer = good(await fetcher.fetch(Request(url="http://far.example/page")))
    assert answer.body == b"ok"
    assert site.paths == ["http://far.example/page"]
    assert site.requests[0].headers["proxy-authorization"].startswith("Basic ")


async def answer_ok(exchange: Exchange, _: str) -> None:
    await exchange.send(Reply(body=b"ok"))


PROXY_REFUSALS = [
    pytest.param("http://10.0.0.1/", id="a literal"),
    pytest.param("http://[::ffff:127.0.0.1]/", id="a v4-mapped literal"),
    pytest.param("http://inside.example/", id="a name"),
]


@pytest.mark.parametrize("url", PROXY_REFUSALS)
async def test_a_refused_address_is_not_handed_to_the_proxy(site: Site, proxy: str, url: str) -> None:
    async def private(host: str) -> list[str]:
        return ["10.0.0.1"]

    async with fetching(site, proxy=proxy, resolver=private, exemptions=NO_EXEMPTIONS) as fetcher:
        failure = failed(await fetcher.fetch(Request(url=url)))
    assert failure.kind == FailureKind.BLOCKED_ADDRESS
    assert site.connections == 0


async def test_the_proxy_itself_is_no_place_to_crawl(site: Site, proxy: str) -> None:
    async with fetching(site, proxy=proxy, exemptions=NO_EXEMPTIONS) as fetcher:
        assert failed(await fetcher.fetch(Request(url=site.url("/admin")))).kind == FailureKind.BLOCKED_ADDRESS
    assert site.connections == 0


async def test_a_name_that_cannot_be_checked_is_not_handed_to_the_proxy(site: Site, proxy: str) -> None:
    async def nothing(host: str) -> list[str]:
        return []

    async with fetching(site, proxy=proxy, resolver=nothing, exemptions=NO_EXEMPTIONS) as fetcher:
        assert failed(await fetcher.fetch(Request(url="http://far.example/"))).kind == FailureKind.DNS
    assert site.connections == 0


@pytest.mark.parametrize(
    "later, kind", [([], None), (["10.0.0.1"], FailureKind.BLOCKED_ADDRESS)], ids=["still", "private by now"]
)
async def test_a_name_that_a_person_typed_and_that_only_the_proxy_knows_is_handed_over(
    later: list[str], kind: FailureKind | None, site: Site, proxy: str
) -> None:
    async def nothing(host: str) -> list[str]:
        return []

    async def answers(host: str) -> list[str]:
        return later

    site.handle("http://far.example/*", answer_ok)
    names = DnsCache(SystemClock(), nothing)
    typed = Exemptions.from_list((await private_exemptions(["http://far.example/"], names)).to_list())
    async with fetching(site, proxy=proxy, resolver=answers, exemptions=typed) as fetcher:
        answer = await fetcher.fetch(Request(url="http://far.example/"))
    assert (failed(answer).kind if kind else good(answer).body) == (kind or b"ok")
    assert site.connections == (0 if kind else 1)


def test_a_lookup_that_hangs_does_not_hold_up_the_end_of_the_process(tmp_path: Path) -> None:
    program = """
import asyncio, socket, threading
from tadoru.clock import SystemClock
from tadoru.fetch.guard import DnsCache

looking = threading.Event()

def hang(*_, **__):
    looking.set()
    threading.Event().wait()

socket.getaddrinfo = hang

async def main():
    names = DnsCache(SystemClock())
    lookup = asyncio.create_task(names.resolve("slow.example"))
    await asyncio.to_thread(looking.wait)
    await names.close()
    print(*await asyncio.gather(lookup, return_exceptions=True))

asyncio.run(main())
print("end")
"""
    done = Tadoru(tmp_path).python(program)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "end"


async def test_a_proxy_that_wants_a_password_or_refuses_to_connect_is_a_proxy_failure(site: Site, proxy: str) -> None:
    site.reply("http://far.example/", status=407)
    site.reply("far.example:443", status=403)
    async with fetching(site, proxy=proxy, resolver=public, exemptions=NO_EXEMPTIONS) as fetcher:
        for url in ("http://far.example/", "https://far.example/"):
            failure = failed(await fetcher.fetch(Request(url=url)))
            assert failure.kind == FailureKind.PROXY
            assert "pw" not in failure.message.replace("password", "")
    assert site.paths == ["http://far.example/", "far.example:443"]


async def test_a_proxy_that_is_not_there_is_a_proxy_failure(site: Site) -> None:
    async with Site() as gone:
        address = gone.url()
    async with fetching(site, proxy=address, resolver=public, exemptions=NO_EXEMPTIONS) as fetcher:
        assert failed(await fetcher.fetch(Request(url="http://far.example/"))).kind == FailureKind.PROXY


@pytest.mark.parametrize("proxy", ["socks5://me:pw@host:1080", "host:8080", "http://", "http://a:b:c"])
def test_a_proxy_that_cannot_be_used_is_a_usage_error_without_its_password(proxy: str) -> None:
    with pytest.raises(UsageError) as caught:
        HttpFetcher(user_agent="x", exemptions=NO_EXEMPTIONS, proxy=proxy)
    assert "me:pw" not in str(caught.value)


async def test_the_environment_does_not_choose_a_proxy(site: Site, fetcher: HttpFetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    site.page("/")
    assert good(await fetcher.fetch(replace(Request(url=site.url()), timeout=5.0))).status == 200
