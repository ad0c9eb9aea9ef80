"""Checks of a single redirect. Chains and loops are checked in `site_checks.redirects`."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Check, Finding
from tadoru.model.web import FailureKind
from tadoru.rules.url import canonical

_define = CheckDefinitions("redirects")

TEMPORARY = _define.notice(
    "redirect-temporary",
    title=N_("Temporary redirect"),
    why=N_("Search engines may keep the old URL for a long time."),
    fix=N_("Use status 301 or 308 if the move is permanent."),
)
TO_HTTP = _define.error(
    "redirect-to-http",
    title=N_("Redirect from HTTPS to HTTP"),
    why=N_("Visitors lose encryption, and the page can be read or modified in transit."),
    fix=N_("Redirect to the https:// URL."),
)
META_REFRESH = _define.warning(
    "redirect-meta-refresh",
    title=N_("Meta refresh redirect"),
    why=N_("It is slow, breaks the back button, and may not be treated as a redirect by search engines."),
    fix=N_("Use an HTTP redirect instead."),
)
REFRESH_HEADER = _define.warning(
    "redirect-refresh-header",
    title=N_("Refresh header redirect"),
    why=N_("The Refresh header is not a standard redirect, and some clients ignore it."),
    fix=N_("Return status 301 or 308 with a Location header."),
)
BROKEN = _define.error(
    "redirect-broken",
    title=N_("Redirect without target"),
    why=N_("The server redirects but does not send a valid target URL."),
    fix=N_("Send a Location header with a valid URL."),
)
TOO_MANY = _define.error(
    "redirect-chain-too-long",
    title=N_("Too many redirects"),
    why=N_("Browsers and search engines stop following a chain of this length."),
    fix=N_("Redirect directly to the final URL."),
)

_FAILURES: dict[FailureKind, Check] = {
    FailureKind.BAD_REDIRECT: BROKEN,
    FailureKind.TOO_MANY_REDIRECTS: TOO_MANY,
}


def run(context: PageContext) -> Iterator[Finding]:
    if (failure := context.failure) is not None and (check := _FAILURES.get(failure.kind)) is not None:
        yield check.on(context.url, failure.message)
    response = context.response
    if response is None:
        return
    if response.is_redirect:
        location = context.headers.get("location", "")
        if response.status in (302, 303, 307):
            yield TEMPORARY.on(context.url, location, status=response.status)
        target = canonical(location, context.url)
        if context.url.startswith("https:") and (target or "").startswith("http:"):
            yield TO_HTTP.on(context.url, location)
        return
    if context.page is not None and context.page.head.refresh_url is not None and context.is_refreshed:
        yield META_REFRESH.on(context.url, context.page.head.refresh or "")
    if "url=" in context.headers.get("refresh", "").lower():
        yield REFRESH_HEADER.on(context.url, context.headers["refresh"])


GROUP = CheckGroup(_define.checks, run)
