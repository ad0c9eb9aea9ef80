"""Reports what is the same on most pages, such as a missing header, once for the site with the share of pages.

The facts are found by checks of pages (`catalogue.SITE_WIDE_CHECKS`) and stored with each page. If few pages have one, it is
reported on these pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tadoru.jobs.audit.catalogue import SITE_WIDE_CHECKS
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding, site_finding
from tadoru.model.finding import MAX_EXAMPLES, Check, Value
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_FEWEST_PAGES = 3
"""With fewer pages, a fact is one of the pages."""


class _Fact(NamedTuple):
    """A check applies to a page."""

    page: int
    detail: str
    data: Mapping[str, Value]


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
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
        if total >= _FEWEST_PAGES and 2 * count > total:
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


GROUP = SiteCheckSet("site facts", (), run)
