"""Exports as streams: every form, what hostile text becomes, and that nothing is held in memory or left behind."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import UsageError
from tadoru.jobs.audit.crawl_results import downloads, queries
from tadoru.jobs.audit.export import sitemap
from tadoru.store.crawl.export_reader import ExportSelection
from tests.jobs.audit_crawls import hostile, large, small

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def exported(path: Path, form: str, *tables: str, chosen: ExportSelection | None = None) -> bytes:
    made = downloads.export_crawl(path, form, tables or ("pages",), chosen, now=NOW)
    data = b"".join(made.chunks)
    assert made.size in (None, len(data))
    return data


def test_a_table_is_exported_row_by_row(many: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(many, "csv").decode(), newline="")))
    lines = [json.loads(line) for line in exported(many, "jsonl").decode().splitlines()]
    assert len(rows) == len(lines) == 240
    assert [row["url"] for row in rows] == [line["url"] for line in lines] == sorted(row["url"] for row in rows)
    assert exported(many, "csv", "findings", chosen=ExportSelection(severities=("error",))).count(b"\r\n") > 1


def test_no_text_of_a_stranger_becomes_a_formula(audited: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(audited, "csv").decode(), newline="")))
    assert [row["title"][:6] for row in rows if "HYPERLINK" in row["title"]] == ["'=HYPE"]
    for table in ("links", "headings"):
        for row in csv.reader(io.StringIO(exported(audited, "csv", table).decode(), newline="")):
            assert not [cell for cell in row if cell[:1] in "=+-@" and cell]


def test_a_workbook_holds_several_tables(many: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(many, "xlsx", "pages", "findings", "pages"))) as book:
        assert [name for name in book.namelist() if "worksheets/sheet" in name] == [
            "xl/worksheets/sheet1.xml",
            "xl/worksheets/sheet2.xml",
        ]


def test_parquet_and_dot_are_what_they_should_be(many: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(io.BytesIO(exported(many, "parquet"))).num_rows == 240
    assert exported(many, "dot").startswith(b'digraph "https://garden.example/"')


def test_a_sitemap_is_one_file_or_an_archive_of_several(audited: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = downloads.export_crawl(audited, "sitemap", now=NOW)
    assert (one.suffix, b"".join(one.chunks).count(b"<loc>")) == (".xml", 3)
    # A site of fifty thousand pages would take a minute.
    monkeypatch.setattr(sitemap.write_sitemaps, "__kwdefaults__", {**sitemap.write_sitemaps.__kwdefaults__, "max_urls": 2})
    several = downloads.export_crawl(audited, "sitemap", now=NOW)
    with zipfile.ZipFile(io.BytesIO(b"".join(several.chunks))) as archive:
        assert (several.suffix, archive.namelist()) == (".zip", ["sitemap.xml", "sitemap-1.xml", "sitemap-2.xml"])


@pytest.mark.parametrize(
    "form, tables, chosen, words",
    [
        ("csv", ("../../etc/passwd",), ExportSelection(), "Unknown table"),
        ("csv", ("pages; DROP TABLE pages",), ExportSelection(), "Unknown table"),
        ("csv", ("pages", "links"), ExportSelection(), "one table"),
        ("dot", ("links",), ExportSelection(), "whole crawl"),
        ("sitemap", ("pages",), ExportSelection(checks=("a",)), "whole crawl"),
        ("csv", ("runs",), ExportSelection(codes=((404, 404),)), "status does not apply"),
        ("csv", ("pages",), ExportSelection(checks=("none",)), "Unknown check"),
    ],
)
def test_an_export_that_makes_no_sense_is_refused_before_it_begins(
    many: Path, form: str, tables: tuple[str, ...], chosen: ExportSelection, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        downloads.export_crawl(many, form, tables, chosen, now=NOW)


def test_an_export_shows_one_moment_and_lets_the_crawl_go_on(tmp_path: Path) -> None:
    path = large(tmp_path / "crawl.db", 600)
    made = downloads.export_crawl(path, "jsonl", now=NOW)
    first = next(made.chunks) + next(made.chunks)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as writer:
        writer.execute("DELETE FROM pages")
    assert (first + b"".join(made.chunks)).count(b"\n") == 600
    assert exported(path, "jsonl") == b""


def test_an_export_that_nobody_wants_to_the_end_closes_its_file(tmp_path: Path) -> None:
    path = large(tmp_path / "crawl.db", 600)
    made = downloads.export_crawl(path, "csv", now=NOW)
    next(made.chunks)
    del made
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")  # Refused while somebody reads.


def test_memory_does_not_grow_with_the_export(tmp_path: Path) -> None:
    def peak(pages: int) -> int:
        made = downloads.export_crawl(large(tmp_path / f"{pages}.db", pages), "csv", ("links",), now=NOW)
        tracemalloc.start()
        for _ in made.chunks:
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(1_600) < 1.5 * peak(400)


def test_a_backup_is_a_whole_database_also_of_a_crawl_that_is_being_written(tmp_path: Path) -> None:
    path = small(tmp_path / "crawl.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE pages SET title = 'kept' WHERE id = 1")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE pages SET title = 'lost' WHERE id = 1")
        made = downloads.back_up_crawl(path)
        copy = tmp_path / "copy.db"
        copy.write_bytes(b"".join(made.chunks))
    assert made.size == copy.stat().st_size
    found, _ = queries.list_pages(copy, sort="found")
    assert (found[0].title, len(found)) == ("kept", 5)
    with closing(sqlite3.connect(copy)) as sql:
        assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_hostile_text_leaves_in_every_form(tmp_path: Path) -> None:
    path = hostile(tmp_path / "crawl.db")
    for form in downloads.DOWNLOAD_FORMATS:
        if form not in ("sitemap", "parquet"):
            assert exported(path, form)
