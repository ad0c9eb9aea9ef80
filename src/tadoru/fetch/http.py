"""HTTP with aiohttp. This is the only module that knows the HTTP client.

One request in, one answer out: each error of a site becomes a `Failure` with a kind and a sentence, and nothing is raised. The
sentence holds the host and nothing else: no path, no header, no secret, and no text that a site sent. Each phase (connecting, the
response headers, the body) has the whole timeout of the request and is timed separately. Redirects, retries and pacing are done
by the engine. The one exception is a pooled connection that the server had already closed: its request is sent again.

Each address is checked when it is connected to (`fetch.guard`). A `RequestAttempt` is one attempt at a request; the parts that
aiohttp calls find the attempt they belong to in `CURRENT_ATTEMPT`.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import LineTooLong
from yarl import URL

from tadoru.clock import Clock, SystemClock
from tadoru.errors import Message, UsageError
from tadoru.fetch import limits
from tadoru.fetch.base import Fetcher, RequestTurn, TurnExpired
from tadoru.fetch.credentials import NO_CREDENTIALS, CookieFetcher, CookieJar, Credentials, CredentialsFetcher
from tadoru.fetch.guard import AddressGuard, BlockedAddress, DnsCache, ResolveHost, UnresolvedHost, is_literal
from tadoru.i18n.translation import N_
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Request, Response, Timings
from tadoru.rules.address import Exemptions

MAX_IDLE_HOSTS = 128
"""Hosts with idle connections in the pool; beyond this number the oldest ones are closed."""


class RequestAttempt:
    """One attempt at a request: its current phase, the deadline of that phase, and how long the others took."""

    __slots__ = ("_clock", "_since", "_timings", "_turn", "address", "deadline", "fresh", "request", "timeout_kind")

    def __init__(self, request: Request, turn: RequestTurn | None, clock: Clock, fresh: bool) -> None:
        self.request = request
        self.fresh = fresh
        """Whether the connection is, or must be, a new one."""
        self.address: str | None = None
        self.deadline = asyncio.timeout(None)
        self.timeout_kind = FailureKind.CONNECT_TIMEOUT
        self._turn = turn
        self._clock = clock
        self._since = 0.0
        self._timings: dict[str, float] = {}

    def enter(self, timeout_kind: FailureKind) -> None:
        """Start a phase, which has the whole timeout for itself."""
        self.timeout_kind = timeout_kind
        self.deadline.reschedule(asyncio.get_running_loop().time() + self.request.timeout)
        self._since = self._clock.monotonic()

    def record(self, phase: str) -> None:
        """Record the time since the last mark for a phase."""
        now = self._clock.monotonic()
        self._timings[phase] = now - self._since
        self._since = now

    def start_timer(self) -> None:
        """Start to time the next phase."""
        self._since = self._clock.monotonic()

    def request_sent(self, connection: Connection) -> None:
        """The request was sent; the time to the first byte starts."""
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        self.address = peer[0] if peer else None
        self.enter(FailureKind.RESPONSE_TIMEOUT)
        if self._turn is not None:
            self._turn.sent()

    def check_turn(self) -> None:
        """Raise TurnExpired if the request may not be sent any more: the process may have stood still since its turn began."""
        if self._turn is not None and not self._turn.is_current():
            raise TurnExpired

    @property
    def answered(self) -> bool:
        """Whether the response headers have arrived."""
        return "ttfb" in self._timings

    @property
    def timings(self) -> Timings:
        """The duration of each phase so far."""
        return Timings(**self._timings)

    def new_attempt(self) -> RequestAttempt:
        """Another attempt at the same request, over a new connection."""
        return RequestAttempt(self.request, self._turn, self._clock, fresh=True)


CURRENT_ATTEMPT: ContextVar[RequestAttempt] = ContextVar("attempt")


class CheckedResolver(AbstractResolver):
    """Resolves names to the addresses that the guard allows."""

    def __init__(self, dns: DnsCache, guard: AddressGuard) -> None:
        self._dns = dns
        self._guard = guard

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        addresses = self._dns.cached(host)
        if not addresses:
            attempt = CURRENT_ATTEMPT.get()
            attempt.start_timer()
            addresses = await self._dns.resolve(host)
            attempt.record("dns")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST)
            for address in self._guard.allowed_addresses(host, port, addresses)
        ]

    async def close(self) -> None:
        """Nothing to do: the fetcher owns the DNS cache."""


class GuardedConnector(aiohttp.TCPConnector):
    """Checks each address right before it is connected to, and times connecting and the TLS handshake separately.

    It overrides three private methods because no public hook knows both the requested name and the address. A fourth limits the
    idle connections: aiohttp limits only those in use, and a crawl of very many hosts would run out of sockets.
    """

    def __init__(self, guard: AddressGuard, **options: Any) -> None:
        super().__init__(**options)
        self._guard = guard

    async def connect(self, req: aiohttp.ClientRequest, traces: Any, timeout: aiohttp.ClientTimeout) -> Connection:
        """A connection on which the request may be sent now: nothing waits between here and the sending."""
        connection = await super().connect(req, traces, timeout)
        try:
            CURRENT_ATTEMPT.get().check_turn()
        except TurnExpired:
            connection.release()
            raise
        return connection

    async def _get(self, key: ConnectionKey, traces: list[Any]) -> Connection | None:
        return None if CURRENT_ATTEMPT.get().fresh else await super()._get(key, traces)

    def _release(self, key: ConnectionKey, protocol: Any, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        while len(self._conns) > MAX_IDLE_HOSTS:
            for idle, _ in self._conns.pop(next(iter(self._conns))):
                idle.close()

    async def _create_connection(self, req: aiohttp.ClientRequest, traces: Any, timeout: Any) -> Any:
        attempt = CURRENT_ATTEMPT.get()
        attempt.fresh = True
        attempt.enter(FailureKind.CONNECT_TIMEOUT)
        protocol = await super()._create_connection(req, traces, timeout)
        if req.is_ssl():
            attempt.record("tls")
        return protocol

    async def _wrap_create_connection(self, *args: Any, addr_infos: Any, req: aiohttp.ClientRequest, **options: Any) -> Any:
        for _, _, _, _, (address, port, *_) in addr_infos:
            self._guard.allowed_addresses(req.url.raw_host or "", port, [address])
        attempt = CURRENT_ATTEMPT.get()
        attempt.start_timer()

        def connected() -> Any:
            attempt.record("connect")
            return args[0]()

        return await super()._wrap_create_connection(connected, *args[1:], addr_infos=addr_infos, req=req, **options)


class TimedResponse(aiohttp.ClientResponse):
    """Notes the moment at which a request was sent: aiohttp starts to wait for the response then."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        CURRENT_ATTEMPT.get().request_sent(connection)
        return await super().start(connection)


class _Description(NamedTuple):
    """The kind of a failure, and its message with `{host}`, `{seconds}`, `{bytes}` and `{reason}`."""

    kind: FailureKind
    template: str
    reason: str = ""


class ProxyAuthenticationRequired(Exception):
    """The proxy asks for a user name and password (407)."""


_TIMEOUTS = {
    FailureKind.CONNECT_TIMEOUT: N_("No connection to {host} within {seconds} s."),
    FailureKind.RESPONSE_TIMEOUT: N_("No response from {host} within {seconds} s."),
    FailureKind.DOWNLOAD_TIMEOUT: N_("No complete body from {host} within {seconds} s."),
}
_LONG_HEADERS = _Description(FailureKind.HEADERS_TOO_LARGE, N_("The headers of {host} are too long or too many."))
_INCOMPLETE = _Description(FailureKind.INCOMPLETE, N_("{host} closed the connection before the body was complete."))
_BY_TYPE: tuple[tuple[type[Exception], _Description], ...] = (
    (limits.BodyTooLarge, _Description(FailureKind.TOO_LARGE, N_("The body is larger than {bytes} bytes."))),
    (limits.HeadersTooLarge, _LONG_HEADERS),
    (
        ProxyAuthenticationRequired,
        _Description(FailureKind.PROXY, N_("The proxy asks for a user name and password (407).")),
    ),
    # aiohttp accepts only the usual notation of an address; 127.1 or 0x7f000001 would bypass the guard.
    (
        aiohttp.InvalidURL,
        _Description(FailureKind.BLOCKED_ADDRESS, N_("Blocked: {host} is neither a host name nor a plain IP address.")),
    ),
    (
        UnresolvedHost,
        _Description(FailureKind.DNS, N_("{host} cannot be resolved here, so it cannot be checked before the proxy gets it.")),
    ),
)


def describe_error(error: Exception, attempt: RequestAttempt, *, proxied: bool) -> tuple[FailureKind, Message]:
    """The kind and the message of an error."""
    if isinstance(error, BlockedAddress):
        return FailureKind.BLOCKED_ADDRESS, error.message
    found, request = _describe(error, attempt, proxied), attempt.request
    host = request.url.split("/", 3)[2]
    values = {"host": host, "reason": found.reason, "bytes": request.max_bytes, "seconds": f"{request.timeout:g}"}
    used = {name: value for name, value in values.items() if f"{{{name}}}" in found.template}
    return found.kind, Message(found.template, **used)


def _describe(error: Exception, attempt: RequestAttempt, proxied: bool) -> _Description:
    for known, found in _BY_TYPE:
        if isinstance(error, known):
            return found
    if isinstance(error, TimeoutError) and attempt.deadline.expired():
        return _Description(attempt.timeout_kind, _TIMEOUTS[attempt.timeout_kind])
    if isinstance(error, limits.BadContentEncoding):
        return _Description(FailureKind.BAD_ENCODING, N_("The body cannot be decompressed: {reason}."), error.message)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        status = str(error.status)
        return _Description(FailureKind.PROXY, N_("The proxy refused to connect to {host} with status {reason}."), status)
    if isinstance(error, aiohttp.ClientSSLError):
        return _Description(FailureKind.TLS, N_("No secure connection to {host}: {reason}."), _tls_reason(error))
    if isinstance(error, aiohttp.ClientConnectorError):
        proxy_failure = _Description(FailureKind.PROXY, N_("The proxy cannot be reached."))
        return proxy_failure if proxied else _connect_failure(error)
    if isinstance(error, aiohttp.ClientResponseError):
        return _response_failure(error)
    if not isinstance(error, aiohttp.ClientError | OSError):
        return _Description(FailureKind.PROTOCOL, N_("The response of {host} cannot be read ({reason})."), type(error).__name__)
    if attempt.answered:
        return _INCOMPLETE
    return _Description(FailureKind.NETWORK, N_("{host} closed the connection without a response."))


def _connect_failure(error: aiohttp.ClientConnectorError) -> _Description:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return _Description(FailureKind.DNS, N_("{host} cannot be resolved."))
    code = error.os_error.errno
    if code == errno.ECONNREFUSED:
        return _Description(FailureKind.REFUSED, N_("{host} refused the connection."))
    if code == errno.ETIMEDOUT:
        return _Description(FailureKind.CONNECT_TIMEOUT, N_("{host} did not respond to the connection attempt."))
    reason = os.strerror(code).lower() if code else Message("the connection was lost")
    return _Description(FailureKind.NETWORK, N_("No connection to {host}: {reason}."), reason)


def _response_failure(error: BaseException) -> _Description:
    while error.__cause__ is not None:
        error = error.__cause__
    # Only the first line is of the parser; the rest is text of the site.
    message = str(getattr(error, "message", "")).partition("\n")[0]
    if isinstance(error, LineTooLong) or message.startswith("Too many headers"):
        return _LONG_HEADERS
    if "chunk" in message:
        # The headers were valid, but arrived in one packet with the invalid chunk.
        return _INCOMPLETE
    return _Description(FailureKind.PROTOCOL, N_("The response of {host} is not valid HTTP."))


def _tls_reason(error: aiohttp.ClientSSLError) -> str:
    """The reason of OpenSSL, such as "certificate has expired" or "wrong version number"."""
    inner = getattr(error, "certificate_error", None) or error.os_error
    reason = getattr(inner, "verify_message", None) or getattr(inner, "reason", None) or "the handshake failed"
    return str(reason).replace("_", " ").lower().rstrip(".").replace("{", "").replace("}", "")


IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS"})


class HttpFetcher:
    """Fetches over HTTP/1.1 with pooled connections, which are opened with the first request.

    `connections` limits the open connections; the time that a request waits for one does not count. With a `proxy`
    (`http://user:password@host:port`) the proxy resolves names, after the guard has checked what they resolve to here.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        exemptions: Exemptions,
        proxy: str | None = None,
        connections: int = 100,
        verify_tls: bool = True,
        resolver: ResolveHost | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._user_agent = user_agent
        self._proxy = _proxy_url(proxy) if proxy else None
        self._connections = connections
        self._verify_tls = verify_tls
        self._dns = DnsCache(self._clock, resolver)
        self._guard = AddressGuard(exemptions)
        self._connect_guard = AddressGuard(exemptions, proxy=_endpoint(self._proxy) if self._proxy else None)
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        """Send one request and return a Response or a Failure."""
        attempt = RequestAttempt(request, turn, self._clock, fresh=False)
        answer = await self._attempt(attempt)
        unanswered = isinstance(answer, Failure) and answer.kind is FailureKind.NETWORK and not attempt.answered
        if unanswered and not attempt.fresh and request.method in IDEMPOTENT:
            # The connection came from the pool, and the server had closed it meanwhile.
            again = attempt.new_attempt()
            again.check_turn()  # Before it connects: a connection that waits for another turn may be closed, too.
            answer = await self._attempt(again)
        return answer

    async def close(self) -> None:
        """Close pooled connections."""
        if self._session is not None:
            await self._session.close()
        await self._dns.close()

    async def _attempt(self, attempt: RequestAttempt) -> Answer:
        CURRENT_ATTEMPT.set(attempt)
        try:
            async with attempt.deadline:
                return await self._exchange(attempt)
        except TurnExpired:
            raise
        except Exception as error:  # Any error that a site causes is an answer, not a crash.
            kind, message = describe_error(error, attempt, proxied=self._proxy is not None)
        return Failure(url=attempt.request.url, kind=kind, message=message, timings=attempt.timings, address=attempt.address)

    async def _exchange(self, attempt: RequestAttempt) -> Answer:
        request = attempt.request
        url = URL(request.url, encoded=True)
        if self._proxy is not None:
            await self._check_addresses(attempt, url)
        session = self._session or self._open()
        response = await session.request(
            request.method, url, headers=request.headers or None, data=request.body, allow_redirects=False, proxy=self._proxy
        )
        try:
            attempt.record("ttfb")
            if response.status == 407 and self._proxy is not None:
                raise ProxyAuthenticationRequired
            return await self._read(attempt, response)
        finally:
            # A body that was read to its end has already released its connection.
            if not response.closed:
                response.close()

    async def _check_addresses(self, attempt: RequestAttempt, url: URL) -> None:
        host, port = _endpoint(url)
        if self._guard.is_exempt(host, port):
            return
        attempt.enter(FailureKind.CONNECT_TIMEOUT)
        try:
            addresses = [host] if is_literal(host) else self._dns.cached(host) or await self._dns.resolve(host)
        except UnresolvedHost:
            if not self._guard.may_pass_to_proxy(host, port):
                raise
        else:
            self._guard.allowed_addresses(host, port, addresses)
        # The client may have to wait for a free connection now, which does not count against the timeout.
        attempt.deadline.reschedule(None)

    def _open(self) -> aiohttp.ClientSession:
        connector = GuardedConnector(
            self._connect_guard,
            resolver=CheckedResolver(self._dns, self._connect_guard),
            use_dns_cache=False,
            limit=self._connections,
            ssl=self._verify_tls,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept-Encoding": limits.ACCEPT_ENCODING},
            timeout=aiohttp.ClientTimeout(),
            auto_decompress=False,
            trust_env=False,
            response_class=TimedResponse,
            max_line_size=limits.HEADER_LINE_BYTES,
            max_field_size=limits.HEADER_LINE_BYTES,
            max_headers=limits.HEADER_COUNT,
        )
        # aiohttp would also retry requests that failed on a new connection: that is for the engine to decide.
        self._session._retry_connection = False
        return self._session

    async def _read(self, attempt: RequestAttempt, response: aiohttp.ClientResponse) -> Response:
        if sum(len(name) + len(value) for name, value in response.raw_headers) > limits.HEADER_TOTAL_BYTES:
            raise limits.HeadersTooLarge
        request = attempt.request
        attempt.enter(FailureKind.DOWNLOAD_TIMEOUT)
        wanted = _is_wanted(response.headers.get("Content-Type", ""), request.body_types)
        body, transferred = await _read_body(response, request) if wanted else (b"", 0)
        if wanted:
            attempt.record("download")
        version = response.version
        return Response(
            url=request.url,
            status=response.status,
            headers=_decoded(response.raw_headers),
            body=body,
            body_read=wanted,
            timings=attempt.timings,
            http_version=f"{version.major}.{version.minor}" if version else "1.1",
            address=attempt.address,
            transferred=transferred,
        )


async def _read_body(response: aiohttp.ClientResponse, request: Request) -> tuple[bytes, int]:
    """The decoded body and the number of bytes received."""
    cap = request.max_bytes
    content = response.content
    if content.at_eof():
        return b"", 0
    encoding = ",".join(response.headers.getall("Content-Encoding", ()))
    length = response.headers.get("Content-Length", "")
    if not encoding and length.isdigit():
        if int(length) <= cap:
            whole = await response.read()
            return whole, len(whole)
        if not request.truncate:
            raise limits.BodyTooLarge
    body = limits.BodyDecoder(encoding, cap)
    try:
        async for chunk in content.iter_any():
            body.feed(chunk)
    except limits.BodyTooLarge:
        if not request.truncate:
            raise
        return body.partial(), body.transferred
    return body.finish(), body.transferred


def _is_wanted(content_type: str, prefixes: tuple[str, ...] | None) -> bool:
    """Whether to read the body; without a media type it is read."""
    media_type = content_type.partition(";")[0].strip().lower()
    return prefixes is None or not media_type or media_type.startswith(prefixes)


def _decoded(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    return tuple((name.decode("latin-1"), _text(value)) for name, value in raw)


def _text(value: bytes) -> str:
    """A header value, decoded as UTF-8 as most servers send it, otherwise as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _proxy_url(text: str) -> URL:
    """The URL of a proxy. The message does not repeat it, because it may contain a password."""
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme != "http" or not url.raw_host:
        raise UsageError("The proxy URL is not valid. Use http://host:port or http://user:password@host:port.")
    return url


def _endpoint(url: URL) -> tuple[str, int]:
    return url.raw_host or "", url.port or 0


def build_http_fetcher(
    *,
    user_agent: str,
    exemptions: Exemptions,
    credentials: Credentials = NO_CREDENTIALS,
    proxy: str | None = None,
    connections: int = 100,
    verify_tls: bool = True,
    keep_cookies: bool = False,
    resolver: ResolveHost | None = None,
) -> Fetcher:
    """The fetcher of a crawl: HTTP, with cookies and credentials around it. It needs no running loop until its first request."""
    clock = SystemClock()
    fetcher: Fetcher = HttpFetcher(
        user_agent=user_agent,
        exemptions=exemptions,
        proxy=proxy,
        connections=connections,
        verify_tls=verify_tls,
        resolver=resolver,
        clock=clock,
    )
    if keep_cookies:
        fetcher = CookieFetcher(fetcher, CookieJar(clock))
    if credentials:
        fetcher = CredentialsFetcher(fetcher, credentials)
    return fetcher
