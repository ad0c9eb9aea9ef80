"""Checks of speed and size compared with the whole site. A single page is checked in `checks.performance`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding, site_finding
from tadoru.model.finding import Threshold
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("performance")

SITE_TTFB = _define.warning(
    "site-ttfb-slow",
    title=N_("Slow server response on many pages"),
    why=N_("For one page in ten, the first byte takes longer than this to arrive."),
    fix=N_("Look for a common cause, such as a missing cache, a slow database or a distant server."),
    threshold=Threshold(0.8, "seconds"),
)
SLOW = _define.notice(
    "response-slow-for-site",
    title=N_("Much slower than the rest of the site"),
    why=N_("The page takes more than three times as long as a typical page of the site."),
    fix=N_("Find out what makes this page slower than others."),
    threshold=Threshold(1.0, "seconds"),
)
LARGE = _define.info(
    "page-large-for-site",
    title=N_("Much larger than the rest of the site"),
    why=N_("The page is larger than 95% of the pages of the site."),
    fix=N_("Find out what makes this page larger than others."),
    threshold=Threshold(500_000, "bytes"),
)

_FEWEST = 20
"""With fewer pages, a typical value cannot be determined."""
_TIMES = 3


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    if int(pages.documents.sum()) < _FEWEST:
        return
    p90 = site.percentile(pages.ttfb, 90) / 1000
    if p90 > (limit := limits[SITE_TTFB]):
        yield site_finding(SITE_TTFB, site.start, f"{p90:.2f} s", seconds=round(p90, 3), limit=limit)
    usual = site.percentile(pages.took, 50)
    for page in site.ids(pages.documents & (pages.took > max(_TIMES * usual, 1000 * limits[SLOW]))):
        seconds = float(pages.took[page]) / 1000
        yield page_finding(
            SLOW, page, f"{seconds:.2f} s", seconds=round(seconds, 3), median=round(usual / 1000, 3), limit=limits[SLOW]
        )
    most = site.percentile(pages.size, 95)
    for page in site.ids(pages.documents & (pages.size > max(most, limits[LARGE]))):
        yield page_finding(LARGE, page, size=int(pages.size[page]), percentile=int(most), limit=limits[LARGE])


GROUP = SiteCheckSet("performance", _define.checks, run)
