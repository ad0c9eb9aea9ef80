"""Runs in Scrapy's environment: URL OUTPUT CONCURRENCY ordinary|tuned. Nothing else of the benchmark is imported here.

The settings are those a person in a hurry would choose: no cookies, no console, no statistics. The ordinary spider hands every
internal link to Scrapy, whose filter drops what it knows; the tuned one remembers URLs itself, which spares Scrapy a Request
and its fingerprint for each of the hundreds of links on a page.
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

START, OUTPUT, CONCURRENCY, TUNED = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "tuned"


seen = {START}


class LinksSpider(scrapy.Spider):  # type: ignore[misc]
    name = "links"
    start_urls = (START,)
    extractor = LinkExtractor()
    host = urlsplit(START).netloc

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
        for link in links:
            url = link.url.partition("#")[0]
            if url in seen or urlsplit(url).netloc != self.host:
                continue
            if TUNED:
                seen.add(url)
            yield scrapy.Request(url)


process = CrawlerProcess(
    {
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "COOKIES_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "FEEDS": {OUTPUT: {"format": "jsonlines", "encoding": "utf-8"}},
        "LOG_LEVEL": "WARNING",
        "MEMUSAGE_ENABLED": False,
        "REFERER_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "STATS_DUMP": False,
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(LinksSpider)
process.start()
