"""Requests, responses, failures and links.

`Response` and `Failure` are both *answers*: an error of a site is data, recorded under a stable name. `Link` is a named tuple
because a crawl creates hundreds of them for every page.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]


class FailureKind(StrEnum):
    """Why there is no usable response. The values are shown in the database and in reports."""

    DNS = "dns_failure"
    REFUSED = "connection_refused"
    NETWORK = "network_error"
    """The connection was reset, dropped or unreachable."""
    TLS = "tls_error"
    CONNECT_TIMEOUT = "connect_timeout"
    RESPONSE_TIMEOUT = "response_timeout"
    """Connected, but no response headers in time."""
    DOWNLOAD_TIMEOUT = "download_timeout"
    """The whole body did not arrive in time, even if it kept arriving."""
    TOO_LARGE = "response_too_large"
    """The decompressed body exceeds the limit."""
    HEADERS_TOO_LARGE = "headers_too_large"
    INCOMPLETE = "incomplete_body"
    """The connection was closed before the body was complete."""
    BAD_ENCODING = "bad_content_encoding"
    PROTOCOL = "protocol_error"
    """The response is not valid HTTP."""
    FORBIDDEN = "forbidden_by_robots"
    """Disallowed by robots.txt; only for requests outside of a crawl."""
    BLOCKED_ADDRESS = "blocked_address"
    """The address guard blocked the connection."""
    BOT_BLOCKED = "bot_blocked"
    """The server answers crawlers with a challenge or an error; visitors may see the page."""
    PROXY = "proxy_error"
    BAD_REDIRECT = "bad_redirect"
    """A redirect without a valid Location header."""
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_LOOP = "redirect_loop"
    UNPARSABLE = "unparsable_page"
    """The page could not be parsed within its limits."""
    PAGE_LIMIT = "page_limit"
    """The page was read, but a part of it exceeds a limit and was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds of each phase; None for a phase that did not happen (a reused connection has no DNS, connect or TLS)."""

    dns: float | None = None
    connect: float | None = None
    tls: float | None = None
    ttfb: float | None = None
    """From the last byte of the request to the response headers, without DNS, connect and TLS."""
    download: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One complete HTTP request: the fetcher adds only headers of the transport."""

    url: str
    """Absolute and canonical (`rules.url`)."""
    method: str = "GET"
    headers: Headers = ()
    timeout: float = 30.0
    """Seconds for each of: connecting, the response headers, the whole body."""
    max_bytes: int = 10 * 1024 * 1024
    """Maximum size of the decompressed body."""
    truncate: bool = False
    """Keep the first `max_bytes` of a longer body instead of failing."""
    body: bytes | None = None
    """The body, which is sent once and never retried."""
    body_types: tuple[str, ...] | None = None
    """Prefixes of media types whose body is read; of others only the headers are. None: every body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An HTTP response of any status."""

    url: str
    status: int
    headers: Headers
    body: bytes = b""
    body_read: bool = True
    """False when the body was not read because of its media type."""
    timings: Timings = Timings()
    http_version: str = "1.1"
    address: str | None = None
    """The IP address that was connected to."""
    transferred: int = 0
    """Bytes of the body received over the network, before decompression."""

    def header(self, name: str) -> str | None:
        """The first value of a header, case-insensitive."""
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
        """`text/html` for `Text/HTML; charset=utf-8`; empty when there is none."""
        value = self.header("content-type") or ""
        return value.partition(";")[0].strip().lower()

    @property
    def is_redirect(self) -> bool:
        return self.status in (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No usable response, and why."""

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
    """The final URL."""
    status: int
    html: bytes
    """The document after the page has settled, in UTF-8."""
    console_errors: tuple[str, ...] = ()
    failed_resources: tuple[str, ...] = ()
    """`404 URL`, or the error of the browser and the URL."""
    loaded: float | None = None
    """Seconds until the document was loaded."""
    settled: float | None = None
    """Seconds until nothing changed any more; None when it never settled."""
    headers: Headers = ()
    """The response headers of the final document."""
    page_errors: tuple[str, ...] = ()
    """Uncaught exceptions of scripts."""
    refused_resources: tuple[str, ...] = ()
    """Resources that the crawl may not request."""
    is_redirected: bool = False
    """Whether the page, once loaded, led to another document."""


EVERY_BOT = "robots"
"""The name of robots directives that every crawler obeys."""
SEARCH_BOTS = ("googlebot", "googlebot-news", "bingbot", "yandex", "baiduspider", "applebot", "duckduckbot")
"""Crawlers of search engines that obey directives of their own."""


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
    # Link checks tell further kinds apart: the relations of `<link>`, URLs in style sheets and in metadata, and addresses.
    STYLE = "style"
    """A style sheet, also one that another imports."""
    CSS = "css"
    """`url()` in a style sheet."""
    ICON = "icon"
    MANIFEST = "manifest"
    CANONICAL = "canonical"
    ALTERNATE = "alternate"
    """The page in another language or format."""
    PREVIEW = "preview"
    """What social networks show of the page (Open Graph)."""
    MAILTO = "mailto"
    TEL = "tel"


FOLLOWED = frozenset({LinkKind.A, LinkKind.AREA, LinkKind.REFRESH})
"""The kinds that a crawl follows; the others are resources."""


LANDMARKS = ("", "content", "nav", "header", "footer", "aside")
"""The parts of a page that a link can stand in, by number; the first is not known."""


class Link(NamedTuple):
    """A link on a page, absolute and canonical."""

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
    """The fragment without `#`; empty when there was none."""
    landmark: int = 0
    """The part of the page that it stands in (`LANDMARKS`); 0 when that is not known."""
