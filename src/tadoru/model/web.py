"""Requests, responses, failures, links: what a crawl is made of.

`Response` and `Failure` are both *answers*: a site that breaks is data, recorded under a stable name. `Link` and `Target`
are named tuples because a crawl makes hundreds of them for every page.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]


class FailureKind(StrEnum):
    """Why there is no usable answer. The values are what the database and the reports show."""

    DNS = "dns_failure"
    REFUSED = "connection_refused"
    NETWORK = "network_error"
    """Reset, dropped or unreachable after a connection was tried."""
    TLS = "tls_error"
    CONNECT_TIMEOUT = "connect_timeout"
    RESPONSE_TIMEOUT = "response_timeout"
    """Connected, but no response headers in time."""
    DOWNLOAD_TIMEOUT = "download_timeout"
    """The body did not arrive in time, however steadily it dripped."""
    TOO_LARGE = "response_too_large"
    """The body, after decompression, passed the cap."""
    HEADERS_TOO_LARGE = "headers_too_large"
    INCOMPLETE = "incomplete_body"
    """The connection closed before the announced body was complete."""
    BAD_ENCODING = "bad_content_encoding"
    PROTOCOL = "protocol_error"
    """What came back is not HTTP."""
    FORBIDDEN = "forbidden_by_robots"
    """robots.txt does not let us; only where somebody else than the crawl asks."""
    BLOCKED_ADDRESS = "blocked_address"
    """The address guard refused to connect."""
    PROXY = "proxy_error"
    BAD_REDIRECT = "bad_redirect"
    """A redirect without a usable Location."""
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_LOOP = "redirect_loop"
    UNPARSABLE = "unparsable_page"
    """The page could not be read within its bounds."""
    PAGE_LIMIT = "page_limit"
    """The page was read, but a part of it is over a limit and was left out; the page counts as read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds spent in each phase; None where the phase did not happen (a reused connection has no DNS, connect or TLS)."""

    dns: float | None = None
    connect: float | None = None
    tls: float | None = None
    ttfb: float | None = None
    """From the last byte of the request to the response headers: DNS, connect and TLS are not in it."""
    download: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request, complete: the fetcher adds only what belongs to its transport."""

    url: str
    """Absolute and canonical (`rules.url`)."""
    method: str = "GET"
    headers: Headers = ()
    timeout: float = 30.0
    """Seconds for each of: connecting, the response headers, the whole body."""
    max_bytes: int = 10 * 1024 * 1024
    """Cap on the body after decompression."""
    truncate: bool = False
    """Keep the first `max_bytes` of a longer body instead of failing."""
    body: bytes | None = None
    """What is sent with it; it is sent once, whatever becomes of it."""
    body_types: tuple[str, ...] | None = None
    """Prefixes of media types whose body is wanted; of any other only the headers are read. None: every body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An HTTP answer, whatever its status."""

    url: str
    status: int
    headers: Headers
    body: bytes = b""
    body_read: bool = True
    """False when the body was left unread because its media type was not wanted."""
    timings: Timings = Timings()
    http_version: str = "1.1"
    address: str | None = None
    """The address that was connected to."""
    transferred: int = 0
    """Bytes of the body as they came over the wire, before decompression."""

    def header(self, name: str) -> str | None:
        """The first value of a header, by any case."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    def header_all(self, name: str) -> tuple[str, ...]:
        """Every value of a header, in order."""
        wanted = name.lower()
        return tuple(value for key, value in self.headers if key.lower() == wanted)

    @property
    def media_type(self) -> str:
        """`text/html` of `Text/HTML; charset=utf-8`; empty when there is none."""
        value = self.header("content-type") or ""
        return value.partition(";")[0].strip().lower()

    @property
    def is_redirect(self) -> bool:
        return self.status in (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No usable answer, and why."""

    url: str
    kind: FailureKind
    message: str
    timings: Timings = Timings()
    address: str | None = None


Answer = Response | Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """A page as a browser shows it."""

    url: str
    """Where it ended up."""
    status: int
    html: bytes
    """The document after the page settled, in UTF-8."""
    console_errors: tuple[str, ...] = ()
    failed_resources: tuple[str, ...] = ()
    """`404 URL`, or the browser's name of what went wrong and the URL."""
    loaded: float | None = None
    """Seconds until the document was there."""
    settled: float | None = None
    """Seconds until nothing changed any more; kept apart from the server's times. None when it never came to rest."""
    headers: Headers = ()
    """Of the document it ended up with."""
    page_errors: tuple[str, ...] = ()
    """Exceptions that no script caught."""
    refused_resources: tuple[str, ...] = ()
    """What was not requested because the crawl may not."""


class LinkKind(StrEnum):
    """Where in a page a link was found."""

    A = "a"
    AREA = "area"
    LINK = "link"
    IMAGE = "img"
    SCRIPT = "script"
    FRAME = "iframe"
    FORM = "form"
    MEDIA = "media"
    REFRESH = "refresh"


FOLLOWED = frozenset({LinkKind.A, LinkKind.AREA, LinkKind.REFRESH})
"""The kinds a crawl follows; the others are resources."""


class Link(NamedTuple):
    """A link as found on a page, already absolute and canonical."""

    url: str
    """Without its fragment."""
    kind: LinkKind
    text: str
    """Anchor text, or the alt text of what the anchor holds."""
    rel: str
    """The rel tokens, lower case, separated by one space."""
    position: int
    """Its number on the page, in document order, from 0."""
    fragment: str
    """What followed `#`, without the `#`; empty when there was none."""
