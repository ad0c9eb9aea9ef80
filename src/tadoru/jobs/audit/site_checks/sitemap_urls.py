"""Checks of the URLs in sitemaps against the crawled pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.jobs.audit.site_checks.pagination import is_continuation
from tadoru.jobs.audit.site_checks.sitemaps import is_absent, is_truncated
from tadoru.model.finding import Check
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("sitemaps")

URL_BROKEN = _define.error(
    "sitemap-url-broken",
    title=N_("Broken URL in sitemap"),
    why=N_("The sitemap lists a page that returns an error or does not respond."),
    fix=N_("Remove the URL from the sitemap, or restore the page."),
)
URL_REDIRECTED = _define.warning(
    "sitemap-url-redirected",
    title=N_("Redirected URL in sitemap"),
    why=N_("A sitemap should list final URLs, not URLs that redirect."),
    fix=N_("List the redirect target instead."),
)
URL_NOINDEX = _define.warning(
    "sitemap-url-noindex",
    title=N_("Noindex URL in sitemap"),
    why=N_("The sitemap asks search engines to index the page, but the page forbids it."),
    fix=N_("Remove the URL from the sitemap, or remove noindex."),
)
URL_CANONICALISED = _define.warning(
    "sitemap-url-canonicalised",
    title=N_("Canonicalised URL in sitemap"),
    why=N_("The page declares another URL as its canonical."),
    fix=N_("List the canonical URL in the sitemap."),
)
URL_FORBIDDEN = _define.warning(
    "sitemap-url-blocked",
    title=N_("URL in sitemap blocked by robots.txt"),
    why=N_("The sitemap asks search engines to crawl the page, but robots.txt forbids it."),
    fix=N_("Remove the URL from the sitemap, or allow crawling."),
)
IN_SEVERAL = _define.info(
    "sitemap-url-in-several",
    title=N_("URL in multiple sitemaps"),
    why=N_("One entry is enough, and duplicate entries may diverge."),
    fix=N_("List each page in one sitemap only."),
)
LEFT_OUT = _define.notice(
    "sitemap-page-missing",
    title=N_("Page not in sitemap"),
    why=N_("The page is indexable, but no sitemap lists it."),
    fix=N_("Add the page to a sitemap, or set it to noindex."),
)

_UNFIT: dict[UrlVerdict, Check] = {
    UrlVerdict.BROKEN: URL_BROKEN,
    UrlVerdict.REDIRECT: URL_REDIRECTED,
    UrlVerdict.NOINDEX: URL_NOINDEX,
    UrlVerdict.CANONICALISED: URL_CANONICALISED,
    UrlVerdict.FORBIDDEN: URL_FORBIDDEN,
}


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    named = pages.internal & (site.in_sitemaps > 0)
    for verdict, check in _UNFIT.items():
        for page in site.ids(named & (pages.verdict == verdict)):
            yield page_finding(check, page, str(int(pages.status[page])) if verdict is UrlVerdict.BROKEN else "")
    for page in site.ids(named & (site.in_full_sitemaps > 1)):
        yield page_finding(IN_SEVERAL, page, count=int(site.in_full_sitemaps[page]))
    if site.in_full_sitemaps.any() and not incomplete_sitemaps(site):
        for page in site.ids(pages.candidates & ~pages.with_query & site.reached & (site.in_sitemaps == 0)):
            if not is_continuation(site, page):
                yield page_finding(LEFT_OUT, page)


def incomplete_sitemaps(site: SiteView) -> list[str]:
    """The sitemaps that were not read completely: each may contain any URL."""
    present = [one for one in site.sitemaps().values() if not is_absent(one)]
    return [one.url for one in present if one.status != "read" or any(map(is_truncated, one.problems))]


GROUP = SiteCheckSet("sitemap URLs", (*_UNFIT.values(), IN_SEVERAL, LEFT_OUT), run)
