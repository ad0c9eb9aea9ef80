"""Cookies that sites set during a crawl, stored only when the user asks for a session.

This is the part of RFC 6265 that a crawler needs: domain, path, Secure, Max-Age and Expires. Cookies for a public suffix or for
another host are rejected, and their number is limited. Cookies that the user provides are in `fetch.credentials`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from tadoru.clock import Clock
from tadoru.fetch.base import Fetcher, RequestTurn
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
