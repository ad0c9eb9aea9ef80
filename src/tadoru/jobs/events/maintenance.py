"""Daily cleanup, backup and restore of a calendar.

Cleanup archives events that are long over and deletes old snapshots and run logs; the newest snapshot of a source stays. Files
are deleted before the rows that name them: if it is killed in between, the next cleanup finds the rows.

A backup is a SQLite calendar database of either kind of original, or with `--files` an archive: a gzipped tar of `events.db` and,
below `files/`, all snapshots and run logs. It is a consistent snapshot taken while others write.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from tadoru.errors import StoreError, UsageError
from tadoru.jobs.events.collect.collector import run_log_path
from tadoru.jobs.reporting.formatting import format_count
from tadoru.store.calendar.backup import back_up_calendar, copy_calendar, restore_calendar
from tadoru.store.calendar.database import is_postgresql
from tadoru.store.calendar.runs import ARCHIVE_AFTER, DELETE_AFTER
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tadoru.store.files import FileStore

_LOGS = "var/runlogs/"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarPruneResult:
    """What a cleanup archived and deleted."""

    archived: int
    snapshots: int
    run_logs: int

    def __str__(self) -> str:
        parts = (
            (self.archived, "event", "archived"),
            (self.snapshots, "snapshot", "deleted"),
            (self.run_logs, "run log", "deleted"),
        )
        return ", ".join(f"{format_count(count, what)} {done}" for count, what, done in parts)


def prune_calendar(
    store: CalendarStore,
    files: FileStore,
    now: datetime,
    *,
    archive_after: timedelta = ARCHIVE_AFTER,
    forget_after: timedelta = DELETE_AFTER,
    dry_run: bool = False,
) -> CalendarPruneResult:
    """Archive and delete what is old. `dry_run` only counts."""
    snapshots = store.retention.old_snapshots(after=forget_after)
    logs = store.retention.old_runs(after=forget_after)
    if dry_run:
        archived = store.retention.to_archive(after=archive_after)
        return CalendarPruneResult(archived=archived, snapshots=len(snapshots), run_logs=len(logs))
    files.delete(path for _, path in snapshots)
    store.retention.forget_snapshots(tuple(number for number, _ in snapshots))
    files.delete(f"{_LOGS}{began:%Y-%m-%d}/{number}.json" for number, began in logs)
    files.delete(_old_logs(files, (now - forget_after).date()))
    store.retention.forget_runs(after=forget_after)
    return CalendarPruneResult(
        archived=store.retention.archive(after=archive_after), snapshots=len(snapshots), run_logs=len(logs)
    )


def _old_logs(files: FileStore, before: date) -> list[str]:
    """Files of old days, including those of runs whose source was removed."""
    found = []
    for key in files.keys(_LOGS):
        try:
            day = date.fromisoformat(key.removeprefix(_LOGS).split("/")[0])
        except ValueError:
            continue
        if day < before:
            found.append(key)
    return found


ENDINGS = (".tar.gz", ".tgz")
_DATABASE = "events.db"
_FILES = "files/"
_SQLITE = b"SQLite format 3\x00"
_GZIP = b"\x1f\x8b"
_AT_ONCE = 500
Progress = Callable[[str, int], None]
"""Called with each table and its number of rows."""


def _silent(table: str, rows: int) -> None: ...


def write_backup(store: CalendarStore, path: Path, files: FileStore | None = None, progress: Progress = _silent) -> int:
    """Write a backup; returns the number of files in it. With `files` it is an archive. It is complete or does not exist."""
    if path.exists():
        raise UsageError("{path} already exists. Choose another name.", path=path)
    with _temporary_folder_beside(path) as folder:
        database = folder / _DATABASE
        _copy_database(store, database, progress)
        if files is None:
            database.replace(path)
            return 0
        count = _pack(database, folder / "archive", files)
        (folder / "archive").replace(path)
        return count


@contextmanager
def _temporary_folder_beside(path: Path) -> Iterator[Path]:
    """A temporary folder on the same disk."""
    try:
        with tempfile.TemporaryDirectory(prefix=".tadoru-", dir=path.absolute().parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise StoreError(
            "Cannot write {path} ({reason}). Check the folder and the disk.", path=path, reason=error.strerror or error
        ) from error


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        yield Path(folder)


def _copy_database(store: CalendarStore, to: Path, progress: Progress) -> None:
    if store.db.is_sqlite:
        back_up_calendar(store.db, str(to))
        return
    with closing(open_calendar(str(to), store.db.clock)) as copy:
        copy_calendar(store.db, copy.db, progress)
    _make_single_file(to, store)


def _make_single_file(database: Path, store: CalendarStore) -> None:
    """Rewrite a database as a single file: one that was written to may have a WAL file."""
    alone = database.with_name("alone.db")
    with closing(open_calendar(str(database), store.db.clock)) as copy:
        back_up_calendar(copy.db, str(alone))
    alone.replace(database)


def _pack(database: Path, archive: Path, files: FileStore) -> int:
    count = 0
    archive.touch(mode=0o600)
    with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
        tar.add(database, _DATABASE, filter=_anonymous)
        for key in _keys(database):
            data = files.get(key)
            if data is None:
                continue  # deleted since, or never written
            member = _anonymous(tarfile.TarInfo(_FILES + key))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
            count += 1
    return count


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove everything about this machine and its users."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _keys(database: Path) -> Iterator[str]:
    """The files that a database names; called for the copy, so that both match."""
    with closing(open_calendar(str(database))) as store:
        seen: set[str] = set()
        for source in store.sources.list():
            for snapshot in store.runs.snapshots(source.id):
                if snapshot.content_path not in seen:
                    seen.add(snapshot.content_path)
                    yield snapshot.content_path
        before: int | None = None
        while runs := store.runs.list(limit=_AT_ONCE, before=before):
            yield from (run_log_path(run) for run in runs if run.finished_at is not None)
            before = runs[-1].id


def restore_backup(path: Path, database: str, files: FileStore, progress: Progress = _silent) -> int:
    """Restore a backup into a new or empty database; returns the number of files restored."""
    kind = _kind(path)
    target = None if is_postgresql(database) else Path(database)
    if target is not None:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
    with _temporary_folder_beside(target) if target is not None else _temporary_folder() as folder:
        copy = folder / _DATABASE
        if kind == "archive":
            _unpack_database(path, copy)
        else:
            shutil.copyfile(path, copy)
        if target is not None and target.exists():
            with closing(open_calendar(str(copy))) as backup, closing(open_calendar(database)) as store:
                copy_calendar(backup.db, store.db, progress)
        else:
            restore_calendar(str(copy), database, progress=progress)
    return _unpack_files(path, files) if kind == "archive" else 0


def _kind(path: Path) -> str:
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise UsageError("Cannot read the backup {path} ({reason}). Check the path.", path=path, reason=error.strerror) from None
    if start == _SQLITE:
        if path.with_name(f"{path.name}-wal").exists():  # part of the data is in that file
            raise UsageError(
                "{path} is a database in use, not a backup. Create one with `tadoru events -d {path} backup FILE`.", path=path
            )
        return "database"
    if start.startswith(_GZIP):
        return "archive"
    raise UsageError("{path} is not a backup. Choose a file that `tadoru events backup` wrote.", path=path)


def _unpack_database(path: Path, to: Path) -> None:
    with _open_archive(path) as tar:
        member = next((one for one in tar if one.name == _DATABASE and one.isfile()), None)
        content = tar.extractfile(member) if member is not None else None
        if content is None:
            raise UsageError("{path} is not a backup: it has no {member}.", path=path, member=_DATABASE)
        with to.open("wb") as out:
            while part := content.read(1 << 20):
                out.write(part)


def _unpack_files(path: Path, files: FileStore) -> int:
    count = 0
    with _open_archive(path) as tar:
        for member in tar:
            key = member.name.removeprefix(_FILES)
            # Only known folders: an archive may come from anywhere, and a name may lead anywhere.
            is_ours = key.startswith(("var/snapshots/", "var/runlogs/")) and not {"", ".", ".."} & set(key.split("/"))
            content = tar.extractfile(member) if member.isfile() and member.name.startswith(_FILES) and is_ours else None
            if content is not None:
                files.put(key, content.read())
                count += 1
    return count


@contextmanager
def _open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:gz") as tar:
            yield tar
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise UsageError("The backup {path} is damaged ({reason}). Use another one.", path=path, reason=error) from error


def is_same_database(one: str, other: str) -> bool:
    """Whether two database URLs or paths are the same database."""
    if is_postgresql(one) or is_postgresql(other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)
