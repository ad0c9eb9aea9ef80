"""Runs in crawlee's environment: URL OUTPUT CONCURRENCY. Nothing else of the benchmark is imported here.

The concurrency is fixed and the ratios of its autoscaling are out of reach: it would slow down by itself on a busy machine.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import TextIO
from urllib.parse import urljoin

from crawlee import ConcurrencySettings  # type: ignore[import-not-found]
from crawlee.configuration import Configuration  # type: ignore[import-not-found]
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext  # type: ignore[import-not-found]
from crawlee.storage_clients import MemoryStorageClient  # type: ignore[import-not-found]


async def main(start: str, file: TextIO, concurrency: int) -> None:
    crawler = ParselCrawler(
        configuration=Configuration(max_used_cpu_ratio=1.0, max_used_memory_ratio=1.0),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency, max_concurrency=concurrency, desired_concurrency=concurrency
        ),
        configure_logging=False,
    )

    @crawler.router.default_handler  # type: ignore[untyped-decorator]
    async def handle(context: ParselCrawlingContext) -> None:
        if "html" not in context.http_response.headers.get("content-type", ""):
            return
        selector, url = context.selector, context.request.url
        links = dict.fromkeys((a.attrib["href"], "".join(a.css("*::text").getall())) for a in selector.css("a[href]"))
        record = {
            "url": url,
            "status": context.http_response.status_code,
            "title": selector.css("title::text").get(),
            "links": [[urljoin(url, href), text] for href, text in links],
        }
        file.write(json.dumps(record) + "\n")
        await context.enqueue_links(strategy="same-hostname")

    await crawler.run([start])


logging.basicConfig(level=logging.WARNING)
with Path(sys.argv[2]).open("w", encoding="utf-8") as output:
    asyncio.run(main(sys.argv[1], output, int(sys.argv[3])))
