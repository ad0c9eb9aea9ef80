"""Cookies that sites set during a crawl, kept only when the person asks for a session.

RFC 6265 in the part a crawler needs: domain, path, Secure, Max-Age and Expires. What it may not keep matters as much: no
cookie for a public suffix, none for a host that did not set it, and a bound on how many. Cookies a person brings along are
`fetch.credentials`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from tadoru.clock import Clock
from tadoru.fetch.base import Fetcher
from tadoru.fetch.credentials import path_matches
from tadoru.model.web import Answer, Headers, Request, Response
from tadoru.rules.scope import domain_key
from tadoru.rules.url import split_url

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
    """The cookies of one crawl, in memory. The oldest go when there are too many."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._hosts: dict[str, dict[tuple[str, str], _StoredCookie]] = {}

    def header(self, url: str) -> str:
        """What to send as Cookie with a request for this canonical URL; empty when there is nothing."""
        target = split_url(url)
        now = self._clock.now()
        found = [
            (-len(kept.path), f"{name}={kept.value}")
            for host in _domains(target.host)
            for (name, _), kept in self._hosts.get(host, {}).items()
            if (host == target.host or not kept.host_only)
            and path_matches(target.path, kept.path)
            and (target.scheme == "https" or not kept.secure)
            and (kept.expires is None or kept.expires > now)
        ]
        # Longer paths first (5.4), and otherwise in the order they were set.
        return "; ".join(pair for _, pair in sorted(found, key=lambda item: item[0]))

    def remember(self, response: Response) -> None:
        """Keep what a response sets."""
        for line in response.header_all("set-cookie"):
            self._keep(response.url, line)

    def _keep(self, url: str, line: str) -> None:
        pair, _, rest = line.partition(";")
        name, equals, value = (text.strip() for text in pair.partition("="))
        if not equals or not name or len(line) > MAX_LENGTH or not line.isprintable():
            return
        attributes = _attributes(rest)
        kept = self._place(url, value, attributes)
        if kept is None:
            return
        jar = self._hosts.setdefault(kept.host, {})
        jar.pop((name, kept.path), None)
        if kept.expires is None or kept.expires > self._clock.now():
            jar[name, kept.path] = kept
        _drop_oldest(jar, MAX_PER_HOST)
        _drop_oldest(self._hosts, MAX_HOSTS)

    def _place(self, url: str, value: str, attributes: dict[str, str]) -> _StoredCookie | None:
        """Where the cookie belongs; None when its Domain is not the host's to speak for, or Secure comes over plain HTTP."""
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
            # Of a number without end the first digits say enough.
            return 0.0 if age.startswith("-") else self._clock.now() + min(int(age.lstrip("0")[:12] or 0), _LONGEST_AGE)
        try:
            moment = parsedate_to_datetime(attributes["expires"])
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError, IndexError):
            return None


class CookieFetcher:
    """A fetcher that keeps a session: it sends back what sites set."""

    def __init__(self, inner: Fetcher, jar: CookieJar) -> None:
        self._inner = inner
        self._jar = jar

    async def fetch(self, request: Request, sent: Callable[[], None] | None = None) -> Answer:
        """Send the request with the cookies of its site, and keep what the answer sets."""
        cookie = self._jar.header(request.url)
        if cookie:
            request = replace(request, headers=_with_cookie_header(request.headers, cookie))
        answer = await self._inner.fetch(request, sent)
        if isinstance(answer, Response):
            self._jar.remember(answer)
        return answer

    async def close(self) -> None:
        """Close what is inside."""
        await self._inner.close()


def _domains(host: str) -> list[str]:
    """The host and the domains above it, up to the one somebody registered: never a public suffix."""
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
    """One Cookie header; where the site has set a cookie that the person gave too, the site's is the newer."""
    names = {pair.partition("=")[0] for pair in cookie.split("; ")}
    given = [pair for name, value in headers if name.lower() == "cookie" for pair in value.split("; ")]
    pairs = [pair for pair in given if pair.partition("=")[0] not in names]
    others = tuple(header for header in headers if header[0].lower() != "cookie")
    return (*others, ("Cookie", "; ".join([*pairs, cookie])))


def _drop_oldest(table: dict[Any, Any], most: int) -> None:
    while len(table) > most:
        del table[next(iter(table))]
