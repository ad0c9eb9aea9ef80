"""Safety of visitors: headers, mixed content, forms. Cookies are in `cookies`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.model.web import Link, LinkKind
from tadoru.parse.page import PageView

_define = partial(define, group="security")

HSTS = _define(
    "security-hsts-missing",
    Severity.NOTICE,
    en=(
        "HSTS header missing",
        "A first visit over http:// can be intercepted before it is redirected.",
        "Send Strict-Transport-Security with a max-age of a year.",
    ),
    ja=(
        "HSTSヘッダーがない",
        "http:// での最初のアクセスが、リダイレクト前に盗聴されるおそれがあります。",
        "max-age を1年とした Strict-Transport-Security を送ってください。",
    ),
)
HSTS_SHORT = _define(
    "security-hsts-short",
    Severity.INFO,
    en=("HSTS period is short", "Visitors who return after it are unprotected again.", "Raise max-age to a year (31536000)."),
    ja=("HSTSの期間が短い", "期間を過ぎてから再訪した人は保護されません。", "max-age を1年 (31536000) にしてください。"),
    threshold=Threshold(15_552_000, "seconds"),
)
CSP = _define(
    "security-csp-missing",
    Severity.INFO,
    en=(
        "Content-Security-Policy missing",
        "Nothing limits what an injected script could do.",
        "Send a Content-Security-Policy; begin with report-only.",
    ),
    ja=(
        "Content-Security-Policyがない",
        "注入されたスクリプトの動作を制限するものがありません。",
        "Content-Security-Policy を送ってください。まずは report-only から始められます。",
    ),
)
NOSNIFF = _define(
    "security-content-type-options-missing",
    Severity.INFO,
    en=(
        "X-Content-Type-Options missing",
        "Browsers may guess the type of a file and run what is none of a script.",
        "Send X-Content-Type-Options: nosniff.",
    ),
    ja=(
        "X-Content-Type-Optionsがない",
        "ブラウザーが種類を推測し、スクリプトでないものを実行するおそれがあります。",
        "X-Content-Type-Options: nosniff を送ってください。",
    ),
)
FRAMES = _define(
    "security-frame-options-missing",
    Severity.INFO,
    en=(
        "Framing is not limited",
        "Another site can put the page into an invisible frame and steal clicks.",
        "Send frame-ancestors in the Content-Security-Policy, or X-Frame-Options.",
    ),
    ja=(
        "フレームへの埋め込みが制限されていない",
        "他サイトが透明なフレームに埋め込み、クリックを盗むおそれがあります。",
        "Content-Security-Policy の frame-ancestors か X-Frame-Options を送ってください。",
    ),
)
REFERRER = _define(
    "security-referrer-policy-missing",
    Severity.INFO,
    en=(
        "Referrer-Policy missing",
        "How much of its URLs the site tells other sites is left to the browser.",
        "Send Referrer-Policy: strict-origin-when-cross-origin.",
    ),
    ja=(
        "Referrer-Policyがない",
        "他サイトへ伝わるURLの範囲がブラウザー任せになります。",
        "Referrer-Policy: strict-origin-when-cross-origin を送ってください。",
    ),
)
MIXED_ACTIVE = _define(
    "mixed-content-active",
    Severity.ERROR,
    en=(
        "Active mixed content",
        "Browsers refuse scripts, styles and frames over http:// on an encrypted page.",
        "Load them over https://.",
    ),
    ja=(
        "能動的な混在コンテンツ",
        "暗号化されたページでは、http:// のスクリプト・スタイル・フレームはブロックされます。",
        "https:// で読み込んでください。",
    ),
)
MIXED_PASSIVE = _define(
    "mixed-content-passive",
    Severity.WARNING,
    en=(
        "Passive mixed content",
        "Images and media over http:// make an encrypted page insecure, or are not shown.",
        "Load them over https://.",
    ),
    ja=(
        "受動的な混在コンテンツ",
        "http:// の画像やメディアは安全性を損ない、表示されないこともあります。",
        "https:// で読み込んでください。",
    ),
)
FORM_INSECURE = _define(
    "form-insecure-action",
    Severity.ERROR,
    en=(
        "Form is sent over HTTP",
        "What visitors type is sent unencrypted; browsers warn them.",
        "Send the form to an https:// URL.",
    ),
    ja=(
        "フォームの送信先がHTTP",
        "入力内容が暗号化されずに送信され、ブラウザーが警告します。",
        "https:// のURLに送信してください。",
    ),
)
FORM_ON_HTTP = _define(
    "form-on-http-page",
    Severity.WARNING,
    en=(
        "Form on an HTTP page",
        "Whoever can change the page on its way can change where the form is sent.",
        "Serve the page over HTTPS.",
    ),
    ja=(
        "HTTPページ上のフォーム",
        "通信途中でページを改ざんされ、送信先を変えられるおそれがあります。",
        "ページをHTTPSで配信してください。",
    ),
)
PASSWORD = _define(
    "password-on-http-page",
    Severity.ERROR,
    en=("Password field on an HTTP page", "Passwords typed here can be read by anyone on the way.", "Serve the page over HTTPS."),
    ja=(
        "HTTPページ上のパスワード欄",
        "入力されたパスワードが通信途中で読み取られるおそれがあります。",
        "ページをHTTPSで配信してください。",
    ),
)
PROTOCOL_RELATIVE = _define(
    "protocol-relative-resource",
    Severity.INFO,
    en=(
        "Protocol-relative resource",
        "Written as //host/…, it is loaded without encryption wherever the page is.",
        "Write https://.",
    ),
    ja=(
        "プロトコル相対のリソース",
        "//host/… の形では、ページがHTTPなら暗号化なしで読み込まれます。",
        "https:// と書いてください。",
    ),
)
VERSION = _define(
    "server-version-leaked",
    Severity.INFO,
    en=(
        "Server tells its version",
        "Attackers look for known holes by version.",
        "Turn the version off in the Server and X-Powered-By headers.",
    ),
    ja=(
        "サーバーのバージョンが露出",
        "攻撃者はバージョンから既知の脆弱性を探します。",
        "Server と X-Powered-By ヘッダーのバージョン表示を無効にしてください。",
    ),
)

_VERSION = re.compile(r"(?<![\w.-])(?>[\w.-]*?[a-z])[\w.-]*+/\d|\bPHP/?\d|ASP\.NET(?:\s|$)|^\d+(?:\.\d+)+$", re.IGNORECASE)
_MAX_AGE = re.compile(r"max-age\s*=\s*\"?(\d+)", re.IGNORECASE)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    yield from _headers(context, page)
    if page.url.startswith("https:"):
        yield from _encrypted(context, page)
    else:
        if any(form.method == "post" for form in page.forms):
            yield FORM_ON_HTTP.on(page.url)
        if page.has_password_field:
            yield PASSWORD.on(page.url)
    if page.protocol_relative:
        yield PROTOCOL_RELATIVE.among(page.url, page.protocol_relative)


def _headers(context: PageContext, page: PageView) -> Iterator[Finding]:
    headers = context.headers
    policy = headers.get("content-security-policy", "").lower()
    if not policy and not page.csp:
        yield CSP.on(page.url)
    if headers.get("x-content-type-options", "").strip().lower() != "nosniff":
        yield NOSNIFF.on(page.url, headers.get("x-content-type-options", ""))
    if "frame-ancestors" not in policy and "x-frame-options" not in headers:
        yield FRAMES.on(page.url)
    if "referrer-policy" not in headers and not page.referrer:
        yield REFERRER.on(page.url)
    said = [f"{name}: {headers[name]}" for name in ("server", "x-powered-by", "x-aspnet-version") if name in headers]
    if leaked := [text for text in said if _VERSION.search(text.partition(": ")[2])]:
        yield VERSION.among(page.url, leaked)


def _encrypted(context: PageContext, page: PageView) -> Iterator[Finding]:
    """What matters on a page that came over HTTPS."""
    hsts = context.headers.get("strict-transport-security")
    if hsts is None:
        yield HSTS.on(page.url)
    else:
        stated = _MAX_AGE.search(hsts)
        if (age := int(stated[1][:12]) if stated else 0) < (limit := context.limits[HSTS_SHORT]):
            yield HSTS_SHORT.on(page.url, hsts, seconds=age, limit=limit)
    running = [
        *context.links[LinkKind.SCRIPT],
        *context.links[LinkKind.FRAME],
        *filter(_is_stylesheet, context.links[LinkKind.LINK]),
    ]
    if active := [link.url for link in running if link.url.startswith("http:")]:
        yield MIXED_ACTIVE.among(page.url, active)
    shown = (*context.links[LinkKind.IMAGE], *context.links[LinkKind.MEDIA])
    if passive := [link.url for link in shown if link.url.startswith("http:")]:
        yield MIXED_PASSIVE.among(page.url, passive)
    if insecure := [form.action for form in page.forms if form.action.startswith("http:")]:
        yield FORM_INSECURE.among(page.url, insecure)


def _is_stylesheet(link: Link) -> bool:
    return not {"stylesheet", "manifest", "modulepreload"}.isdisjoint(link.rel.split())


GROUP = CheckGroup(
    (
        HSTS,
        HSTS_SHORT,
        CSP,
        NOSNIFF,
        FRAMES,
        REFERRER,
        MIXED_ACTIVE,
        MIXED_PASSIVE,
        FORM_INSECURE,
        FORM_ON_HTTP,
        PASSWORD,
        PROTOCOL_RELATIVE,
        VERSION,
    ),
    run,
)
