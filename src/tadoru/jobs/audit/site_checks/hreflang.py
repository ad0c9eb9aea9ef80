"""Checks of hreflang across pages. The entries of a single page are checked in `checks.hreflang`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, example_findings, page_finding
from tadoru.jobs.audit.site_checks.resources import is_broken
from tadoru.model.finding import MAX_EXAMPLES
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("hreflang")

NO_RETURN = _define.warning(
    "hreflang-missing-return",
    title=N_("Missing hreflang return link"),
    why=N_("The page lists an alternate that does not list it in return, so search engines ignore the pair."),
    fix=N_("Make all pages of a set list each other."),
)
INCONSISTENT = _define.warning(
    "hreflang-inconsistent-language",
    title=N_("Inconsistent hreflang language"),
    why=N_("The page lists an alternate with one language code, and the alternate lists itself with another."),
    fix=N_("Use the same code for a page everywhere."),
)
TO_ERROR = _define.error(
    "hreflang-to-error",
    title=N_("hreflang points to broken page"),
    why=N_("The alternate page returns an error or does not respond."),
    fix=N_("Correct the URL, or remove the entry."),
)
TO_REDIRECT = _define.warning(
    "hreflang-to-redirect",
    title=N_("hreflang points to redirect"),
    why=N_("The URL of the alternate page redirects to another URL."),
    fix=N_("Use the redirect target in hreflang."),
)
TO_NOINDEX = _define.warning(
    "hreflang-to-noindex",
    title=N_("hreflang points to non-indexable page"),
    why=N_("The alternate page is noindex or blocked by robots.txt, so it cannot appear in search results."),
    fix=N_("Remove the entry, or make the page indexable."),
)
TO_NON_CANONICAL = _define.warning(
    "hreflang-to-non-canonical",
    title=N_("hreflang points to non-canonical page"),
    why=N_("The alternate page declares another URL as its canonical."),
    fix=N_("Use the canonical URL of the alternate page."),
)
UNLINKED = _define.notice(
    "hreflang-unlinked",
    title=N_("Unlinked hreflang page"),
    why=N_("No internal link points to the alternate page, so visitors cannot switch to it."),
    fix=N_("Link to the other language versions on the page."),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    languages = site.languages
    if not len(languages.source):
        return
    yield from example_findings(NO_RETURN, site.named(languages.without_return().rows()))
    yield from example_findings(INCONSISTENT, site.named(languages.inconsistent().rows()))
    yield from _check_declared(site)
    for check, verdicts in (
        (TO_ERROR, (UrlVerdict.BROKEN,)),
        (TO_REDIRECT, (UrlVerdict.REDIRECT,)),
        (TO_NOINDEX, (UrlVerdict.NOINDEX, UrlVerdict.FORBIDDEN)),
        (TO_NON_CANONICAL, (UrlVerdict.CANONICALISED,)),
    ):
        yield from example_findings(check, site.named(languages.towards(verdicts).rows()))
    if site.pages.is_complete:
        yield from _check_unlinked(site)


def _check_declared(site: SiteView) -> Iterator[SiteFinding]:
    """Alternates that no link leads to: they were requested after the pages. A finding about a crawled alternate replaces it."""
    declared = site.declared_targets()
    for page, group in groupby(site.unknown_alternates() if declared else (), key=itemgetter(0)):
        if not site.pages.candidates[page]:
            continue
        targets = [declared[url] for _, url in group if url in declared]
        broken = [one.url for one in targets if is_broken(one)]
        moved = [one.url for one in targets if one.final_url and not is_broken(one)]
        for check, urls in ((TO_ERROR, broken), (TO_REDIRECT, moved)):
            if urls:
                yield page_finding(check, page, urls[0], count=len(urls), examples=tuple(urls[:MAX_EXAMPLES]))


def _check_unlinked(site: SiteView) -> Iterator[SiteFinding]:
    """Reports crawled pages without inlinks first, then URLs that were never crawled, on pages that are not reported yet."""
    reported: set[int] = set()
    for row in site.named(site.languages.unlinked(site.linked).rows()):
        reported.add(row.page)
        yield from example_findings(UNLINKED, [row])
    for page, group in groupby(site.unknown_alternates(), key=itemgetter(0)):
        urls = [url for _, url in group if site.is_ours(url)]
        if urls and page not in reported and site.pages.candidates[page]:
            yield page_finding(UNLINKED, page, urls[0], count=len(urls), examples=tuple(urls[:MAX_EXAMPLES]))


GROUP = SiteCheckSet("hreflang", _define.checks, run)
