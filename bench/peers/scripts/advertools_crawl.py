"""Runs in the environment of advertools: URL OUTPUT CONCURRENCY. Nothing else of the benchmark is imported here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import advertools  # type: ignore[import-not-found]

# It starts `scrapy` by its name.
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
START, OUTPUT, CONCURRENCY = sys.argv[1], sys.argv[2], int(sys.argv[3])
advertools.crawl(
    START,
    OUTPUT,
    follow_links=True,
    # With the port, which it would take from the URL, it follows nothing.
    allowed_domains=[urlsplit(START).hostname],
    custom_settings={
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
    },
)
