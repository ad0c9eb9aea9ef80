"""How long a page lets its visitors wait, as far as one request shows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.model.web import LinkKind, Response

_define = partial(define, group="performance")

TTFB = _define(
    "ttfb-slow",
    Severity.WARNING,
    en=(
        "Slow server",
        "Nothing can be shown before the first byte has arrived.",
        "Cache the page, or make it faster to produce.",
    ),
    ja=(
        "サーバーの応答が遅い",
        "最初の1バイトが届くまで何も表示できません。",
        "ページをキャッシュするか、生成を速くしてください。",
    ),
    threshold=Threshold(0.8, "seconds"),
)
LARGE = _define(
    "html-too-large",
    Severity.NOTICE,
    en=(
        "Large HTML",
        "A document of this size is slow to load and to show, above all on phones.",
        "Divide the page, or move inline data into files.",
    ),
    ja=(
        "HTMLが大きい",
        "この大きさでは、特にスマートフォンで読み込みと表示が遅くなります。",
        "ページを分けるか、埋め込みデータを別ファイルにしてください。",
    ),
    threshold=Threshold(1_000_000, "bytes"),
)
UNCOMPRESSED = _define(
    "text-uncompressed",
    Severity.NOTICE,
    en=(
        "Text is not compressed",
        "Compressed, HTML is a quarter of its size or less.",
        "Turn on gzip, brotli or zstd in the server.",
    ),
    ja=(
        "テキストが圧縮されていない",
        "圧縮すればHTMLは4分の1以下になります。",
        "サーバーで gzip、brotli、zstd のいずれかを有効にしてください。",
    ),
    threshold=Threshold(1_400, "bytes"),
)
RESOURCES = _define(
    "resources-too-many",
    Severity.INFO,
    en=(
        "Many scripts and styles",
        "Each file is a request before the page is complete.",
        "Join them, or remove what is not used.",
    ),
    ja=(
        "スクリプトとスタイルが多い",
        "ファイルごとに要求が発生し、表示の完了が遅れます。",
        "まとめるか、使っていないものを削除してください。",
    ),
    threshold=Threshold(50, "files"),
)
BLOCKING = _define(
    "scripts-render-blocking",
    Severity.INFO,
    en=(
        "Render-blocking scripts",
        "Scripts in the head without async or defer hold back everything after them.",
        "Add defer, or async.",
    ),
    ja=(
        "描画を妨げるスクリプト",
        "async や defer のない head 内のスクリプトは、後続の表示をすべて待たせます。",
        "defer か async を付けてください。",
    ),
    threshold=Threshold(2, "scripts"),
)
NO_CACHING = _define(
    "caching-headers-missing",
    Severity.INFO,
    en=(
        "No caching headers",
        "Without a validator or a lifetime browsers load the page again on every visit.",
        "Send Cache-Control, and ETag or Last-Modified.",
    ),
    ja=(
        "キャッシュ用ヘッダーがない",
        "検証子も有効期間もないため、訪問のたびに再読み込みされます。",
        "Cache-Control と、ETag か Last-Modified を送ってください。",
    ),
)
INLINE = _define(
    "inline-code-too-large",
    Severity.NOTICE,
    en=(
        "Much inline code",
        "Inline scripts, styles and images are sent anew with every page and can not be cached.",
        "Move them into files.",
    ),
    ja=(
        "インラインコードが多い",
        "インラインのスクリプト・スタイル・画像はページごとに再送され、キャッシュできません。",
        "別ファイルに移してください。",
    ),
    threshold=Threshold(100_000, "characters"),
)
DOM = _define(
    "dom-too-large",
    Severity.INFO,
    en=(
        "Very many elements",
        "Layout and scripts slow down with every element.",
        "Divide the page, or load parts of it on demand.",
    ),
    ja=(
        "要素が非常に多い",
        "要素が増えるほど、表示もスクリプトも遅くなります。",
        "ページを分けるか、一部を必要時に読み込んでください。",
    ),
    threshold=Threshold(10_000, "elements"),
)

_VALIDATORS = ("cache-control", "expires", "etag", "last-modified")


def run(context: PageContext) -> Iterator[Finding]:
    page, response, limits = context.document, context.response, context.limits
    if page is None or response is None:
        return
    yield from _answer(context, response)
    if page.size > (limit := limits[LARGE]):
        yield LARGE.on(page.url, size=page.size, limit=limit)
    if len(page.blocking_scripts) > limits[BLOCKING]:
        yield BLOCKING.among(page.url, page.blocking_scripts)
    if (inline := page.inline_script_bytes + page.inline_style_bytes + page.data_uri_bytes) > (limit := limits[INLINE]):
        yield INLINE.on(page.url, characters=inline, limit=limit)
    if page.elements > (limit := limits[DOM]):
        yield DOM.on(page.url, count=page.elements, limit=limit)
    if (count := _resources(context)) > (limit := limits[RESOURCES]):
        yield RESOURCES.on(page.url, count=count, limit=limit)


def _answer(context: PageContext, response: Response) -> Iterator[Finding]:
    limits, headers = context.limits, context.headers
    ttfb = response.timings.ttfb
    if ttfb is not None and ttfb > (limit := limits[TTFB]):
        yield TTFB.on(context.url, f"{ttfb:.2f} s", seconds=round(ttfb, 3), limit=limit)
    if len(response.body) > (limit := limits[UNCOMPRESSED]) and headers.get("content-encoding", "identity") == "identity":
        yield UNCOMPRESSED.on(context.url, size=len(response.body), limit=limit)
    if not any(name in headers for name in _VALIDATORS):
        yield NO_CACHING.on(context.url)


def _resources(context: PageContext) -> int:
    styles = {link.url for link in context.links[LinkKind.LINK] if "stylesheet" in link.rel}
    return len({link.url for link in context.links[LinkKind.SCRIPT]} | styles)


GROUP = CheckGroup((TTFB, LARGE, UNCOMPRESSED, RESOURCES, BLOCKING, NO_CACHING, INLINE, DOM), run)
