"""Checks of the pages that canonicals point to. Canonicals of a single page are checked in `checks.canonicals`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.jobs.audit.site_checks.resources import is_broken
from tadoru.model.finding import Check
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("canonicals")

CHAIN = _define.warning(
    "canonical-chain",
    title=N_("Canonical chain"),
    why=N_("The canonical page declares yet another canonical, so search engines may ignore both."),
    fix=N_("Point the canonical directly to the last page of the chain."),
)
LOOP = _define.error(
    "canonical-loop",
    title=N_("Canonical loop"),
    why=N_("The pages declare each other as canonical, so there is no canonical page."),
    fix=N_("Choose one of the pages and use it as the canonical of all of them."),
)
TO_REDIRECT = _define.warning(
    "canonical-to-redirect",
    title=N_("Canonical points to redirect"),
    why=N_("The canonical URL redirects to another URL."),
    fix=N_("Use the redirect target as the canonical URL."),
)
TO_ERROR = _define.error(
    "canonical-to-error",
    title=N_("Canonical points to broken page"),
    why=N_("The canonical URL returns an error or does not respond, so search engines may show neither page."),
    fix=N_("Use the URL of a working page as the canonical."),
)
TO_NONINDEXABLE = _define.error(
    "canonical-to-nonindexable",
    title=N_("Canonical points to non-indexable page"),
    why=N_("The canonical page is noindex or blocked by robots.txt, so search engines may show neither page."),
    fix=N_("Use an indexable page as the canonical, or make the canonical page indexable."),
)
UNLINKED = _define.notice(
    "canonical-unlinked",
    title=N_("Unlinked canonical page"),
    why=N_("No internal link points to the page that should be indexed in place of this one."),
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
    yield from _check_declared(site)
    if pages.is_complete:
        yield from _check_unlinked(site)


def _check_declared(site: SiteView) -> Iterator[SiteFinding]:
    """Canonicals that no link leads to: they were requested after the pages."""
    declared, pages = site.declared_targets(), site.pages
    if not declared:
        return
    unknown = (pages.canonical < 0) | site.points_at(pages.canonical, (UrlVerdict.UNKNOWN,))
    for page in site.ids(pages.documents & unknown):
        target = declared.get(site.value(page, "coalesce(canonical_url, canonical_http)"))
        if target is not None and is_broken(target):
            yield page_finding(TO_ERROR, page, target.url, status=target.status_code or 0)
        elif target is not None and target.final_url:
            yield page_finding(TO_REDIRECT, page, target.url, status=target.status_code or 0)


def _check_unlinked(site: SiteView) -> Iterator[SiteFinding]:
    """Also reports targets that were never crawled: nothing else refers to them."""
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
GROUP = SiteCheckSet("canonicals", _define.checks, run)
