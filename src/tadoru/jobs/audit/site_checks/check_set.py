"""The type of a set of site checks, and functions that make their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tadoru.jobs.audit.context import Limits
from tadoru.model.finding import Check, Value
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import NamedUrls, SiteView


@dataclass(frozen=True)
class SiteCheckSet:
    """Site checks and the function that runs them. It yields at most one finding for each check and page."""

    name: str
    checks: tuple[Check, ...]
    run: Callable[[SiteView, Limits], Iterator[SiteFinding]] = field(repr=False)


def page_finding(check: Check, page: int, detail: str = "", **data: Value) -> SiteFinding:
    """The finding that a check applies to a page, given by its id."""
    return SiteFinding(check.id, page, detail, data)


def site_finding(check: Check, subject: str, detail: str = "", **data: Value) -> SiteFinding:
    """The finding that a check applies to something other than a page: the site, a sitemap, robots.txt."""
    return SiteFinding(check.id, 0, detail, data, subject)


def example_findings(check: Check, rows: Iterable[NamedUrls], **data: Value) -> Iterator[SiteFinding]:
    """Findings on pages that other URLs cause. The first URL is the detail, some are examples, and all are counted."""
    for page, count, examples in rows:
        yield SiteFinding(check.id, page, examples[0] if examples else "", {"count": count, "examples": examples, **data})
