"""The site as a whole: robots.txt, several addresses for one site, a site that hides itself or never answers with 404."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.base import SiteChecks, about
from tadoru.model.finding import MAX_EXAMPLES, Severity, Threshold, define
from tadoru.model.web import FailureKind
from tadoru.rules import robots
from tadoru.store.analysis import SiteFinding
from tadoru.store.site.verdicts import Verdict

if TYPE_CHECKING:
    from tadoru.store.site.view import SiteView

_define = partial(define, group="site")

NOINDEX = _define(
    "site-noindex",
    Severity.ERROR,
    en=(
        "Nearly all pages are noindex",
        "The site keeps itself out of search results. Often the directive was left over from a test system.",
        "Remove noindex from the pages that should be found.",
    ),
    ja=(
        "ほぼ全ページがnoindex",
        "サイト全体が検索結果に表示されません。テスト環境の設定が残っていることがよくあります。",
        "検索されるべきページから noindex を外してください。",
    ),
    threshold=Threshold(95, "percent"),
)
ROBOTS_MISSING = _define(
    "robots-txt-missing",
    Severity.INFO,
    en=(
        "No robots.txt",
        "Everything may be crawled; nothing is wrong with that. But a sitemap can not be named, and logs fill with errors.",
        "Publish one, if only to name the sitemap.",
    ),
    ja=(
        "robots.txtがない",
        "すべて巡回可能で問題はありませんが、サイトマップを示せず、ログにエラーが残ります。",
        "サイトマップを示すためにも公開してください。",
    ),
)
ROBOTS_UNAVAILABLE = _define(
    "robots-txt-unavailable",
    Severity.ERROR,
    en=(
        "robots.txt can not be read",
        "When it fails with a server error or does not answer, search engines stop visiting the site.",
        "Let /robots.txt answer with 200, or with 404 if there is none.",
    ),
    ja=(
        "robots.txtが読み取れない",
        "サーバーエラーや無応答の場合、検索エンジンはサイトの巡回を止めます。",
        "/robots.txt が 200 を、ない場合は 404 を返すようにしてください。",
    ),
)
ROBOTS_BLOCKS = _define(
    "robots-txt-blocks-all",
    Severity.ERROR,
    en=(
        "robots.txt forbids the whole site",
        "Search engines may not visit any page. Often the rule was left over from a test system.",
        "Remove Disallow: / unless the site is not meant to be found.",
    ),
    ja=(
        "robots.txtがサイト全体を禁止",
        "検索エンジンはどのページも巡回できません。テスト環境の設定が残っていることがよくあります。",
        "非公開のサイトでなければ Disallow: / を削除してください。",
    ),
)
SCHEMES = _define(
    "site-http-and-https",
    Severity.WARNING,
    en=(
        "Pages answer under http and https",
        "The same pages are there twice, once without encryption.",
        "Redirect every http:// URL to https://.",
    ),
    ja=(
        "httpとhttpsの両方で表示",
        "同じページが、暗号化されないURLでも表示されます。",
        "すべての http:// を https:// へリダイレクトしてください。",
    ),
)
WWW = _define(
    "site-www-and-bare",
    Severity.WARNING,
    en=(
        "Pages answer with and without www",
        "The same pages are there twice, under two host names.",
        "Redirect one of the names to the other.",
    ),
    ja=(
        "wwwの有無の両方で表示",
        "同じページが二つのホスト名で表示されます。",
        "一方のホスト名からもう一方へリダイレクトしてください。",
    ),
)
MIXED = _define(
    "site-mixed-protocols",
    Severity.NOTICE,
    en=(
        "Links within the site use http and https",
        "Pages of an encrypted site are linked to without encryption.",
        "Write https:// in all links, or leave the scheme out.",
    ),
    ja=(
        "サイト内リンクにhttpとhttpsが混在",
        "暗号化されたサイトのページに、暗号化されないURLでリンクしています。",
        "すべてのリンクを https:// にするか、スキームを省いてください。",
    ),
)
SOFT_404 = _define(
    "site-soft-404",
    Severity.WARNING,
    en=(
        "The site seems to answer anything",
        "Many different URLs show exactly the same text, and none was answered with 404: missing pages may look like good ones.",
        "Answer with status 404 when there is no such page.",
    ),
    ja=(
        "存在しないURLにも応答している可能性",
        "多数の異なるURLがまったく同じ文章を表示し、404 の応答が一つもありません。",
        "ページがない場合はステータス 404 を返してください。",
    ),
    threshold=Threshold(10, "pages"),
)

_FEWEST = 3
_SEARCH_ENGINE = "Googlebot"
_REDIRECTED_AWAY = frozenset({FailureKind.BAD_REDIRECT, FailureKind.TOO_MANY_REDIRECTS, FailureKind.REDIRECT_LOOP})


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    yield from _robots(site)
    yield from _hidden(site, limits)
    yield from _doubles(site)
    yield from _mixed(site)
    yield from _soft_404(site, limits)


def _robots(site: SiteView) -> Iterator[SiteFinding]:
    for origin, status, failure, body in site.robots():
        url = f"{origin}/robots.txt"
        kind = FailureKind(failure) if failure else None
        rules = robots.read(status=status, failure=kind, body=body, token=_SEARCH_ENGINE)
        if status in (404, 410):
            yield about(ROBOTS_MISSING, url, str(status))
        elif rules.unreachable or (kind is not None and kind not in _REDIRECTED_AWAY):
            yield about(ROBOTS_UNAVAILABLE, url, str(status or failure))
        # A site that shuts its root only may still be open below it.
        elif rules.blanket is None and not any(rules.allows(f"{origin}{path}").allowed for path in ("/", "/a/page")):
            yield about(ROBOTS_BLOCKS, url, rules.allows(f"{origin}/").line)


def _hidden(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    total, hidden = int(pages.documents.sum()), int((pages.documents & (pages.why == Verdict.NOINDEX)).sum())
    if total >= _FEWEST and 100 * hidden >= limits[NOINDEX] * total:
        yield about(NOINDEX, site.start, f"{hidden} / {total}", count=hidden, pages=total, limit=limits[NOINDEX])


def _doubles(site: SiteView) -> Iterator[SiteFinding]:
    """Pages whose addresses differ by the scheme or by www only, and which search engines may show both."""
    pages = site.pages
    found = {SCHEMES: [0, 0], WWW: [0, 0]}
    for group in site.equals(pages.address, pages.candidates):
        for check, trait in ((SCHEMES, pages.secure), (WWW, pages.www)):
            if len({bool(trait[page]) for page in group}) == 2:
                found[check][0] += 1
                found[check][1] = min(filter(None, (found[check][1], group[0])), key=lambda page: int(pages.place[page]))
    for check, (count, example) in found.items():
        if count:
            yield about(check, site.start, site.url(example), count=count)


def _mixed(site: SiteView) -> Iterator[SiteFinding]:
    """Only where the start is encrypted; also when a redirect leads back to encryption."""
    if not site.start.startswith("https:"):
        return
    pages = site.pages
    insecure = site.ids(pages.internal & ~pages.secure & (site.inlinks.unique > 0))
    if insecure:
        insecure.sort(key=lambda page: int(pages.place[page]))
        urls = tuple(site.url(page) for page in insecure[:MAX_EXAMPLES])
        yield about(MIXED, site.start, urls[0], count=len(insecure), examples=urls)


def _soft_404(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    if (pages.internal & ((pages.status == 404) | (pages.status == 410))).any():
        return
    for group in site.equals(pages.content, pages.documents & site.wordy):
        if len(group) < limits[SOFT_404]:
            continue
        paths = {url.partition("?")[0].rstrip("/").lower() for url in site.urls(group[:1000]).values()}
        if len(paths) >= limits[SOFT_404]:
            examples = tuple(site.url(page) for page in group[:MAX_EXAMPLES])
            yield about(SOFT_404, site.start, examples[0], count=len(group), examples=examples, limit=limits[SOFT_404])
            return


GROUP = SiteChecks("site", (NOINDEX, ROBOTS_MISSING, ROBOTS_UNAVAILABLE, ROBOTS_BLOCKS, SCHEMES, WWW, MIXED, SOFT_404), run)
