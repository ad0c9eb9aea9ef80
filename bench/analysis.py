"""What the analysis of a whole site costs: a made-up crawl of so many pages, twenty links each, and everything found in it.

`python -m bench.analysis`: 100,000 pages and 2 million links; `--million`: ten times as many, too, and whether it is linear. The
crawl is written straight into a database, with the shares of copies, redirects, canonicals, translations and sitemap entries that
real sites have. It is analysed in a process of its own, whose memory is measured. How fast pages are crawled: `python -m bench`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.run import analyse
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.rules.minhash import sketch
from tadoru.store.crawl.sqlite.store import SqliteStore

ROOT = Path(__file__).resolve().parent.parent
SMALL, LARGE = 100_000, 1_000_000
LINKS = 20
HUBS = 40
RESOURCES_EACH = 6
STAMP = "2025-01-01 00:00:00.000"
HEADERS = json.dumps([["Content-Type", "text/html; charset=utf-8"], ["Server", "nginx"], ["ETag", '"5f3a-1b2c3d4e"']])

_PAGE = """INSERT INTO pages(id, url, status, host_id, depth, internal, is_seed, redirect_id, added_at, status_code, title,
    meta_description, canonical_url, content_hash, ttfb_ms, download_time_ms, response_size_bytes, content_type, crawls)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"""
_DETAILS = """INSERT INTO page_details(page_id, indexable, indexability, headers, language, h1, word_count, sketch)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


class CrawlWriter:
    """Writes one crawl. Every choice follows from the page's number, so the same size gives the same crawl."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.externals = pages // 5
        rng = random.Random(7)
        self._shingles = [[rng.getrandbits(32) for _ in range(160)] for _ in range(4_000)]

    def url(self, page: int) -> str:
        if page > self.pages:
            return f"https://other-{page % 997}.example/page-{page}"
        return (
            "https://site.example/" if page == 1 else f"https://site.example/section-{page % 211}/a-page-of-some-name-{page}.html"
        )

    def kind(self, page: int) -> str:
        """Of a hundred pages: one is gone, three have moved, four are canonicalised, two are not to be indexed."""
        if page <= HUBS:
            return "page"
        of_hundred = page * 7919 % 100
        if of_hundred < 1:
            return "gone"
        if of_hundred < 4:
            return "moved"
        if of_hundred < 8:
            return "canonicalised"
        return "noindex" if of_hundred < 10 else "page"

    def rows(self) -> Iterator[tuple[object, ...]]:
        for page in range(1, self.pages + self.externals + 1):
            if page > self.pages:
                yield (page, self.url(page), "discovered", 2, 2, 0, 0, None, STAMP, *[None] * 9)
                continue
            kind = self.kind(page)
            code = {"gone": 404, "moved": 301}.get(kind, 200)
            # One page in twelve has the title of another, one in fifty its text.
            title = f"About subject {page // 12 * 12 if page % 12 == 1 else page} of section {page % 211}"
            text = sha256(str(page // 50 * 50 if page % 50 == 1 else page).encode()).hexdigest()
            canonical = self.url(page - 5) if kind == "canonicalised" else self.url(page)
            yield (
                page, self.url(page), "completed", 1, 0 if page == 1 else 1 + (page > HUBS), 1, int(page == 1),
                self._target(page) if kind == "moved" else None, STAMP, code,
                *((title, f"What there is to say about {title.lower()}.", canonical, text) if code == 200 else (None,) * 4),
                40.0 + page % 97, 8.0 + page % 13, 20_000 + page % 9_973 * 10, "text/html; charset=utf-8",
            )  # fmt: skip

    def _target(self, page: int) -> int:
        """Every tenth redirect leads to another one."""
        return page + 100 if page % 10 == 0 and page + 100 <= self.pages else page % HUBS + 1

    def details(self) -> Iterator[tuple[object, ...]]:
        sketches = [sketch(one) for one in self._shingles]
        for page in range(1, self.pages + 1):
            kind = self.kind(page)
            why = {"gone": "client error", "moved": "redirected", "page": "indexable"}.get(kind, kind)
            drawing = None
            if kind not in ("gone", "moved"):
                # One page in twenty nearly says what others do, the rest something of its own.
                drawing = sketches[page % 4_000] if page % 20 == 0 else self._own_sketch(page)
            yield (page, int(why == "indexable"), why, HEADERS, "en", f"Subject {page}", 300 + page % 400, drawing)

    @staticmethod
    def _own_sketch(page: int) -> bytes:
        return b"".join(sha256(b"%d %d" % (page, part)).digest() for part in range(4))

    def links(self) -> Iterator[tuple[int, int, int, str, int, int, int]]:
        rng = random.Random(11)
        total = self.pages
        for page in range(1, total + 1):
            if self.kind(page) in ("gone", "moved"):
                continue
            targets = [page * 31 % HUBS + 1, 1, *(page % HUBS + 1 for _ in range(2))]
            targets += [(page + step) % total + 1 for step in (1, 2, 3, 7, 211, 422)]
            targets += [int(total * rng.random() ** 2) + 1 for _ in range(LINKS - len(targets) - 2)]
            targets += [total + rng.randrange(self.externals) + 1 for _ in range(2)]
            for at, target in enumerate(targets):
                yield page, at, target, "a", 1 + (target % 5_000), 5_001 if target % 40 == 7 and at > 10 else 0, 0

    def hreflang(self) -> Iterator[tuple[int, int, str, str, str]]:
        """One page in ten is one of a set of five; one set in twenty lacks a link back."""
        for first in range(50, self.pages - 5, 50):
            members = [first + step for step in range(5)]
            for page in members:
                for at, (language, other) in enumerate(zip(("en", "de", "fr", "ja", "es"), members, strict=True)):
                    if not (first % 1_000 == 0 and page == members[0] and other == members[4]):
                        yield page, at, language, self.url(other), "html"


def make(path: Path, pages: int) -> None:
    """Write the crawl."""
    maker = CrawlWriter(pages)
    store = SqliteStore(str(path), SystemClock(), durable=False)
    sql = store.sql
    asyncio.run(_install(store))
    sql.execute("BEGIN")
    sql.executemany("INSERT INTO hosts(id, name) VALUES (?, ?)", [(1, "site.example"), (2, "other.example")])
    sql.executemany("INSERT INTO texts(id, text) VALUES (?, ?)", [(n, f"Text of a link {n}") for n in range(1, 5_001)])
    sql.execute("INSERT INTO texts(id, text) VALUES (5001, 'nofollow noopener')")
    sql.executemany(_PAGE, maker.rows())
    sql.executemany(_DETAILS, maker.details())
    sql.executemany("INSERT INTO link_relations VALUES (?, ?, ?, ?, ?, ?, ?)", maker.links())
    sql.executemany("INSERT INTO page_hreflang VALUES (?, ?, ?, ?, ?)", maker.hreflang())
    _side_tables(store, maker)
    # A crawl knows its depths; the analysis only puts them right where links have gone.
    depths = store.analysis.site_view(likeness=0.9).depth
    sql.executemany("UPDATE pages SET depth = ? WHERE id = ?", ((int(depth), page) for page, depth in enumerate(depths)))
    sql.execute("COMMIT")
    asyncio.run(store.close())


async def _install(store: SqliteStore) -> None:
    await store.checks.install(CheckCatalogue().checks.values(), "page")
    await store.checks.install(SITE_CHECKS.values(), "site")


def _side_tables(store: SqliteStore, maker: CrawlWriter) -> None:
    """Sitemaps, resources, and eight findings of page checks a page."""
    sql, pages = store.sql, maker.pages
    files = range(pages // 50_000 + 1)
    sql.executemany(
        """INSERT INTO sitemaps(id, url, level, named_by, status, kind, status_code, bytes, urls)
        VALUES (?, ?, 0, ?, ?, ?, 200, ?, ?)""",
        [(n + 1, f"https://site.example/sitemap-{n}.xml", "robots.txt", "read", "urlset", 9_000_000, 50_000) for n in files],
    )
    named = (page for page in range(1, pages + 1) if page % 10)
    sql.executemany("INSERT INTO sitemap_entries VALUES (?, ?, ?)", ((page // 50_000 + 1, page, "2025-01-01") for page in named))
    kinds = (("img", "image/png"), ("script", "text/javascript"), ("link", "text/css"))
    sql.executemany(
        """INSERT INTO resources(id, url, host, kind, internal, status, status_code, content_type, content_length)
        VALUES (?, ?, 'site.example', ?, 1, 'completed', ?, ?, ?)""",
        (
            (
                n,
                f"https://site.example/files/{n}",
                kinds[n % 3][0],
                404 if n % 300 == 0 else 200,
                kinds[n % 3][1],
                n * 37 % 110_000,
            )
            for n in range(1, pages // 4 + 1)
        ),
    )
    uses = ((page, at, (page * 13 + at * 29) % (pages // 4) + 1) for page in range(1, pages + 1) for at in range(RESOURCES_EACH))
    sql.executemany("INSERT INTO resource_uses VALUES (?, ?, ?)", uses)
    found = ((page, 1 + (page + at * 11) % 90, "", "evidence", None) for page in range(1, pages + 1) for at in range(8))
    sql.executemany("INSERT OR IGNORE INTO page_findings VALUES (?, ?, ?, ?, ?)", found)


def _peak(usage: resource.struct_rusage) -> float:
    """MB. Linux counts in KB, macOS in bytes."""
    return usage.ru_maxrss * (1024 if sys.platform == "linux" else 1) / 1e6


async def _analyse(path: str) -> None:
    store = SqliteStore(path, SystemClock())
    began, cpu = time.perf_counter(), time.process_time()
    steps: list[str] = []

    def tell(step: str) -> None:
        steps.append(f"{time.process_time() - cpu:8.1f} s  {_peak(resource.getrusage(resource.RUSAGE_SELF)):5.0f} MB  {step}")

    await analyse(store, Limits(SITE_CHECKS.values()), notify=tell)
    wall, used = time.perf_counter() - began, time.process_time() - cpu
    findings = store.sql.execute(
        "SELECT count(*) FROM page_findings WHERE check_number IN (SELECT number FROM checks WHERE scope = 'site')"
    )
    score = await store.meta.get("score")
    print(json.dumps({"wall": wall, "cpu": used, "findings": findings.fetchone()[0], "score": score, "steps": steps}))
    await store.close()


def measure(folder: Path, pages: int, verbose: bool) -> float:
    """Make, analyse, print; CPU seconds."""
    path = folder / f"crawl-{pages}.db"
    if not path.exists():
        make(path, pages)
    links = f"{pages * LINKS / 1e6:.0f} M links"
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.analysis", "--analyse", str(path)],
        cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the analysis ended with exit code {process.returncode}")
    told = json.loads(output)
    if verbose:
        print("\n".join(told["steps"]))
    print(
        f"{pages:>9,} pages, {links:>10}: {told['wall']:6.1f} s, {told['cpu']:6.1f} s of CPU, at most {_peak(usage):5.0f} MB, "
        f"{told['findings']:,} findings, score {told['score']}, {path.stat().st_size / 1e6:,.0f} MB of database",
        flush=True,
    )
    return float(told["cpu"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.analysis", description="Measure the analysis of a whole site.")
    parser.add_argument("--million", action="store_true", help="also a million pages and twenty million links")
    parser.add_argument("--pages", type=int, help="this size only")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the made-up crawls here, and use those that are there")
    parser.add_argument("-v", "--verbose", action="store_true", help="say when each step was done")
    parser.add_argument("--analyse", metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.analyse:
        asyncio.run(_analyse(given.analyse))
        return
    with tempfile.TemporaryDirectory(prefix="tadoru-analysis-") as scratch:
        folder = given.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        sizes = [given.pages] if given.pages else [SMALL, *([LARGE] if given.million else [])]
        taken = [measure(folder, pages, given.verbose) for pages in sizes]
    if len(taken) > 1:
        print(f"Ten times the pages and links take {taken[1] / taken[0]:.1f} times the CPU.")


if __name__ == "__main__":
    main()
