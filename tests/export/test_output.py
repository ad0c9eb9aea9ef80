"""Files appear whole or not at all, whatever goes wrong, and together."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.atomic_files import AtomicFiles
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.export.crawls import audited, exported


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """No file of this process can grow beyond so many bytes: what a full disk is to a program."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    "form, name", [("csv", "x.csv"), ("jsonl", "x.jsonl.gz"), ("parquet", "x.parquet"), ("xlsx", "x.xlsx"), ("warc", "x.warc.gz"),
                   ("dot", "x.dot"), ("sitemap", "x.xml")],
    ids=lambda value: value,
)  # fmt: skip
def test_a_full_disk_is_an_error_and_leaves_what_was_there(form: str, name: str, store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / name).write_text("from yesterday")
    with small_disk(300), pytest.raises(OSError) as caught:
        exported(store, form, tmp_path / name)
    assert caught.value.errno == errno.EFBIG
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "from yesterday")]


def test_a_folder_that_was_made_for_it_goes_again(store: SqliteStore, tmp_path: Path) -> None:
    with small_disk(300), pytest.raises(OSError):
        exported(store, "csv", tmp_path / "new", tables=("checks", "pages"))
    assert list(tmp_path.iterdir()) == []


def test_files_get_their_names_only_when_all_are_done(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("from yesterday")
    with small_disk(900), pytest.raises(OSError):
        exported(store, "csv", tmp_path, tables=("runs", "pages"))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("runs.csv", "from yesterday")]
    exported(store, "csv", tmp_path, tables=("runs", "pages"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pages.csv", "runs.csv"]
    assert (tmp_path / "runs.csv").read_text().startswith("id,kind,")


def test_a_named_file_in_a_folder_and_a_folder_alone(store: SqliteStore, tmp_path: Path) -> None:
    assert exported(store, "dot", tmp_path)[0].files == [tmp_path / "site.dot"]
    assert exported(store, "xlsx", f"{tmp_path}/new/")[0].files == [tmp_path / "new" / "site.xlsx"]
    assert exported(store, "csv", tmp_path / "pages")[0].files == [tmp_path / "pages"]
    assert exported(store, "csv", tmp_path, tables=("links",))[0].files == [tmp_path / "links.csv"]


def test_the_database_is_never_written_over(tmp_path: Path) -> None:
    crawl = asyncio.run(audited(tmp_path / "pages.csv"))
    for output in (tmp_path / "pages.csv", tmp_path):
        with pytest.raises(UsageError, match=r"pages\.csv is the database of the crawl"):
            exported(crawl, "csv", output)
    asyncio.run(crawl.close())
    assert (tmp_path / "pages.csv").read_bytes().startswith(b"SQLite format 3")
    assert [path.name for path in tmp_path.iterdir()] == ["pages.csv"]


def test_a_pipe_is_written_to_and_not_replaced(store: SqliteStore, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    exported(store, "csv", pipe)
    reader.join()
    assert read == [exported(store, "csv")[1]]
    assert pipe.is_fifo()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_stops_it_nothing_is_left(error: type[BaseException], tmp_path: Path) -> None:
    def write() -> None:
        with AtomicFiles() as parcel, parcel.text(tmp_path / "x") as out:
            out.write("half")
            assert [path.name for path in tmp_path.iterdir()] == [f".x.{os.getpid()}.part"]
            raise error

    with pytest.raises(error):
        write()
    assert list(tmp_path.iterdir()) == []
