"""Redirects, as one page shows them. Chains across pages are a matter of the whole site."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Check, Finding, Severity, define
from tadoru.model.web import FailureKind
from tadoru.rules.url import canonical

_define = partial(define, group="redirects")

TEMPORARY = _define(
    "redirect-temporary",
    Severity.NOTICE,
    en=(
        "Temporary redirect",
        "Search engines may keep the old URL for a long time after a temporary redirect.",
        "Use 301 or 308 when the move is permanent.",
    ),
    ja=(
        "一時的なリダイレクト",
        "一時的なリダイレクトでは、検索エンジンが古いURLを長く保持することがあります。",
        "恒久的な移動なら 301 か 308 を使ってください。",
    ),
)
TO_HTTP = _define(
    "redirect-to-http",
    Severity.ERROR,
    en=(
        "Redirect from HTTPS to HTTP",
        "Visitors lose the encryption, and anyone on the way can read or change the page.",
        "Redirect to the https:// URL.",
    ),
    ja=(
        "HTTPSからHTTPへのリダイレクト",
        "暗号化が失われ、通信の途中で内容を読まれたり改ざんされたりします。",
        "https:// のURLへリダイレクトしてください。",
    ),
)
META_REFRESH = _define(
    "redirect-meta-refresh",
    Severity.WARNING,
    en=(
        "Meta refresh redirect",
        "It is slow, it breaks the back button, and search engines may not treat it as a redirect.",
        "Answer with an HTTP redirect instead.",
    ),
    ja=(
        "meta refreshによるリダイレクト",
        "遅く、「戻る」操作を妨げ、検索エンジンがリダイレクトとして扱わないことがあります。",
        "HTTPのリダイレクトに置き換えてください。",
    ),
)
REFRESH_HEADER = _define(
    "redirect-refresh-header",
    Severity.WARNING,
    en=(
        "Redirect by Refresh header",
        "The Refresh header is not a standard redirect, and not every client follows it.",
        "Answer with status 301 or 308 and a Location header.",
    ),
    ja=(
        "Refreshヘッダーによるリダイレクト",
        "Refreshヘッダーは標準のリダイレクトではなく、従わないクライアントもあります。",
        "ステータス 301 か 308 と Location ヘッダーで応答してください。",
    ),
)
BROKEN = _define(
    "redirect-broken",
    Severity.ERROR,
    en=(
        "Redirect without a target",
        "The server says the page has moved but not to where.",
        "Send a Location header with a valid URL.",
    ),
    ja=(
        "行き先のないリダイレクト",
        "移動したと応答しながら、有効な行き先が示されていません。",
        "有効なURLを Location ヘッダーで送ってください。",
    ),
)
TOO_MANY = _define(
    "redirect-chain-too-long",
    Severity.ERROR,
    en=("Too many redirects", "Browsers and search engines give up on chains this long.", "Redirect straight to the final URL."),
    ja=(
        "リダイレクトが多すぎる",
        "これほど長い連鎖では、ブラウザーも検索エンジンも途中であきらめます。",
        "最終的なURLへ直接リダイレクトしてください。",
    ),
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
    if context.page is not None and context.is_refreshed:
        yield META_REFRESH.on(context.url, context.page.head.refresh or "")
    if "url=" in context.headers.get("refresh", "").lower():
        yield REFRESH_HEADER.on(context.url, context.headers["refresh"])


GROUP = CheckGroup((TEMPORARY, TO_HTTP, META_REFRESH, REFRESH_HEADER, BROKEN, TOO_MANY), run)
