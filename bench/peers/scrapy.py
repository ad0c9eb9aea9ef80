"""Scrapy, with a spider that does the work `tadoru links` does, in two forms: as its tutorial writes it, and as one tunes it.

The two differ by about a factor of two, so a ratio to "Scrapy" says little unless it says to which.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.install import environment, version
from bench.peers.base import Job, Peer, Ready, count_lines

SPIDER = Path(__file__).parent / "scripts" / "scrapy_spider.py"


def prepare(form: str) -> Callable[[Path], Ready]:
    def prepared(cache: Path) -> Ready:
        programs = environment(cache, "scrapy", "scrapy")

        def command(job: Job) -> list[str]:
            return [str(programs / "python"), str(SPIDER), job.url, str(job.output), str(job.concurrency), form]

        return Ready(version(programs, "scrapy"), command)

    return prepared


ORDINARY = Peer(
    name="Scrapy",
    work="LinkExtractor (lxml) on every page, its own filter of duplicates, writes JSON Lines with the links of each page",
    prepare=prepare("ordinary"),
    recorded=count_lines,
)
TUNED = Peer(
    name="Scrapy-tuned",
    work="the same, but the spider makes a Request only for a URL it has not met",
    prepare=prepare("tuned"),
    recorded=count_lines,
)
