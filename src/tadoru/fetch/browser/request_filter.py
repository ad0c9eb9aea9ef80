"""Which requests of a page leave the browser, when, and with which headers.

Every request, redirect hops and workers included, is shown here before it goes out. Frames of other sites are not loaded: they
can not change the page, and their requests would pass us by in a process of their own. What gets around all this still has to
pass `fetch.browser.proxy`. Secrets are added to the one hop they are meant for (`fetch.credentials`), and only as long as the visit has
not left those we were given secrets for: a stranger's page, or frame, must not act in the person's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tadoru.fetch.credentials import Credentials
from tadoru.model.web import Headers
from tadoru.rules.scope import domain_key
from tadoru.rules.url import canonical, host_key, split_url

WaitForTurn = Callable[[str], Awaitable[None]]
"""Waits for a host's turn; called with its `host_key` once for each request."""
MayRequest = Callable[[str], Awaitable[bool]]
"""Whether a URL may be requested at all: robots.txt, scope, blocked hosts."""

MAX_REQUESTS = 1_000
MAX_NAVIGATIONS = 20
CONNECTIONS_PER_REQUEST = 3
"""What a browser opens for one request: one, another when it has doubts about a certificate, and one ahead of need."""
_LOCAL_SCHEMES = ("data:", "blob:", "about:")
_MEDIA_TYPES = frozenset({"Image", "Media", "Font", "TextTrack"})
_SKIPPED_TYPES = frozenset({"Ping", "CSPViolationReport", "Prefetch", "Manifest", "SignedExchange"})
_BLANK = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
"""An image of one invisible pixel."""


async def no_wait(_: str) -> None:
    """No pacing."""


async def allow_all(_: str) -> bool:
    """No rules."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserPolicy:
    """How the browser has to behave towards sites."""

    before: WaitForTurn = no_wait
    allow: MayRequest = allow_all
    credentials: Credentials = Credentials()
    pictures: bool = False
    """Whether images, films and fonts are loaded: the text of a page does not depend on them."""


class RequestAdmission:
    """Asks for each request once, whether it is shown to us in the browser or first seen as a connection at the proxy."""

    def __init__(self, manners: BrowserPolicy) -> None:
        self._manners = manners
        self._tickets: Counter[str] = Counter()

    async def request(self, url: str) -> bool:
        """For a canonical URL, from the browser."""
        if not await self._manners.allow(url):
            return False
        host = host_key(url)
        await self._manners.before(host)
        self._tickets[host] += CONNECTIONS_PER_REQUEST
        return True

    async def connection(self, url: str) -> bool:
        """At the proxy: what was asked for above needs no second leave."""
        host = host_key(url)
        if self._tickets[host] > 0:
            self._tickets[host] -= 1
            return True
        if not await self._manners.allow(url):
            return False
        await self._manners.before(host.removesuffix(":80"))  # A tunnel to port 80 is a WebSocket of the plain site.
        return True


class RequestDecision(Enum):
    """What happens to a request."""

    GO = "go"
    SKIP = "skip"
    """Not worth a request."""
    BLANK = "blank"
    """Answered with an empty image, so that nothing looks broken."""
    REFUSE = "refuse"
    STAY = "stay"
    """A way out of the page that is not taken: the page stays."""


class RequestFilter:
    """The requests of one page."""

    def __init__(self, manners: BrowserPolicy, entrance: RequestAdmission, frame: str, url: str) -> None:
        self._manners = manners
        self._entrance = entrance
        self._frame = frame
        self.page = url
        """The canonical URL that the main frame asked for last."""
        self._trusted = True
        self.navigations = 0
        self.requests = 0
        self.refused: dict[str, None] = {}

    async def judge(self, event: dict[str, Any]) -> RequestDecision:
        """Decide on a paused request; waits for its host's turn."""
        request = event["request"]
        asked: str = request["url"]
        kind = _kind(event["resourceType"], request["headers"])
        if asked.startswith(_LOCAL_SCHEMES):
            return RequestDecision.GO
        is_document = kind == "Document"
        is_page = is_document and event["frameId"] == self._frame
        if kind in _SKIPPED_TYPES or (kind in _MEDIA_TYPES and not self._manners.pictures):
            return RequestDecision.BLANK if kind == "Image" else RequestDecision.SKIP
        self.requests += 1
        self.navigations += is_page
        url = canonical(asked)
        if (
            url is None
            or self.requests > MAX_REQUESTS
            or self.navigations > MAX_NAVIGATIONS
            or (is_document and not is_page and not _same_site(url, self.page))
            or not await self._entrance.request(url)
        ):
            self.refused.setdefault(asked[:2_000])
            return RequestDecision.STAY if is_page and self.navigations > 1 else RequestDecision.REFUSE
        if is_page:
            self.page = url
            self._trusted = self._trusted and bool(self._manners.credentials.for_url(url))
        return RequestDecision.GO

    def secrets(self, event: dict[str, Any]) -> Headers:
        """What to add to a request that goes."""
        url = canonical(event["request"]["url"])
        if url is None or not self._trusted or event["frameId"] != self._frame:
            return ()
        return self._manners.credentials.for_url(url)


def blank_image(request: str) -> dict[str, Any]:
    """The answer to an image that is not loaded."""
    headers = {"Content-Type": "image/gif", "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
    fields = [{"name": name, "value": value} for name, value in headers.items()]
    return {"requestId": request, "responseCode": 200, "responseHeaders": fields, "body": _BLANK}


def _kind(said: str, headers: dict[str, str]) -> str:
    """The icon of a site, and what is loaded ahead of its time, are asked for as something else."""
    fields = {name.lower(): value for name, value in headers.items()}
    if "prefetch" in fields.get("sec-purpose", fields.get("purpose", "")):
        return "Prefetch"
    return "Image" if said == "Other" and fields.get("accept", "").startswith("image/") else said


def _same_site(url: str, page: str) -> bool:
    return split_url(url).scheme == split_url(page).scheme and domain_key(url) == domain_key(page)
