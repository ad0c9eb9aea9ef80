"""`tadoru events prune | backup | restore | copy | doctor`: nothing is lost on the way, and what is old goes."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from tadoru.cli.main import run
from tadoru.jobs.events.collect.collector import run_log_path, write_run_log
from tadoru.jobs.events.maintenance import prune_calendar, restore_backup
from tadoru.model.event import RunStatus
from tadoru.store.calendar.backup import back_up_calendar
from tadoru.store.calendar.store import open_calendar
from tadoru.store.files import FolderFiles
from tests.acceptance.command import Tadoru
from tests.support.calendar import Calendar, row
from tests.support.clock import FakeClock
from tests.support.postgres import server


@pytest.fixture
def calendar(tmp_path: Path) -> Iterator[Calendar]:
    made = Calendar(tmp_path / "events.db")
    made.say(made.source(), row("さんさ踊り"), row("古い会", "2001-05-05 10:00"), row("日時未定の会", ""))
    made.say(made.source("観光協会"), row("さんさ踊り"))
    files = FolderFiles(tmp_path)
    for number in (1, 2):
        key = f"var/snapshots/{number}/2050-01-01/ab{number}.ics"
        files.put(key, f"body {number}".encode())
        made.store.runs.add_snapshot(number, "https://town.example/", key, made.store.db.now(), run_id=number)
        write_run_log(files, made.store.runs.get(number))
    yield made
    made.close()


def everything(path: str) -> list[object]:
    """What a database holds, for comparing two."""
    with closing(open_calendar(path)) as store:
        return [
            store.sources.list(), store.runs.list(), store.runs.snapshots(1), store.reviews.list(is_open=None),
            store.merges.list(), [store.events.provenance(number) for number in (1, 2, 3)],
        ]  # fmt: skip


def test_old_snapshots_and_logs_go_old_events_are_archived_and_the_newest_snapshot_stays(tmp_path: Path) -> None:
    clock = FakeClock()
    made, files = Calendar(tmp_path / "events.db", clock), FolderFiles(tmp_path)
    source = made.source()
    keys = []
    for day in (0, 50, 60):
        clock.advance(day * 86400.0)
        run_log = made.store.runs.start(source.id)
        keys.append(f"var/snapshots/1/{made.store.db.now():%Y-%m-%d}/ab.ics")
        files.put(keys[-1], b"x")
        made.store.runs.add_snapshot(source.id, source.url, keys[-1], made.store.db.now(), run_id=run_log.id)
        write_run_log(files, made.store.runs.finish(run_log, RunStatus.SUCCESS, counts={}))
    made.say(source, row("古い会", "2001-05-05 10:00"), row("来る会", "2050-05-05 10:00"))
    files.put("var/runlogs/2020-01-01/77.json", b"{}")  # of a source that was removed
    planned = prune_calendar(made.store, files, made.store.db.now(), dry_run=True)
    assert (planned.archived, planned.snapshots, planned.run_logs) == (1, 1, 1)
    assert files.exists(keys[0])
    done = prune_calendar(made.store, files, made.store.db.now())
    assert done == planned
    assert str(done) == "1 event archived, 1 snapshot deleted, 1 run log deleted"
    assert [files.exists(key) for key in keys] == [False, True, True]
    assert [key.rpartition("/")[2] for key in files.keys("var/runlogs/")] == ["2.json", "3.json"]
    assert [one.id for one in made.store.runs.list()] == [4, 3, 2]
    clock.advance(400 * 86400.0)
    assert prune_calendar(made.store, files, made.store.db.now()).snapshots == 1
    assert list(files.keys("var/snapshots/")) == [keys[-1]], "the newest of a source stays, however old it is"
    assert prune_calendar(made.store, files, made.store.db.now(), archive_after=timedelta(days=1)).snapshots == 0
    made.close()


def test_prune_tells_what_it_did(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "prune", "--dry-run")
    assert done.out == "Dry run: 1 event archived, 0 snapshots deleted, 0 run logs deleted.\n"
    assert tadoru("events", "-d", "events.db", "prune").out == "1 event archived, 0 snapshots deleted, 0 run logs deleted.\n"
    assert calendar.store.events.get(2).archived_at is not None


def test_a_backup_is_put_back_with_everything_in_it(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "backup", "saved.tar.gz", "--files")
    assert done.code == 0, done.err
    assert "with 4 files" in done.err
    (tadoru.folder / "elsewhere").mkdir()
    done = tadoru("events", "-d", "elsewhere/new.db", "restore", "saved.tar.gz")
    assert (done.code, done.err) == (0, "Restored 3 events and 4 files into elsewhere/new.db.\n")
    assert everything(calendar.path) == everything(str(tadoru.folder / "elsewhere" / "new.db"))
    there = FolderFiles(tadoru.folder / "elsewhere")
    assert there.get("var/snapshots/2/2050-01-01/ab2.ics") == b"body 2"
    assert there.exists(run_log_path(calendar.store.runs.get(1)))
    assert not list(tadoru.folder.rglob(".tadoru-*")), "nothing is left lying about"


def test_a_backup_of_the_database_alone_is_one_file(tadoru: Tadoru, calendar: Calendar) -> None:
    assert tadoru("events", "-d", "events.db", "backup", "saved.db").code == 0
    before = (tadoru.folder / "saved.db").read_bytes()
    assert tadoru("events", "-d", "new.db", "restore", "saved.db").err == "Restored 3 events into new.db.\n"
    assert (tadoru.folder / "saved.db").read_bytes() == before, "the backup itself is left alone"
    assert everything(calendar.path) == everything(str(tadoru.folder / "new.db"))
    again = tadoru("events", "-d", "new.db", "restore", "saved.db")
    assert (again.code, again.sentence) == (2, "The database new.db is not empty. Copy into a new one.")


def test_a_search_engine_is_told_everything_again_after_a_backup_was_put_back(tmp_path: Path, calendar: Calendar) -> None:
    worker = calendar.store.schedule.join(60)
    assert calendar.store.search_changes.lease("engine", worker) is not None
    back_up_calendar(calendar.store.db, str(tmp_path / "saved.db"))
    restore_backup(tmp_path / "saved.db", str(tmp_path / "new.db"), FolderFiles(tmp_path))
    with closing(open_calendar(str(tmp_path / "new.db"))) as store:
        assert store.search_changes.targets() == (), "what the engine was told since the backup is not known"


def test_a_database_goes_to_a_server_and_back(tadoru: Tadoru, calendar: Calendar) -> None:
    address = server().new_database()
    try:
        done = tadoru("events", "-d", "events.db", "copy", address)
        assert done.code == 0, done.err
        assert done.err.startswith("Copied 3 events and 2 sources into postgresql://")
        assert tadoru("events", "-d", address, "backup", "saved.tar.gz", "--files").code == 0
        done = tadoru("events", "-d", "back.db", "restore", "saved.tar.gz")
        assert done.code == 0, done.err
        assert everything(calendar.path) == everything(str(tadoru.folder / "back.db"))
        found = json.loads(tadoru("events", "-d", address, "list", "--format", "json").out)
        assert [one["title"] for one in found] == ["さんさ踊り"]
        assert "BEGIN:VTIMEZONE" in tadoru("events", "-d", address, "list", "--format", "ics").out
    finally:
        server().drop(address)


def test_nothing_of_a_strange_archive_is_written_elsewhere(tmp_path: Path, calendar: Calendar) -> None:
    back_up_calendar(calendar.store.db, str(tmp_path / "saved.db"))
    with tarfile.open(tmp_path / "strange.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "saved.db", "events.db")
        for name in ("files/var/snapshots/../../../evil.txt", "files/var/../evil.txt", "../evil.txt", "files/etc/evil.txt"):
            member = tarfile.TarInfo(name)
            member.size = 4
            tar.addfile(member, io.BytesIO(b"evil"))
        link = tarfile.TarInfo("files/var/snapshots/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert (
        restore_backup(
            tmp_path / "strange.tar.gz", str(tmp_path / "deep" / "er" / "new.db"), FolderFiles(tmp_path / "deep" / "er")
        )
        == 0
    )
    assert not list(tmp_path.rglob("evil.txt"))
    assert not list(tmp_path.rglob("link"))


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["backup", "saved.db", "--files"], "With --files, the name of a backup must end in .tar.gz, such as saved.tar.gz."),
        (["backup", "saved.tar.gz"], "A .tar.gz backup includes files. Add --files, or give a name that ends in .db."),
        (["backup", "events.db"], "events.db already exists. Give another name."),
        (["backup", "nowhere/saved.db"], "FILE nowhere/saved.db cannot be written: folder nowhere not found."),
        (["restore", "missing.db"], "Cannot read the backup missing.db (No such file or directory). Check the path."),
        (["restore", "words.txt"], "words.txt is not a backup. Choose a file that `tadoru events backup` wrote."),
        (["restore", "events.db"], "events.db is a database in use, not a backup. Create one with `tadoru events -d "),
        (["restore", "empty.tar.gz"], "empty.tar.gz is not a backup: it has no events.db."),
        (["restore", "broken.tar.gz"], "The backup broken.tar.gz is damaged ("),
        (["copy", "events.db"], "Cannot copy a database into itself. Give another one."),
        (["prune", "--snapshots-after", "soon"], "--snapshots-after soon is not a duration. Write it in days, such as 90d."),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], sentence: str, calendar: Calendar, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(calendar.path).parent
    monkeypatch.chdir(folder)
    (folder / "words.txt").write_text("words")
    (folder / "broken.tar.gz").write_bytes(b"\x1f\x8b broken")
    with tarfile.open(folder / "empty.tar.gz", "w:gz"):
        pass
    before = everything(calendar.path)
    assert run(["events", "-d", "events.db", *arguments]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"tadoru: {sentence}"), said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert everything(calendar.path) == before


def test_the_doctor_finds_all_well_and_leaves_no_trace(tadoru: Tadoru, calendar: Calendar) -> None:
    before = sorted(path.name for path in tadoru.folder.rglob("*") if not path.name.startswith("events.db"))
    done = tadoru("events", "-d", "events.db", "doctor")
    assert (done.code, done.err) == (0, ""), done
    states = {line.split()[1]: line.split()[0] for line in done.out.splitlines()}
    assert states["database"] == states["files"] == states["clock"] == states["packages"] == "ok"
    assert sorted(path.name for path in tadoru.folder.rglob("*") if not path.name.startswith("events.db")) == before


def test_the_doctor_names_what_fails(tadoru: Tadoru, calendar: Calendar) -> None:
    source = calendar.store.sources.list()[1]
    calendar.say(source, status=RunStatus.FAIL, error="The server returned status 503.")
    calendar.store.sources.edit(1, {"secret": "A_VARIABLE_THAT_IS_NOT_SET"}, "test")
    done = tadoru("events", "-d", "events.db", "doctor")
    assert done.code == 0, "somebody should look, but it works"
    assert "warn  sources     Source 2 (観光協会) fails (consecutive failures: 1): The server returned status 503." in done.out
    assert "The environment variable A_VARIABLE_THAT_IS_NOT_SET of source 1 is not set." in done.out


def test_the_doctor_says_what_is_bad_and_fails(tadoru: Tadoru) -> None:
    (tadoru.folder / "notes.txt").write_text("not a database, but long enough to be looked at " * 50)
    done = tadoru("events", "-d", "notes.txt", "doctor", "--format", "json")
    assert done.code == 1
    bad = [one for one in json.loads(done.out) if one["state"] == "bad"]
    assert bad == [
        {
            "what": "database",
            "state": "bad",
            "words": "notes.txt is not a SQLite database. Choose another file, or remove this one.",
        }
    ]
    assert tadoru("events", "-d", "none.db", "doctor").code == 1
