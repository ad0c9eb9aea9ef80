"""Secrets and their origins: authentication, keys in the query, custom headers, cookies of the user and of sites.

Crawls and event sources use the same mechanism: `CredentialsFetcher` sees every request, including each hop of a redirect, and
adds a secret only to a request to the origin that it was given for.

Cookies that sites set are stored only when the user asks for a session. This is the part of RFC 6265 that a crawler needs:
domain, path, Secure, Max-Age and Expires. Cookies for a public suffix or for another host are rejected, and their number is
limited.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from tadoru.clock import Clock
from tadoru.errors import Message, UsageError, quoted
from tadoru.fetch.base import Fetcher, RequestTurn
from tadoru.model.web import Answer, Failure, Headers, Request, Response
from tadoru.rules.scope import domain_key
from tadoru.rules.url import origin, split_url, with_parameter, without_parameters

TRANSPORT_HEADERS = frozenset({"host", "content-length", "connection", "transfer-encoding", "te", "upgrade", "trailer"})
"""Headers of the connection: setting them would break the framing or address another host."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_EXPIRY = re.compile(r"-?[0-9]+(?:\.[0-9]*)?")
_HTTP_ONLY = "#HttpOnly_"


@dataclass(frozen=True, slots=True)
class FileCookie:
    """A cookie from a file; a `domain` with a leading dot includes its subdomains."""

    domain: str
    path: str
    secure: bool
    name: str
    value: str = field(repr=False)

    def matches(self, url: str) -> bool:
        """Whether the cookie is sent with a request to this canonical URL."""
        target = split_url(url)
        exact = self.domain.removeprefix(".")
        host_fits = target.host == exact or (self.domain.startswith(".") and target.host.endswith(self.domain))
        return host_fits and path_matches(target.path, self.path) and (target.scheme == "https" or not self.secure)


@dataclass(frozen=True, slots=True)
class SecretParameter:
    """A secret query parameter for one origin."""

    origin: str
    name: str
    value: str = field(repr=False)

    def removed_from(self, url: str) -> str:
        """A canonical URL without this parameter; at another origin, without any parameter of this value."""
        if origin(url) == self.origin:
            return without_parameters(url, lambda name, _: name == self.name)
        return without_parameters(url, lambda _, value: value == self.value)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers and query parameters for some origins, and cookies for domains. Each `with_…` method returns an extended copy."""

    by_origin: tuple[tuple[str, Headers], ...] = ()
    cookies: tuple[FileCookie, ...] = ()
    parameters: tuple[SecretParameter, ...] = ()

    def for_url(self, url: str) -> Headers:
        """The headers to add to a request to this canonical URL; none for other origins."""
        if not self:
            return ()
        here = origin(url)
        own: list[tuple[str, str]] = []
        for named, headers in self.by_origin:
            if named == here:
                # What was given for this host replaces what was given for the whole site; cookies are sent together.
                replaced = {name.lower() for name, _ in headers} - {"cookie"}
                own = [header for header in own if header[0].lower() not in replaced] + list(headers)
        pairs = [value for name, value in own if name.lower() == "cookie"]
        pairs += [f"{cookie.name}={cookie.value}" for cookie in self.cookies if cookie.matches(url)]
        others = tuple(header for header in own if header[0].lower() != "cookie")
        return (*others, ("Cookie", "; ".join(pairs))) if pairs else others

    def apply(self, request: Request) -> Request:
        """The request with the secrets of its origin, and without secrets of other origins in its URL."""
        secrets, url = self.for_url(request.url), self.without_secrets(request.url)
        for parameter in self.parameters:
            if parameter.origin == origin(url):
                url = with_parameter(url, parameter.name, parameter.value)
        return replace(request, url=url, headers=request.headers + secrets) if secrets or url != request.url else request

    def conceal(self, answer: Answer) -> Answer:
        """The answer without secrets in its URL and error message, as it may be stored."""
        if not self.parameters:
            return answer
        answer = replace(answer, url=self.without_secrets(answer.url))
        return replace(answer, message=self.redact(answer.message)) if isinstance(answer, Failure) else answer

    def without_secrets(self, url: str) -> str:
        """A canonical URL without secret query parameters."""
        for secret in self.parameters:
            url = secret.removed_from(url)
        return url

    def redact(self, text: str) -> str:
        """A text with the values of secret parameters replaced by `***`; a message stays one."""
        if isinstance(text, Message):
            return text.map_values(self.redact) if self.parameters else text
        for secret in self.parameters:
            text = text.replace(secret.value, "***").replace(quote(secret.value, safe=""), "***")
        return text

    def __bool__(self) -> bool:
        return bool(self.by_origin or self.cookies or self.parameters)

    def with_headers(self, origins: Iterable[str], headers: Headers) -> Credentials:
        """Also send these headers to these origins (`scheme://host[:port]`, canonical)."""
        for name, value in headers:
            check_header(name, value)
        return replace(self, by_origin=(*self.by_origin, *((named, headers) for named in origins)))

    def with_basic(self, origins: Iterable[str], username: str, password: str) -> Credentials:
        """Also authenticate with a user name and password (RFC 7617)."""
        if ":" in username:
            raise UsageError("A user name for basic authentication cannot contain a colon.")
        token = base64.b64encode(f"{username}:{password}".encode()).decode("ascii")
        return self.with_headers(origins, (("Authorization", f"Basic {token}"),))

    def with_bearer(self, origins: Iterable[str], token: str) -> Credentials:
        """Also authenticate with a bearer token (RFC 6750)."""
        return self.with_headers(origins, (("Authorization", f"Bearer {token}"),))

    def with_api_key(self, origins: Iterable[str], header: str, value: str) -> Credentials:
        """Also send an API key in this header."""
        return self.with_headers(origins, ((header, value),))

    def with_parameter(self, origins: Iterable[str], name: str, value: str) -> Credentials:
        """Also send a key as a query parameter."""
        return replace(self, parameters=(*self.parameters, *(SecretParameter(named, name, value) for named in origins)))

    def with_cookies(self, origins: Iterable[str], pairs: Iterable[str]) -> Credentials:
        """Also send these `name=value` cookies."""
        cookies = tuple(_cookie_pair(pair) for pair in pairs)
        return self.with_headers(origins, (("Cookie", "; ".join(cookies)),)) if cookies else self

    def with_cookie_file(self, text: str, now: float) -> Credentials:
        """Also send the cookies of a Netscape `cookies.txt` to their hosts, except those that have expired."""
        return replace(self, cookies=(*self.cookies, *_read_cookie_file(text, now)))

    def redacted(self) -> dict[str, list[str]]:
        """What is sent where, without values, for printing."""
        shown: dict[str, list[str]] = {}
        for named, headers in self.by_origin:
            shown.setdefault(named, []).extend(f"{name}: ***" for name, _ in headers)
        for secret in self.parameters:
            shown.setdefault(secret.origin, []).append(f"?{secret.name}=***")
        for cookie in self.cookies:
            shown.setdefault(cookie.domain, []).append(f"Cookie: {cookie.name}=***")
        return shown

    def __repr__(self) -> str:
        return f"Credentials({self.redacted()})"


NO_CREDENTIALS = Credentials()


class CredentialsFetcher:
    """A fetcher that adds the credentials of its origin to each request."""

    def __init__(self, inner: Fetcher, credentials: Credentials) -> None:
        self._inner = inner
        self._credentials = credentials

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        """Send the request with its credentials."""
        return self._credentials.conceal(await self._inner.fetch(self._credentials.apply(request), turn))

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self._inner.close()


def path_matches(path: str, prefix: str) -> bool:
    """Whether a path is the prefix or below it (RFC 6265, 5.1.4)."""
    return path == prefix or (path.startswith(prefix) and (prefix.endswith("/") or path[len(prefix)] == "/"))


def check_header(name: str, value: str) -> None:
    """Raise UsageError for a header that cannot be sent."""
    # No message contains the value: it is a secret.
    if not _TOKEN.fullmatch(name):
        raise UsageError("{name} is not a valid header name.", name=quoted(name))
    if name.lower() in TRANSPORT_HEADERS:
        raise UsageError("The header {name} cannot be set: it belongs to the connection.", name=name)
    if not (value.isprintable() or value.replace("\t", "").isprintable()):
        raise UsageError("The value of the header {name} contains a line break or another control character.", name=name)


def _cookie_pair(text: str) -> str:
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not _TOKEN.fullmatch(name) or ";" in value or not value.isprintable():
        raise UsageError("Write a cookie as “name=value”, without semicolons.")
    return f"{name}={value}"


def _read_cookie_file(text: str, now: float) -> Iterable[FileCookie]:
    for number, line in enumerate(text.splitlines(), 1):
        content = line.removeprefix(_HTTP_ONLY)
        if not content.strip() or (content.startswith("#") and content is line):
            continue
        fields = content.split("\t")
        if len(fields) != 7 or not _EXPIRY.fullmatch(fields[4]):
            raise UsageError("Line {number} of the cookie file is not in the Netscape cookies.txt format.", number=number)
        domain, subdomains, path, secure, expires, name, value = fields
        if 0 < float(expires) <= now:
            continue
        _cookie_pair(f"{name}={value}")
        domain = domain.lower().removeprefix(".")
        yield FileCookie(
            f".{domain}" if subdomains.upper() == "TRUE" else domain, path or "/", secure.upper() == "TRUE", name, value
        )


MAX_PER_HOST = 50
MAX_HOSTS = 1_000
MAX_LENGTH = 4096
_LONGEST_AGE = 400 * 24 * 3600
_SECONDS = re.compile(r"-?[0-9]+")


@dataclass(frozen=True, slots=True)
class _StoredCookie:
    value: str
    host: str
    host_only: bool
    path: str
    secure: bool
    expires: float | None


class CookieJar:
    """The cookies of one crawl, in memory. The oldest are dropped when there are too many."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._hosts: dict[str, dict[tuple[str, str], _StoredCookie]] = {}

    def header(self, url: str) -> str:
        """The Cookie header for a request to this canonical URL; empty when there is none."""
        target = split_url(url)
        now = self._clock.now()
        found = [
            (-len(cookie.path), f"{name}={cookie.value}")
            for host in _domains(target.host)
            for (name, _), cookie in self._hosts.get(host, {}).items()
            if (host == target.host or not cookie.host_only)
            and path_matches(target.path, cookie.path)
            and (target.scheme == "https" or not cookie.secure)
            and (cookie.expires is None or cookie.expires > now)
        ]
        # Longer paths first (5.4), and otherwise in the order they were set.
        return "; ".join(pair for _, pair in sorted(found, key=lambda item: item[0]))

    def store(self, response: Response) -> None:
        """Store the cookies that a response sets."""
        for line in response.header_all("set-cookie"):
            self._store(response.url, line)

    def _store(self, url: str, line: str) -> None:
        pair, _, rest = line.partition(";")
        name, equals, value = (text.strip() for text in pair.partition("="))
        if not equals or not name or len(line) > MAX_LENGTH or not line.isprintable():
            return
        attributes = _attributes(rest)
        cookie = self._parse(url, value, attributes)
        if cookie is None:
            return
        jar = self._hosts.setdefault(cookie.host, {})
        jar.pop((name, cookie.path), None)
        if cookie.expires is None or cookie.expires > self._clock.now():
            jar[name, cookie.path] = cookie
        _drop_oldest(jar, MAX_PER_HOST)
        _drop_oldest(self._hosts, MAX_HOSTS)

    def _parse(self, url: str, value: str, attributes: dict[str, str]) -> _StoredCookie | None:
        """The cookie with its scope; None when its Domain is not of the host, or it is Secure and comes over plain HTTP."""
        source = split_url(url)
        domain = attributes.get("domain", "").removeprefix(".").lower()
        if domain and domain not in _domains(source.host):
            return None
        if "secure" in attributes and source.scheme != "https":
            return None
        path = attributes.get("path", "")
        if not path.startswith("/"):
            path = source.path.rpartition("/")[0] or "/"
        return _StoredCookie(value, domain or source.host, not domain, path, "secure" in attributes, self._expiry(attributes))

    def _expiry(self, attributes: dict[str, str]) -> float | None:
        age = attributes.get("max-age", "")
        if _SECONDS.fullmatch(age):
            # Twelve digits are enough of a very long number.
            return 0.0 if age.startswith("-") else self._clock.now() + min(int(age.lstrip("0")[:12] or 0), _LONGEST_AGE)
        try:
            moment = parsedate_to_datetime(attributes["expires"])
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError, IndexError):
            return None


class CookieFetcher:
    """A fetcher that keeps a session: it sends the cookies that sites set."""

    def __init__(self, inner: Fetcher, jar: CookieJar) -> None:
        self._inner = inner
        self._jar = jar

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        """Send the request with the cookies of its site, and store those that the response sets."""
        cookie = self._jar.header(request.url)
        if cookie:
            request = replace(request, headers=_with_cookie_header(request.headers, cookie))
        answer = await self._inner.fetch(request, turn)
        if isinstance(answer, Response):
            self._jar.store(answer)
        return answer

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self._inner.close()


def _domains(host: str) -> list[str]:
    """The host and its parent domains up to the registrable one: never a public suffix."""
    top = domain_key(f"http://{host}/")
    found = [host]
    while host != top:
        host = host.partition(".")[2]
        found.append(host)
    return found


def _attributes(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(";"))
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _with_cookie_header(headers: Headers, cookie: str) -> Headers:
    """The headers with one Cookie header; a cookie that the site set replaces one of the user."""
    names = {pair.partition("=")[0] for pair in cookie.split("; ")}
    given = [pair for name, value in headers if name.lower() == "cookie" for pair in value.split("; ")]
    pairs = [pair for pair in given if pair.partition("=")[0] not in names]
    others = tuple(header for header in headers if header[0].lower() != "cookie")
    return (*others, ("Cookie", "; ".join([*pairs, cookie])))


def _drop_oldest(table: dict[Any, Any], most: int) -> None:
    while len(table) > most:
        del table[next(iter(table))]
