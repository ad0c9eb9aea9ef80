"""Decides which requests of a page are sent, when, and with which headers.

Each request is decided on here before it is sent, including redirect hops and requests of workers. Frames of other sites are not
loaded: they cannot change the page, and their requests would bypass the filter in a process of their own. What bypasses the
filter still has to pass `fetch.browser.proxy`. Secrets are added only to the hops that they are meant for (`fetch.credentials`),
and only while the page has not left the origins with credentials: the page or frame of another site must not act on behalf of the
user.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tadoru.fetch.base import MayRequest, WaitForTurn
from tadoru.fetch.credentials import Credentials
from tadoru.model.web import Headers
from tadoru.rules.scope import domain_key
from tadoru.rules.url import canonical, host_key, split_url

MAX_REQUESTS = 1_000
MAX_NAVIGATIONS = 20
CONNECTIONS_PER_REQUEST = 3
"""Connections that a browser may open for one request: one, a second after a certificate error, and one in advance."""
_LOCAL_SCHEMES = ("data:", "blob:", "about:")
_MEDIA_TYPES = frozenset({"Image", "Media", "Font", "TextTrack"})
_SKIPPED_TYPES = frozenset({"Ping", "CSPViolationReport", "Prefetch", "Manifest", "SignedExchange"})
_BLANK = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
"""A transparent image of one pixel."""


async def no_wait(_: str) -> None:
    """No pacing."""


async def allow_all(_: str) -> bool:
    """No rules."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserPolicy:
    """How the browser sends requests."""

    wait_for_turn: WaitForTurn = no_wait
    may_request: MayRequest = allow_all
    credentials: Credentials = Credentials()
    load_media: bool = False
    """Whether images, videos and fonts are loaded: the text of a page does not need them."""


class RequestAdmission:
    """Checks and paces each request once, whether the browser reports it or it first appears as a connection to the proxy."""

    def __init__(self, policy: BrowserPolicy) -> None:
        self._policy = policy
        self._admitted: Counter[str] = Counter()

    async def admit_request(self, url: str) -> bool:
        """Whether a canonical URL may be requested by the browser; waits for the turn of its host."""
        if not await self._policy.may_request(url):
            return False
        host = host_key(url)
        await self._policy.wait_for_turn(host)
        self._admitted[host] += CONNECTIONS_PER_REQUEST
        return True

    async def admit_connection(self, url: str) -> bool:
        """Whether a connection to the proxy is accepted: those of an admitted request are."""
        host = host_key(url)
        if self._admitted[host] > 0:
            self._admitted[host] -= 1
            return True
        if not await self._policy.may_request(url):
            return False
        await self._policy.wait_for_turn(host.removesuffix(":80"))  # A tunnel to port 80 is a WebSocket of the plain site.
        return True


class RequestDecision(Enum):
    """What happens with a request."""

    GO = "go"
    SKIP = "skip"
    """Not needed for the page."""
    BLANK = "blank"
    """Answered with an empty image, so that no error occurs."""
    REFUSE = "refuse"
    ABORT = "abort"
    """A navigation that is not followed: the page stays."""


class RequestFilter:
    """Filters the requests of one page."""

    def __init__(self, policy: BrowserPolicy, admission: RequestAdmission, frame: str, url: str) -> None:
        self._policy = policy
        self._admission = admission
        self._frame = frame
        self.page = url
        """The canonical URL that the main frame requested last."""
        self._trusted = True
        self.navigations = 0
        self.requests = 0
        self.refused: dict[str, None] = {}

    async def decide(self, event: dict[str, Any]) -> RequestDecision:
        """Decide on a paused request; waits for the turn of its host."""
        request = event["request"]
        requested: str = request["url"]
        kind = _kind(event["resourceType"], request["headers"])
        if requested.startswith(_LOCAL_SCHEMES):
            return RequestDecision.GO
        is_document = kind == "Document"
        is_page = is_document and event["frameId"] == self._frame
        if kind in _SKIPPED_TYPES or (kind in _MEDIA_TYPES and not self._policy.load_media):
            return RequestDecision.BLANK if kind == "Image" else RequestDecision.SKIP
        self.requests += 1
        self.navigations += is_page
        url = canonical(requested)
        if (
            url is None
            or self.requests > MAX_REQUESTS
            or self.navigations > MAX_NAVIGATIONS
            or (is_document and not is_page and not _same_site(url, self.page))
            or not await self._admission.admit_request(url)
        ):
            self.refused.setdefault(requested[:2_000])
            return RequestDecision.ABORT if is_page and self.navigations > 1 else RequestDecision.REFUSE
        if is_page:
            self.page = url
            self._trusted = self._trusted and bool(self._policy.credentials.for_url(url))
        return RequestDecision.GO

    def secrets(self, event: dict[str, Any]) -> Headers:
        """The secret headers to add to a request."""
        url = canonical(event["request"]["url"])
        if url is None or not self._trusted or event["frameId"] != self._frame:
            return ()
        return self._policy.credentials.for_url(url)


def blank_image(request: str) -> dict[str, Any]:
    """The response to an image that is not loaded."""
    headers = {"Content-Type": "image/gif", "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
    fields = [{"name": name, "value": value} for name, value in headers.items()]
    return {"requestId": request, "responseCode": 200, "responseHeaders": fields, "body": _BLANK}


def _kind(reported: str, headers: dict[str, str]) -> str:
    """The type of a request; the icon of a site and prefetched pages are reported as another type."""
    fields = {name.lower(): value for name, value in headers.items()}
    if "prefetch" in fields.get("sec-purpose", fields.get("purpose", "")):
        return "Prefetch"
    return "Image" if reported == "Other" and fields.get("accept", "").startswith("image/") else reported


def _same_site(url: str, page: str) -> bool:
    return split_url(url).scheme == split_url(page).scheme and domain_key(url) == domain_key(page)
