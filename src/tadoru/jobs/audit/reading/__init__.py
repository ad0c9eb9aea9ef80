"""Reading a crawl by the path of its database: for pages, REST and GraphQL, also while the crawl runs.

Every function opens the file, reads all that it tells at one moment, and closes it; nothing is ever written. What comes back
are plain frozen values of bounded size: lists go on by cursors. A crawl of links, or of a documentation site, has fewer facts,
and what it lacks is None or empty.

All raise `NothingToRead` when there is no crawl in the file (yet, or any more), `StoreError` when the file can not be read, and
`UsageError` for what makes no sense, such as a cursor of another list.
"""

from __future__ import annotations

from tadoru.jobs.audit.reading.comparing import NothingToCompare, compare, compare_with_previous
from tadoru.jobs.audit.reading.drawing import draw, graph, standing_alone
from tadoru.jobs.audit.reading.exporting import EXPORTS, Export, back_up, export
from tadoru.jobs.audit.reading.findings import affected, findings
from tadoru.jobs.audit.reading.lists import count, links, pages
from tadoru.jobs.audit.reading.overview import charts, overview
from tadoru.jobs.audit.reading.page import page
from tadoru.store.browse_links import LinkFilter
from tadoru.store.browse_pages import ORDERS, PageFilter
from tadoru.store.places import UnknownPlace
from tadoru.store.read_only import NothingToRead

__all__ = [
    "EXPORTS",
    "ORDERS",
    "Export",
    "LinkFilter",
    "NothingToCompare",
    "NothingToRead",
    "PageFilter",
    "UnknownPlace",
    "affected",
    "back_up",
    "charts",
    "compare",
    "compare_with_previous",
    "count",
    "draw",
    "export",
    "findings",
    "graph",
    "links",
    "overview",
    "page",
    "pages",
    "standing_alone",
]
