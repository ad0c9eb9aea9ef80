"""Canonical links: which of several URLs a page wants to be known by. Whether its target is good takes the whole site."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.parse.page import PageView
from tadoru.rules.url import canonical, host_key

_define = partial(define, group="canonicals")

MISSING = _define(
    "canonical-missing",
    Severity.INFO,
    en=(
        "Canonical missing",
        "If the page is reachable under other URLs as well, search engines choose which one to show.",
        "Name the page's own URL in <link rel=canonical>.",
    ),
    ja=(
        "canonicalがない",
        "別のURLでも開けるページの場合、どれを表示するかは検索エンジン次第になります。",
        "<link rel=canonical> で自身のURLを示してください。",
    ),
)
MULTIPLE = _define(
    "canonical-multiple",
    Severity.NOTICE,
    en=("Several canonicals", "The page names its canonical URL more than once: sooner or later they will differ.", "Keep one."),
    ja=("canonicalが複数ある", "同じ指定が重複しています。いずれ食い違うおそれがあります。", "一つにしてください。"),
)
CONFLICTING = _define(
    "canonical-conflicting",
    Severity.ERROR,
    en=(
        "Conflicting canonicals",
        "The page names different canonical URLs: search engines ignore them all.",
        "Keep the right one.",
    ),
    ja=(
        "canonicalの矛盾",
        "異なる正規URLが指定されており、検索エンジンはすべて無視します。",
        "正しいもの一つだけを残してください。",
    ),
)
RELATIVE = _define(
    "canonical-relative",
    Severity.NOTICE,
    en=(
        "Canonical is relative",
        "On a copy of the page under another host or scheme it points to the copy.",
        "Write the whole URL, with https://.",
    ),
    ja=(
        "canonicalが相対URL",
        "別のホストやスキームで複製されると、複製自身を指してしまいます。",
        "https:// から始まる完全なURLを書いてください。",
    ),
)
FRAGMENT = _define(
    "canonical-fragment",
    Severity.WARNING,
    en=(
        "Canonical with fragment",
        "Search engines leave out what follows #, so the canonical means another URL than it says.",
        "Remove the fragment.",
    ),
    ja=(
        "canonicalにフラグメント",
        "検索エンジンは # 以降を無視するため、書かれたとおりのURLになりません。",
        "# 以降を削除してください。",
    ),
)
INVALID = _define(
    "canonical-invalid",
    Severity.WARNING,
    en=("Canonical is not a web address", "A canonical that is empty or not http(s) is ignored.", "Name the page's public URL."),
    ja=("canonicalがWebのURLでない", "空や http(s) 以外のcanonicalは無視されます。", "公開されているURLを書いてください。"),
)
OUTSIDE_HEAD = _define(
    "canonical-outside-head",
    Severity.WARNING,
    en=(
        "Canonical outside head",
        "Search engines ignore a canonical link in the body.",
        "Move it into the <head>, before any element that does not belong there.",
    ),
    ja=("canonicalがheadの外にある", "本文にあるcanonicalは無視されます。", "<head> の中に移してください。"),
)
HEADER_MISMATCH = _define(
    "canonical-header-mismatch",
    Severity.ERROR,
    en=(
        "Canonical in header and HTML differ",
        "The Link header and the page name different canonical URLs.",
        "Let both say the same, or keep one of them.",
    ),
    ja=(
        "ヘッダーとHTMLのcanonicalが異なる",
        "LinkヘッダーとHTMLが異なる正規URLを示しています。",
        "同じにするか、どちらか一方だけにしてください。",
    ),
)
CANONICALISED = _define(
    "canonicalised",
    Severity.INFO,
    en=(
        "Canonicalised to another URL",
        "The page asks search engines to show another URL in its place.",
        "Nothing, if that is meant; link to the other URL directly.",
    ),
    ja=(
        "別のURLに正規化",
        "このページは、代わりに別のURLを表示するよう求めています。",
        "意図どおりなら対応は不要です。リンクは正規URLに直接張ってください。",
    ),
)
OTHER_HOST = _define(
    "canonical-to-other-host",
    Severity.NOTICE,
    en=(
        "Canonical on another host",
        "The page gives its place in search results to another site.",
        "Make sure that this is meant, and no left-over of a test system.",
    ),
    ja=(
        "canonicalが別ホスト",
        "検索結果での掲載を別のサイトに譲っています。",
        "意図したものか、テスト環境の設定が残っていないか確認してください。",
    ),
)
TO_HTTP = _define(
    "canonical-to-http",
    Severity.WARNING,
    en=("Canonical from HTTPS to HTTP", "The page asks to be known by its unencrypted URL.", "Name the https:// URL."),
    ja=(
        "HTTPSのページのcanonicalがHTTP",
        "暗号化されていないURLを正規URLとして示しています。",
        "https:// のURLを書いてください。",
    ),
)
NOINDEX = _define(
    "canonical-with-noindex",
    Severity.WARNING,
    en=(
        "Canonical elsewhere and noindex",
        "One asks to count the page for another URL, the other to forget it: the results are unpredictable.",
        "Choose one of them.",
    ),
    ja=(
        "別URLへのcanonicalとnoindexの併用",
        "評価の統合と除外を同時に求めており、結果が予測できません。",
        "どちらか一方にしてください。",
    ),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    stated = page.head.canonicals
    in_header = [link.url for link in page.header_links if "canonical" in link.rel]
    if not page.canonical_references and not in_header and context.is_indexable:
        yield MISSING.on(page.url)
    if len(set(stated)) > 1:
        yield CONFLICTING.among(page.url, stated)
    elif len(page.canonical_references) > 1:
        yield MULTIPLE.among(page.url, page.canonical_references)
    if in_header and stated and in_header[0] != stated[0]:
        yield HEADER_MISMATCH.on(page.url, in_header[0], html=stated[0])
    if "canonical" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, page.canonical_references[0])
    yield from _references(page)
    targets = {*stated, *in_header}
    if len(targets) == 1 and targets != {page.url}:
        yield from _elsewhere(context, page, targets.pop())


def _references(page: PageView) -> Iterator[Finding]:
    """How they are written."""
    references = page.canonical_references
    incomplete = [one for one in references if canonical(one) is None]
    if broken := [one for one in incomplete if not one or canonical(one, page.url) is None]:
        yield INVALID.among(page.url, broken)
    if relative := [one for one in incomplete if one not in broken]:
        yield RELATIVE.among(page.url, relative)
    if with_fragment := [reference for reference in references if "#" in reference]:
        yield FRAGMENT.among(page.url, with_fragment)


def _elsewhere(context: PageContext, page: PageView, target: str) -> Iterator[Finding]:
    if page.url.startswith("https:") and target == "http:" + page.url[6:]:
        yield TO_HTTP.on(page.url, target)
    elif any(one.name in ("noindex", "none") for one in context.directives):
        yield NOINDEX.on(page.url, target)
    elif host_key(target) != host_key(page.url):
        yield OTHER_HOST.on(page.url, target)
    else:
        yield CANONICALISED.on(page.url, target)


GROUP = CheckGroup(
    (
        MISSING,
        MULTIPLE,
        CONFLICTING,
        RELATIVE,
        FRAGMENT,
        INVALID,
        OUTSIDE_HEAD,
        HEADER_MISMATCH,
        CANONICALISED,
        OTHER_HOST,
        TO_HTTP,
        NOINDEX,
    ),
    run,
)
