"""Scrapy, with a spider that does the work `tadoru links` does, in two forms: as its tutorial writes it, and as one tunes it.
And a spider that keeps what `tadoru audit` starts from, in the same two forms.

The two differ by about a factor of two, so a ratio to "Scrapy" says little unless it says to which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.install import environment, version
from bench.peers.base import InstalledPeer, Job, Peer, count_lines
from bench.stored_size import StoredSize, weigh

SPIDER = Path(__file__).parent / "scripts" / "scrapy_spider.py"
AUDIT = Path(__file__).parent / "scripts" / "scrapy_audit.py"


def prepare(form: str, script: Path = SPIDER) -> Callable[[Path], InstalledPeer]:
    def prepared(cache: Path) -> InstalledPeer:
        programs = environment(cache, "scrapy", "scrapy")

        def command(job: Job) -> list[str]:
            return [str(programs / "python"), str(script), job.url, str(job.output), str(job.concurrency), form]

        return InstalledPeer(version(programs, "scrapy"), command)

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


def kept(job: Job) -> StoredSize:
    bare = "CASE instr(target, '#') WHEN 0 THEN target ELSE substr(target, 1, instr(target, '#') - 1) END"
    return weigh(
        job.output,
        pages="SELECT count(*) FROM pages",
        links="SELECT count(*) FROM links",
        pairs=f"SELECT count(*) FROM (SELECT DISTINCT source, {bare} FROM links)",
        tables=["links"],
    )


LINES_AUDIT = replace(ORDINARY, name="Scrapy-lines", repeats=True)
"""What an audit is compared with that keeps no database."""
ORDINARY_AUDIT = Peer(
    name="Scrapy",
    work="a CrawlSpider that keeps url, status, title, description, canonical, robots, hash, sizes, times and every link in "
    "SQLite, 100 pages a transaction; judges nothing",
    prepare=prepare("ordinary", AUDIT),
    kept=kept,
    repeats=True,
)
TUNED_AUDIT = Peer(
    name="Scrapy-tuned",
    work="the same with lxml itself instead of selectors, a Request only for a URL it has not met, 500 pages a transaction",
    prepare=prepare("tuned", AUDIT),
    kept=kept,
    repeats=True,
)
