"""Reads a crawl by the path of its database, for web pages, REST and GraphQL, also while the crawl runs.

Each function opens the file, reads everything in one transaction, and closes it; nothing is written. It returns frozen values of
limited size: lists continue by cursors. Values that a crawl of links or documentation does not have are None or empty.

All raise `CrawlNotReadable` if the file contains no crawl, `StoreError` if it cannot be read, and `UsageError` for invalid
arguments, such as a cursor of another list.
"""

from __future__ import annotations

from tadoru.jobs.audit.crawl_results.downloads import (
    DOWNLOAD_FORMATS,
    Download,
    available_formats,
    back_up_crawl,
    export_crawl,
    export_view,
    html_report,
    report_policy,
)
from tadoru.jobs.audit.crawl_results.queries import (
    browse_table,
    count_in_segment,
    count_pages,
    draw_site_graph,
    link_causes,
    list_affected,
    list_findings,
    list_links,
    list_pages,
    list_segments,
    list_templates,
    read_charts,
    read_graph,
    read_overview,
    read_page,
    site_origins,
    standalone_svg,
)
from tadoru.jobs.audit.crawl_results.run_comparison import (
    EarlierRun,
    NothingToCompare,
    compare_crawls,
    compare_page,
    compare_with_previous,
    earlier_run,
    find_new,
)
from tadoru.store.crawl.browse import ORDERS, LinkFilter, PageFilter
from tadoru.store.crawl.sqlite.store import CrawlNotReadable
from tadoru.store.cursors import UnknownCursor

__all__ = [
    "DOWNLOAD_FORMATS",
    "ORDERS",
    "CrawlNotReadable",
    "Download",
    "EarlierRun",
    "LinkFilter",
    "NothingToCompare",
    "PageFilter",
    "UnknownCursor",
    "available_formats",
    "back_up_crawl",
    "browse_table",
    "compare_crawls",
    "compare_page",
    "compare_with_previous",
    "count_in_segment",
    "count_pages",
    "draw_site_graph",
    "earlier_run",
    "export_crawl",
    "export_view",
    "find_new",
    "html_report",
    "link_causes",
    "list_affected",
    "list_findings",
    "list_links",
    "list_pages",
    "list_segments",
    "list_templates",
    "read_charts",
    "read_graph",
    "read_overview",
    "read_page",
    "report_policy",
    "site_origins",
    "standalone_svg",
]
