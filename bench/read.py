"""Measures the reading of pages for an audit alone, without network and store: parsing, `read_page`, the checks.

Every page is read once, as a crawl does, so that no cache is warm but those that a crawl has warm too: one resolver for the whole
site. The process is tuned as a crawling one is. Times are CPU times, the best of several rounds, so that a busy machine spoils
little.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.context import Limits, PageContext
from tadoru.jobs.launch import tune_process
from tadoru.model.web import Response
from tadoru.parse.html import HtmlDocument
from tadoru.parse.page import read_page
from tadoru.rules.url import UrlResolver

ROOT = Path(__file__).resolve().parent.parent
SITES = {
    "generated": ROOT / ".bench" / "sites" / "generated-4000-1",
    "python3-doc": Path("/usr/share/doc/python3-doc/html"),
}
SITE_URL = "http://127.0.0.1:8000/"
MEDIA_TYPE = "text/html; charset=utf-8"
HEADERS = (("Server", "nginx"), ("Content-Type", MEDIA_TYPE), ("ETag", '"65a1-13f2"'), ("Accept-Ranges", "bytes"))
LARGEST = 400_000
"""Bytes: the few pages that are larger, indexes of everything, would be most of an average."""


class Cost(NamedTuple):
    """Seconds of CPU for one page."""

    parse: float
    read: float
    checks: float


def sample(folder: Path, number: int) -> list[Response]:
    """So many pages, spread evenly over a site."""
    files = [file for file in sorted(folder.rglob("*.html")) if file.stat().st_size <= LARGEST]
    step = max(1, len(files) // number)
    return [
        Response(url=SITE_URL + file.relative_to(folder).as_posix(), status=200, headers=HEADERS, body=file.read_bytes())
        for file in files[::step][:number]
    ]


def read_all(pages: list[Response]) -> Iterator[Cost]:
    """Read each page once, with what a crawl keeps from page to page."""
    resolver, catalogue = UrlResolver(), CheckCatalogue()
    limits = Limits(catalogue.checks.values())
    clock = time.process_time
    for response in pages:
        start = clock()
        document = HtmlDocument.parse(response.body, MEDIA_TYPE)
        parsed = clock()
        view = read_page(document, response, resolver)
        was_read = clock()
        list(catalogue.run(PageContext(url=response.url, limits=limits, answer=response, page=view)))
        yield Cost(parsed - start, was_read - parsed, clock() - was_read)


def best(rounds: list[list[Cost]]) -> list[Cost]:
    """For each page and step the best of all rounds."""
    return [Cost(*map(min, zip(*costs, strict=True))) for costs in zip(*rounds, strict=True)]


def table(name: str, pages: list[Response], costs: list[Cost]) -> Iterator[str]:
    size = statistics.fmean(len(page.body) for page in pages)
    yield f"{name}: {len(pages)} pages of {size / 1000:.0f} KB on average; milliseconds of CPU for a page"
    for step in Cost._fields:
        values = [1000 * getattr(cost, step) for cost in costs]
        yield f"  {step:8} mean {statistics.fmean(values):6.3f}   median {statistics.median(values):6.3f}"
    sums = [1000 * sum(cost) for cost in costs]
    yield f"  {'together':8} mean {statistics.fmean(sums):6.3f}   median {statistics.median(sums):6.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.read", description="Measure the reading of pages alone.")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--site", choices=SITES, action="append", help="by default every site that is there")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    tune_process()
    for name in given.site or SITES:
        if not SITES[name].is_dir():
            print(f"{name}: not there; bench/run builds it or says which package has it", file=sys.stderr)
            continue
        pages = sample(SITES[name], given.pages)
        if given.profile:
            profile = cProfile.Profile()
            profile.runcall(lambda chosen: list(read_all(chosen)), pages)
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
            continue
        print("\n".join(table(name, pages, best([list(read_all(pages)) for _ in range(given.rounds)]))))


if __name__ == "__main__":
    main()
