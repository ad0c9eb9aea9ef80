"""Runs in Scrapy's environment: URL OUTPUT CONCURRENCY ordinary|tuned. Nothing else of the benchmark is imported here.

The ordinary spider is what Scrapy's tutorial teaches: `LinkExtractor`, `follow_all`, `allowed_domains`, default settings but
for the pace; Scrapy's own filter drops what it knows. The tuned one remembers URLs itself, which spares Scrapy a Request and
its fingerprint for each of the hundreds of links on a page, and switches off what the job does not need: cookies, console,
statistics, referer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy  # type: ignore[import-not-found]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.http import HtmlResponse  # type: ignore[import-not-found]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]
from scrapy_settings import SPARED

START, OUTPUT, CONCURRENCY, TUNED = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "tuned"


seen = {START}


class LinksSpider(scrapy.Spider):  # type: ignore[misc]
    name = "links"
    start_urls = (START,)
    extractor = LinkExtractor()
    host = urlsplit(START).netloc
    allowed_domains = (urlsplit(START).hostname,)

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        links = self.extractor.extract_links(response)
        yield {
            "url": response.url,
            "status": response.status,
            "title": response.css("title::text").get(),
            "links": [[link.url, link.text] for link in links],
        }
        if not TUNED:
            yield from response.follow_all(links)
            return
        for link in links:
            url = link.url.partition("#")[0]
            if url not in seen and urlsplit(url).netloc == self.host:
                seen.add(url)
                yield scrapy.Request(url)


ORDINARY = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
    "FEEDS": {OUTPUT: {"format": "jsonlines", "encoding": "utf-8"}},
    "LOG_LEVEL": "WARNING",
    "ROBOTSTXT_OBEY": False,
}
process = CrawlerProcess(ORDINARY | (SPARED if TUNED else {}))
process.crawl(LinksSpider)
process.start()
