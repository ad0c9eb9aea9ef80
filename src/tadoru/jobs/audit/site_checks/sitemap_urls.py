"""What sitemaps name against what the crawl found: pages that should not be in one, and pages that should."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.jobs.audit.site_checks.sitemaps import is_absent, is_truncated, read_problems
from tadoru.model.finding import Check, Severity, define
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = partial(define, group="sitemaps")

URL_BROKEN = _define(
    "sitemap-url-broken",
    Severity.ERROR,
    title=N_("In the sitemap, but broken"),
    why=N_("The sitemap names a page that does not answer or does not exist."),
    fix=N_("Remove it from the sitemap, or restore the page."),
)
URL_REDIRECTED = _define(
    "sitemap-url-redirected",
    Severity.WARNING,
    title=N_("In the sitemap, but redirected"),
    why=N_("A sitemap should name the last URL, not one that redirects."),
    fix=N_("Name the new URL."),
)
URL_NOINDEX = _define(
    "sitemap-url-noindex",
    Severity.WARNING,
    title=N_("In the sitemap, but noindex"),
    why=N_("The sitemap asks search engines to show the page, and the page asks them not to."),
    fix=N_("Remove it from the sitemap, or remove noindex."),
)
URL_CANONICALISED = _define(
    "sitemap-url-canonicalised",
    Severity.WARNING,
    title=N_("In the sitemap, but canonicalised"),
    why=N_("The page names another URL as the one to be shown."),
    fix=N_("Name the canonical URL in the sitemap."),
)
URL_FORBIDDEN = _define(
    "sitemap-url-blocked",
    Severity.WARNING,
    title=N_("In the sitemap, but blocked by robots.txt"),
    why=N_("The sitemap asks search engines to visit the page, and robots.txt forbids it."),
    fix=N_("Remove it from the sitemap, or let it be visited."),
)
IN_SEVERAL = _define(
    "sitemap-url-in-several",
    Severity.INFO,
    title=N_("In several sitemaps"),
    why=N_("One mention is enough; several come to differ."),
    fix=N_("Name each page in one sitemap."),
)
LEFT_OUT = _define(
    "sitemap-page-missing",
    Severity.NOTICE,
    title=N_("Page is in no sitemap"),
    why=N_("The page may be shown by search engines, but the sitemaps of the site leave it out."),
    fix=N_("Add it to a sitemap, or keep it out of the index."),
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
    if site.in_full_sitemaps.any() and _were_read(site):
        opening = pages.candidates & (pages.prev == 0) & ~pages.with_query
        for page in site.ids(opening & site.reached & (site.in_sitemaps == 0)):
            yield page_finding(LEFT_OUT, page)


def _were_read(site: SiteView) -> bool:
    """All of them, to their ends: what could not be read may name anything."""
    present = [one for one in site.sitemaps() if not is_absent(one)]
    return all(one.status == "read" and not any(map(is_truncated, read_problems(one))) for one in present)


GROUP = SiteCheckSet("sitemap URLs", (*_UNFIT.values(), IN_SEVERAL, LEFT_OUT), run)
