"""Runs in Scrapy's environment: URL OUTPUT CONCURRENCY ordinary|tuned. Nothing else of the benchmark is imported here.

Keeps in SQLite what an audit starts from: of each page its URL, status, title, description, canonical, robots, hash, sizes and
times, and every link with its anchor text, rel and type. It judges nothing. The ordinary spider is what Scrapy's documentation
teaches for a whole site: a `CrawlSpider` whose rule follows every link, and selectors for what is kept. The tuned one reads pages
with lxml itself, once, resolves each distinct href of a page once, makes a Request only for a URL it has not met, and switches
off what it does not need.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import urljoin, urlsplit

import lxml.html  # type: ignore[import-untyped]
import scrapy  # type: ignore[import-not-found]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.http import HtmlResponse  # type: ignore[import-not-found]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]
from scrapy.spiders import CrawlSpider, Rule  # type: ignore[import-not-found]
from scrapy_settings import SPARED

START, OUTPUT, CONCURRENCY, TUNED = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "tuned"
HOST = urlsplit(START).netloc
TABLES = (
    """CREATE TABLE pages (url TEXT PRIMARY KEY, status INTEGER, title TEXT, description TEXT, canonical TEXT, robots TEXT,
        content_hash TEXT, size INTEGER, content_length INTEGER, content_type TEXT, latency REAL, crawled_at REAL)""",
    "CREATE TABLE links (source TEXT, target TEXT, text TEXT, rel TEXT, type TEXT)",
)


class Keep:
    """The pipeline: pages and their links, many at a time."""

    def __init__(self) -> None:
        self.at_a_time = 500 if TUNED else 100
        self.pages: list[tuple[Any, ...]] = []
        self.links: list[tuple[str, ...]] = []

    def open_spider(self) -> None:
        self.sql = sqlite3.connect(OUTPUT)
        self.sql.execute("PRAGMA journal_mode = WAL")
        self.sql.execute("PRAGMA synchronous = NORMAL")
        for table in TABLES:
            self.sql.execute(table)

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        self.pages.append(item["page"])
        self.links += item["links"]
        if len(self.pages) >= self.at_a_time:
            self.write()
        return item

    def write(self) -> None:
        with self.sql:
            self.sql.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self.pages)
            self.sql.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?)", self.links)
        self.pages, self.links = [], []

    def close_spider(self) -> None:
        self.write()
        self.sql.close()


def record(response: Any, *said: str | None) -> tuple[Any, ...]:
    """A row of `pages`; `said` is its title, description, canonical and robots."""
    length, media_type = response.headers.get("Content-Length"), response.headers.get("Content-Type")
    return (
        response.url, response.status, *said, sha256(response.body).hexdigest(), len(response.body),
        int(length) if length else None, media_type.decode("latin-1") if media_type else None,
        response.meta.get("download_latency"), time.time(),
    )  # fmt: skip


def kind(url: str) -> str:
    return "internal" if urlsplit(url).netloc == HOST else "external"


class AuditSpider(CrawlSpider):  # type: ignore[misc]
    """As the documentation teaches it for a whole site."""

    name = "audit"
    start_urls = (START,)
    allowed_domains = (urlsplit(START).hostname,)
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_start_url(self, response: Any) -> Iterator[Any]:
        return self.parse_page(response)

    def parse_page(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            yield {"page": record(response, None, None, None, None), "links": []}
            return
        said = (
            response.css("title::text").get(),
            response.css("meta[name=description]::attr(content)").get(),
            response.css("link[rel=canonical]::attr(href)").get(),
            response.css("meta[name=robots]::attr(content)").get(),
        )
        links = []
        for anchor in response.css("a[href]"):
            url = response.urljoin(anchor.attrib["href"])
            links.append((response.url, url, anchor.xpath("normalize-space()").get(), anchor.attrib.get("rel", ""), kind(url)))
        yield {"page": record(response, *said), "links": links}


class TunedSpider(scrapy.Spider):  # type: ignore[misc]
    """As one writes it when it has to be quick."""

    name = "audit"
    start_urls = (START,)
    seen = {START}  # noqa: RUF012

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse) or not response.body:
            yield {"page": record(response, None, None, None, None), "links": []}
            return
        root = lxml.html.document_fromstring(response.body, parser=lxml.html.HTMLParser(encoding=response.encoding))
        source = response.url
        resolved: dict[str, tuple[str, str]] = {}
        links = []
        for anchor in root.iter("a"):
            href = anchor.get("href")
            if href is None:
                continue
            if href not in resolved:
                url = urljoin(source, href.strip())
                resolved[href] = url, kind(url)
            url, where = resolved[href]
            links.append((source, url, "".join(anchor.itertext()).strip(), anchor.get("rel") or "", where))
        yield {"page": record(response, *self.said(root)), "links": links}
        for url, where in resolved.values():
            bare = url.partition("#")[0]
            if where == "internal" and bare not in self.seen:
                self.seen.add(bare)
                yield scrapy.Request(bare)

    @staticmethod
    def said(root: Any) -> tuple[str | None, ...]:
        title, head = root.find(".//title"), root.find("head")
        found: dict[str, str | None] = {}
        for element in head.iter("meta", "link") if head is not None else ():
            name = element.get("name") or element.get("rel")
            if name in ("description", "robots", "canonical"):
                found.setdefault(name, element.get("content") or element.get("href"))
        text = title.text if title is not None else None
        return text, found.get("description"), found.get("canonical"), found.get("robots")


ORDINARY = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
    "HTTPERROR_ALLOW_ALL": True,
    "ITEM_PIPELINES": {Keep: 300},
    "LOG_LEVEL": "WARNING",
    "ROBOTSTXT_OBEY": True,
}
process = CrawlerProcess(ORDINARY | (SPARED if TUNED else {}))
process.crawl(TunedSpider if TUNED else AuditSpider)
process.start()
