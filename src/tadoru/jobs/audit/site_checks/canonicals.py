"""Canonicals in the light of the pages they name. What one page shows by itself is in `checks.canonicals`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.model.finding import Check, Severity, define
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = partial(define, group="canonicals")

CHAIN = _define(
    "canonical-chain",
    Severity.WARNING,
    title=N_("Canonical chain"),
    why=N_("The canonical page names another one as its canonical: search engines may ignore both."),
    fix=N_("Name the last page of the chain directly."),
)
LOOP = _define(
    "canonical-loop",
    Severity.ERROR,
    title=N_("Canonicals in a circle"),
    why=N_("The pages name each other as canonical: none of them is."),
    fix=N_("Decide for one of them, and let all name that one."),
)
TO_REDIRECT = _define(
    "canonical-to-redirect",
    Severity.WARNING,
    title=N_("Canonical to a redirect"),
    why=N_("The canonical URL redirects elsewhere."),
    fix=N_("Name the URL that it redirects to."),
)
TO_ERROR = _define(
    "canonical-to-error",
    Severity.ERROR,
    title=N_("Canonical to an error"),
    why=N_("The canonical URL does not answer or does not exist: search engines may show neither page."),
    fix=N_("Name a page that is there."),
)
TO_NONINDEXABLE = _define(
    "canonical-to-nonindexable",
    Severity.ERROR,
    title=N_("Canonical to a page outside the index"),
    why=N_("The canonical page is noindex or blocked by robots.txt: search engines may show neither page."),
    fix=N_("Name a page that may be shown, or let this one be shown."),
)
UNLINKED = _define(
    "canonical-unlinked",
    Severity.NOTICE,
    title=N_("Canonical page is not linked"),
    why=N_("No link of the site leads to the page that should be shown in place of this one."),
    fix=N_("Link to the canonical URL."),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    naming = pages.documents & (pages.canonical != 0)
    known = naming & (pages.canonical > 0)
    ends = site.canonical_ends
    for page in site.ids(known & ends.looping):
        hops = site.hops(site.canonical_steps, page, 10)
        yield page_finding(LOOP, page, hops[0], hops=hops)
    for check, verdicts in _TARGETS:
        for page in site.ids(known & ~ends.looping & site.points_at(pages.canonical, verdicts)):
            target = int(pages.canonical[page])
            yield page_finding(check, page, site.url(target), status=int(pages.status[target]))
    if pages.is_complete:
        yield from _unlinked(site)


def _unlinked(site: SiteView) -> Iterator[SiteFinding]:
    """Also where the target was never met: then nothing but this canonical names it."""
    pages = site.pages
    targets = pages.canonical
    for page in site.ids(pages.documents & (targets != 0)):
        target = int(targets[page])
        if target < 0:
            url = site.value(page, "coalesce(canonical_url, canonical_http)")
            if site.is_ours(url):
                yield page_finding(UNLINKED, page, url)
        elif pages.internal[target] and not site.linked[target]:
            yield page_finding(UNLINKED, page, site.url(target))


_TARGETS: tuple[tuple[Check, tuple[UrlVerdict, ...]], ...] = (
    (CHAIN, (UrlVerdict.CANONICALISED,)),
    (TO_REDIRECT, (UrlVerdict.REDIRECT,)),
    (TO_ERROR, (UrlVerdict.BROKEN,)),
    (TO_NONINDEXABLE, (UrlVerdict.NOINDEX, UrlVerdict.FORBIDDEN)),
)
GROUP = SiteCheckSet("canonicals", (CHAIN, LOOP, TO_REDIRECT, TO_ERROR, TO_NONINDEXABLE, UNLINKED), run)
