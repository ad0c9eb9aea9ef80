"""Measures what reading an unchanged site again costs: the CPU of `tadoru docs --diff` beside that of the first run.

A generated site of 2,000 pages like those of a manual, served on loopback with validators. CPU is that of the whole process tree;
what starting the command costs (`tadoru docs --show-config`) is taken off both runs. The log of the server is the judge of what
was sent.

    python -m bench.docs_diff [--pages 2000] [-o bench/DOCS.md]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.measure import run
from bench.server import Server, serve
from bench.site import build

ALLOWED = 0.1
"""Of the first run's CPU."""
BOX = 900.0
STARTS = 5
HEAD = ("run", "CPU s", "without start-up", "wall s", "requests", "bodies sent", "peak MB")
TITLE = "## Reading an unchanged site again"


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the command."""

    name: str
    cpu: float
    net: float
    wall: float
    requests: int
    bodies: int
    """Pages that were sent whole."""
    peak: int

    def cells(self) -> tuple[str, ...]:
        return (
            self.name, f"{self.cpu:.2f}", f"{self.net:.2f}", f"{self.wall:.1f}", f"{self.requests:,}", f"{self.bodies:,}",
            f"{self.peak / 1e6:.0f}",
        )  # fmt: skip


def measure(server: Server, folder: Path, pages: int) -> list[Row]:
    """The first run, and one that finds nothing new."""
    command = [sys.executable, "-m", "tadoru", "docs", server.url, "--render", "never"]
    options = ["-d", "9", "--delay", "0", "-c", "8", "--processes", "1", "--ignore-robots", "-q", "-o", str(folder / "out")]
    start = statistics.median(run([*command, "--show-config"], folder, BOX, server.pid).cpu for _ in range(STARTS))
    rows = []
    for name, more in (("first", []), ("--diff", ["--diff"])):
        mark = server.mark()
        used = run([*command, *options, *more], folder, BOX, server.pid)
        if used.exit_code:
            raise SystemExit((folder / "stderr").read_text("utf-8"))
        answers = _answers(server, mark)
        rows.append(Row(name, used.cpu, used.cpu - start, used.wall, sum(answers.values()), answers["200"], used.peak))
    if rows[0].bodies < pages or rows[1].bodies:
        raise SystemExit(f"This is no measurement: {rows[0].bodies} and {rows[1].bodies} pages were sent of {pages}.")
    return rows


def _answers(server: Server, mark: int) -> Counter[str]:
    with server.log.open("rb") as file:
        file.seek(mark)
        return Counter(line.split("\t")[2] for line in file.read().decode("utf-8", "replace").splitlines())


def table(rows: list[Row], pages: int, server: str) -> str:
    """The figures as Markdown."""
    share = rows[1].net / rows[0].net
    verdict = "kept" if share < ALLOWED else "NOT KEPT"
    lines = [
        TITLE, "",
        f"`python -m bench.docs_diff --pages {pages}`, served by {server}, one process.", "",
        f"| {' | '.join(HEAD)} |", f"| --- |{' ---: |' * (len(HEAD) - 1)}",
        *(f"| {' | '.join(row.cells())} |" for row in rows), "",
        f"The second run takes {share:.3f} of the first one's CPU, start-up excluded (allowed: {ALLOWED}): {verdict}.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def put(file: Path, text: str) -> None:
    """Write the section into a file of results, in the place of the one that is there."""
    old = file.read_text("utf-8") if file.exists() else "# Results of `tadoru docs`\n\n"
    before, found, rest = old.partition(TITLE)
    after = rest[rest.index("\n## ") + 1 :] if found and "\n## " in rest else ""
    file.write_text(f"{before.rstrip()}\n\n{text}" + (f"\n{after}" if after else ""), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("-o", "--output", type=Path, help="the file of results to put the table into")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tadoru-diff-") as room:
        folder = Path(room)
        site = build(folder / "site", chosen.pages, 1)
        with serve(site, folder / "server") as server:
            text = table(measure(server, folder, chosen.pages), chosen.pages, server.name)
    print(text)
    if chosen.output:
        put(chosen.output, text)


if __name__ == "__main__":
    main()
