"""Tadoru: a polite crawl engine with several jobs.

The packages from top to bottom (no import goes up; see `ARCHITECTURE.md`):

    cli/      commands            serve/   web service and API        cluster/   workers on several machines
    demo/     the bundled demo site
    jobs/     links, audit, docs and events: analysis of pages, reports, exports
    engine/   the crawl loop: lease, filter, pace, fetch, handle, store
    fetch/    network             store/   databases and files
    config/   options             i18n/    translations               plugins, log
    parse/    pages, links, sitemaps       rules/   URLs, scope, robots, pace, retry       model/   data types

The public Python API:

    import tadoru
    result = tadoru.links("https://example.com/", depth=2)
    for page in result.internal_urls: print(page.depth, page.url, page.status_code)

    audited = tadoru.audit("https://example.com/", database="site.db")
    for finding in audited.findings(severity="error"): print(finding.check_id, finding.url)

    site = tadoru.docs("https://docs.example.com/", output="site")
    for url, markdown in site.markdown(): print(url, len(markdown))

    with tadoru.events("events.db") as calendar:
        calendar.add_source("Town", "ics", "https://example.com/events.ics")
        calendar.run()
        for event in calendar.list(city="盛岡市"): print(event["starts_at"], event["title"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tadoru.version import VERSION as __version__  # noqa: N811

if TYPE_CHECKING:
    from tadoru.jobs.audit.run import AuditResult, audit, audit_async
    from tadoru.jobs.docs.run import DocsResult, docs, docs_async
    from tadoru.jobs.events.api import Calendar, events
    from tadoru.jobs.links.result import CrawlResult, FailedUrl, UrlInfo
    from tadoru.jobs.links.run import links, links_async

__all__ = [
    "AuditResult",
    "Calendar",
    "CrawlResult",
    "DocsResult",
    "FailedUrl",
    "UrlInfo",
    "__version__",
    "audit",
    "audit_async",
    "docs",
    "docs_async",
    "events",
    "links",
    "links_async",
]

_MODULES = {
    "AuditResult": "tadoru.jobs.audit.run",
    "audit": "tadoru.jobs.audit.run",
    "audit_async": "tadoru.jobs.audit.run",
    "DocsResult": "tadoru.jobs.docs.run",
    "docs": "tadoru.jobs.docs.run",
    "docs_async": "tadoru.jobs.docs.run",
    "Calendar": "tadoru.jobs.events.api",
    "events": "tadoru.jobs.events.api",
    "links": "tadoru.jobs.links.run",
    "links_async": "tadoru.jobs.links.run",
    "CrawlResult": "tadoru.jobs.links.result",
    "FailedUrl": "tadoru.jobs.links.result",
    "UrlInfo": "tadoru.jobs.links.result",
}


def __getattr__(name: str) -> Any:
    """Import a name of the API when it is first used, so that `tadoru --version` starts fast."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tadoru' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
