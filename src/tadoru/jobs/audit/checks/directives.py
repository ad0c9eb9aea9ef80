"""Robots directives, of the page and of `X-Robots-Tag`: most are meant, so most are told for information only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Check, Finding, Severity, define

_define = partial(define, group="directives")

NOINDEX = _define(
    "directive-noindex",
    Severity.NOTICE,
    en=("noindex", "The page is kept out of search results.", "Nothing, if that is meant; otherwise remove the directive."),
    ja=(
        "noindex",
        "このページは検索結果に表示されません。",
        "意図どおりなら対応は不要です。そうでなければ指定を外してください。",
    ),
)
NOFOLLOW = _define(
    "directive-nofollow",
    Severity.NOTICE,
    en=(
        "nofollow",
        "Search engines do not follow the links on the page.",
        "Remove the directive unless all links on the page are untrusted.",
    ),
    ja=(
        "nofollow",
        "検索エンジンはこのページのリンクをたどりません。",
        "すべてのリンクが信頼できない場合を除き、指定を外してください。",
    ),
)
NONE = _define(
    "directive-none",
    Severity.NOTICE,
    en=(
        "none (noindex and nofollow)",
        "The page is kept out of search results, and its links are not followed.",
        "Nothing, if that is meant; otherwise remove the directive.",
    ),
    ja=(
        "none (noindexかつnofollow)",
        "検索結果に表示されず、リンクもたどられません。",
        "意図どおりなら対応は不要です。そうでなければ指定を外してください。",
    ),
)
NOARCHIVE = _define(
    "directive-noarchive",
    Severity.INFO,
    en=("noarchive", "Search engines show no stored copy of the page.", "Nothing, if that is meant."),
    ja=("noarchive", "検索エンジンはキャッシュされたコピーを表示しません。", "意図どおりなら対応は不要です。"),
)
NOSNIPPET = _define(
    "directive-nosnippet",
    Severity.NOTICE,
    en=(
        "nosnippet",
        "Search results show no text under the title, which costs clicks.",
        "Remove the directive, or use max-snippet.",
    ),
    ja=(
        "nosnippet",
        "検索結果のタイトル下に説明が表示されず、クリックが減ります。",
        "指定を外すか、max-snippet を使ってください。",
    ),
)
NOIMAGEINDEX = _define(
    "directive-noimageindex",
    Severity.INFO,
    en=("noimageindex", "Images on the page are kept out of image search.", "Nothing, if that is meant."),
    ja=("noimageindex", "このページの画像は画像検索に表示されません。", "意図どおりなら対応は不要です。"),
)
NOTRANSLATE = _define(
    "directive-notranslate",
    Severity.INFO,
    en=("notranslate", "Search engines offer no translation of the page.", "Nothing, if that is meant."),
    ja=("notranslate", "検索エンジンは翻訳を提示しません。", "意図どおりなら対応は不要です。"),
)
UNAVAILABLE_AFTER = _define(
    "directive-unavailable-after",
    Severity.INFO,
    en=(
        "unavailable_after",
        "From the given date on the page is kept out of search results.",
        "Make sure that the date is meant.",
    ),
    ja=("unavailable_after", "指定日以降、検索結果に表示されなくなります。", "日付が意図どおりか確認してください。"),
)
CONFLICTING = _define(
    "directive-conflicting",
    Severity.WARNING,
    en=(
        "Conflicting directives",
        "Both a directive and its opposite are given; search engines obey the stricter one.",
        "Keep the one that is meant.",
    ),
    ja=("矛盾するディレクティブ", "相反する指定があり、検索エンジンは厳しい方に従います。", "意図する方だけを残してください。"),
)
UNKNOWN = _define(
    "directive-unknown",
    Severity.WARNING,
    en=("Unknown directive", "A directive no search engine knows does nothing.", "Correct its spelling, or remove it."),
    ja=("不明なディレクティブ", "検索エンジンが知らない指定には効果がありません。", "綴りを直すか、削除してください。"),
)
OUTSIDE_HEAD = _define(
    "directive-outside-head",
    Severity.WARNING,
    en=("Robots meta outside head", "Not every search engine obeys directives in the body.", "Move the element into the <head>."),
    ja=("robots metaがheadの外にある", "本文にある指定に従わない検索エンジンがあります。", "<head> の中に移してください。"),
)

_NAMED: dict[str, Check] = {
    "noindex": NOINDEX, "nofollow": NOFOLLOW, "none": NONE, "noarchive": NOARCHIVE, "nocache": NOARCHIVE, "nosnippet": NOSNIPPET,
    "noimageindex": NOIMAGEINDEX, "notranslate": NOTRANSLATE, "unavailable_after": UNAVAILABLE_AFTER,
}  # fmt: skip
_OTHERS = frozenset(
    "index follow all noodp noydir max-snippet max-image-preview max-video-preview indexifembedded archive snippet noai "
    "noimageai imageindex translate cache".split()
)
_OPPOSITES = (
    ("index", "noindex"),
    ("follow", "nofollow"),
    ("index", "none"),
    ("follow", "none"),
    ("all", "noindex"),
    ("all", "none"),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    if "robots" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, ", ".join(one.name for one in page.directives))
    if not context.directives and not page.directives and not page.header_directives:
        return
    in_header = {one.name for one in page.header_directives}
    found: dict[Check, str] = {}
    for one in context.directives:
        if (check := _NAMED.get(one.name)) is not None:
            found.setdefault(check, one.value or one.name)
    for check, value in found.items():
        source = "X-Robots-Tag" if check.id.removeprefix("directive-").replace("-", "_") in in_header else "meta"
        yield check.on(page.url, value, source=source)
    names = {one.name for one in context.directives}
    if conflicts := [f"{one}, {other}" for one, other in _OPPOSITES if one in names and other in names]:
        yield CONFLICTING.among(page.url, conflicts)
    everyone = (*page.directives, *page.header_directives)
    if unknown := [one.name for one in everyone if one.name not in _NAMED and one.name not in _OTHERS]:
        yield UNKNOWN.among(page.url, unknown)


GROUP = CheckGroup(
    (
        NOINDEX,
        NOFOLLOW,
        NONE,
        NOARCHIVE,
        NOSNIPPET,
        NOIMAGEINDEX,
        NOTRANSLATE,
        UNAVAILABLE_AFTER,
        CONFLICTING,
        UNKNOWN,
        OUTSIDE_HEAD,
    ),
    run,
)
