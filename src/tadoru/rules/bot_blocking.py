"""Which responses mean that a server blocks crawlers, although their status says something else.

Statuses that speak for themselves (401, 403, 429, 451, 999) are not decided here: they count as blocked wherever they come from.
"""

from __future__ import annotations

from tadoru.model.web import Response
from tadoru.rules.url import split_url

_CHALLENGES = (
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "", "AWS WAF"),
    ("x-datadome", "", "DataDome"),
    ("x-px-block", "", "HUMAN"),
)
"""Header fields of challenges, what their values contain, and who sends them."""

_BLOCKING_STATUSES = frozenset({400, 405, 406, 418, 420, 500, 503})
"""Statuses that some sites answer crawlers with. A page that does not exist (404, 410) is broken also there."""

_BLOCKING_SITES = frozenset(
    {
        "amazon.com", "facebook.com", "instagram.com", "linkedin.com", "medium.com", "pinterest.com", "quora.com", "reddit.com",
        "researchgate.net", "threads.net", "tiktok.com", "twitter.com", "x.com", "yelp.com",
    }
)  # fmt: skip
"""Sites that are known to answer every crawler with an error."""


def bot_blocker(response: Response) -> str | None:
    """The name of the service or site that blocks crawlers with this response; None if it does not."""
    if response.status < 400 or response.status in (404, 410):
        return None
    for field, part, name in _CHALLENGES:
        value = response.header(field)
        if value is not None and part in value.lower():
            return name
    return _blocking_site(split_url(response.url).host) if response.status in _BLOCKING_STATUSES else None


def describe_bot_block(status: int, blocker: str) -> str:
    """The message of such a response."""
    return f"Answered {status}: {blocker} blocks crawlers."


def _blocking_site(host: str) -> str | None:
    """The site of a host, without its subdomain."""
    site = ".".join(host.split(".")[-2:])
    return site if site in _BLOCKING_SITES else None
