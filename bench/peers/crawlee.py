"""Crawlee for Python: its Parsel crawler, memory storage."""

from __future__ import annotations

from pathlib import Path

from bench.install import environment, version
from bench.peers.base import InstalledPeer, Job, Peer, count_lines

CRAWL = Path(__file__).parent / "scripts" / "crawlee_crawl.py"


def prepare(cache: Path) -> InstalledPeer:
    programs = environment(cache, "crawlee", "crawlee[parsel]")

    def command(job: Job) -> list[str]:
        return [str(programs / "python"), str(CRAWL), job.url, str(job.output), str(job.concurrency)]

    return InstalledPeer(version(programs, "crawlee"), command)


PEER = Peer(
    name="crawlee",
    work="ParselCrawler (lxml), memory storage, writes JSON Lines with the links of each page",
    prepare=prepare,
    recorded=count_lines,
)
