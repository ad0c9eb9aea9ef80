"""Checks that need more than one page. They run when a crawl has ended, over arrays of the whole site (`store.site`)."""

from __future__ import annotations

from tadoru.jobs.audit.site_checks import (
    canonicals,
    duplicates,
    fragments,
    hreflang,
    links,
    pagination,
    performance,
    redirects,
    resources,
    sitemap_urls,
    sitemaps,
    whole,
)
from tadoru.jobs.audit.site_checks.base import SiteChecks
from tadoru.model.finding import Check

GROUPS: tuple[SiteChecks, ...] = (
    duplicates.GROUP,  # First: what only it needs is dropped before the links are read.
    links.GROUP,
    fragments.GROUP,
    redirects.GROUP,
    canonicals.GROUP,
    hreflang.GROUP,
    pagination.GROUP,
    sitemaps.GROUP,
    sitemap_urls.GROUP,
    resources.GROUP,
    performance.GROUP,
    whole.GROUP,
)
SITE_CHECKS: dict[str, Check] = {check.id: check for group in GROUPS for check in group.checks}
