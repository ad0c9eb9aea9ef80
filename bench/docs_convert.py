"""Measures turning pages of documentation into Markdown, without network and store, beside trafilatura and markdownify.

A fixed mix of 200 pages that Debian ships: 100 of Sphinx (`python3-doc`), 60 of mdBook and 40 of rustdoc (`rust-doc`). Times are
CPU times, for each page the best of several rounds, so that a busy machine spoils little; the ratio to the peers is what counts.
The process is tuned as that of a crawl.

    python -m bench.docs_convert [--rounds 3] [--peers]
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.install import Unavailable, environment, version
from tadoru.jobs.docs.content import find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, convert
from tadoru.jobs.launch import tune_process
from tadoru.parse.html import HtmlDocument

ROOT = Path(__file__).resolve().parent.parent
PYTHON = Path("/usr/share/doc/python3-doc/html")
RUST = Path("/usr/share/doc/rust-doc/html")
BOOKS = ("book", "reference", "rust-by-example", "nomicon", "cargo", "rustc")
LARGEST = 400_000
"""Bytes: the few pages that are larger, indexes of everything, would be most of an average."""
MEDIA_TYPE = "text/html; charset=utf-8"
PEERS = {
    "trafilatura": "import trafilatura; run = lambda page: trafilatura.extract(page, output_format='markdown')",
    "markdownify": "import markdownify; run = markdownify.markdownify",
}
REQUIREMENTS = {"trafilatura": "trafilatura lxml_html_clean", "markdownify": "markdownify lxml"}
PEER_SCRIPT = """
import json, sys, time
{setup}
costs = {{}}
for name in json.load(sys.stdin):
    page = open(name, encoding="utf-8", errors="replace").read()
    begun = time.process_time()
    run(page)
    costs[name] = time.process_time() - begun
print(json.dumps(costs))
"""


class Cost(NamedTuple):
    """Seconds of CPU for one page."""

    parse: float
    find: float
    convert: float

    @property
    def total(self) -> float:
        return sum(self)


def mix() -> list[Path]:
    """The pages, spread evenly over each site, the same in each run."""
    books = [page for book in BOOKS for page in _pages(RUST / book)]
    return _spread(_pages(PYTHON), 100) + _spread(books, 60) + _spread(_pages(RUST / "std"), 40)


def _pages(folder: Path) -> list[Path]:
    return [
        page for page in sorted(folder.rglob("*.html")) if 2_000 < page.stat().st_size <= LARGEST and page.name != "print.html"
    ]


def _spread(pages: list[Path], number: int) -> list[Path]:
    return [pages[at * len(pages) // number] for at in range(number)] if pages else []


def measure(page: Path) -> Cost:
    """One page, once."""
    body, url = page.read_bytes(), f"https://docs.example{page}"
    begun = time.process_time()
    document = HtmlDocument.parse(body, MEDIA_TYPE)
    parsed = time.process_time()
    main = find_main_content(document, url)
    found = time.process_time()
    convert(main.root, base=url, options=ConvertOptions())
    return Cost(parsed - begun, found - parsed, time.process_time() - found)


def best(page: Path, rounds: int) -> Cost:
    """The cheapest of several rounds."""
    return min((measure(page) for _ in range(rounds)), key=lambda cost: cost.total)


def peer(name: str, pages: list[Path]) -> tuple[str, float]:
    """The version of a peer and its mean seconds for a page."""
    programs = environment(ROOT / ".bench", name, REQUIREMENTS[name])
    script = PEER_SCRIPT.format(setup=PEERS[name])
    done = subprocess.run(
        [str(programs / "python"), "-c", script],
        input=json.dumps(list(map(str, pages))),
        capture_output=True,
        text=True,
        check=True,
    )
    return version(programs, name), statistics.fmean(json.loads(done.stdout).values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--peers", action="store_true", help="measure trafilatura and markdownify too; installs them at the first use"
    )
    parser.add_argument("--profile", action="store_true", help="show where the time of the conversion goes")
    options = parser.parse_args()
    pages = mix()
    if not pages:
        sys.exit("The pages are missing: `apt-get install python3-doc rust-doc` brings them.")
    tune_process()
    if options.profile:
        return _profile(pages)
    costs = [best(page, options.rounds) for page in pages]
    kilobytes = statistics.fmean(page.stat().st_size for page in pages) / 1024
    own = statistics.fmean(cost.total for cost in costs)
    print(f"{len(pages)} pages, {kilobytes:.0f} KB on average; milliseconds of CPU for a page")
    for part in Cost._fields:
        values = sorted(1000 * getattr(cost, part) for cost in costs)
        spread = f"median {statistics.median(values):6.2f}   95 % {values[len(values) * 95 // 100]:6.2f}"
        print(f"  {part:12} {statistics.fmean(values):7.2f}   {spread}")
    print(f"  {'together':12} {1000 * own:7.2f}")
    for name in PEERS if options.peers else ():
        try:
            number, seconds = peer(name, pages)
        except Unavailable as reason:
            print(f"  {name}: {reason}")
        else:
            print(f"  {name:12} {1000 * seconds:7.2f}   {number}, {seconds / own:.1f} times as much")
    return None


def _profile(pages: list[Path]) -> None:
    profile = cProfile.Profile()
    for page in pages:
        document = HtmlDocument.parse(page.read_bytes(), MEDIA_TYPE)
        root = find_main_content(document, "https://docs.example/").root
        profile.runcall(convert, root, base="https://docs.example/a/", options=ConvertOptions())
    pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
