"""Translations that should name each other. What one page states by itself is in `checks.hreflang`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.base import SiteChecks, among, on
from tadoru.model.finding import MAX_EXAMPLES, Severity, define
from tadoru.store.analysis import SiteFinding
from tadoru.store.site.verdicts import Verdict

if TYPE_CHECKING:
    from tadoru.store.site.view import SiteView

_define = partial(define, group="hreflang")

NO_RETURN = _define(
    "hreflang-missing-return",
    Severity.WARNING,
    en=(
        "hreflang without a link back",
        "The page names a translation that does not name it in turn: search engines ignore the pair.",
        "Let all pages of a set name each other.",
    ),
    ja=(
        "hreflangの相互リンクがない",
        "翻訳ページの側がこのページを示していないため、検索エンジンに無視されます。",
        "一組のページすべてで互いを示してください。",
    ),
)
INCONSISTENT = _define(
    "hreflang-inconsistent-language",
    Severity.WARNING,
    en=(
        "hreflang in another language than the page's own",
        "The page gives a translation one language, and that page gives itself another.",
        "Use the same code for a page everywhere.",
    ),
    ja=(
        "hreflangの言語が一致しない",
        "翻訳ページに付けた言語と、そのページ自身が示す言語が異なります。",
        "同じページにはどこでも同じコードを使ってください。",
    ),
)
TO_ERROR = _define(
    "hreflang-to-error",
    Severity.ERROR,
    en=("hreflang to an error", "The translation does not answer or does not exist.", "Correct the URL, or remove the entry."),
    ja=("hreflangがエラー", "翻訳ページが存在しないか、応答しません。", "URLを直すか、項目を削除してください。"),
)
TO_REDIRECT = _define(
    "hreflang-to-redirect",
    Severity.WARNING,
    en=("hreflang to a redirect", "The URL of the translation redirects elsewhere.", "Name the URL that it redirects to."),
    ja=("hreflangがリダイレクト", "翻訳ページのURLがリダイレクトされます。", "リダイレクト先のURLを示してください。"),
)
TO_NOINDEX = _define(
    "hreflang-to-noindex",
    Severity.WARNING,
    en=(
        "hreflang to a page outside the index",
        "The translation is noindex or blocked by robots.txt: it can not be shown to anybody.",
        "Remove the entry, or let the page be shown.",
    ),
    ja=(
        "hreflangが索引対象外",
        "翻訳ページが noindex か robots.txt でブロックされ、表示できません。",
        "項目を削除するか、ページの指定を外してください。",
    ),
)
TO_NON_CANONICAL = _define(
    "hreflang-to-non-canonical",
    Severity.WARNING,
    en=(
        "hreflang to a page that is not canonical",
        "The translation names another URL as its canonical.",
        "Name that URL in its place.",
    ),
    ja=(
        "hreflangが正規でないページ",
        "翻訳ページが別のURLを正規として示しています。",
        "その正規URLを示してください。",
    ),
)
UNLINKED = _define(
    "hreflang-unlinked",
    Severity.NOTICE,
    en=(
        "Translation is not linked",
        "No link of the site leads to the translation: visitors can not change to it.",
        "Link to the translations on the page.",
    ),
    ja=(
        "翻訳ページへのリンクがない",
        "サイト内からのリンクがなく、訪問者が言語を切り替えられません。",
        "ページ上に翻訳ページへのリンクを置いてください。",
    ),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    languages = site.languages
    if not len(languages.source):
        return
    yield from among(NO_RETURN, site.named(languages.without_return().rows()))
    yield from among(INCONSISTENT, site.named(languages.inconsistent().rows()))
    for check, verdicts in (
        (TO_ERROR, (Verdict.BROKEN,)),
        (TO_REDIRECT, (Verdict.REDIRECT,)),
        (TO_NOINDEX, (Verdict.NOINDEX, Verdict.FORBIDDEN)),
        (TO_NON_CANONICAL, (Verdict.CANONICALISED,)),
    ):
        yield from among(check, site.named(languages.towards(verdicts).rows()))
    if site.pages.is_complete:
        yield from _unlinked(site)


def _unlinked(site: SiteView) -> Iterator[SiteFinding]:
    """Known pages that nothing links to; then URLs that only hreflang names, on pages that name no such page."""
    told: set[int] = set()
    for row in site.named(site.languages.unlinked(site.linked).rows()):
        told.add(row.page)
        yield from among(UNLINKED, [row])
    for page, group in groupby(site.unknown_alternates(), key=itemgetter(0)):
        urls = [url for _, url in group if site.is_ours(url)]
        if urls and page not in told and site.pages.candidates[page]:
            yield on(UNLINKED, page, urls[0], count=len(urls), examples=tuple(urls[:MAX_EXAMPLES]))


GROUP = SiteChecks("hreflang", (NO_RETURN, INCONSISTENT, TO_ERROR, TO_REDIRECT, TO_NOINDEX, TO_NON_CANONICAL, UNLINKED), run)
