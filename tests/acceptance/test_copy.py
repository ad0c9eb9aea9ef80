"""`tadoru copy FROM TO`: FROM itself tells what it is; crawls and calendars go to a server and back; the rest is one sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.cli.export import CopyProgress
from tadoru.cli.main import run
from tadoru.clock import SystemClock
from tadoru.store.calendar.migrate import VERSION_TABLE
from tadoru.store.calendar.store import open_calendar
from tadoru.store.copy_crawl import DatabaseKind, look_at
from tadoru.store.crawl.open import open_store
from tests.contract.events.dumping import dump
from tests.store.test_migration import ROWS
from tests.support.calendar import Calendar, row
from tests.support.clock import FakeClock
from tests.support.old_crawls import make_file
from tests.support.postgres import server

Copy = Callable[[str, str], tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Here are a calendar, a crawl, and files that are neither."""
    monkeypatch.chdir(tmp_path)
    made = Calendar(tmp_path / "events.db")
    made.say(made.source(), row("さんさ踊り"), row("古い会", "2001-05-05 10:00"))
    made.close()
    store = open_store("crawl.db", FakeClock())
    store.sql.execute("INSERT INTO crawl_meta VALUES ('job', 'audit')")
    store.sql.close()
    Path("words.txt").write_text("no database, but long enough to be read as one\n" * 50)
    Path("empty.db").touch()
    with closing(sqlite3.connect("other.db")) as sql:
        sql.execute("CREATE TABLE mine(x)")
    return tmp_path


@pytest.fixture
def address() -> Iterator[str]:
    made = server().new_database()
    yield made
    server().drop(made)


@pytest.fixture
def copy(capsys: pytest.CaptureFixture[str]) -> Copy:
    """The command; its exit code and what it said."""

    def copy(since: str, to: str) -> tuple[int, str]:
        code = run(["copy", since, to])
        said = capsys.readouterr()
        assert said.out == ""
        return code, said.err

    return copy


def test_a_calendar_goes_to_a_server_and_back_and_a_crawl_beside_it(folder: Path, address: str, copy: Copy) -> None:
    code, said = copy("events.db", address)
    assert (code, said.startswith("Copied 2 events and 1 source into postgresql://")) == (0, True), said
    assert copy("crawl.db", f"{address}&crawl=site")[0] == 0
    assert look_at(address, SystemClock()) == (DatabaseKind.EVENTS, None), "an address without a crawl means the events"
    assert look_at(f"{address}&crawl=site", SystemClock()) == (DatabaseKind.CRAWL, None)
    assert copy(address, "back.db") == (0, "Copied 2 events and 1 source into back.db.\n")
    with closing(open_calendar("events.db")) as first, closing(open_calendar("back.db")) as back:
        assert dump(back.db) == dump(first.db)
    code, said = copy("events.db", address)
    assert (code, "is not empty. Copy into a new one." in said) == (2, True), said
    assert copy(f"{address}&crawl=site", "site.db")[0] == 0
    with closing(sqlite3.connect("site.db")) as sql:
        assert sql.execute("SELECT * FROM crawl_meta").fetchall() == [("job", "audit")]


def test_a_server_without_either_is_one_sentence(folder: Path, address: str, copy: Copy) -> None:
    code, said = copy(address, "new.db")
    assert (code, said.startswith("tadoru: No crawl or calendar in postgresql://")) == (2, True), said
    code, said = copy(f"{address}&crawl=site", "new.db")
    assert (code, said.startswith("tadoru: No crawl in postgresql://")) == (2, True), said
    assert not Path("new.db").exists()


@pytest.mark.parametrize(
    "since, to, sentence",
    [
        ("missing.db", "new.db", "Database missing.db not found. Choose the file of a crawl or of a calendar."),
        ("empty.db", "new.db", "Database empty.db not found. Choose the file of a crawl or of a calendar."),
        ("words.txt", "new.db", "words.txt is not a SQLite database. Choose another file, or remove this one."),
        ("other.db", "new.db", "other.db is a SQLite database, but neither a Tadoru crawl nor a calendar. Choose another file."),
        ("events.db", "crawl.db", "crawl.db is a Tadoru crawl (`tadoru links`, `audit` or `docs`), not a Tadoru calendar."),
        ("crawl.db", "events.db", "events.db is a Tadoru calendar (`tadoru events`), not a Tadoru crawl. Choose another file."),
        ("events.db", "./events.db", "Cannot copy a database into itself. Give another one."),
        ("crawl.db", "./crawl.db", "Cannot copy a crawl into itself. Give another database."),
        ("events.db", "no/where.db", "TO no/where.db cannot be written: folder no not found."),
        ("events.db", "postgresql://h/d?crawl=x", "TO is the URL of a crawl, but FROM contains events. Remove ?crawl="),
    ],
)
def test_bad_input_is_one_sentence(since: str, to: str, sentence: str, folder: Path, copy: Copy) -> None:
    before = {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "new.db"}
    code, said = copy(since, to)
    assert code in (1, 2)
    assert (said.startswith(f"tadoru: {sentence}"), said.count("\n")) == (True, 1), said
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert not Path("new.db").exists()


def test_a_newer_format_is_refused_and_an_older_one_is_said(folder: Path, copy: Copy) -> None:
    with closing(sqlite3.connect("events.db")) as sql:
        sql.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0999'")
        sql.commit()
    code, said = copy("events.db", "new.db")
    assert (code, said) == (
        1,
        "tadoru: Cannot copy events.db: a newer version of Tadoru wrote it (format 0999). Update Tadoru.\n",
    )
    make_file(Path("old.db"), 1, ROWS)
    code, said = copy("old.db", "newer.db")
    first, last = said.splitlines()
    assert (code, first) == (0, "Migrated old.db from format 1 to the current one.")
    assert last == "Copied 2 URLs and 1 link into newer.db."


def test_progress_is_a_line_for_each_large_table_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = CopyProgress()
    for table, rows in (("sources", 7), ("events", 5000), ("events", 12_000), ("sightings", 20_000)):
        progress(table, rows)
    progress.end()
    assert capsys.readouterr().err == "events: 12,000\nsightings: 20,000\n"
