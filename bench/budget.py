"""The CPU of a page in each job, as a multiple of a fixed piece of work: `python -m bench.budget`.

A time of one machine says nothing on another; its ratio to a calibration on the same machine at the same moment nearly does.
The calibration is work of the same kind (a parser, regular expressions, dictionaries, SQLite) without a line of Tadoru, so that
only a change of Tadoru or of a library changes the ratio. Rounds of everything take turns, and of each piece the best counts, so
that other programs matter little. `budget.json` holds the ratios, measured beside six other processes: on a quiet machine they
are up to 7 % lower, and with Python 3.13 within 3 % of those of 3.11. `tests/bench/test_budget.py` fails when one has grown by
more than `TOLERANCE`.

    python -m bench.budget [--rounds 12] [--write]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from bench.cost import TIMES, handle_all, store_all
from bench.read import MEDIA_TYPE, SITE_URL, sample
from bench.site import build
from tadoru.engine.job import FetchedPage
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.docs.content import find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, convert
from tadoru.jobs.launch import tune_process
from tadoru.jobs.links.job import LinksJob
from tadoru.model.web import Response
from tadoru.parse.html import HtmlDocument
from tadoru.rules.scope import Scope

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "bench" / "budget.json"
TOLERANCE = 1.10
PAGES = 40
AT_ONCE = 4
"""Pages that are timed together: short pieces are more often undisturbed."""
_ATTRIBUTE = re.compile(rb'([a-z]+)="([^"<>]*+)"')

Work = Callable[[list[Response]], object]


def pages(cache: Path) -> list[Response]:
    """The corpus: the same bytes in each run."""
    site = build(cache, PAGES, seed=1)
    headers = (("Server", "nginx"), ("Content-Type", MEDIA_TYPE))
    return [
        Response(url=page.url, status=200, headers=headers, body=page.body, timings=TIMES, address="127.0.0.1")
        for page in sample(site.root, PAGES)
    ]


def calibration(corpus: list[Response]) -> None:
    """Parse each page, walk its tree, read attributes by a regular expression, count them and the words, and store the counts."""
    counts: dict[bytes, int] = {}
    kept: list[list[tuple[str, int, int]]] = []
    for page in corpus:
        tree = LexborHTMLParser(page.body)
        for element in tree.root.traverse() if tree.root is not None else ():
            if element.tag == "a":
                counts[(element.attributes.get("href") or "").encode()] = len(element.text())
        for name, value in _ATTRIBUTE.findall(page.body):
            key = name + b" " + value.partition(b"#")[0]
            counts[key] = counts.get(key, 0) + 1
        words = tree.text(separator=" ").split()
        counts[sha256(" ".join(words).encode()).digest()] = len(
            np.unique(np.frombuffer(page.body, np.uint16, len(page.body) // 2))
        )
        kept.append([(word, len(word), position) for position, word in enumerate(words)])
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE counts (name BLOB PRIMARY KEY, number INTEGER) WITHOUT ROWID")
    database.executemany("INSERT INTO counts VALUES (?, ?)", counts.items())
    database.close()


def read_with(job: LinksJob | AuditJob) -> Work:
    """What a job does with pages between network and store."""

    def read(corpus: list[Response]) -> None:
        for page in corpus:
            job.handle(FetchedPage(url=page.url, depth=1, response=page))

    return read


def convert_all(corpus: list[Response]) -> None:
    """What `docs` does with pages."""
    for page in corpus:
        main = find_main_content(HtmlDocument.parse(page.body, MEDIA_TYPE), page.url)
        convert(main.root, base=page.url, options=ConvertOptions())


class Budget:
    """The best CPU time of each piece of work in all rounds so far: a few pages, or a transaction."""

    def __init__(self, cache: Path, folder: Path) -> None:
        self._corpus = pages(cache)
        self._folder = folder
        self._audit = AuditJob(scope=Scope(sites=(SITE_URL,)))
        self._works: dict[str, Work] = {
            "calibration": calibration,
            "links": read_with(LinksJob(scope=self._audit.scope)),
            "audit": read_with(self._audit),
            "docs": convert_all,
        }
        self._found = handle_all(self._audit, self._corpus)[0]
        self._best: dict[tuple[str, int], float] = {}

    def measure(self, rounds: int) -> dict[str, float]:
        """The ratio of each kind of work to the calibration after so many more rounds."""
        for _ in range(rounds):
            for start in range(0, len(self._corpus), AT_ONCE):
                for name, work in self._works.items():
                    self._time(name, start, work, self._corpus[start : start + AT_ONCE])
            self._store()
        sums: dict[str, float] = {}
        for (name, _), seconds in self._best.items():
            sums[name] = sums.get(name, 0.0) + seconds
        whole = sums.pop("calibration")
        return {name: round(seconds / whole, 3) for name, seconds in sums.items()}

    def _time(self, name: str, start: int, work: Work, corpus: list[Response]) -> None:
        begun = time.process_time()
        work(corpus)
        self._keep(name, start, time.process_time() - begun)

    def _store(self) -> None:
        with tempfile.TemporaryDirectory(dir=self._folder) as place:
            for number, batch in enumerate(asyncio.run(store_all(self._audit, self._found, Path(place) / "audit.db"))):
                self._keep("store", number, sum(batch))

    def _keep(self, name: str, part: int, seconds: float) -> None:
        self._best[name, part] = min(seconds, self._best.get((name, part), seconds))


def baseline() -> dict[str, float]:
    """The committed ratios."""
    ratios: dict[str, float] = json.loads(BASELINE.read_text())
    return ratios


def exceeded(ratios: dict[str, float], allowed: dict[str, float]) -> list[str]:
    """A sentence for each job that costs too much."""
    return [
        f"{name}: {ratios[name]:.3f} of the calibration, {ratios[name] / before:.2f} times the baseline of {before:.3f}"
        for name, before in allowed.items()
        if ratios[name] > before * TOLERANCE
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.budget", description="Compare the CPU of a page with its budget.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--write", action="store_true", help="make the ratios the new baseline")
    given = parser.parse_args()
    tune_process()
    with tempfile.TemporaryDirectory() as folder:
        ratios = Budget(ROOT / ".bench", Path(folder)).measure(given.rounds)
    allowed = baseline()
    for name, ratio in ratios.items():
        print(f"{name:5} {ratio:.3f} of the calibration, {ratio / allowed.get(name, ratio):.2f} of the baseline")
    if given.write:
        BASELINE.write_text(json.dumps(ratios, indent=2, sort_keys=True) + "\n")
    elif found := exceeded(ratios, allowed):
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
