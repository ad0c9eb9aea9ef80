"""Checks of redirects across pages: chains, loops, targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding, site_finding
from tadoru.model.finding import MAX_EXAMPLES, Threshold
from tadoru.rules.url import split_url
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("redirects")

CHAIN = _define.warning(
    "redirect-chain",
    title=N_("Redirect chain"),
    why=N_("Each redirect costs visitors time, and search engines stop after a few."),
    fix=N_("Redirect directly to the final URL."),
    threshold=Threshold(2, "redirects"),
)
LOOP = _define.error(
    "redirect-loop",
    title=N_("Redirect loop"),
    why=N_("The redirects lead back to their start, so nobody can open the page."),
    fix=N_("Serve the page at one of the URLs."),
)
TO_ERROR = _define.error(
    "redirect-to-error",
    title=N_("Redirect to broken page"),
    why=N_("The redirect target returns an error or does not respond."),
    fix=N_("Redirect to a working page, or return status 404 or 410."),
)
TO_HOME = _define.warning(
    "redirects-to-home",
    title=N_("Many redirects to the home page"),
    why=N_("Visitors do not find what they were looking for, and search engines treat such redirects as soft 404s."),
    fix=N_("Redirect each URL to its replacement, or return status 404 or 410."),
    threshold=Threshold(10, "URLs"),
)

_MOST_HOPS = 10


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages, ends = site.pages, site.pages.redirects
    moved = pages.internal & (pages.redirect > 0)
    for page in site.ids(moved & ends.looping):
        hops = site.hops(pages.redirect, page, _MOST_HOPS)
        yield page_finding(LOOP, page, hops[0], hops=hops)
    limit = limits[CHAIN]
    for page in site.ids(moved & ~ends.looping & (ends.steps >= limit)):
        hops = site.hops(pages.redirect, page, _MOST_HOPS)
        yield page_finding(CHAIN, page, hops[-1], count=int(ends.steps[page]), hops=hops, limit=limit)
    # A chain that was cut off has no known end: it is too long, not broken.
    broken = (pages.verdict == UrlVerdict.BROKEN) & ~pages.cut_off
    for page in site.ids(moved & ~ends.looping & broken[ends.end]):
        end = int(ends.end[page])
        yield page_finding(TO_ERROR, page, site.url(end), status=int(pages.status[end]))
    yield from _check_redirects_to_home(site, limits)


def _check_redirects_to_home(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    """Pages that redirect to the root of their host. Other URLs of the root may do so."""
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for page in site.ids(site.pages.internal & site.moved_for_good):
        url, target = site.url(page), site.url(int(site.pages.redirect[page]))
        if split_url(target).path == "/" and not _is_root(url):
            counts[target] += 1
            shown = examples.setdefault(target, [])
            shown.append(url)
            shown.sort()
            del shown[MAX_EXAMPLES:]
    for home, count in sorted(counts.items()):
        if count >= limits[TO_HOME]:
            yield site_finding(TO_HOME, home, str(count), count=count, examples=tuple(examples[home]), limit=limits[TO_HOME])


def _is_root(url: str) -> bool:
    """Whether a URL is the home page: the bare host, an index file, the folder of a language."""
    path = split_url(url).path.strip("/")
    return len(path) <= 5 or path.rpartition("/")[2].partition(".")[0] in ("index", "default", "home")


GROUP = SiteCheckSet("redirects", _define.checks, run)
