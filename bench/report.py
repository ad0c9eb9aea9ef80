"""Turns the runs of one sitting into a table, for the terminal and for a file. Measures nothing."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import stored_size
from bench.measure import Usage
from bench.server import CrawlTraffic

HEAD = ("crawler", "pages/s", "spread", "pages", "again", "all", "wall s", "CPU s", "ms/page", "peak MB", "tadoru is", "note")
REQUIRED = (("Scrapy", 45.0, 70.0), ("Scrapy-tuned", 25.0, 25.0), ("wget2", 0.45, 0.7))
"""Of whom tadoru must reach which multiple, and the goal beyond."""
AUDIT_REQUIRED = (("Scrapy-lines", 20.0, 40.0), ("Scrapy", 25.0, 40.0), ("Scrapy-tuned", 6.0, 6.0))
Required = tuple[tuple[str, float, float], ...]
LINKTADORU = "LinkTadoru kept python3-doc in 18.7 MB: 528 pages, 74,788 links; 35.4 KB a page, 250 bytes a link."


BUSY = 0.25
"""Cores taken by the rest of the machine that make a rate doubtful."""


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl by one peer."""

    seen: CrawlTraffic
    usage: Usage
    recorded: int | None
    kept: stored_size.StoredSize | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A peer's runs on one site."""

    name: str
    version: str
    work: str
    runs: tuple[Run, ...] = ()
    absent: str = ""
    """Why it did not take part."""

    @property
    def median(self) -> Run:
        """The run with the median rate: its other figures belong to the same crawl."""
        wanted = statistics.median_low(run.seen.rate for run in self.runs)
        return next(run for run in self.runs if run.seen.rate == wanted)


@dataclass(frozen=True, slots=True)
class SiteComparison:
    """All peers on one site."""

    site: str
    description: str
    server: str
    pages: int | None
    rows: tuple[Row, ...]

    @property
    def expected(self) -> int:
        """The pages of the site: as built, or the most that a finished crawl found."""
        found = [run.seen.pages for row in self.rows for run in row.runs if run.usage.finished]
        return self.pages or max(found, default=0)

    def rate(self, name: str) -> float:
        """The median rate of a peer; 0 when it did not run."""
        return next((row.median.seen.rate for row in self.rows if row.name == name and row.runs), 0.0)


def _note(row: Row, expected: int) -> str:
    run = row.median
    notes = []
    if not run.usage.finished:
        notes.append(f"time-boxed at {run.usage.wall:.0f} s")
    elif run.seen.pages != expected:
        notes.append(f"ended with {run.seen.pages} of {expected} pages")
    if run.usage.finished and run.recorded is not None and run.recorded < run.seen.pages:
        notes.append(f"its output has only {run.recorded} pages")
    if run.usage.finished and run.usage.exit_code:
        notes.append(f"exit code {run.usage.exit_code}")
    if run.usage.others > BUSY:
        notes.append(f"others took {run.usage.others:.1f} cores")
    return "; ".join(notes)


def _cells(row: Row, sitting: SiteComparison) -> tuple[str, ...]:
    if not row.runs:
        return (row.name, *[""] * (len(HEAD) - 2), row.absent)
    run, rates = row.median, [run.seen.rate for run in row.runs]
    spread = f"{min(rates):,.0f}–{max(rates):,.0f} of {len(rates)}" if len(rates) > 1 else ""
    tadoru, own = sitting.rate("tadoru"), run.seen.rate
    return (
        f"{row.name} {row.version}",
        f"{own:,.0f}" if own >= 100 else f"{own:.1f}",
        spread,
        f"{run.seen.pages:,}",
        f"{run.seen.repeated:,}",
        f"{run.seen.requests:,}",
        f"{run.usage.wall:.1f}",
        f"{run.usage.cpu:.1f}",
        f"{1000 * run.usage.cpu / run.seen.pages:.1f}" if run.seen.pages else "",
        f"{run.usage.peak / 1e6:.0f}",
        f"{tadoru / own:.2f}×" if tadoru and own else "",
        _note(row, sitting.expected),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that reads well on a terminal too."""
    widths = [max(len(line[column]) for line in [head, *rows]) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:-1], widths[1:-1], strict=True))]
        return "| " + " | ".join([*padded, cells[-1].ljust(widths[-1])]) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:-1]), "-" * widths[-1]]
    return "\n".join([line(head), line(rule), *map(line, rows)])


def _kept(sitting: SiteComparison) -> list[str]:
    """The table of what was kept, where it is compared."""
    rows = []
    for row in sitting.rows:
        run = row.median if row.runs else None
        if run is None or run.kept is None:
            continue
        done = run.usage.finished
        after = f"{run.usage.ended - run.seen.last:.1f}" if done else ""
        whole = f"{run.seen.pages / run.usage.wall:,.1f}" if done else ""
        rows.append(stored_size.cells(f"{row.name} {row.version}", run.kept, after=after, whole=whole, largest=run.usage.largest))
    return [table(stored_size.HEAD, rows), LINKTADORU] if rows else []


def verdicts(sitting: SiteComparison, required: Required) -> list[str]:
    """Where tadoru stands against what is asked of it."""
    lines = []
    for name, asked, goal in required:
        tadoru, other = sitting.rate("tadoru"), sitting.rate(name)
        if tadoru and other:
            ratio = tadoru / other
            word = "reached the goal" if ratio >= goal else "enough" if ratio >= asked else "NOT ENOUGH"
            lines.append(f"- tadoru is {ratio:.2f} times {name} (asked: {asked:.2f}, goal: {goal:.2f}): {word}")
    return lines


def render_sitting(sitting: SiteComparison, required: Required) -> str:
    head = f"## {sitting.site}: {sitting.description}, served by {sitting.server}"
    parts = [head, table(HEAD, [_cells(row, sitting) for row in sitting.rows])]
    return "\n\n".join([*parts, "\n".join(verdicts(sitting, required)), *_kept(sitting)]).rstrip()


def machine() -> str:
    """What a reader needs to judge the figures, and nothing that names the machine."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    model = next((line.partition(":")[2].strip() for line in _cpu_facts() if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"


def _cpu_facts() -> list[str]:
    facts = Path("/proc/cpuinfo")
    return facts.read_text().splitlines() if facts.exists() else []


def render(sittings: Sequence[SiteComparison], startup: str, command: str, required: Required) -> str:
    """The whole document."""
    works = {row.name: row.work for sitting in sittings for row in sitting.rows}
    intro = [
        "# Results",
        "Generated by the benchmark; `README.md` explains the columns. Crawlers and server share the cores.",
        f"- Command: `{command}`, {datetime.now(UTC):%Y-%m-%d}\n- Machine: {machine()}\n- {startup}",
    ]
    doing = "## Work per page\n\n" + "\n".join(f"- {name}: {work}" for name, work in works.items())
    return "\n\n".join([*intro, *(render_sitting(sitting, required) for sitting in sittings), doing]) + "\n"
