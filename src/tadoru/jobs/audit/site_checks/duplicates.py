"""Checks for duplicates: the same title, description, heading or text, nearly the same text, or one page at two URLs.

Only indexable pages are compared. Translations of one page are not duplicates, and the pages of one list (`rel=next`, with URLs
that differ only in a page number) may share a title, description and heading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.jobs.audit.site_checks.pagination import series_name
from tadoru.model.finding import Check, Threshold, Value
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

TITLE = CheckDefinitions("titles").warning(
    "title-duplicate",
    title=N_("Duplicate title"),
    why=N_("Other pages have the same title. They cannot be distinguished in search results and may compete with each other."),
    fix=N_("Give each page a unique title."),
)
DESCRIPTION = CheckDefinitions("descriptions").notice(
    "description-duplicate",
    title=N_("Duplicate meta description"),
    why=N_("Other pages have the same meta description, so it does not describe what is specific to this page."),
    fix=N_("Write a unique description for each page, or remove it."),
)
H1 = CheckDefinitions("headings").info(
    "h1-duplicate",
    title=N_("Duplicate h1"),
    why=N_("Other pages have the same main heading."),
    fix=N_("Use a heading that describes this page."),
)
CONTENT = CheckDefinitions("content").error(
    "content-duplicate",
    title=N_("Duplicate content"),
    why=N_("Other pages have exactly the same text. Search engines show only one of them, and not necessarily this one."),
    fix=N_("Keep one page. Redirect the others to it, or declare it as their canonical."),
)
NEAR = CheckDefinitions("content").notice(
    "content-near-duplicate",
    title=N_("Near-duplicate content"),
    why=N_("Other pages have almost the same text and compete for the same queries."),
    fix=N_("Merge the pages, or give each of them distinct content."),
    threshold=Threshold(90, "percent"),
)

_define_url_check = CheckDefinitions("urls")

SLASH = _define_url_check.warning(
    "url-duplicate-slash",
    title=N_("Duplicate page with and without trailing slash"),
    why=N_("Two URLs that differ only in the trailing slash show the same page, which splits its inlinks."),
    fix=N_("Redirect one URL to the other and link only to that one."),
)
CASE = _define_url_check.warning(
    "url-duplicate-case",
    title=N_("Duplicate page in different case"),
    why=N_("URLs that differ only in upper and lower case show the same page, which splits its inlinks."),
    fix=N_("Redirect to one spelling and link only to that one."),
)
PARAMETERS = _define_url_check.warning(
    "url-duplicate-parameters",
    title=N_("Duplicate page with different parameters"),
    why=N_("URLs that differ only in their parameters show the same page, which wastes crawl budget."),
    fix=N_("Declare the URL without parameters as the canonical, or link without parameters."),
)
INDEX = _define_url_check.warning(
    "url-duplicate-index",
    title=N_("Duplicate page with and without index file"),
    why=N_("A folder and its index file show the same page at two URLs."),
    fix=N_("Redirect the index file to the folder and link to the folder."),
)

_INDEX_NAMES = ("/index.html", "/index.htm", "/index.php", "/default.aspx", "/default.htm")


_MAX_COMPARED_URLS = 20_000
"""With more copies than this, their URLs are not compared."""


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    yield from _check_equal_values(site, TITLE, site.equals(pages.title, pages.candidates), "title")
    yield from _check_equal_values(site, DESCRIPTION, site.equals(pages.description, pages.candidates), "meta_description")
    yield from _check_equal_values(site, H1, site.equals(pages.h1, pages.candidates), "h1")
    for group in site.equals(pages.content, pages.candidates & site.wordy):
        yield from _check_copies(site, group)
    for group in site.equals(site.short_bodies(), pages.candidates & ~site.wordy):
        yield from _check_copies(site, group)
    for group in site.near_groups():
        yield from _report_others(site, NEAR, group, site.copies_among(group), limit=limits[NEAR])


def _check_equal_values(site: SiteView, check: Check, groups: Iterable[list[int]], column: str) -> Iterator[SiteFinding]:
    for group in groups:
        yield from _report_others(site, check, group, _series(site, group), detail=site.value(group[0], column))


def _series(site: SiteView, group: list[int]) -> list[int] | None:
    """The same number for the pages of one list; None if no page of the group is in one."""
    listed = (site.pages.next[group] != 0) | (site.pages.prev[group] != 0)
    if not listed.any():
        return None
    # The negative id of a page is its own number; a hash of a name is not negative.
    urls = site.urls(page for page, is_listed in zip(group, listed, strict=True) if is_listed)
    return [abs(hash(series_name(urls[page]))) if page in urls else -page for page in group]


def _report_others(
    site: SiteView, check: Check, group: list[int], kin: list[int] | None = None, detail: str = "", **data: Value
) -> Iterator[SiteFinding]:
    """A finding on each page of a group that lists the others. Pages with the same `kin` do not count as duplicates."""
    for page, count, examples in site.named(site.others(group, kin)):
        yield page_finding(check, page, detail or examples[0], count=count, examples=examples, **data)


def _check_copies(site: SiteView, group: list[int]) -> Iterator[SiteFinding]:
    """Findings on exact copies. Where a check exists for the way in which their URLs differ, that check is reported instead."""
    if len(group) > _MAX_COMPARED_URLS:
        yield from _report_others(site, CONTENT, group)
        return
    urls = site.urls(group)
    for check, simpler in _NORMALISERS.items():
        alike: dict[str, list[int]] = {}
        for page, url in urls.items():
            alike.setdefault(simpler(url), []).append(page)
        for some in alike.values():
            yield from _report_others(site, check, some)
    yield from _report_others(site, CONTENT, group, [hash(normalise_all(urls[page])) for page in group])


def without_slash(url: str) -> str:
    """A URL without slashes at the end of its path."""
    path, mark, query = url.partition("?")
    return path.rstrip("/") + mark + query


def without_index(url: str) -> str:
    """A URL without the name of a folder's index page."""
    path, mark, query = url.partition("?")
    for name in _INDEX_NAMES:
        if path.lower().endswith(name):
            return path[: 1 - len(name)] + mark + query
    return url


def _without_query(url: str) -> str:
    return url.partition("?")[0]


def normalise_all(url: str) -> str:
    """A URL without anything in which two URLs of one page often differ."""
    return without_slash(without_index(_without_query(url.lower())))


_NORMALISERS: dict[Check, Callable[[str], str]] = {
    SLASH: without_slash,
    INDEX: without_index,
    CASE: str.lower,
    PARAMETERS: _without_query,
}
GROUP = SiteCheckSet("duplicates", (TITLE, DESCRIPTION, H1, CONTENT, NEAR, *_NORMALISERS), run)
