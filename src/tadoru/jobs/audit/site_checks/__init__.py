"""Checks that need more than one page. They run after a crawl over arrays of the whole site (`store.crawl.site`)."""

from __future__ import annotations

from tadoru.jobs.audit.catalogue import PAGE_CHECKS
from tadoru.jobs.audit.site_checks import (
    canonicals,
    duplicates,
    hreflang,
    links,
    pagination,
    performance,
    redirects,
    resources,
    site,
    sitemaps,
)
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet
from tadoru.model.finding import Check

GROUPS: tuple[SiteCheckSet, ...] = (
    duplicates.GROUP,  # First: it releases memory that only it needs before the links are read.
    links.GROUP,
    links.FRAGMENT_GROUP,
    redirects.GROUP,
    canonicals.GROUP,
    hreflang.GROUP,
    pagination.GROUP,
    sitemaps.GROUP,
    sitemaps.URL_GROUP,
    resources.GROUP,
    performance.GROUP,
    site.GROUP,
)
SITE_CHECKS: dict[str, Check] = {check.id: check for group in GROUPS for check in group.checks}
BUILT_IN_CHECKS: dict[str, Check] = {check.id: check for group in PAGE_CHECKS for check in group.checks} | SITE_CHECKS
"""All checks of Tadoru, including those that are merged into others."""
MERGED_CHECKS: dict[str, tuple[str, ...]] = {
    check.id: check.merged_into for check in BUILT_IN_CHECKS.values() if check.merged_into
}
"""The ids of earlier versions with the checks that report the same since."""
