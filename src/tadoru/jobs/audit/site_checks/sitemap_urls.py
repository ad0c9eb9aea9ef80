"""What sitemaps name against what the crawl found: pages that should not be in one, and pages that should."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.base import SiteChecks, on
from tadoru.jobs.audit.site_checks.sitemaps import is_absent, is_left_off, sentences
from tadoru.model.finding import Check, Severity, define
from tadoru.store.analysis import SiteFinding
from tadoru.store.site.verdicts import Verdict

if TYPE_CHECKING:
    from tadoru.store.site.view import SiteView

_define = partial(define, group="sitemaps")

URL_BROKEN = _define(
    "sitemap-url-broken",
    Severity.ERROR,
    en=(
        "In the sitemap, but broken",
        "The sitemap names a page that does not answer or does not exist.",
        "Remove it from the sitemap, or restore the page.",
    ),
    ja=(
        "サイトマップにあるが壊れている",
        "存在しない、または応答しないページがサイトマップにあります。",
        "サイトマップから外すか、ページを復元してください。",
    ),
)
URL_REDIRECTED = _define(
    "sitemap-url-redirected",
    Severity.WARNING,
    en=("In the sitemap, but redirected", "A sitemap should name the last URL, not one that redirects.", "Name the new URL."),
    ja=(
        "サイトマップにあるがリダイレクト",
        "サイトマップには、リダイレクトされない最終的なURLを書きます。",
        "新しいURLを書いてください。",
    ),
)
URL_NOINDEX = _define(
    "sitemap-url-noindex",
    Severity.WARNING,
    en=(
        "In the sitemap, but noindex",
        "The sitemap asks search engines to show the page, and the page asks them not to.",
        "Remove it from the sitemap, or remove noindex.",
    ),
    ja=(
        "サイトマップにあるがnoindex",
        "サイトマップでは掲載を求め、ページでは拒否しています。",
        "サイトマップから外すか、noindex を外してください。",
    ),
)
URL_CANONICALISED = _define(
    "sitemap-url-canonicalised",
    Severity.WARNING,
    en=(
        "In the sitemap, but canonicalised",
        "The page names another URL as the one to be shown.",
        "Name the canonical URL in the sitemap.",
    ),
    ja=(
        "サイトマップにあるが正規URLでない",
        "ページは別のURLを正規として示しています。",
        "サイトマップには正規URLを書いてください。",
    ),
)
URL_FORBIDDEN = _define(
    "sitemap-url-blocked",
    Severity.WARNING,
    en=(
        "In the sitemap, but blocked by robots.txt",
        "The sitemap asks search engines to visit the page, and robots.txt forbids it.",
        "Remove it from the sitemap, or let it be visited.",
    ),
    ja=(
        "サイトマップにあるがrobots.txtでブロック",
        "サイトマップでは巡回を求め、robots.txtでは禁じています。",
        "サイトマップから外すか、巡回を許可してください。",
    ),
)
IN_SEVERAL = _define(
    "sitemap-url-in-several",
    Severity.INFO,
    en=("In several sitemaps", "One mention is enough; several come to differ.", "Name each page in one sitemap."),
    ja=(
        "複数のサイトマップに記載",
        "記載は一度で足り、重複するといずれ食い違います。",
        "各ページを一つのサイトマップに書いてください。",
    ),
)
LEFT_OUT = _define(
    "sitemap-page-missing",
    Severity.NOTICE,
    en=(
        "Page is in no sitemap",
        "The page may be shown by search engines, but the sitemaps of the site leave it out.",
        "Add it to a sitemap, or keep it out of the index.",
    ),
    ja=(
        "サイトマップにないページ",
        "索引対象のページですが、サイトマップに含まれていません。",
        "サイトマップに加えるか、索引から外してください。",
    ),
)

_UNFIT: dict[Verdict, Check] = {
    Verdict.BROKEN: URL_BROKEN,
    Verdict.REDIRECT: URL_REDIRECTED,
    Verdict.NOINDEX: URL_NOINDEX,
    Verdict.CANONICALISED: URL_CANONICALISED,
    Verdict.FORBIDDEN: URL_FORBIDDEN,
}


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    named = pages.internal & (site.in_sitemaps > 0)
    for verdict, check in _UNFIT.items():
        for page in site.ids(named & (pages.verdict == verdict)):
            yield on(check, page, str(int(pages.status[page])) if verdict is Verdict.BROKEN else "")
    for page in site.ids(named & (site.in_full_sitemaps > 1)):
        yield on(IN_SEVERAL, page, count=int(site.in_full_sitemaps[page]))
    if site.in_full_sitemaps.any() and _were_read(site):
        opening = pages.candidates & (pages.prev == 0) & ~pages.with_query
        for page in site.ids(opening & site.reached & (site.in_sitemaps == 0)):
            yield on(LEFT_OUT, page)


def _were_read(site: SiteView) -> bool:
    """All of them, to their ends: what could not be read may name anything."""
    present = [one for one in site.sitemaps() if not is_absent(one)]
    return all(one.status == "read" and not any(map(is_left_off, sentences(one))) for one in present)


GROUP = SiteChecks("sitemap URLs", (*_UNFIT.values(), IN_SEVERAL, LEFT_OUT), run)
