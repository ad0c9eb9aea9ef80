"""Checks of the site as a whole: robots.txt, duplicate hosts and schemes, site-wide noindex, site-wide soft 404; and facts of
pages that hold for most of them (`catalogue.SITE_WIDE_CHECKS`, stored with each page)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.catalogue import SITE_WIDE_CHECKS
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding, site_finding
from tadoru.model.finding import MAX_EXAMPLES, Check, Threshold, Value
from tadoru.model.web import FailureKind
from tadoru.rules import robots
from tadoru.rules.url import host_key
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import UrlVerdict

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("site")

NOINDEX = _define.error(
    "site-noindex",
    title=N_("Almost all pages are noindex"),
    why=N_("The site is excluded from search results. Often the directive is a leftover from a staging site."),
    fix=N_("Remove noindex from the pages that should be indexed."),
    threshold=Threshold(95, "percent"),
)
CANONICALISED = _define.error(
    "site-canonicalised",
    title=N_("Most pages are canonicalised to another host"),
    why=N_(
        "The pages ask search engines to index another site in their place. Often the host is a leftover from a staging site."
    ),
    fix=N_("Declare the URL of each page on this site as its canonical, unless the site is meant as a copy."),
    threshold=Threshold(50, "percent"),
)
ROBOTS_MISSING = _define.info(
    "robots-txt-missing",
    title=N_("No robots.txt"),
    why=N_("Everything may be crawled, but a sitemap cannot be announced, and requests for the file fill the error log."),
    fix=N_("Publish a robots.txt, at least to list the sitemap."),
)
ROBOTS_UNAVAILABLE = _define.error(
    "robots-txt-unavailable",
    title=N_("robots.txt unavailable"),
    why=N_("If robots.txt returns a server error or does not respond, search engines stop crawling the site."),
    fix=N_("Return status 200 for /robots.txt, or 404 if there is none."),
)
ROBOTS_BLOCKS = _define.error(
    "robots-txt-blocks-all",
    title=N_("robots.txt blocks the whole site"),
    why=N_("Search engines may not crawl any page. Often the rule is a leftover from a staging site."),
    fix=N_("Remove Disallow: / unless the site should stay out of search engines."),
)
SCHEMES = _define.warning(
    "site-http-and-https",
    title=N_("Site available over HTTP and HTTPS"),
    why=N_("The same pages exist twice, once without encryption."),
    fix=N_("Redirect every http:// URL to https://."),
)
WWW = _define.warning(
    "site-www-and-bare",
    title=N_("Site available with and without www"),
    why=N_("The same pages exist at two host names."),
    fix=N_("Redirect one host name to the other."),
)
MIXED = _define.notice(
    "site-mixed-protocols",
    title=N_("Mixed HTTP and HTTPS internal links"),
    why=N_("Pages of an HTTPS site are linked with unencrypted URLs."),
    fix=N_("Use https:// in all links, or omit the scheme."),
)
SOFT_404 = _define.warning(
    "site-soft-404",
    title=N_("Possible site-wide soft 404"),
    why=N_(
        "Many different URLs show exactly the same text, and none returned status 404. Missing pages may look like valid pages."
    ),
    fix=N_("Return status 404 for pages that do not exist."),
    threshold=Threshold(10, "pages"),
)

_MIN_PAGES = 3
_SEARCH_ENGINE = "Googlebot"
_REDIRECTED_AWAY = frozenset({FailureKind.BAD_REDIRECT, FailureKind.TOO_MANY_REDIRECTS, FailureKind.REDIRECT_LOOP})


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    yield from _check_robots(site)
    yield from _check_noindex(site, limits)
    yield from _check_canonicals(site, limits)
    yield from _check_duplicate_hosts(site)
    yield from _check_mixed_protocols(site)
    yield from _check_soft_404(site, limits)
    yield from _check_facts(site)


def _check_robots(site: SiteView) -> Iterator[SiteFinding]:
    for origin, status, failure, body in site.robots():
        url = f"{origin}/robots.txt"
        kind = FailureKind(failure) if failure else None
        rules = robots.read(status=status, failure=kind, body=body, token=_SEARCH_ENGINE)
        if status in (404, 410):
            yield site_finding(ROBOTS_MISSING, url, str(status))
        elif rules.unreachable or (kind is not None and kind not in _REDIRECTED_AWAY):
            yield site_finding(ROBOTS_UNAVAILABLE, url, str(status or failure))
        # A site that blocks only its root may allow other paths.
        elif rules.blanket is None and not any(rules.allows(f"{origin}{path}").allowed for path in ("/", "/a/page")):
            yield site_finding(ROBOTS_BLOCKS, url, rules.allows(f"{origin}/").line)


def _check_noindex(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    total, hidden = int(pages.documents.sum()), int((pages.documents & (pages.why == UrlVerdict.NOINDEX)).sum())
    if total >= _MIN_PAGES and 100 * hidden >= limits[NOINDEX] * total:
        yield site_finding(NOINDEX, site.start, f"{hidden} / {total}", count=hidden, pages=total, limit=limits[NOINDEX])


def _check_canonicals(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    total, away = int(pages.documents.sum()), site.ids(pages.documents & pages.canonical_away)
    if total >= _MIN_PAGES and 100 * len(away) > limits[CANONICALISED] * total:
        targets = Counter(host_key(site.value(page, "coalesce(canonical_url, canonical_http)")) for page in away)
        [(host, _)] = targets.most_common(1)
        yield site_finding(CANONICALISED, site.start, host, count=len(away), pages=total, limit=limits[CANONICALISED])


def _check_duplicate_hosts(site: SiteView) -> Iterator[SiteFinding]:
    """Indexable pages whose URLs differ only in the scheme or in www."""
    pages = site.pages
    found = {SCHEMES: [0, 0], WWW: [0, 0]}
    for group in site.equals(pages.address, pages.candidates):
        for check, trait in ((SCHEMES, pages.secure), (WWW, pages.www)):
            if len({bool(trait[page]) for page in group}) == 2:
                found[check][0] += 1
                found[check][1] = min(filter(None, (found[check][1], group[0])), key=lambda page: int(pages.place[page]))
    for check, (count, example) in found.items():
        if count:
            yield site_finding(check, site.start, site.url(example), count=count)


def _check_mixed_protocols(site: SiteView) -> Iterator[SiteFinding]:
    """Only if the start URL is encrypted. Links that redirect to HTTPS are reported too."""
    if not site.start.startswith("https:"):
        return
    pages = site.pages
    insecure = site.ids(pages.internal & ~pages.secure & (site.inlinks.unique > 0))
    if insecure:
        insecure.sort(key=lambda page: int(pages.place[page]))
        urls = tuple(site.url(page) for page in insecure[:MAX_EXAMPLES])
        yield site_finding(MIXED, site.start, urls[0], count=len(insecure), examples=urls)


def _check_soft_404(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    if (pages.internal & ((pages.status == 404) | (pages.status == 410))).any():
        return
    for group in site.equals(pages.content, pages.documents & site.wordy):
        if len(group) < limits[SOFT_404]:
            continue
        paths = {url.partition("?")[0].rstrip("/").lower() for url in site.urls(group[:1000]).values()}
        if len(paths) >= limits[SOFT_404]:
            examples = tuple(site.url(page) for page in group[:MAX_EXAMPLES])
            yield site_finding(SOFT_404, site.start, examples[0], count=len(group), examples=examples, limit=limits[SOFT_404])
            return


class _Fact(NamedTuple):
    """A check applies to a page."""

    page: int
    detail: str
    data: Mapping[str, Value]


def _check_facts(site: SiteView) -> Iterator[SiteFinding]:
    """Reports what is the same on most pages, such as a missing header, once with their share; otherwise on its pages."""
    documents = site.pages.documents
    total = int(documents.sum())
    found: dict[str, list[_Fact]] = {name: [] for name in SITE_WIDE_CHECKS}
    for page, facts in site.site_facts():
        for name, evidence in facts.items():
            if name in found:
                detail, data = (evidence, {}) if isinstance(evidence, str) else evidence
                found[name].append(_Fact(page, detail, data))
    for name, those in found.items():
        count = sum(bool(documents[fact.page]) for fact in those)
        if total >= _MIN_PAGES and 2 * count > total:
            yield _report_once(site, SITE_WIDE_CHECKS[name], [fact for fact in those if documents[fact.page]], total)
        else:
            yield from (page_finding(SITE_WIDE_CHECKS[name], fact.page, fact.detail, **fact.data) for fact in those)


def _report_once(site: SiteView, check: Check, facts: list[_Fact], total: int) -> SiteFinding:
    place = site.pages.place
    first = sorted((fact.page for fact in facts), key=lambda page: int(place[page]))[:MAX_EXAMPLES]
    urls = site.urls(first)
    [(value, _)] = Counter(fact.detail for fact in facts).most_common(1)
    data: dict[str, Value] = {"percent": round(100 * len(facts) / total), "examples": tuple(urls[page] for page in first)}
    return site_finding(check, site.start, value, count=len(facts), pages=total, **data)


GROUP = SiteCheckSet("site", _define.checks, run)
