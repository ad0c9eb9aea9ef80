"""The memory of `tadoru audit` while it crawls a large site. `python -m bench.audit_memory`: 200,000 pages, two processes.

Every page is made when it is asked for, and is the same each time: a few hundred words of its own, some twenty links, ten of them
into a tree that leads to every page. The memory of each process is sampled beside the number of pages done. What the analysis
takes after the crawl is told apart; how that grows is in `bench.analysis`, how fast a crawl is in `python -m bench --audit`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.fallback import Files
from bench.frontier import serve
from bench.measure import PAGE, tree

ROOT = Path(__file__).resolve().parent.parent
CHILDREN = 10
ELSEWHERE = 9
PARAGRAPHS = 4
SAMPLE_EVERY = 0.25
ALLOWED = 200.0
"""MB that a process may take while it crawls."""
SETTLED = 50_000
"""Pages after which memory has to be flat."""
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


class GeneratedSite(Files):
    """A site of `pages` pages: page n leads to its children in a tree, to its parent, and to some pages elsewhere."""

    def __init__(self, pages: int) -> None:
        super().__init__(ROOT)
        self.pages = pages
        rng = random.Random(1)
        words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(2000)]
        self.sentences = [" ".join(rng.choices(words, k=rng.randint(8, 20))).capitalize() + "." for _ in range(3000)]

    def answer(self, target: str) -> tuple[int, str, bytes]:
        name = target.strip("/").removesuffix(".html").rpartition("-")[2] or "0"
        if not name.isdigit() or int(name) >= self.pages or target == "/robots.txt":
            return 404, "text/plain", b"not found\n"
        return 200, "text/html; charset=utf-8", self.page(int(name))

    def page(self, number: int) -> bytes:
        rng = random.Random(number)
        first = number * CHILDREN + 1
        near = [n for n in range(first, first + CHILDREN) if n < self.pages]
        leads = [number // CHILDREN, *near, *(rng.randrange(self.pages) for _ in range(ELSEWHERE))]
        links = "".join(f'<li><a href="{path(n)}">{self.sentences[n % 3000][:24]} {n}</a>\n' for n in leads)
        text = "".join(f"<p>{' '.join(rng.sample(self.sentences, 6))}</p>\n" for _ in range(PARAGRAPHS))
        title = f"{rng.choice(self.sentences)[:30]} {number}"
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="description" content="{rng.choice(self.sentences)} {number}"></head>'
            f"<body><h1>{title}</h1>\n{text}<ul>{links}</ul></body></html>\n"
        ).encode()


def path(number: int) -> str:
    return f"/section-{number % 97}/page-{number}.html" if number else "/"


@dataclass
class Memory:
    """What the processes of a command took, page by page."""

    pid: int
    database: Path
    pages: int
    step: int
    rows: list[tuple[int, float, list[float]]] = field(default_factory=list)
    """Pages done, seconds, MB of each process."""
    crawling: float = 0.0
    analysing: float = 0.0

    def sample(self, seconds: float) -> None:
        sizes = sorted((size for pid in tree(self.pid) if (size := resident(pid)) > 1), reverse=True)
        done = self._done()
        if done >= self.pages:
            self.analysing = max([self.analysing, *sizes])
        elif sizes:
            self.crawling = max(self.crawling, *sizes)
        if done >= (len(self.rows) + 1) * self.step or (done >= self.pages and not self._is_complete()):
            self.rows.append((done, seconds, sizes))
            shown = "  ".join(f"{size:6.1f}" for size in sizes)
            print(f"{done:9,}  {seconds:7.1f}  {shown}", flush=True)

    def _is_complete(self) -> bool:
        return bool(self.rows) and self.rows[-1][0] >= self.pages

    def _done(self) -> int:
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as sql:
            row = sql.execute("SELECT value FROM counters WHERE name = 'completed'").fetchone()
            return int(row[0]) if row else 0
        return 0

    def growth(self) -> float | None:
        """MB that the largest process grew between the settling and the end."""
        settled = [max(sizes) for done, _, sizes in self.rows if SETTLED <= done < self.pages and sizes]
        return settled[-1] - settled[0] if len(settled) > 1 else None


def resident(pid: int) -> float:
    """MB of a process; 0 when it has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6
    except (OSError, IndexError):
        return 0.0


def crawl(url: str, pages: int, processes: int, step: int, folder: Path) -> Memory:
    """Run the command once and watch it. Raises RuntimeError when it fails."""
    database = folder / "audit.db"
    options = f"-d {database} --delay 0 --concurrency 32 --processes {processes} -q"
    began = time.monotonic()
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tadoru", "audit", url, *options.split()],
            env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT / "src")},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    memory = Memory(process.pid, database, pages, step)
    while process.poll() is None:
        memory.sample(time.monotonic() - began)
        time.sleep(SAMPLE_EVERY)
    if process.returncode:
        last = (folder / "output").read_text(errors="replace").splitlines()[-1:]
        raise RuntimeError(f"tadoru ended with exit code {process.returncode}: {' '.join(last)}")
    print(f"whole command: {time.monotonic() - began:.0f} s, database {database.stat().st_size / 1e6:,.0f} MB")
    return memory


def verdict(memory: Memory) -> None:
    word = "kept" if memory.crawling <= ALLOWED else "NOT KEPT"
    print(f"crawling: {memory.crawling:.0f} MB at most in a process (allowed {ALLOWED:.0f}: {word})")
    growth = memory.growth()
    if growth is not None:
        print(f"from {SETTLED:,} pages on the largest process grew by {growth:+.1f} MB")
    print(f"analysing: {memory.analysing:.0f} MB at most")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.audit_memory", description="Measure the memory of a large audit.")
    parser.add_argument("--pages", type=int, default=200_000, help="pages of the site (default 200000)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--step", type=int, default=25_000, help="a row for every so many pages (default 25000)")
    parser.add_argument("--folder", type=Path, help="where the database is written (default: a temporary folder)")
    given = parser.parse_args()
    with (
        socket.create_server(("127.0.0.1", 0), backlog=512) as listening,
        tempfile.TemporaryDirectory(dir=given.folder) as folder,
    ):
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server = multiprocessing.get_context("fork").Process(
            target=serve, args=(listening, GeneratedSite(given.pages)), daemon=True
        )
        server.start()
        try:
            print(f"{given.pages:,} pages\n    pages  seconds  MB of each process", flush=True)
            verdict(crawl(url, given.pages, given.processes, given.step, Path(folder)))
        finally:
            server.terminate()
            server.join()


if __name__ == "__main__":
    main()
