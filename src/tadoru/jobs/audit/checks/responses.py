"""Answers that are no page: errors, refusals, silence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.model.web import FailureKind

_define = partial(define, group="responses")

CLIENT_ERROR = _define(
    "response-client-error",
    Severity.ERROR,
    en=(
        "Client error (4xx)",
        "Visitors and search engines that follow a link to this URL find nothing.",
        "Restore the page, redirect its URL to the best replacement, or remove the links to it.",
    ),
    ja=(
        "クライアントエラー (4xx)",
        "リンクをたどった訪問者も検索エンジンも、ここで何も見つけられません。",
        "ページを復元するか、代わりのページへリダイレクトするか、リンクを削除してください。",
    ),
)
SERVER_ERROR = _define(
    "response-server-error",
    Severity.ERROR,
    en=(
        "Server error (5xx)",
        "The server failed to answer. Search engines slow down and then drop pages that keep failing.",
        "Look for the cause in the server's logs.",
    ),
    ja=(
        "サーバーエラー (5xx)",
        "サーバーが応答に失敗しました。失敗が続くと、検索エンジンは巡回を減らし、やがて索引から外します。",
        "サーバーのログで原因を調べてください。",
    ),
)
FORBIDDEN = _define(
    "response-forbidden",
    Severity.WARNING,
    en=(
        "Access refused (401, 403, 429)",
        "The server refused this request. A search engine is likely to be refused as well.",
        "Link only to public pages, or let crawlers in.",
    ),
    ja=(
        "アクセス拒否 (401・403・429)",
        "サーバーが要求を拒否しました。検索エンジンも拒否されるおそれがあります。",
        "公開ページだけにリンクするか、クローラーのアクセスを許可してください。",
    ),
)
NO_RESPONSE = _define(
    "response-missing",
    Severity.ERROR,
    en=(
        "No response",
        "The server could not be reached, or its answer could not be read.",
        "Check the name, the certificate and the server, then crawl again.",
    ),
    ja=(
        "応答なし",
        "サーバーに接続できないか、応答を読み取れませんでした。",
        "ホスト名、証明書、サーバーを確認し、再度クロールしてください。",
    ),
)
BLOCKED = _define(
    "response-blocked-by-robots",
    Severity.NOTICE,
    en=(
        "Blocked by robots.txt",
        "Crawlers that obey robots.txt do not see this page, nor the links on it.",
        "Remove the rule when the page should be found; otherwise nothing is wrong.",
    ),
    ja=(
        "robots.txtによるブロック",
        "robots.txtに従うクローラーは、このページもページ内のリンクも見ません。",
        "検索されるべきページなら該当の規則を削除してください。意図どおりなら対応は不要です。",
    ),
)
NO_CONTENT_TYPE = _define(
    "response-content-type-missing",
    Severity.WARNING,
    en=(
        "Content-Type missing",
        "Without a media type browsers have to guess what the answer is.",
        "Send a Content-Type header, such as text/html; charset=utf-8.",
    ),
    ja=(
        "Content-Typeがない",
        "メディアタイプがないと、ブラウザーは内容の種類を推測するしかありません。",
        "text/html; charset=utf-8 のような Content-Type ヘッダーを送ってください。",
    ),
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
