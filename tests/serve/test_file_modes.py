"""What the service writes is for its own user: it holds users, keys, and what crawls found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.config.options import CRAWL_JOBS
from tadoru.jobs.docs.search import ensure_index
from tadoru.jobs.events import maintenance
from tadoru.serve.crawl_runner.control import back_up
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.calendar.store import open_calendar
from tadoru.store.files import open_files
from tadoru.store.served_crawls.schema import CrawlState
from tadoru.store.service import open_service
from tests.serve.crawl_runner.runner import RunnerHarness
from tests.support.site import Site

BY = Actor(who="test")


@pytest.fixture(params=[0o000, 0o022], ids=["no umask", "the usual umask"], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    """Every file and folder below one, and itself, that others may do anything with."""
    return [str(one) for one in (folder, *folder.rglob("*")) if one.stat().st_mode & 0o077]


def test_a_new_database_and_its_folder_are_for_their_owner(tmp_path: Path) -> None:
    file = tmp_path / "var" / "tadoru.db"
    with closing(open_service(str(file))) as store:
        store.users.add("mia", "admin", BY)
        assert {one.name for one in file.parent.iterdir()} >= {"tadoru.db", "tadoru.db-wal", "tadoru.db-shm"}
        assert open_to_others(file.parent) == []


def test_a_link_to_a_database_that_is_not_there_yet_makes_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "tadoru.db").symlink_to(tmp_path / "elsewhere" / "real.db")
    with closing(open_service(str(tmp_path / "tadoru.db"))):
        assert open_to_others(tmp_path / "elsewhere") == []


def test_a_database_that_is_there_keeps_the_mode_that_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "tadoru.db"
    open_service(str(file)).close()
    file.chmod(0o640)
    with closing(open_service(str(file))) as store:
        store.users.add("mia", "admin", BY)
        assert file.stat().st_mode & 0o777 == 0o640


def test_snapshots_and_run_logs_are_for_their_owner(tmp_path: Path) -> None:
    open_files(str(tmp_path / "mine")).put("snapshots/1/a", b"x")
    assert not (tmp_path / "mine" / "snapshots" / "1" / "a").stat().st_mode & 0o077
    assert not (tmp_path / "mine" / "snapshots" / "1").stat().st_mode & 0o077


def test_backups_and_what_is_restored_from_them_are_for_their_owner(tmp_path: Path) -> None:
    with closing(open_calendar(str(tmp_path / "a.db"))) as store:
        maintenance.write_backup(store, tmp_path / "b.db")
        maintenance.write_backup(store, tmp_path / "c.tar.gz", open_files(str(tmp_path)))
    for backup, to in (("b.db", "d.db"), ("c.tar.gz", "e.db")):
        maintenance.restore_backup(tmp_path / backup, str(tmp_path / to), open_files(str(tmp_path)))
    files = [one for one in tmp_path.iterdir() if one.is_file()]
    assert len(files) >= 5
    assert [one.name for one in files if one.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("job", CRAWL_JOBS)
def test_what_a_crawl_of_the_service_writes_is_for_its_owner(tmp_path: Path, job: str) -> None:
    with Site() as site:
        site.reply("/", body="<title>A</title><main><h1>A</h1><p>Text enough to be a page of documentation.</p></main>")
        runner = RunnerHarness(tmp_path, site)
        crawl = runner.add(job, site.url("/"))
        runner.dispatch()
        runner.wait(crawl.id, CrawlState.FINISHED)
        back_up(runner.store, tmp_path / "backup", lambda what: None)
        runner.close()
    assert runner.crawl_database(crawl.id).is_file()
    if job == "docs":
        (runner.path(crawl.id) / ".tadoru" / "search.db").unlink(missing_ok=True)
        ensure_index(runner.path(crawl.id))
    assert open_to_others(tmp_path / "var") == []
    assert [one for one in open_to_others(tmp_path / "backup" / "var") if one.endswith((".db", "-wal", "-shm"))] == []


def test_a_crawl_that_an_operator_named_keeps_its_rights(tmp_path: Path, umask: int) -> None:
    with Site() as site:
        site.reply("/", body="<title>A</title>")
        runner = RunnerHarness(tmp_path, site)
        (tmp_path / "shared").mkdir()
        place = tmp_path / "shared" / "site.db"
        crawl = runner.store.crawls.add("x", "audit", [site.url("/")], {"delay": 0.0}, BY, place=str(place))
        runner.dispatch()
        runner.wait(crawl.id, CrawlState.FINISHED)
        runner.close()
    assert place.stat().st_mode & 0o777 == 0o644 & ~umask
