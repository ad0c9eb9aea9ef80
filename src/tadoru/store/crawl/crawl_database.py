"""A crawl database: one object with a part for each subject, over one connection."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tadoru.store.crawl.analysis import AnalysisWriter
from tadoru.store.crawl.browse import LinkBrowser, PageBrowser, TotalsBrowser
from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.documents import DocumentStore
from tadoru.store.crawl.export_reader import ExportReader
from tadoru.store.crawl.findings import CheckCatalogueStore, FindingReader
from tadoru.store.crawl.interface import CrawlHostStore, FrontierStore
from tadoru.store.crawl.meta import CrawlMeta, SingletonTasks
from tadoru.store.crawl.queue_changes import CrawlLimits
from tadoru.store.crawl.reader import CrawlGraph
from tadoru.store.crawl.rescope import Rescope, StalePages
from tadoru.store.crawl.resources import ResourceTable, RobotsTable, SitemapTable
from tadoru.store.crawl.run_pages import RunPages
from tadoru.store.crawl.runs import CrawlRuns
from tadoru.store.crawl.summary import SummaryReader
from tadoru.store.crawl.tables import TableBrowser


class CrawlDatabase:
    """One crawl. The parts that are leased and written all the time are a backend's own; the others are the same for all."""

    def __init__(self, db: CrawlConnection, *, frontier: FrontierStore, hosts: CrawlHostStore) -> None:
        self.db = db
        self.frontier = frontier
        self.hosts = hosts
        self.robots = RobotsTable(db)
        self.limits = CrawlLimits(db)
        self.meta = CrawlMeta(db)
        self.tasks = SingletonTasks(db)
        self.sitemaps = SitemapTable(db)
        self.resources = ResourceTable(db)
        self.graph = CrawlGraph(db)
        self.rescope = Rescope(db)
        self.stale_pages = StalePages(db)
        self.runs = CrawlRuns(db)
        self.run_pages = RunPages(db)
        self.checks = CheckCatalogueStore(db)
        self.findings = FindingReader(db)
        self.summary = SummaryReader(db)
        self.export = ExportReader(db)
        self.analysis = AnalysisWriter(db)
        self.documents = DocumentStore(db)
        self.page_list = PageBrowser(db)
        self.link_list = LinkBrowser(db)
        self.totals = TotalsBrowser(db)
        self.tables = TableBrowser(db)

    @property
    def sql(self) -> SqlConnection:
        """The connection itself."""
        return self.db.sql

    @property
    def path(self) -> str:
        """The file, or the URL without its password."""
        return self.db.path

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is read inside shows the crawl as it was at one moment, also while it goes on."""
        return self.db.snapshot()

    def release_memory(self) -> None:
        self.db.release_memory()

    async def close(self) -> None:
        await self.db.close()
