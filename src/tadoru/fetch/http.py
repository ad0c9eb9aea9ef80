"""HTTP over the network. With its side rooms `connect` and `faults` it is the only place that knows the HTTP client.

One request in, one answer out: every fault of a site becomes a `Failure` with its name, and nothing raises. Each phase
(connecting, the response headers, the whole body) has the request's timeout for itself and is measured apart. Redirects,
retries and pace are the engine's; the one exception is a pooled connection that the server had already closed, which is the
transport's own business.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable

import aiohttp
from aiohttp.http_exceptions import LineTooLong
from yarl import URL

from tadoru.clock import Clock, SystemClock
from tadoru.errors import UsageError
from tadoru.fetch.base import Fetcher
from tadoru.fetch.connection import CURRENT_ATTEMPT, CheckedResolver, GuardedConnector, RequestAttempt, TimedResponse
from tadoru.fetch.cookies import CookieFetcher, CookieJar
from tadoru.fetch.credentials import NO_CREDENTIALS, Credentials, CredentialsFetcher
from tadoru.fetch.guard import AddressGuard, BlockedAddress, DnsCache, ResolveHost, UnresolvedHost, is_literal
from tadoru.fetch.limits import (
    ACCEPT_ENCODING,
    HEADER_COUNT,
    HEADER_LINE_BYTES,
    HEADER_TOTAL_BYTES,
    BadContentEncoding,
    BodyDecoder,
    BodyTooLarge,
    HeadersTooLarge,
)
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Request, Response
from tadoru.rules.address import Exemptions

_Description = tuple[FailureKind, str]


class ProxyAuthenticationRequired(Exception):
    """The proxy wants to know who we are."""


_TIMEOUTS = {
    FailureKind.CONNECT_TIMEOUT: "No connection to {place} within {seconds:g} s.",
    FailureKind.RESPONSE_TIMEOUT: "No answer from {place} within {seconds:g} s.",
    FailureKind.DOWNLOAD_TIMEOUT: "No complete body from {place} within {seconds:g} s.",
}
_LONG_HEADERS: _Description = FailureKind.HEADERS_TOO_LARGE, "{place} sent too many or too long headers."
_INCOMPLETE: _Description = FailureKind.INCOMPLETE, "{place} ended the body before it was complete."
_BY_TYPE: tuple[tuple[type[Exception], _Description], ...] = (
    (BlockedAddress, (FailureKind.BLOCKED_ADDRESS, "{error}")),
    (BodyTooLarge, (FailureKind.TOO_LARGE, "The body is larger than {cap} bytes.")),
    (BadContentEncoding, (FailureKind.BAD_ENCODING, "The body can not be decompressed: {error}.")),
    (HeadersTooLarge, _LONG_HEADERS),
    (ProxyAuthenticationRequired, (FailureKind.PROXY, "The proxy asks for a user name and password (407).")),
    (aiohttp.ClientHttpProxyError, (FailureKind.PROXY, "The proxy refused to connect to {place} with status {error.status}.")),
    # The client takes only the usual form of an address; 127.1 or 0x7f000001 is a disguise.
    (aiohttp.InvalidURL, (FailureKind.BLOCKED_ADDRESS, "Refused to connect to {place}: it is not a name or a plain address.")),
    (UnresolvedHost, (FailureKind.DNS, "{place} does not resolve here, so it can not be checked before the proxy gets it.")),
)


def describe_error(error: Exception, visit: RequestAttempt, *, proxied: bool) -> _Description:
    """The failure's name and sentence."""
    kind, sentence = _template(error, visit, proxied)
    request = visit.request
    place = request.url.split("/", 3)[2]
    return kind, sentence.format(place=place, error=error, cap=request.max_bytes, seconds=request.timeout)


def _template(error: Exception, visit: RequestAttempt, proxied: bool) -> _Description:
    for known, found in _BY_TYPE:
        if isinstance(error, known):
            return found
    if isinstance(error, TimeoutError) and visit.deadline.expired():
        return visit.timeout_kind, _TIMEOUTS[visit.timeout_kind]
    if isinstance(error, aiohttp.ClientSSLError):
        return FailureKind.TLS, f"No secure connection to {{place}}: {_tls_reason(error)}."
    if isinstance(error, aiohttp.ClientConnectorError):
        return (FailureKind.PROXY, "The proxy can not be reached.") if proxied else _unconnected(error)
    if isinstance(error, aiohttp.ClientResponseError):
        return _unreadable(error)
    if not isinstance(error, aiohttp.ClientError | OSError):
        return FailureKind.PROTOCOL, f"What {{place}} answered can not be read ({type(error).__name__})."
    if visit.answered:
        return _INCOMPLETE
    return FailureKind.NETWORK, "{place} closed the connection without an answer."


def _unconnected(error: aiohttp.ClientConnectorError) -> _Description:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return FailureKind.DNS, "{place} can not be resolved."
    code = error.os_error.errno
    if code == errno.ECONNREFUSED:
        return FailureKind.REFUSED, "{place} refused the connection."
    if code == errno.ETIMEDOUT:
        return FailureKind.CONNECT_TIMEOUT, "{place} did not answer the attempt to connect."
    reason = os.strerror(code).lower() if code else "the connection was lost"
    return FailureKind.NETWORK, f"No connection to {{place}}: {reason}."


def _unreadable(error: BaseException) -> _Description:
    while error.__cause__ is not None:
        error = error.__cause__
    # Only the first line is the parser's; what follows it is the site's.
    said = str(getattr(error, "message", "")).partition("\n")[0]
    if isinstance(error, LineTooLong) or said.startswith("Too many headers"):
        return _LONG_HEADERS
    if "chunk" in said:
        # The headers were good, but came in one packet with the chunk that was not.
        return _INCOMPLETE
    return FailureKind.PROTOCOL, "What {place} answered is not valid HTTP."


def _tls_reason(error: aiohttp.ClientSSLError) -> str:
    """What OpenSSL says: "certificate has expired", "hostname mismatch, ...", "wrong version number"."""
    inner = getattr(error, "certificate_error", None) or error.os_error
    reason = getattr(inner, "verify_message", None) or getattr(inner, "reason", None) or "the handshake failed"
    return str(reason).replace("_", " ").lower().rstrip(".").replace("{", "").replace("}", "")


IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS"})


class HttpFetcher:
    """Fetches over HTTP/1.1 with pooled connections. Create it anywhere; it starts with its first request.

    `connections` bounds the open connections; a request that has to wait for one is not timed while it waits. With a `proxy`
    (`http://user:password@host:port`) the proxy resolves names: the guard checks what they mean here before it hands them over.
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
        self._names = DnsCache(self._clock, resolver)
        self._guard = AddressGuard(exemptions)
        self._connect_guard = AddressGuard(exemptions, proxy=_endpoint(self._proxy) if self._proxy else None)
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, request: Request, sent: Callable[[], None] | None = None) -> Answer:
        """Send one request; the answer is a Response, or a Failure that says what went wrong."""
        visit = RequestAttempt(request, sent, self._clock, fresh=False)
        answer = await self._attempt(visit)
        unanswered = isinstance(answer, Failure) and answer.kind is FailureKind.NETWORK and not visit.answered
        if unanswered and not visit.fresh and request.method in IDEMPOTENT:
            # The connection came from the pool, where the server had closed it meanwhile.
            answer = await self._attempt(visit.again())
        return answer

    async def close(self) -> None:
        """Close pooled connections."""
        if self._session is not None:
            await self._session.close()
        await self._names.close()

    async def _attempt(self, visit: RequestAttempt) -> Answer:
        CURRENT_ATTEMPT.set(visit)
        try:
            async with visit.deadline:
                return await self._exchange(visit)
        except Exception as error:  # Whatever a site makes the client raise is an answer, not a crash.
            kind, message = describe_error(error, visit, proxied=self._proxy is not None)
        return Failure(url=visit.request.url, kind=kind, message=message, timings=visit.timings, address=visit.address)

    async def _exchange(self, visit: RequestAttempt) -> Answer:
        request = visit.request
        url = URL(request.url, encoded=True)
        if self._proxy is not None:
            await self._check_before_proxy(visit, url)
        session = self._session or self._open()
        response = await session.request(
            request.method, url, headers=request.headers or None, data=request.body, allow_redirects=False, proxy=self._proxy
        )
        try:
            visit.took("ttfb")
            if response.status == 407 and self._proxy is not None:
                raise ProxyAuthenticationRequired
            return await self._read(visit, response)
        finally:
            # A body that was read to its end has given its connection back already.
            if not response.closed:
                response.close()

    async def _check_before_proxy(self, visit: RequestAttempt, url: URL) -> None:
        host, port = _endpoint(url)
        if self._guard.exempt(host, port):
            return
        visit.enter(FailureKind.CONNECT_TIMEOUT)
        try:
            addresses = [host] if is_literal(host) else self._names.known(host) or await self._names.ask(host)
        except UnresolvedHost:
            if not self._guard.may_pass_to_proxy(host, port):
                raise
        else:
            self._guard.allowed(host, port, addresses)
        # The client may have to wait for a free connection now, and that is not the site's fault.
        visit.deadline.reschedule(None)

    def _open(self) -> aiohttp.ClientSession:
        connector = GuardedConnector(
            self._connect_guard,
            resolver=CheckedResolver(self._names, self._connect_guard),
            use_dns_cache=False,
            limit=self._connections,
            ssl=self._verify_tls,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept-Encoding": ACCEPT_ENCODING},
            timeout=aiohttp.ClientTimeout(),
            auto_decompress=False,
            trust_env=False,
            response_class=TimedResponse,
            max_line_size=HEADER_LINE_BYTES,
            max_field_size=HEADER_LINE_BYTES,
            max_headers=HEADER_COUNT,
        )
        # The client's own retry also repeats requests that a fresh connection dropped: that is the engine's to decide.
        self._session._retry_connection = False
        return self._session

    async def _read(self, visit: RequestAttempt, response: aiohttp.ClientResponse) -> Response:
        if sum(len(name) + len(value) for name, value in response.raw_headers) > HEADER_TOTAL_BYTES:
            raise HeadersTooLarge
        request = visit.request
        visit.enter(FailureKind.DOWNLOAD_TIMEOUT)
        wanted = _is_wanted(response.headers.get("Content-Type", ""), request.body_types)
        body, transferred = await _read_body(response, request) if wanted else (b"", 0)
        if wanted:
            visit.took("download")
        version = response.version
        return Response(
            url=request.url,
            status=response.status,
            headers=_decoded(response.raw_headers),
            body=body,
            body_read=wanted,
            timings=visit.timings,
            http_version=f"{version.major}.{version.minor}" if version else "1.1",
            address=visit.address,
            transferred=transferred,
        )


async def _read_body(response: aiohttp.ClientResponse, request: Request) -> tuple[bytes, int]:
    """(the decoded body, its bytes on the wire)."""
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
            raise BodyTooLarge
    body = BodyDecoder(encoding, cap)
    try:
        async for chunk in content.iter_any():
            body.feed(chunk)
    except BodyTooLarge:
        if not request.truncate:
            raise
        return body.beginning(), body.transferred
    return body.finish(), body.transferred


def _is_wanted(content_type: str, prefixes: tuple[str, ...] | None) -> bool:
    """Whether to read the body; one that does not say what it is may be anything, so it is read."""
    media_type = content_type.partition(";")[0].strip().lower()
    return prefixes is None or not media_type or media_type.startswith(prefixes)


def _decoded(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    return tuple((name.decode("latin-1"), _text(value)) for name, value in raw)


def _text(value: bytes) -> str:
    """Servers send UTF-8 where the standard knows only bytes; what is not UTF-8 loses nothing as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _proxy_url(text: str) -> URL:
    """A proxy as the person gives it; the message does not repeat it, for it may hold a password."""
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme != "http" or not url.raw_host:
        raise UsageError("The proxy is not a usable URL: give http://host:port or http://user:password@host:port.")
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
    """The fetcher of a crawl. It needs no running loop until its first request."""
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
