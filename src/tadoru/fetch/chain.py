"""How the network door is put together: the one place where the wrappers around the HTTP client nest.

From the outside in: credentials are added for their origins, then the cookies a site has set, then the request goes out,
checked and bounded. What each layer does is in its own module.
"""

from __future__ import annotations

from tadoru.clock import SystemClock
from tadoru.fetch.base import Fetcher
from tadoru.fetch.cookies import CookieJar, WithCookies
from tadoru.fetch.credentials import NO_CREDENTIALS, Credentials, WithCredentials
from tadoru.fetch.guard import Resolver
from tadoru.fetch.http import HttpFetcher
from tadoru.rules.address import Exemptions


def build(
    *,
    user_agent: str,
    exemptions: Exemptions,
    credentials: Credentials = NO_CREDENTIALS,
    proxy: str | None = None,
    connections: int = 100,
    verify_tls: bool = True,
    keep_cookies: bool = False,
    resolver: Resolver | None = None,
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
        fetcher = WithCookies(fetcher, CookieJar(clock))
    if credentials:
        fetcher = WithCredentials(fetcher, credentials)
    return fetcher
