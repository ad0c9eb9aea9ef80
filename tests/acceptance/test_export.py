"""`tadoru export` as people run it: to a pipe, to files, to a full disk, with the wrong arguments."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import resource
from importlib import import_module
from pathlib import Path

import pytest

from tadoru.parse.sitemap import read
from tests.acceptance.command import CHECKOUT, PATIENCE, Tadoru
from tests.contract.crawls import url
from tests.export.crawls import audited
from tests.support.site import Site


@pytest.fixture
def database(tmp_path: Path) -> str:
    """An audited crawl in the command's folder."""

    async def make() -> None:
        await (await audited(tmp_path / "site.db")).close()

    asyncio.run(make())
    return "site.db"


@pytest.fixture
def large(database: str, tmp_path: Path) -> str:
    """The same with some thousand pages more."""
    import sqlite3

    with sqlite3.connect(tmp_path / database) as sql:
        sql.executemany(
            "INSERT INTO pages(url, host_id, depth, added_at, title) VALUES (?, 1, 5, '2024-01-01', hex(randomblob(32)))",
            [(f"https://a.example/{number}",) for number in range(5000)],
        )
    sql.close()
    return database


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_pages_go_to_stdout_and_nothing_to_stderr(database: str, tadoru: Tadoru) -> None:
    done = tadoru("export", database, "--format", "csv")
    assert (done.code, done.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.out, newline="")))
    assert [row["url"] for row in rows if row["status_code"] == "404"] == [url("gone")]


def test_broken_links_with_their_sources_are_one_command(database: str, tadoru: Tadoru) -> None:
    done = tadoru("export", database, "-f", "jsonl", "-t", "links", "--status", "4xx,error")
    links = [json.loads(line) for line in done.out.splitlines()]
    assert [(link["source_url"], link["target_url"]) for link in links] == [
        (url(""), url("gone")), (url("hidden"), url("down")),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "xlsx", "sitemap", "warc", "dot"])
def test_every_form_is_written_to_a_file_with_a_word_about_it(form: str, database: str, tadoru: Tadoru) -> None:
    done = tadoru("export", database, "-f", form, "-o", "out")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("Wrote out (pages ")
    assert (tadoru.folder / "out").stat().st_size > 200
    assert names(tadoru.folder) == ["out", "site.db"]
    assert tadoru("export", database, "-f", form, "-o", "out", "-q").err == ""


def test_all_tables_make_a_folder(database: str, tadoru: Tadoru) -> None:
    done = tadoru("export", database, "-f", "csv", "-t", "all", "-o", "tables", "--gzip")
    assert done.code == 0, done.err
    written = names(tadoru.folder / "tables")
    assert len(written) == 19
    assert written[:2] == ["checks.csv.gz", "directives.csv.gz"]
    assert done.err.startswith("Wrote tables/pages.csv.gz and 18 more (pages 10, links 10, findings 3, ")


def test_the_database_stays_as_it_was(database: str, tadoru: Tadoru) -> None:
    before = (tadoru.folder / database).read_bytes()
    tadoru("export", database, "-f", "warc", "-o", "x.warc.gz")
    assert (tadoru.folder / database).read_bytes() == before


REFUSED = [
    pytest.param(["missing.db", "-f", "csv"], "No crawl in missing.db. Choose the database of an audit.", id="no database"),
    pytest.param(["text", "-f", "csv"], "text is not a SQLite database", id="something else"),
    pytest.param(["site.db"], "“tadoru export” needs --format (csv, jsonl,", id="no form"),
    pytest.param(["site.db", "-f", "pdf"], "--format must be one of csv, jsonl,", id="an unknown form"),
    pytest.param(["site.db", "-f", "csv", "-t", "page"], "Unknown table “page”. Did you mean “pages”?", id="an unknown table"),
    pytest.param(["site.db", "-f", "csv", "--check", "nope"], "Unknown check “nope”. Choose one of", id="an unknown check"),
    pytest.param(["site.db", "-f", "csv", "--status", "bad"], "Use status codes such as 404", id="an unknown status"),
    pytest.param(["site.db", "-f", "xlsx"], "--format xlsx is binary. Write it to a file", id="a workbook to a terminal"),
    pytest.param(["site.db", "-f", "csv", "-o", "no/x.csv"], "-o no/x.csv cannot be written: folder", id="no folder"),
    pytest.param(["site.db", "-f", "sitemap", "--base-url", "ftp://x"], "ftp", id="a base that is none"),
    pytest.param(["site.db", "-f", "dot", "--limit-nodes", "0"], "--limit-nodes", id="a graph without nodes"),
]


@pytest.mark.parametrize("arguments, sentence", REFUSED)
def test_what_is_wrong_with_the_command_is_one_sentence(
    arguments: list[str], sentence: str, database: str, tadoru: Tadoru
) -> None:
    (tadoru.folder / "text").write_text("no database at all, but long enough to be looked at " * 30)
    done = tadoru("export", *arguments)
    assert done.code == (1 if "not a SQLite" in sentence else 2)
    assert sentence in done.sentence
    assert done.out == ""


def test_a_full_disk_behind_stdout_is_one_sentence(large: str, tadoru: Tadoru) -> None:
    with Path("/dev/full").open("w") as full:
        done = tadoru("export", large, "-f", "csv", stdout=full)
    assert (done.code, done.sentence) == (
        1, "Cannot write the export (No space left on device). Fix the cause, then rerun the command.",
    )  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_a_full_disk_under_a_file_is_one_sentence_and_leaves_nothing(form: str, large: str, tadoru: Tadoru) -> None:
    limit = 50_000  # More than SQLite needs beside the database, less than the export.
    done = tadoru(
        "export", large, "-f", form, "-t", "pages", "-o", "out", "-q",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.code == 1
    assert done.sentence == "Cannot write -o out (File too large). Fix the cause, then rerun the command."
    assert [name for name in names(tadoru.folder) if not name.startswith("site.db")] == []


def test_a_reader_that_has_had_enough_is_no_error(large: str, tadoru: Tadoru) -> None:
    process = tadoru.start("export", large, "-f", "jsonl")
    assert process.stdout is not None
    assert process.stderr is not None
    first = process.stdout.readline()
    process.stdout.close()
    assert (process.wait(PATIENCE), process.stderr.read()) == (0, "")
    process.stderr.close()
    assert json.loads(first)["url"] == url("")


def test_a_library_that_is_missing_is_one_sentence(database: str, tadoru: Tadoru) -> None:
    (tadoru.folder / "pyarrow.py").write_text("raise ImportError")
    done = tadoru(
        "export", database, "-f", "parquet", "-o", "x.parquet", env={"PYTHONPATH": f"{tadoru.folder}:{CHECKOUT / 'src'}"}
    )
    assert done.code == 2
    assert done.sentence.startswith("Packages for --format parquet are not installed. Install them with `")
    assert not (tadoru.folder / "x.parquet").exists()


def test_what_a_real_audit_kept_can_be_taken_elsewhere(tadoru: Tadoru, site: Site) -> None:
    body = "<!doctype html><title>Price</title><p id=price>10 €</p><a href=/twin>twin</a>"
    for path in ("/", "/twin"):
        site.reply(path, body=body, headers={"Content-Type": "text/html; charset=utf-8", "Set-Cookie": "a=1"})
    done = tadoru("audit", site.url("/"), "-d", "x.db", "--delay", "0", "--store-bodies", "--extract", "price=css:#price", "-q")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(tadoru("export", "x.db", "-f", "csv").out, newline="")))
    assert {row["extract_price"] for row in rows if row["status_code"] == "200"} == {"10 €"}
    assert tadoru("export", "x.db", "-f", "warc", "-o", "x.warc.gz", "-q").code == 0
    with (tadoru.folder / "x.warc.gz").open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read().decode())
            for record in import_module("warcio.archiveiterator").ArchiveIterator(file, check_digests="raise")
        ]
    assert records[1:] == [("response", site.url("/"), body), ("revisit", site.url("/twin"), "")]
    sitemap = tadoru("export", "x.db", "-f", "sitemap").out
    assert [entry.url for entry in read(sitemap.encode(), site.url("/sitemap.xml")).entries] == [site.url("/"), site.url("/twin")]
