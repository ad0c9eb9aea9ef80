"""Links in the light of where they lead, and pages in the light of who leads to them.

That something is missing (nobody links here, only such links lead here) is said only when every page of the site was seen: the
link may be on one that was not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, example_findings, page_finding
from tadoru.model.finding import Severity, Threshold, define
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = partial(define, group="links")

BROKEN = _define(
    "link-broken",
    Severity.ERROR,
    title=N_("Broken internal link"),
    why=N_("The page leads its visitors to pages of the site that do not answer or do not exist."),
    fix=N_("Correct the address, or remove the link."),
)
LINKED_BROKEN = _define(
    "page-broken-linked",
    Severity.ERROR,
    title=N_("Broken page that is linked to"),
    why=N_("Pages of the site link to this URL, which does not answer or does not exist."),
    fix=N_("Restore the page, redirect its URL, or correct the links."),
)
MOVED = _define(
    "link-to-redirect",
    Severity.NOTICE,
    title=N_("Link to a page that has moved"),
    why=N_("Every visitor takes a detour, and the link loses its use once the redirect is gone."),
    fix=N_("Link to the new address directly."),
)
EXTERNAL_BROKEN = _define(
    "link-external-broken",
    Severity.WARNING,
    title=N_("Broken external link"),
    why=N_("The page leads its visitors to pages of other sites that do not answer or do not exist."),
    fix=N_("Find where the page has gone, or remove the link."),
)
EXTERNAL_MOVED = _define(
    "link-external-redirect",
    Severity.INFO,
    title=N_("External link to a page that has moved"),
    why=N_("The other site says that the page is elsewhere for good."),
    fix=N_("Link to the new address."),
)
ORPHAN = _define(
    "page-orphan",
    Severity.WARNING,
    title=N_("Orphan page"),
    why=N_(
        "No link leads from the start of the site to this page: visitors do not find it, and search engines think little of it."
    ),
    fix=N_("Link to it where it belongs, or remove it."),
)
NOFOLLOW_ONLY = _define(
    "inlinks-nofollow-only",
    Severity.WARNING,
    title=N_("Only nofollow links lead here"),
    why=N_("Every link of the site to this page asks search engines not to follow it."),
    fix=N_("Remove nofollow from the links to pages that should be found."),
)
MIXED = _define(
    "inlinks-nofollow-mixed",
    Severity.INFO,
    title=N_("Links with and without nofollow lead here"),
    why=N_("Some links of the site vouch for this page and some do not."),
    fix=N_("Decide for one of them; within a site, nofollow is seldom meant."),
)
NONINDEXABLE_ONLY = _define(
    "inlinks-nonindexable-only",
    Severity.WARNING,
    title=N_("Only pages outside the index link here"),
    why=N_("Search engines visit pages they do not show ever less often, and may lose sight of this one."),
    fix=N_("Link to it from a page that can be found as well."),
)
SINGLE = _define(
    "inlinks-single",
    Severity.INFO,
    title=N_("Only one page links here"),
    why=N_("A page that is linked to once is easily overlooked, and lost when that link goes."),
    fix=N_("Link to it from related pages too."),
)
DEEP = _define(
    "page-deep",
    Severity.NOTICE,
    title=N_("Many clicks away from the start"),
    why=N_("Few visitors and search engines go so deep."),
    fix=N_("Link to the page from a list or an overview nearer to the start."),
    threshold=Threshold(5, "clicks"),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    yield from example_findings(BROKEN, site.linking("broken"))
    yield from example_findings(LINKED_BROKEN, site.linking("broken by target"))
    yield from example_findings(MOVED, site.linking("moved"))
    yield from example_findings(EXTERNAL_BROKEN, site.linking("external broken"))
    yield from example_findings(EXTERNAL_MOVED, site.linking("external moved"))
    yield from _inlinks(site)
    limit = limits[DEEP]
    for page in site.ids(site.pages.candidates & site.reached & (site.depth > limit)):
        yield page_finding(DEEP, page, str(int(site.depth[page])), clicks=int(site.depth[page]), limit=limit)


def _inlinks(site: SiteView) -> Iterator[SiteFinding]:
    pages, links = site.pages, site.links
    elsewhere = pages.candidates & ~pages.seed
    for page in site.ids(pages.candidates & links.has_followed & links.has_unfollowed):
        yield page_finding(MIXED, page)
    if not pages.is_complete:
        return
    for page in site.ids(elsewhere & ~site.reached):
        yield page_finding(ORPHAN, page, sitemaps=int(site.in_sitemaps[page]))
    linked = elsewhere & site.reached & (site.inlinks.unique > 0)
    for page in site.ids(linked & ~links.has_followed):
        yield page_finding(NOFOLLOW_ONLY, page, count=int(site.inlinks.unique[page]))
    for page in site.ids(linked & links.has_followed & ~site.inlinks.from_indexable):
        yield page_finding(NONINDEXABLE_ONLY, page, count=int(site.inlinks.unique[page]))
    single = [page for page in site.ids(linked & (site.inlinks.unique == 1)) if site.inlinks.single[page]]
    for page in single:
        yield page_finding(SINGLE, page, site.url(int(site.inlinks.single[page])))


GROUP = SiteCheckSet(
    "links",
    (
        BROKEN,
        LINKED_BROKEN,
        MOVED,
        EXTERNAL_BROKEN,
        EXTERNAL_MOVED,
        ORPHAN,
        NOFOLLOW_ONLY,
        MIXED,
        NONINDEXABLE_ONLY,
        SINGLE,
        DEEP,
    ),
    run,
)
