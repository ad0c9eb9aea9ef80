"""Checks of `rel=next` and `rel=prev` across pages. A single page is checked in `checks.pagination`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.jobs.audit.site_checks.resources import is_broken
from tadoru.rules.url import split_url
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("pagination")

NON_200 = _define.warning(
    "pagination-to-error",
    title=N_("Broken pagination URL"),
    why=N_("rel=next or rel=prev points to an error or a redirect."),
    fix=N_("Point rel=next and rel=prev to working pages."),
)
LOOP = _define.warning(
    "pagination-loop",
    title=N_("Pagination loop"),
    why=N_("Following rel=next leads back to this page."),
    fix=N_("Remove rel=next from the last page."),
)
SEQUENCE = _define.notice(
    "pagination-sequence-error",
    title=N_("rel=prev/next not reciprocal"),
    why=N_("The page that follows by rel=next does not point back to this page with rel=prev."),
    fix=N_("Make rel=next and rel=prev point to each other."),
)
UNLINKED = _define.notice(
    "pagination-unlinked",
    title=N_("Unlinked pagination URL"),
    why=N_("Only rel=next or rel=prev points to the page, and search engines no longer follow them."),
    fix=N_("Link to the pages of the series with <a> elements."),
)
NONINDEXABLE = _define.notice(
    "pagination-nonindexable",
    title=N_("Non-indexable paginated page"),
    why=N_("Content that is linked only from this page may not be discovered."),
    fix=N_("Make every page of the series indexable with a self-referencing canonical."),
)


_SEPARATORS = "/-_="
_PAGE_WORDS = tuple(mark + word for mark in "/-_" for word in ("page", "pages", "part", "seite", "p"))
_INDEX_FILES = ("index", "default")


def series_name(url: str) -> str:
    """The URL without its page number: the same for `/news/`, `/news/page/2`, `/news-2.html` and `/news?page=2`."""
    parts = split_url(url)
    folder, slash, file = parts.path.rstrip("/").rpartition("/")
    stem = file.partition(".")[0]
    path = folder if stem in _INDEX_FILES else folder + slash + stem
    if (unnumbered := path.rstrip("0123456789")) != path:
        path = unnumbered.rstrip(_SEPARATORS)
        word = next(filter(path.lower().endswith, _PAGE_WORDS), "")
        path = path[: len(path) - len(word)].rstrip(_SEPARATORS)
    kept = [pair for pair in parts.query.split("&") if not pair.rpartition("=")[2].isdigit()]
    return f"{parts.host}{path}?{'&'.join(filter(None, kept))}"


def is_continuation(site: SiteView, page: int) -> bool:
    """Whether `rel=prev` names an earlier page of the same list. In a manual, it names just another chapter."""
    before = int(site.pages.prev[page])
    if not before:
        return False
    earlier = site.url(before) if before > 0 else site.value(page, "prev_url")
    return series_name(earlier) == series_name(site.url(page))


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    series = pages.documents & ((pages.next != 0) | (pages.prev != 0))
    if not series.any():
        return
    after, before = (site.points_at(steps, (UrlVerdict.BROKEN, UrlVerdict.REDIRECT)) for steps in (pages.next, pages.prev))
    for page in site.ids(series & (after | before)):
        target = int(pages.next[page] if after[page] else pages.prev[page])
        yield page_finding(NON_200, page, site.url(target), status=int(pages.status[target]))
    yield from _check_declared(site)
    yield from _check_order(site)
    for page in site.ids(series & ((pages.why == UrlVerdict.NOINDEX) | (pages.why == UrlVerdict.CANONICALISED))):
        yield page_finding(NONINDEXABLE, page, site.value(page, "indexability"))
    if pages.is_complete:
        yield from _check_unlinked(site)


def _check_declared(site: SiteView) -> Iterator[SiteFinding]:
    """Pages of a series that no link leads to: they were requested after the pages."""
    declared, pages = site.declared_targets(), site.pages
    for steps, column in ((pages.next, "next_url"), (pages.prev, "prev_url")) if declared else ():
        for page in site.ids(pages.documents & (steps < 0)):
            target = declared.get(site.value(page, column))
            if target is not None and (is_broken(target) or target.final_url):
                yield page_finding(NON_200, page, target.url, status=target.status_code or 0)


def _check_order(site: SiteView) -> Iterator[SiteFinding]:
    pages = site.pages
    for page in site.ids(pages.documents & site.on_loop(pages.next)):
        yield page_finding(LOOP, page, site.url(int(pages.next[page])))
    for page in site.ids(pages.documents & (pages.next > 0) & site.points_at(pages.next, (UrlVerdict.GOOD,))):
        after = int(pages.next[page])
        if pages.documents[after] and pages.prev[after] != page:
            yield page_finding(SEQUENCE, page, site.url(after))


def _check_unlinked(site: SiteView) -> Iterator[SiteFinding]:
    pages = site.pages
    for page in site.ids(pages.documents & ((pages.next != 0) | (pages.prev != 0))):
        for target, column in ((int(pages.next[page]), "next_url"), (int(pages.prev[page]), "prev_url")):
            if target > 0 and pages.internal[target] and not site.linked[target]:
                yield page_finding(UNLINKED, page, site.url(target))
                break
            if target < 0 and site.is_ours(url := site.value(page, column)):
                yield page_finding(UNLINKED, page, url)
                break


GROUP = SiteCheckSet("pagination", _define.checks, run)
