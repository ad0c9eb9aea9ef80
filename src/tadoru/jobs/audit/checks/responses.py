"""Answers that are no page: errors, refusals, silence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.model.web import FailureKind

_define = partial(define, group="responses")

CLIENT_ERROR = _define(
    "response-client-error",
    Severity.ERROR,
    title=N_("Client error (4xx)"),
    why=N_("Visitors and search engines that follow a link to this URL find nothing."),
    fix=N_("Restore the page, redirect its URL to the best replacement, or remove the links to it."),
)
SERVER_ERROR = _define(
    "response-server-error",
    Severity.ERROR,
    title=N_("Server error (5xx)"),
    why=N_("The server failed to answer. Search engines slow down and then drop pages that keep failing."),
    fix=N_("Look for the cause in the server's logs."),
)
FORBIDDEN = _define(
    "response-forbidden",
    Severity.WARNING,
    title=N_("Access refused (401, 403, 429)"),
    why=N_("The server refused this request. A search engine is likely to be refused as well."),
    fix=N_("Link only to public pages, or let crawlers in."),
)
NO_RESPONSE = _define(
    "response-missing",
    Severity.ERROR,
    title=N_("No response"),
    why=N_("The server could not be reached, or its answer could not be read."),
    fix=N_("Check the name, the certificate and the server, then crawl again."),
)
BLOCKED = _define(
    "response-blocked-by-robots",
    Severity.NOTICE,
    title=N_("Blocked by robots.txt"),
    why=N_("Crawlers that obey robots.txt do not see this page, nor the links on it."),
    fix=N_("Remove the rule when the page should be found; otherwise nothing is wrong."),
)
NO_CONTENT_TYPE = _define(
    "response-content-type-missing",
    Severity.WARNING,
    title=N_("Content-Type missing"),
    why=N_("Without a media type browsers have to guess what the answer is."),
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


GROUP = CheckGroup((CLIENT_ERROR, SERVER_ERROR, FORBIDDEN, NO_RESPONSE, BLOCKED, NO_CONTENT_TYPE), run)
