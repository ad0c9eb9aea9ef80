"""What a page of documentation said before: kept in the transaction that replaces it, the newest few, and when it is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.store.crawl.documents import MOST_RUNS, MOST_VERSIONS, open_history
from tadoru.store.crawl.records import CompletedOutcome, DocumentRecord, PageFacts, PageRecords
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import lease_one, started, url
from tests.support.clock import FakeClock
from tests.support.old_crawls import make_file

FACTS = PageFacts(status_code=200)


def document(markdown: str) -> PageRecords:
    found = DocumentRecord(title=markdown[:20], markdown=markdown, source="html")
    return PageRecords(indexable=True, indexability="", document=found)


GONE = PageRecords(indexable=False, indexability="", drops_document=True)


class Book:
    """A crawl of one page that is read again and again."""

    def __init__(self, path: Path, clock: FakeClock) -> None:
        self.path, self.clock = path, clock
        self.store = SqliteStore(str(path), clock)
        self.worker = 0

    async def read(self, *states: PageRecords) -> None:
        """The page in these states, one run after the other."""
        for state in states:
            run = await self.begin()
            self.clock.advance(60.0)
            lease = await lease_one(self.store, self.worker)
            await self.store.frontier.finish(
                self.worker, [CompletedOutcome(lease=lease, facts=FACTS, records=state)], max_depth=None
            )
            await self.store.runs.end(run, RunOutcome.COMPLETE, None)
        await self.store.documents.number([url("")])

    async def begin(self) -> int:
        if not self.worker:
            run = await self.store.runs.begin("crawl", {}, "test")
            self.worker = await started(self.store, "")
            return run
        again = await self.store.runs.begin_recrawl({}, "test", keep=1)
        assert again is not None
        return again

    def said(self) -> list[str]:
        """What can be read, the newest first."""
        with open_history(self.path) as found:
            return [found.text(1, one.id) or "" for one in found.versions(1)]


@pytest.fixture
async def book(tmp_path: Path) -> AsyncIterator[Book]:
    made = Book(tmp_path / "crawl.db", FakeClock())
    yield made
    await made.store.close()


async def test_a_page_keeps_what_it_said_before_and_when(book: Book) -> None:
    await book.read(document("first"), document("second"))
    with open_history(book.path) as found:
        now, before = found.versions(1)
        assert (found.text(1, now.id), found.text(1, before.id)) == ("second", "first")
    assert (now.id, now.until) == (0, None)
    assert before.until == now.since > before.since


async def test_a_page_that_says_the_same_again_has_no_versions(book: Book) -> None:
    await book.read(document("same"), document("same"), document("same"))
    assert book.said() == ["same"]


async def test_only_the_newest_versions_are_kept(book: Book) -> None:
    every = [f"state {number}" for number in range(MOST_VERSIONS + 4)]
    await book.read(*map(document, every))
    assert book.said() == every[::-1][: MOST_VERSIONS + 1]


async def test_a_page_that_is_gone_keeps_its_last_version(book: Book) -> None:
    await book.read(document("first"), document("last"), GONE)
    assert book.said() == ["last", "first"]
    await book.read(document("again"))
    assert book.said() == ["again", "last", "first"]


async def test_a_version_is_written_with_the_page_or_not_at_all(book: Book) -> None:
    await book.read(document("first"))
    await book.begin()
    book.clock.advance(60.0)
    lease = await lease_one(book.store, book.worker)
    book.store.sql.execute("CREATE TRIGGER torn BEFORE UPDATE ON documents BEGIN SELECT RAISE(ABORT, 'torn'); END")
    with pytest.raises(StoreError, match="torn"):
        await book.store.frontier.finish(
            book.worker, [CompletedOutcome(lease=lease, facts=FACTS, records=document("second"))], max_depth=None
        )
    assert book.said() == ["first"]


async def test_the_versions_of_a_page_take_the_room_of_their_compressed_text(book: Book) -> None:
    text = "The kettle is filled with water. " * 3_000
    await book.read(*(document(f"{text}{number}") for number in range(6)))
    (size,) = book.store.sql.execute("SELECT sum(length(markdown)) FROM document_versions").fetchone()
    assert 0 < size < 0.1 * len(text)


def test_what_a_run_changed_is_told_once_however_often_it_is_noted(book: Book) -> None:
    changes = [("changed", url("a"), "A"), ("removed", url("b"), "B")]
    for _ in range(2):
        book.store.documents.note_changes(2, changes, 1_000.0)
    book.store.documents.note_changes(4, [("added", url("c"), "C")], 2_000.0)
    with open_history(book.path) as found:
        newest, older = found.changes(runs=10, pages=10)
        assert (newest.run, newest.counts, [one.title for one in newest.pages]) == (4, {"added": 1}, ["C"])
        assert (older.run, older.counts, older.at.timestamp()) == (2, {"changed": 1, "removed": 1}, 1_000.0)
        assert found.changes(runs=10, pages=1, before=4)[0].pages == older.pages[:1]


def test_the_changes_of_the_last_runs_are_kept(book: Book) -> None:
    for run in range(1, MOST_RUNS + 11):
        book.store.documents.note_changes(run, [("added", url(str(run)), "A")], float(run))
    with open_history(book.path) as found:
        runs = [one.run for one in found.changes(runs=1_000, pages=1)]
    assert runs == list(range(MOST_RUNS + 10, 10, -1))


def test_a_file_of_the_format_before_has_nothing_to_tell_and_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_file(path, 3)
    before = path.read_bytes()
    with open_history(path) as found:
        assert (found.changes(runs=5, pages=5), found.versions(1), found.text(1, 0)) == ([], [], None)
    assert path.read_bytes() == before


def test_where_there_is_no_file_there_is_no_history_and_none_is_made(tmp_path: Path) -> None:
    with open_history(tmp_path / "none.db") as found:
        assert found.versions(1) == []
    assert list(tmp_path.iterdir()) == []
