"""Opening a file: a crawl, nothing yet, or something else, which is then left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.sqlite.database import SCHEMA_VERSION
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import target
from tests.store import process
from tests.support.clock import FakeClock
from tests.support.folders import folder_for_everybody


def refusal(path: Path, patience: float = 0.01) -> str:
    with pytest.raises(StoreError) as caught:
        open_store(str(path), FakeClock(), patience=patience)
    return str(caught.value)


async def test_an_empty_file_becomes_a_crawl(tmp_path: Path) -> None:
    file = tmp_path / "crawl.db"
    file.touch()
    store = open_store(str(file), FakeClock())
    assert await store.frontier.add([target("x")], seed=True) == 1
    await store.close()
    store = open_store(str(file), FakeClock())
    assert (await store.frontier.counts()).queued == 1
    await store.close()


async def test_names_choose_the_backend() -> None:
    store = open_store(":memory:", FakeClock())
    assert isinstance(store, SqliteStore)
    await store.close()


def test_a_text_file_is_refused_and_kept(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("milk\n")
    assert refusal(notes) == f"{notes} is not a SQLite database. Choose another file, or remove this one."
    assert notes.read_text() == "milk\n"


def test_a_database_of_another_program_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "photos.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE photos(name)")
    other.close()
    before = file.read_bytes()
    assert refusal(file) == f"{file} is a SQLite database, but not a Tadoru crawl. Choose another file."
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


async def test_a_crawl_of_a_newer_program_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "crawl.db"
    store = SqliteStore(str(file), FakeClock())
    store.sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    await store.close()
    before = file.read_bytes()
    assert refusal(file) == f"{file} was written by a newer Tadoru (format {SCHEMA_VERSION + 1}). Upgrade Tadoru to read it."
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["", "missing/crawl.db"], ids=["a folder", "a folder that is not there"])
def test_what_can_not_be_a_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert refusal(path) == f"Cannot open the database {path} for writing. Check the folder and its permissions."


def test_a_file_that_another_program_holds_is_refused_after_a_while(tmp_path: Path) -> None:
    file = tmp_path / "crawl.db"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    expected = f"The database {file} is locked by another process. Close that process and rerun the command."
    assert refusal(file) == expected
    other.close()


async def test_a_damaged_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    file = tmp_path / "crawl.db"
    store = open_store(str(file), FakeClock())
    await store.frontier.add([target(str(number)) for number in range(500)], seed=True)
    await store.close()
    with file.open("r+b") as raw:
        raw.seek(8192)
        raw.write(b"\xa5" * (file.stat().st_size - 8192))
    expected = "is damaged (database disk image is malformed). Restore a backup, or start again with another file."
    assert refusal(file) == f"The database {file} {expected}"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with folder_for_everybody() as folder:
        yield folder


def as_seen_by_a_visitor(checkout: Path, file: Path, *, folder_mode: int, file_mode: int | None = None) -> str:
    if file_mode is not None:
        file.chmod(file_mode)
    file.parent.chmod(folder_mode)
    return process.start(checkout, "visit", file).communicate()[0]


@pytest.mark.parametrize("writable", [False, True], ids=["in a folder that cannot be written", "in a folder that can"])
async def test_a_file_that_may_only_be_read_says_so(checkout: Path, open_folder: Path, writable: bool) -> None:
    file = open_folder / "crawl.db"
    store = open_store(str(file), FakeClock())
    await store.meta.set("job", "links")
    await store.close()
    said = as_seen_by_a_visitor(checkout, file, file_mode=0o444, folder_mode=0o777 if writable else 0o555)
    assert said == f"Cannot open the database {file} for writing. Check the folder and its permissions.\n"


def test_a_folder_that_may_only_be_read_says_so(checkout: Path, open_folder: Path) -> None:
    file = open_folder / "crawl.db"
    said = as_seen_by_a_visitor(checkout, file, folder_mode=0o555)
    assert said == f"Cannot open the database {file} for writing. Check the folder and its permissions.\n"
    assert not file.exists()
