"""Checks of responses: errors, denied access, no response, blocked by robots.txt."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding
from tadoru.model.web import FailureKind

_define = CheckDefinitions("responses")

CLIENT_ERROR = _define.error(
    "response-client-error",
    title=N_("Client error (4xx)"),
    why=N_("Visitors and search engines that follow a link to this URL reach an error."),
    fix=N_("Restore the page, redirect its URL to the best replacement, or remove the links to it."),
)
SERVER_ERROR = _define.error(
    "response-server-error",
    title=N_("Server error (5xx)"),
    why=N_("Search engines crawl a failing site less often and drop pages that keep failing."),
    fix=N_("Find the cause in the server logs."),
)
FORBIDDEN = _define.warning(
    "response-forbidden",
    title=N_("Access denied (401, 403, 429)"),
    why=N_("The server denied the request. Search engines may be denied as well."),
    fix=N_("Link only to public pages, or allow crawlers."),
)
NO_RESPONSE = _define.error(
    "response-missing",
    title=N_("No response"),
    why=N_("The server could not be reached, or its response could not be read."),
    fix=N_("Check the host name, the certificate and the server, then crawl again."),
)
BLOCKED = _define.notice(
    "response-blocked-by-robots",
    title=N_("Blocked by robots.txt"),
    why=N_("Crawlers that respect robots.txt see neither the page nor its links."),
    fix=N_("Remove the rule if the page should be indexed. Otherwise, no action is needed."),
)
NO_CONTENT_TYPE = _define.warning(
    "response-content-type-missing",
    title=N_("Missing Content-Type header"),
    why=N_("Browsers have to guess the type of the content."),
    fix=N_("Send a Content-Type header, such as text/html; charset=utf-8."),
)

_REFUSED = frozenset({401, 403, 429, 451, 999})
_REDIRECTION = frozenset({FailureKind.BAD_REDIRECT, FailureKind.REDIRECT_LOOP, FailureKind.TOO_MANY_REDIRECTS})


def run(context: PageContext) -> Iterator[Finding]:
    if context.robots_rule is not None:
        yield BLOCKED.on(context.url, context.robots_rule)
    if (failure := context.failure) is not None and failure.kind not in _REDIRECTION:
        yield NO_RESPONSE.on(context.url, failure.kind.value, message=failure.message)
    response = context.response
    if response is None:
        return
    if response.status in _REFUSED:
        yield FORBIDDEN.on(context.url, str(response.status))
    elif 400 <= response.status < 500:
        yield CLIENT_ERROR.on(context.url, str(response.status))
    elif response.status >= 500:
        yield SERVER_ERROR.on(context.url, str(response.status))
    elif response.status == 200 and response.body and not response.media_type:
        yield NO_CONTENT_TYPE.on(context.url)


GROUP = CheckGroup(_define.checks, run)
