"""Checks of link targets, of inlinks, and of links to fragments (#), for which a crawl needs `--fragments`.

Missing inlinks are reported only if every page of the site was crawled: the link may be on a page that was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, example_findings, page_finding
from tadoru.model.finding import MAX_EXAMPLES, Threshold
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("links")

BROKEN = _define.error(
    "link-broken",
    title=N_("Broken internal link"),
    why=N_("The page links to pages of the site that return an error or do not respond."),
    fix=N_("Correct the URL, or remove the link."),
)
LINKED_BROKEN = _define.error(
    "page-broken-linked",
    title=N_("Linked page is broken"),
    why=N_("Pages of the site link to this URL, which returns an error or does not respond."),
    fix=N_("Restore the page, redirect its URL, or correct the links."),
    merged_into=("response-client-error", "response-server-error", "response-missing"),
)
MOVED = _define.notice(
    "link-to-redirect",
    title=N_("Internal link to redirect"),
    why=N_("The redirect slows down every visit, and the link breaks when the redirect is removed."),
    fix=N_("Link directly to the new URL."),
)
EXTERNAL_BROKEN = _define.warning(
    "link-external-broken",
    title=N_("Broken external link"),
    why=N_("The page links to pages of other sites that return an error or do not respond."),
    fix=N_("Link to the new location of the page, or remove the link."),
)
EXTERNAL_MOVED = _define.info(
    "link-external-redirect",
    title=N_("External link to permanent redirect"),
    why=N_("The target page has moved permanently."),
    fix=N_("Link to the new URL."),
)
ORPHAN = _define.warning(
    "page-orphan",
    title=N_("Orphan page"),
    why=N_("No links lead from the start URL to this page. Visitors do not find it, and search engines consider it unimportant."),
    fix=N_("Link to the page from a suitable place, or remove it."),
)
NOFOLLOW_ONLY = _define.warning(
    "inlinks-nofollow-only",
    title=N_("Nofollow inlinks only"),
    why=N_("Every internal link to this page has nofollow."),
    fix=N_("Remove nofollow from internal links to pages that should be indexed."),
)
MIXED = _define.info(
    "inlinks-nofollow-mixed",
    title=N_("Mixed follow/nofollow inlinks"),
    why=N_("Some internal links to this page have nofollow and others do not."),
    fix=N_("Use one or the other. Internal links rarely need nofollow."),
)
NONINDEXABLE_ONLY = _define.warning(
    "inlinks-nonindexable-only",
    title=N_("Inlinks from non-indexable pages only"),
    why=N_("Search engines crawl non-indexable pages less and less often and may lose this page."),
    fix=N_("Link to the page from an indexable page as well."),
)
SINGLE = _define.info(
    "inlinks-single",
    title=N_("Only one inlink"),
    why=N_("The page is easily overlooked and becomes unreachable if that link is removed."),
    fix=N_("Link to the page from related pages as well."),
    is_off=True,
)
DEEP = _define.notice(
    "page-deep",
    title=N_("High crawl depth"),
    why=N_("Visitors and search engines rarely go this many clicks from the start URL."),
    fix=N_("Link to the page from a list or overview that is closer to the start URL."),
    threshold=Threshold(5, "clicks"),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    yield from example_findings(BROKEN, site.linking("broken"))
    yield from example_findings(MOVED, site.linking("moved"))
    yield from example_findings(EXTERNAL_BROKEN, site.linking("external broken"))
    yield from example_findings(EXTERNAL_MOVED, site.linking("external moved"))
    yield from _check_inlinks(site)
    limit = limits[DEEP]
    for page in site.ids(site.pages.candidates & site.reached & (site.depth > limit)):
        yield page_finding(DEEP, page, str(int(site.depth[page])), clicks=int(site.depth[page]), limit=limit)


def _check_inlinks(site: SiteView) -> Iterator[SiteFinding]:
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


GROUP = SiteCheckSet("links", _define.checks, run)


if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

BOOKMARK = CheckDefinitions("links").notice(
    "link-broken-fragment",
    title=N_("Broken anchor (#) link"),
    why=N_("No element on the target page has the name after #, so visitors arrive at the top of the page."),
    fix=N_("Correct the fragment, or add the id to the target page."),
)

_TOP = frozenset({"", "top"})
"""Fragments that are valid on every page."""
_GENERATED = "user-content-"
"""What some sites put before the ids of texts that others wrote; scripts find them without it."""
_LINES = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")
"""Lines of a source file, as the hosts of repositories name them."""
_FOR_SCRIPTS = ("!", "/", ":~:")
"""Prefixes of fragments for scripts and of text fragments."""


def is_missing(fragment: str, anchors: frozenset[str]) -> bool:
    """Whether a fragment is not the id of any element of a page. An id may itself be percent-encoded."""
    if fragment in anchors or f"{_GENERATED}{fragment}" in anchors or fragment.lower() in _TOP:
        return False
    if fragment.startswith(_FOR_SCRIPTS) or "=" in fragment or _LINES.fullmatch(fragment):
        return False
    return not any(fragment == unquote(name) for name in anchors if "%" in name)


def run_fragments(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    lost = {
        (page, number): fragment
        for page, anchors, asked in site.fragments.asked_for()
        for number, fragment in asked
        if is_missing(fragment, anchors)
    }
    for source, links in groupby(site.fragments.linked_by(lost), key=itemgetter(0)):
        keys = {(target, number) for _, target, number in links}
        urls = site.urls({target for target, _ in keys})
        examples = sorted(f"{urls[target]}#{lost[target, number]}" for target, number in keys)
        yield page_finding(BOOKMARK, source, examples[0], count=len(examples), examples=tuple(examples[:MAX_EXAMPLES]))


FRAGMENT_GROUP = SiteCheckSet("fragments", (BOOKMARK,), run_fragments)
