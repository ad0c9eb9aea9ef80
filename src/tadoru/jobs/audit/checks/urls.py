"""The form of URLs. Most of these cost a little each; a URL that works is rarely worth changing for one of them alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.rules.url import is_session_name, is_tracking_name, origin, parts

_define = partial(define, group="urls")

NON_ASCII = _define(
    "url-non-ascii",
    Severity.INFO,
    en=(
        "Non-ASCII characters in URL",
        "Copied elsewhere, such a URL turns into a long row of percent signs.",
        "Where it is easy, use plain letters in new URLs.",
    ),
    ja=(
        "URLに非ASCII文字",
        "コピーすると長いパーセント表記になり、読みにくくなります。",
        "新しいURLでは、可能なら英数字を使ってください。",
    ),
)
UNDERSCORES = _define(
    "url-underscores",
    Severity.INFO,
    en=(
        "Underscores in URL",
        "Search engines read a hyphen between words as a space, an underscore not always.",
        "Separate words with hyphens in new URLs; leave old ones as they are.",
    ),
    ja=(
        "URLにアンダースコア",
        "検索エンジンはハイフンを語の区切りと見なしますが、アンダースコアはそうとは限りません。",
        "新しいURLではハイフンで区切り、既存のURLはそのままにしてください。",
    ),
)
UPPERCASE = _define(
    "url-uppercase",
    Severity.INFO,
    en=(
        "Uppercase letters in URL",
        "Paths are case-sensitive: the same page in two spellings is two pages.",
        "Use lower case in new URLs.",
    ),
    ja=(
        "URLに大文字",
        "パスは大文字と小文字を区別するため、表記が違えば別のページになります。",
        "新しいURLでは小文字を使ってください。",
    ),
)
MULTIPLE_SLASHES = _define(
    "url-multiple-slashes",
    Severity.WARNING,
    en=(
        "Multiple slashes in URL",
        "Usually made by joining paths wrongly; the page exists under two URLs.",
        "Mend the links that write //.",
    ),
    ja=(
        "URLにスラッシュの重複",
        "多くはパスの連結ミスで、同じページが二つのURLで存在することになります。",
        "// を含むリンクを修正してください。",
    ),
)
REPETITIVE = _define(
    "url-repetitive-path",
    Severity.WARNING,
    en=(
        "Repetitive path",
        "A path segment follows itself again and again, or leads to one that does: a relative link adds to the path for ever.",
        "Look for relative links without a leading slash on the linking pages.",
    ),
    ja=(
        "パスの繰り返し",
        "同じ区間が何度も連続するか、そのようなパスへリンクしています。相対リンクの誤りで無限に伸びるパスです。",
        "リンク元のページで、先頭のスラッシュが抜けた相対リンクを探してください。",
    ),
)
SPACE = _define(
    "url-space",
    Severity.NOTICE,
    en=("Space in URL", "Spaces must be written as %20, and get lost when a URL is copied or sent.", "Use hyphens instead."),
    ja=("URLに空白", "空白は %20 と書く必要があり、コピーや送信で壊れやすくなります。", "ハイフンに置き換えてください。"),
)
PARAMETERS = _define(
    "url-parameters-many",
    Severity.INFO,
    en=(
        "Many parameters in URL",
        "Combinations of parameters multiply the URLs a search engine has to read.",
        "Keep parameters that change the page, and name one canonical URL.",
    ),
    ja=(
        "パラメーターの多いURL",
        "パラメーターの組み合わせにより、検索エンジンが読むURLが際限なく増えます。",
        "内容を変えるものだけを残し、正規URLを一つ示してください。",
    ),
    threshold=Threshold(3, "parameters"),
)
TRACKING = _define(
    "url-tracking-parameters",
    Severity.WARNING,
    en=(
        "Tracking parameters in internal URL",
        "They split one page into many URLs, and overwrite where a visit came from.",
        "Link to the URL without them.",
    ),
    ja=(
        "内部URLに計測用パラメーター",
        "一つのページが複数のURLに分かれ、訪問の流入元も上書きされます。",
        "パラメーターのないURLにリンクしてください。",
    ),
)
SESSION = _define(
    "url-session-id",
    Severity.WARNING,
    en=(
        "Session id in URL",
        "Every visit makes new URLs for the same page, and a shared link may share the session.",
        "Keep sessions in cookies.",
    ),
    ja=(
        "URLにセッションID",
        "訪問のたびに新しいURLが生まれ、リンクの共有でセッションが漏れるおそれもあります。",
        "セッションはCookieで管理してください。",
    ),
)
TOO_LONG = _define(
    "url-too-long",
    Severity.INFO,
    en=(
        "URL too long",
        "Long URLs are cut off in results and messages, and are hard to share.",
        "Shorten the path where you can.",
    ),
    ja=("URLが長すぎる", "長いURLは検索結果やメッセージで省略され、共有しにくくなります。", "可能ならパスを短くしてください。"),
    threshold=Threshold(115, "characters"),
)
SEARCH = _define(
    "url-internal-search",
    Severity.NOTICE,
    en=(
        "Internal search result can be indexed",
        "Search results of a site are endless and of little use in a search engine.",
        "Add noindex to search results, or disallow them in robots.txt.",
    ),
    ja=(
        "索引可能なサイト内検索結果",
        "サイト内検索の結果は際限がなく、検索エンジンでは役に立ちません。",
        "検索結果に noindex を付けるか、robots.txt で除外してください。",
    ),
)
ENCODED_TWICE = _define(
    "url-encoded-twice",
    Severity.WARNING,
    en=(
        "URL encoded twice",
        "A percent sign was itself escaped (%25…): the link was encoded once too often.",
        "Encode the link once.",
    ),
    ja=(
        "URLの二重エンコード",
        "パーセント記号自体がエスケープされています (%25…)。リンクが二度エンコードされています。",
        "エンコードを一度だけにしてください。",
    ),
)
HTTP = _define(
    "url-http",
    Severity.WARNING,
    en=(
        "Page served over HTTP",
        "Without encryption anyone on the way can read or change the page, and browsers say “not secure”.",
        "Serve the page over HTTPS and redirect the http:// URL to it.",
    ),
    ja=(
        "HTTPで配信されるページ",
        "暗号化がないため途中で読まれたり改ざんされたりし、ブラウザーは「保護されていない通信」と表示します。",
        "HTTPSで配信し、http:// のURLからリダイレクトしてください。",
    ),
)

_ESCAPE = re.compile(r"%[0-9A-F]{2}")
_NON_ASCII_ESCAPE = re.compile(r"%[89A-F][0-9A-F]")
_TWICE = re.compile(r"%25[0-9A-Fa-f]{2}")
_SEARCH_NAMES = frozenset({"q", "s", "query", "search", "keyword", "keywords"})


def run(context: PageContext) -> Iterator[Finding]:
    response = context.response
    # An address that is only passed through, or leads nowhere, is judged as such.
    if response is None or not 200 <= response.status < 300:
        return
    url = context.url
    scheme, _, _, path, query = parts(url)
    names = [pair.partition("=")[0] for pair in query.split("&")] if query else []
    yield from _path(url, path)
    if repeated := _repeated(context, path):
        yield REPETITIVE.on(url, repeated)
    if len(names) > (limit := context.limits[PARAMETERS]):
        yield PARAMETERS.on(url, query, count=len(names), limit=limit)
    if tracking := [name for name in names if is_tracking_name(name)]:
        yield TRACKING.among(url, tracking)
    if (session := [name for name in names if is_session_name(name)]) or ";jsessionid=" in path.lower():
        yield SESSION.among(url, session or ["jsessionid"])
    if len(url) > (limit := context.limits[TOO_LONG]):
        yield TOO_LONG.on(url, url, length=len(url), limit=limit)
    is_search = "search" in path.lower() or path in ("/", "/index.php")
    if is_search and not _SEARCH_NAMES.isdisjoint(names) and context.is_indexable:
        yield SEARCH.on(url, query)
    if scheme == "http":
        yield HTTP.on(url)


def _path(url: str, path: str) -> Iterator[Finding]:
    if "%" in path:
        if _NON_ASCII_ESCAPE.search(path):
            yield NON_ASCII.on(url, path)
        if "%20" in path:
            yield SPACE.on(url, path)
        if _TWICE.search(path):
            yield ENCODED_TWICE.on(url, path)
    if "_" in path:
        yield UNDERSCORES.on(url, path)
    letters = _ESCAPE.sub("", path) if "%" in path else path
    if letters != letters.lower():
        yield UPPERCASE.on(url, path)
    if "//" in path:
        yield MULTIPLE_SLASHES.on(url, path)


def _repeated(context: PageContext, path: str) -> str | None:
    """The segment that a path repeats for ever: three times in a row, or twice on a page that links to it once more.

    Twice alone is a name within a thing of that name, as the module `alloc` of the library `alloc`.
    """
    segments = path.strip("/").split("/")
    for at, (one, other) in enumerate(pairwise(segments)):
        if not one or one != other or one.isdigit():
            continue
        if segments[at + 2 : at + 3] == [one]:
            return one
        once_more = "/".join((origin(context.url), *segments[: at + 2], one, ""))
        if context.page is not None and any(link.url.startswith(once_more) for link in context.page.links):
            return one
    return None


GROUP = CheckGroup(
    (
        NON_ASCII,
        UNDERSCORES,
        UPPERCASE,
        MULTIPLE_SLASHES,
        REPETITIVE,
        SPACE,
        PARAMETERS,
        TRACKING,
        SESSION,
        TOO_LONG,
        SEARCH,
        ENCODED_TWICE,
        HTTP,
    ),
    run,
)
