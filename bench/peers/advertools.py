"""advertools: an SEO crawler made of Scrapy. It keeps JSON Lines with the elements of each page, all links among them."""

from __future__ import annotations

import json
from pathlib import Path

from bench.install import environment, version
from bench.peers.base import InstalledPeer, Job, Peer
from bench.stored_size import StoredSize

CRAWL = Path(__file__).parent / "scripts" / "advertools_crawl.py"


def output(job: Job) -> Path:
    """It goes by the ending of the name."""
    return job.folder / "output.jl"


def prepare(cache: Path) -> InstalledPeer:
    programs = environment(cache, "advertools", "advertools")

    def command(job: Job) -> list[str]:
        return [str(programs / "python"), str(CRAWL), job.url, str(output(job)), str(job.concurrency)]

    return InstalledPeer(version(programs, "advertools"), command)


def kept(job: Job) -> StoredSize:
    """It joins the links of a page by `@@`, with their fragments."""
    file = output(job)
    if not file.exists():
        return StoredSize(0, 0, 0, 0)
    pages = links = pairs = 0
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                targets = json.loads(line).get("links_url", "").split("@@")
            except ValueError:
                continue  # The time box cut the last line.
            pages += 1
            links += len(targets)
            pairs += len({target.partition("#")[0] for target in targets})
    return StoredSize(file.stat().st_size, pages, links, pairs)


PEER = Peer(
    name="advertools",
    work="Scrapy with its own selectors: JSON Lines with the tags, headings, images, links and headers of each page",
    prepare=prepare,
    kept=kept,
)
