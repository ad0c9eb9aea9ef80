"""The commands on sites of hostile responses: what each job costs, how it ends, and what it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.hostile.measuring import MOST_CPU, MOST_MEMORY
from bench.hostile.site import ServedSite, serve
from bench.measure import run

ROOT = Path(__file__).resolve().parent.parent.parent
BATCH = 100
"""Responses of one site."""
LONGEST = 900.0
"""Seconds of wall clock after which a job is ended."""
EXIT_CODES = (0, 3, 4, 10)
"""Of those that are documented, what a hostile site may lead to."""
POLITE = ("--delay", "0", "--ignore-robots", "--timeout", "20", "--quiet")
CRAWLS = {
    "links": ("--depth", "1", "--limit", "0", *POLITE, "--format", "json", "--output", "links.json"),
    "audit": ("--depth", "1", *POLITE, "--resources", "0", "--render", "never", "--processes", "1", "--database", "audit.db",
              "--report", "report.html"),
    "docs": ("--depth", "1", *POLITE, "--render", "never", "--output", "docs"),
}  # fmt: skip
EVENTS = ("events", "-d", "events.db", "run", "--all", "--delay", "0", "--allow-private", "--ignore-robots", "--quiet")
JOBS = (*CRAWLS, "events")
SOURCES = {"HTML": "html", "feed": "rss", "ICS": "ics", "CSV": "csv", "JSON": "api", "sitemap": "rss", "headers": "html"}
FIELDS = {"items": "events", "fields": {"title": "title", "start": "start"}}


@dataclass(frozen=True, slots=True)
class JobRun:
    """What one job cost on one site."""

    job: str
    first: int
    responses: int
    cpu: float
    memory: int
    complaint: str


def run_jobs(numbers: Sequence[int], seed: int, jobs: Sequence[str], size: int) -> Iterator[JobRun]:
    """These jobs on sites of so many of these responses each."""
    for at in range(0, len(numbers), size):
        batch = numbers[at : at + size]
        with serve(batch, seed) as site, tempfile.TemporaryDirectory() as folder:
            for job in jobs:
                place = Path(folder) / job
                if job == "events":
                    _add_sources(site, place)
                yield _run(job, [job, site.url, *CRAWLS[job]] if job in CRAWLS else [*EVENTS], site, place)


def _add_sources(site: ServedSite, folder: Path) -> None:
    folder.mkdir()
    rows = [
        {"name": f"Source {number}", "type": SOURCES[kind], "url": site.url.rstrip("/") + site.paths[number]}
        | ({"settings": FIELDS} if kind == "JSON" else {})
        for number, kind in site.formats.items()
        if kind in SOURCES
    ]
    (folder / "sources.json").write_text(json.dumps(rows), "utf-8")
    command = [*_tadoru(), "events", "-d", "events.db", "sources", "import", "sources.json"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})


def _tadoru() -> list[str]:
    return [sys.executable, "-m", "tadoru"]


def _run(job: str, arguments: list[str], site: ServedSite, folder: Path) -> JobRun:
    folder.mkdir(exist_ok=True)
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    usage = run([*_tadoru(), *arguments], folder, LONGEST, site.pid)
    printed = (folder / "stderr").read_text("utf-8", "replace")
    complaints = []
    if not usage.finished:
        complaints.append(f"not done after {LONGEST:.0f} s")
    elif usage.exit_code not in EXIT_CODES:
        complaints.append(f"exit status {usage.exit_code}")
    if "Traceback" in printed or "fault of Tadoru" in printed or "bug in Tadoru" in printed:
        complaints.append("an uncaught exception")
    if usage.cpu > MOST_CPU * len(site.paths):
        complaints.append(f"{usage.cpu / len(site.paths):.1f} s of CPU a response")
    if usage.largest > MOST_MEMORY:
        complaints.append(f"{usage.largest / 1e6:.0f} MB")
    if complaints:
        print(f"{job}: {'; '.join(complaints)}\n{printed[-3000:]}", file=sys.stderr, flush=True)
    return JobRun(job, min(site.paths), len(site.paths), usage.cpu, usage.largest, "; ".join(complaints))
