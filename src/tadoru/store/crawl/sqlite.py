"""The SQLite store: its parts over one `Database`."""

from __future__ import annotations

from tadoru.store.crawl.analysis import AnalysisWriter
from tadoru.store.crawl.crawl_limits import CrawlLimits
from tadoru.store.crawl.documents import DocumentStore
from tadoru.store.crawl.export_reader import ExportReader
from tadoru.store.crawl.findings import CheckCatalogueStore, FindingReader
from tadoru.store.crawl.frontier import Frontier
from tadoru.store.crawl.hosts import Hosts
from tadoru.store.crawl.reader import CrawlReader
from tadoru.store.crawl.rescope import Rescope
from tadoru.store.crawl.resources import ResourceTasks, SitemapStore
from tadoru.store.crawl.run_pages import RunPages
from tadoru.store.crawl.runs import CrawlRuns
from tadoru.store.crawl.singleton_tasks import SingletonTasks
from tadoru.store.crawl.stale_pages import StalePages
from tadoru.store.crawl.summary import SummaryReader


class SqliteStore(
    Frontier,
    CrawlLimits,
    Hosts,
    CrawlReader,
    SingletonTasks,
    CheckCatalogueStore,
    Rescope,
    StalePages,
    SitemapStore,
    ResourceTasks,
    CrawlRuns,
    RunPages,
    ExportReader,
    SummaryReader,
    FindingReader,
    AnalysisWriter,
    DocumentStore,
):
    """A crawl in one SQLite file. Any number of processes may open it at once."""
