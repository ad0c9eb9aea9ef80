"""A report of a large site takes no more memory than one of a small site: findings are written as they are read."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

from tadoru.jobs.audit.report import ReportRequest, write_requested
from tests.jobs.audit_crawls import LONG, Crawl


class NullOutput(io.TextIOBase):
    """Takes everything and keeps nothing."""

    def __init__(self) -> None:
        self.letters = 0

    def write(self, text: str) -> int:
        self.letters += len(text)
        return len(text)


def site(path: Path, pages: int) -> Path:
    crawl = Crawl(path)
    home = crawl.page("", 0)
    for number in range(pages):
        page = crawl.page(f"{number:05}", 1, ms=float(number))
        crawl.link(home, page, "on")
        crawl.find(LONG, page, f"A title that is much too long, number {number}", length=90, limit=60)
    return crawl.save()


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("sites")
    return site(folder / "small.db", 300), site(folder / "large.db", 3000)


def peak(order: ReportRequest) -> tuple[int, int]:
    """Bytes at most, and letters written."""
    out = NullOutput()
    write_requested(order, NullOutput())  # type: ignore[arg-type] # What is imported and kept for ever is no part of it.
    tracemalloc.start()
    write_requested(order, out)  # type: ignore[arg-type]
    bytes_at_most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_at_most, out.letters


@pytest.mark.parametrize(
    "form, list_all", [("json", False), ("sarif", False), ("text", True), ("markdown", True), ("junit", True)]
)
def test_findings_are_not_gathered(sites: tuple[Path, Path], form: str, list_all: bool) -> None:
    (small, few), (large, many) = (peak(ReportRequest(database=str(path), form=form, list_all=list_all)) for path in sites)
    assert many > 8 * few
    assert large < 1.3 * small


@pytest.mark.parametrize("form", ["text", "html", "markdown", "junit"])
def test_what_people_read_does_not_grow_either(sites: tuple[Path, Path], form: str) -> None:
    (small, few), (large, many) = (peak(ReportRequest(database=str(path), form=form)) for path in sites)
    assert many < 1.3 * few
    assert large < 1.3 * small
