"""Crawls that were there before, added by their path; and a backup of everything, made while a crawl runs, and put back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.errors import UsageError
from tadoru.serve.crawl_runner.control import NOTE_FILE, back_up, import_crawl
from tadoru.serve.crawl_runner.process_messages import CrawlRequest
from tadoru.store.calendar.backup import restore_calendar
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.schema import CrawlState
from tests.acceptance.command import Tadoru
from tests.serve.crawl_runner.runner import BY, RunnerHarness
from tests.support.postgres import server
from tests.support.site import Site


def small(site: Site) -> None:
    site.page("/", links=["/a"], body="<p>Words to begin with.</p>")
    site.page("/a", links=["/"], body="<p>Words of another page.</p>")


def test_a_backup_made_while_a_crawl_runs_is_served_as_it_is(runner: RunnerHarness, site: Site, tmp_path: Path) -> None:
    small(site)
    numbers = {job: runner.add(job, site.url("/")).id for job in ("audit", "links", "docs")}
    for number in numbers.values():
        runner.run_here(number)
    snapshot = Path(runner.database).parent / "snapshots" / "1" / "a.ics"
    snapshot.parent.mkdir(parents=True)
    snapshot.write_text("BEGIN:VCALENDAR")
    running = runner.add("audit", site.url("/a")).id
    assert runner.store.claims.claim(current(), at_once=9) is not None
    with closing(sqlite3.connect(runner.crawl_database(numbers["audit"]))) as sql:
        sql.execute("PRAGMA journal_mode = WAL")
        sql.execute("BEGIN IMMEDIATE")
        sql.execute("UPDATE pages SET title = 'half done'")  # Somebody writes meanwhile.
        back_up(runner.store, tmp_path / "kept", lambda what: None)
        sql.execute("ROLLBACK")
    assert "tadoru serve -d var/tadoru.db" in (tmp_path / "kept" / NOTE_FILE).read_text()
    with pytest.raises(UsageError, match="is not empty"):
        back_up(runner.store, tmp_path / "kept", lambda what: None)

    shutil.rmtree(Path(runner.database).parent / "crawls")  # All is lost.
    shutil.rmtree(Path(runner.database).parent / "docs")
    restored = tmp_path / "new" / "var"
    restored.parent.mkdir()
    shutil.copytree(tmp_path / "kept" / "var", restored)
    after = RunnerHarness(tmp_path / "new", site)
    try:
        assert [one.name for one in after.store.crawls.list()] == [one.name for one in runner.store.crawls.list()]
        with closing(sqlite3.connect(after.crawl_database(numbers["audit"]))) as sql:
            assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert sql.execute("SELECT count(*) FROM pages WHERE title = 'half done'").fetchone() == (0,)
            assert sql.execute("SELECT count(*) FROM pages WHERE status = 'completed'").fetchone() == (2,)
        assert json.loads(after.path(numbers["links"]).with_name("result.json").read_text())["total_processed"] == 2
        assert len(json.loads((after.path(numbers["docs"]) / "index.json").read_text())["pages"]) == 2
        assert (restored / "snapshots" / "1" / "a.ics").is_file()
        assert after.run_again(numbers["docs"]).figures["pages"] == 2, "it is gone on with"
        runner.store.claims.end(running, current(), CrawlState.STOPPED)
    finally:
        after.close()


def test_a_backup_of_postgresql_is_served_on_sqlite(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # The files of a service on a server are below the folder it runs in.
    small(site)
    address = server().new_database()
    runner = RunnerHarness(tmp_path, site, database=address)
    try:
        number = runner.add("audit", site.url("/")).id
        assert runner.run_here(number).outcome == "finished"
        assert runner.path(number) == tmp_path / "var" / "crawls" / "1" / "crawl.db"
        back_up(runner.store, tmp_path / "kept", lambda what: None)
    finally:
        runner.close()
        server().drop(address)
    after = RunnerHarness(tmp_path / "kept", site)
    try:
        assert after.run_again(number).figures["pages"] == 2
    finally:
        after.close()
    restore_calendar(str(tmp_path / "kept" / "var" / "tadoru.db"), str(tmp_path / "again.db"))


def test_crawls_of_the_command_line_are_added_shown_and_forgotten(runner: RunnerHarness, site: Site, tmp_path: Path) -> None:
    small(site)
    tadoru, database = Tadoru(tmp_path), runner.database
    number = runner.add("audit", site.url("/")).id
    docs = runner.add("docs", site.url("/")).id
    for one in (number, docs):
        runner.run_here(one)
    shutil.copy(runner.path(number), tmp_path / "mine.db")
    shutil.copytree(runner.path(docs), tmp_path / "handbook")

    added = tadoru("serve", "-d", database, "crawls", "add", "mine.db", "--name", "Mine")
    assert (added.code, added.err) == (0, "Added crawl 3: Mine (audit, finished).\n")
    crawl = import_crawl(runner.store, str(tmp_path / "handbook"), BY)
    assert (crawl.job, crawl.name, crawl.state) == ("docs", site.url("/"), CrawlState.FINISHED)
    shown = tadoru("serve", "-d", database, "crawls", "list").out.splitlines()[1:3]
    assert [line.split()[-5:-3] for line in shown] == [["finished", "2"], ["finished", "2"]], "with how many pages they have"
    assert runner.run_again(3).figures["pages"] == 2, "it can be gone on with"
    for given, words in (
        ("mine.db", "was already added"), ("nothing.db", "No crawl in "), (".", "was not written by `tadoru docs`"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=words):
            import_crawl(runner.store, str(tmp_path / given), BY)
    listed = json.loads(tadoru("serve", "-d", database, "crawls", "list", "--format", "json").out)
    assert [(one["id"], one["name"]) for one in listed][1:2] == [(3, "Mine")]
    removed = tadoru("serve", "-d", database, "crawls", "remove", "3")
    assert removed.err == f"Removed crawl 3: Mine. Its files are kept in {tmp_path / 'mine.db'}.\n"
    assert (tmp_path / "mine.db").is_file()
    assert tadoru("serve", "-d", database, "backup", "kept").code == 0
    assert (tmp_path / "kept" / "var" / "crawls" / "1" / "crawl.db").is_file()


def test_a_crawl_request_comes_across_as_it_is() -> None:
    request = CrawlRequest(
        database="postgresql://u:p@h/d", crawl_id=7, operators={"delay": 1.0}, private=("a:1",), log_level="debug"
    )
    assert CrawlRequest.from_json(request.to_json()) == request
