"""Checks of sitemap files: missing, unreadable, too large, invalid. And of their URLs against the crawled pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding, site_finding
from tadoru.jobs.audit.site_checks.pagination import is_continuation
from tadoru.model.finding import MAX_EXAMPLES, Check, Threshold
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.records import SitemapRecord
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("sitemaps")

MISSING = _define.notice(
    "sitemap-missing",
    title=N_("No sitemap"),
    why=N_("robots.txt lists no sitemap and /sitemap.xml does not exist, so search engines depend on links to discover pages."),
    fix=N_("Publish a sitemap and list it in robots.txt."),
)
NOT_IN_ROBOTS = _define.info(
    "sitemap-not-in-robots",
    title=N_("Sitemap not in robots.txt"),
    why=N_("Search engines to which the sitemap was not submitted may not find it."),
    fix=N_("Add a line such as Sitemap: https://example.com/sitemap.xml to robots.txt."),
)
UNREADABLE = _define.error(
    "sitemap-unreadable",
    title=N_("Unreadable sitemap"),
    why=N_("robots.txt or a sitemap index lists this file, but it does not respond or is not a sitemap."),
    fix=N_("Restore the file, or remove the entry."),
)
PROBLEMS = _define.warning(
    "sitemap-problems",
    title=N_("Errors in sitemap"),
    why=N_("Parts of the file do not follow the sitemap protocol and may be ignored."),
    fix=N_("Correct the listed errors."),
)
TOO_MANY = _define.error(
    "sitemap-too-many-urls",
    title=N_("Too many URLs in sitemap"),
    why=N_("Search engines reject sitemaps with more URLs than this."),
    fix=N_("Split the sitemap and list the parts in a sitemap index."),
    threshold=Threshold(50_000, "URLs"),
)
TOO_LARGE = _define.error(
    "sitemap-too-large",
    title=N_("Sitemap too large"),
    why=N_("Search engines reject larger files."),
    fix=N_("Split the sitemap and list the parts in a sitemap index."),
    threshold=Threshold(50 * 1024 * 1024, "bytes"),
)
LASTMOD_INVALID = _define.notice(
    "sitemap-lastmod-invalid",
    title=N_("Invalid lastmod in sitemap"),
    why=N_("Search engines ignore a lastmod that is not a valid date."),
    fix=N_("Use dates such as 2025-01-31 or 2025-01-31T12:00:00+09:00."),
)
LASTMOD_FUTURE = _define.notice(
    "sitemap-lastmod-future",
    title=N_("Future lastmod in sitemap"),
    why=N_("Search engines stop trusting the dates of a sitemap if some are impossible."),
    fix=N_("Use the date of the last change of the page."),
)
OTHER_HOST = _define.warning(
    "sitemap-other-host",
    title=N_("URLs of another host in sitemap"),
    why=N_("Search engines ignore URLs of another host unless that host allows it."),
    fix=N_("List only URLs of this site."),
)
_NO_SITEMAP = "Not a sitemap"
_TOO_MANY_URLS = re.compile(r"More than \d+ URLs")
_LARGER = "Larger than"
_OTHER_SITE = "URLs of another site"
_OUR_LIMIT = re.compile(r"More than \d+ sitemaps|More URLs than are read")
_TWICE = "is named more than once"
"""Parts of messages of `parse.sitemap` that have checks of their own or are not errors of the sitemap."""
_ONE_DAY = 86_400.0
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?")


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    sitemaps = site.sitemaps()
    if not sitemaps:
        return
    present = {number: one for number, one in sitemaps.items() if not is_absent(one)}
    if not present:
        yield site_finding(MISSING, next(iter(sitemaps.values())).url)
        return
    roots = [one for one in present.values() if one.level == 0]
    if roots and all(one.named_by == "guess" for one in roots):
        yield site_finding(NOT_IN_ROBOTS, roots[0].url)
    for one in present.values():
        yield from _check_file(one, limits)
    yield from _check_entries(site, present)


def is_absent(one: SitemapRecord) -> bool:
    """Whether no sitemap is declared and the guessed URL has none, but an error page, for example."""
    return one.status == "absent" or (one.named_by == "guess" and (one.status == "failed" or _is_no_sitemap(one)))


def _is_no_sitemap(one: SitemapRecord) -> bool:
    return not one.urls and any(text.startswith(_NO_SITEMAP) for text in one.problems)


def _check_file(one: SitemapRecord, limits: Limits) -> Iterator[SiteFinding]:
    problems = one.problems
    if one.status == "failed" or _is_no_sitemap(one):
        yield site_finding(UNREADABLE, one.url, problems[0] if problems else str(one.status_code or ""), named_by=one.named_by)
        return
    if one.urls > limits[TOO_MANY] or any(map(_TOO_MANY_URLS.match, problems)):
        yield site_finding(TOO_MANY, one.url, str(one.urls), count=one.urls, limit=limits[TOO_MANY])
    if one.bytes > limits[TOO_LARGE] or any(text.startswith(_LARGER) for text in problems):
        yield site_finding(TOO_LARGE, one.url, str(one.bytes), size=one.bytes, limit=limits[TOO_LARGE])
    rest = [text for text in problems if not is_truncated(text) and not text.startswith(_OTHER_SITE) and _TWICE not in text]
    if rest:
        yield site_finding(PROBLEMS, one.url, rest[0], count=len(rest), examples=tuple(rest[:MAX_EXAMPLES]))


def is_truncated(text: str) -> bool:
    """Whether a problem means that the file was not read completely."""
    return text.startswith(_LARGER) or bool(_TOO_MANY_URLS.match(text) or _OUR_LIMIT.match(text))


class _EntryProblems:
    """The entries of one sitemap to which a check applies: their number and examples."""

    def __init__(self) -> None:
        self.count = 0
        self.pages: list[int] = []
        self.values: list[str] = []

    def add(self, page: int, value: str) -> None:
        self.count += 1
        if len(self.pages) < MAX_EXAMPLES:
            self.pages.append(page)
            self.values.append(value)


def _check_entries(site: SiteView, sitemaps: dict[int, SitemapRecord]) -> Iterator[SiteFinding]:
    """Findings about the entries, one for each file and check: one generator writes all entries."""
    problems: dict[tuple[int, str], _EntryProblems] = {}
    checks = {check.id: check for check in (LASTMOD_INVALID, LASTMOD_FUTURE, OTHER_HOST)}
    internal = site.pages.internal
    for number, page, lastmod in site.sitemap_entries():
        if number not in sitemaps:
            continue
        if not internal[page]:
            problems.setdefault((number, OTHER_HOST.id), _EntryProblems()).add(page, "")
        check = check_lastmod(lastmod, sitemaps[number].kind, site.now) if lastmod else None
        if check is not None:
            problems.setdefault((number, check.id), _EntryProblems()).add(page, lastmod or "")
    for (number, check_id), one in sorted(problems.items(), key=lambda item: (sitemaps[item[0][0]].url, item[0][1])):
        urls = site.urls(one.pages)
        shown = tuple(f"{urls[page]} {value}".strip() for page, value in zip(one.pages, one.values, strict=True))
        yield site_finding(checks[check_id], sitemaps[number].url, shown[0], count=one.count, examples=shown)


def check_lastmod(text: str, kind: str | None, now: float) -> Check | None:
    """What is wrong with a date of a sitemap or feed."""
    when = _parse_date(text, kind == "feed")
    if when is None:
        return LASTMOD_INVALID
    return LASTMOD_FUTURE if when > now + _ONE_DAY else None


@lru_cache(maxsize=10_000)
def _parse_date(text: str, feed: bool) -> float | None:
    """The timestamp of a date in the format of sitemaps (W3C) or of feeds; None if it is invalid."""
    try:
        if _DATE.fullmatch(text):
            when = datetime.fromisoformat(text if len(text) > 7 else f"{text}-01-01"[:10])
        elif feed:
            when = parsedate_to_datetime(text)
        else:
            return None
        return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


GROUP = SiteCheckSet("sitemaps", _define.checks, run)


if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define_url = CheckDefinitions("sitemaps")

URL_BROKEN = _define_url.error(
    "sitemap-url-broken",
    title=N_("Broken URL in sitemap"),
    why=N_("The sitemap lists a page that returns an error or does not respond."),
    fix=N_("Remove the URL from the sitemap, or restore the page."),
)
URL_REDIRECTED = _define_url.warning(
    "sitemap-url-redirected",
    title=N_("Redirected URL in sitemap"),
    why=N_("A sitemap should list final URLs, not URLs that redirect."),
    fix=N_("List the redirect target instead."),
)
URL_NOINDEX = _define_url.warning(
    "sitemap-url-noindex",
    title=N_("Noindex URL in sitemap"),
    why=N_("The sitemap asks search engines to index the page, but the page forbids it."),
    fix=N_("Remove the URL from the sitemap, or remove noindex."),
)
URL_CANONICALISED = _define_url.warning(
    "sitemap-url-canonicalised",
    title=N_("Canonicalised URL in sitemap"),
    why=N_("The page declares another URL as its canonical."),
    fix=N_("List the canonical URL in the sitemap."),
)
URL_FORBIDDEN = _define_url.warning(
    "sitemap-url-blocked",
    title=N_("URL in sitemap blocked by robots.txt"),
    why=N_("The sitemap asks search engines to crawl the page, but robots.txt forbids it."),
    fix=N_("Remove the URL from the sitemap, or allow crawling."),
)
IN_SEVERAL = _define_url.info(
    "sitemap-url-in-several",
    title=N_("URL in multiple sitemaps"),
    why=N_("One entry is enough, and duplicate entries may diverge."),
    fix=N_("List each page in one sitemap only."),
)
LEFT_OUT = _define_url.notice(
    "sitemap-page-missing",
    title=N_("Page not in sitemap"),
    why=N_("The page is indexable, but no sitemap lists it."),
    fix=N_("Add the page to a sitemap, or set it to noindex."),
)

_UNFIT: dict[UrlVerdict, Check] = {
    UrlVerdict.BROKEN: URL_BROKEN,
    UrlVerdict.REDIRECT: URL_REDIRECTED,
    UrlVerdict.NOINDEX: URL_NOINDEX,
    UrlVerdict.CANONICALISED: URL_CANONICALISED,
    UrlVerdict.FORBIDDEN: URL_FORBIDDEN,
}


def run_urls(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    named = pages.internal & (site.in_sitemaps > 0)
    for verdict, check in _UNFIT.items():
        for page in site.ids(named & (pages.verdict == verdict)):
            yield page_finding(check, page, str(int(pages.status[page])) if verdict is UrlVerdict.BROKEN else "")
    for page in site.ids(named & (site.in_full_sitemaps > 1)):
        yield page_finding(IN_SEVERAL, page, count=int(site.in_full_sitemaps[page]))
    if site.in_full_sitemaps.any() and not incomplete_sitemaps(site):
        for page in site.ids(pages.candidates & ~pages.with_query & site.reached & (site.in_sitemaps == 0)):
            if not is_continuation(site, page):
                yield page_finding(LEFT_OUT, page)


def incomplete_sitemaps(site: SiteView) -> list[str]:
    """The sitemaps that were not read completely: each may contain any URL."""
    present = [one for one in site.sitemaps().values() if not is_absent(one)]
    return [one.url for one in present if one.status != "read" or any(map(is_truncated, one.problems))]


URL_GROUP = SiteCheckSet("sitemap URLs", (*_UNFIT.values(), IN_SEVERAL, LEFT_OUT), run_urls)
