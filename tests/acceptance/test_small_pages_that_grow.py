"""A response that is small on the wire costs bounded memory and disk, whatever it holds, and says what was left out."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.acceptance.calendar import Calendar
from tests.acceptance.command import PATIENCE, Tadoru
from tests.support.oversized import PAGES, feed_with_a_long_base
from tests.support.site import Site

MOST_MEMORY = 300 * 1024
"""KiB: the command itself takes 80,000."""
MOST_DISK = 20_000_000
_MEASURED = """
import sys
from tadoru.__main__ import main
try:
    main()
finally:
    # Of this program alone: what getrusage tells begins with the process that started it.
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    print("peak", peak, file=sys.stderr)
"""
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
JOBS = {
    "links": ("--processes", "1", "--state", "crawl.db", "--format", "json", "--output", "out.json"),
    "check": ("--processes", "1", "--state", "crawl.db", "--check", "--fragments", "--output", "out.txt"),
    "audit": ("--processes", "1", "--database", "crawl.db", "--resources", "0"),
    "docs": ("--processes", "1", "--output", "out", "--render", "never"),
}
LEFT_OUT = {
    "long-base": "the base URL is longer than 2,083 characters",
    "longest-base": "the URLs and texts of its links have more than 2,500,000 characters",
}
"""What every job says of these pages."""
MARKDOWN = ("nested-code", "nested-quotes", "wide-tables", "tall-cells")


class Run(NamedTuple):
    code: int
    told: str
    memory: int
    disk: int


def run(tadoru: Tadoru, site: Site, job: str, name: str) -> Run:
    """Run a job on one page and see what it took."""
    site.reply(f"/{name}", body=PAGES[name](), compress=True)
    command = "links" if job == "check" else job
    arguments = [command, site.url(f"/{name}"), "--delay", "0", "--limit", "1", *JOBS[job]]
    done = subprocess.run(
        [sys.executable, "-P", "-c", _MEASURED, *arguments], env=tadoru.environment(), cwd=tadoru.folder, encoding="utf-8",
        stdin=subprocess.DEVNULL, capture_output=True, timeout=5 * PATIENCE, check=False,
    )  # fmt: skip
    told, _, peak = done.stderr.rpartition("peak ")
    assert re.fullmatch(r"\d+\s*", peak), done.stderr
    size = sum(file.stat().st_size for file in tadoru.folder.rglob("*") if file.is_file() and not file.name.startswith("out."))
    return Run(done.returncode, told + done.stdout, int(peak), size)


def limits(database: Path) -> list[str]:
    """What the database says was left out."""
    with closing(sqlite3.connect(database)) as sql:
        return [message for (message,) in sql.execute("SELECT error_message FROM crawl_errors WHERE error_type = 'page_limit'")]


@needs_proc
@pytest.mark.parametrize("name", [name for name in PAGES if name not in MARKDOWN])
@pytest.mark.parametrize("job", ["links", "audit", "docs"])
def test_a_page_that_grows_takes_bounded_memory_and_disk(tadoru: Tadoru, site: Site, job: str, name: str) -> None:
    done = run(tadoru, site, job, name)
    assert done.memory < MOST_MEMORY
    assert done.disk < MOST_DISK
    if name in LEFT_OUT:
        assert LEFT_OUT[name] in done.told
        database = tadoru.folder / ("out/.tadoru/crawl.db" if job == "docs" else "crawl.db")
        assert any(LEFT_OUT[name] in message for message in limits(database))


@needs_proc
@pytest.mark.parametrize("name", ["long-base", "longest-base"])
def test_so_does_one_whose_links_are_all_reported(tadoru: Tadoru, site: Site, name: str) -> None:
    done = run(tadoru, site, "check", name)
    assert done.memory < MOST_MEMORY
    assert done.disk < MOST_DISK
    assert LEFT_OUT[name] in done.told


@needs_proc
@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown_that_would_be_many_times_its_page_is_cut_with_a_note(tadoru: Tadoru, site: Site, name: str) -> None:
    done = run(tadoru, site, "docs", name)
    assert done.code == 0
    assert done.memory < MOST_MEMORY
    assert "its Markdown has more than" in done.told
    (page,) = (tadoru.folder / "out" / "pages").rglob("*.md")
    text = page.read_text()
    assert len(text) < 25_000_000
    assert "The page goes on: the rest is left out here" in text


@needs_proc
def test_a_page_of_too_many_elements_is_read_in_part_with_the_reason(tadoru: Tadoru, site: Site) -> None:
    done = run(tadoru, site, "audit", "paragraphs")
    assert "it has more than 220,000 elements" in done.told
    assert any("it has more than 220,000 elements" in message for message in limits(tadoru.folder / "crawl.db"))


def test_a_feed_with_a_long_base_is_read_without_it(calendar: Calendar, site: Site) -> None:
    site.reply("/feed", body=feed_with_a_long_base(3), content_type="application/rss+xml", compress=True)
    calendar.add(site.url("/feed"), "rss")
    assert calendar.run().code == 0
    assert {event.url for event in calendar.events()} == {site.url("/0"), site.url("/1"), site.url("/2")}
    assert "An xml:base is longer than 2,083 characters: it is ignored." in calendar.runs()[0].error_summary
