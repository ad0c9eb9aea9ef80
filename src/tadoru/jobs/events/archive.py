"""Backups: everything in one file, and back. Either a database alone, or an archive with the snapshots and run logs too.

A backup is a SQLite database of ours whatever kind it was made from, so that it can be restored into either. It is one consistent
view, taken while others go on working. An archive is a gzipped tar: `events.db`, and below `files/` every file by its key.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tadoru.errors import StoreError, UsageError
from tadoru.jobs.events.collect import log_key
from tadoru.store.events.connect import is_postgresql
from tadoru.store.events.moving import copy_events
from tadoru.store.events.open import EventsStore, open_events
from tadoru.store.events.transfer import restore_events
from tadoru.store.files import Files

ENDINGS = (".tar.gz", ".tgz")
_DATABASE = "events.db"
_FILES = "files/"
_SQLITE = b"SQLite format 3\x00"
_GZIP = b"\x1f\x8b"
_AT_ONCE = 500
Progress = Callable[[str, int], None]
"""Hears the name of each table, and how many rows it had."""


def _silent(table: str, rows: int) -> None: ...


def back_up(store: EventsStore, path: Path, files: Files | None = None, progress: Progress = _silent) -> int:
    """Write a backup; how many files are in it. `files` makes it an archive. It appears whole or not at all."""
    if path.exists():
        raise UsageError(f"{path} exists already: give another name.")
    with _beside(path) as folder:
        database = folder / _DATABASE
        _copy_database(store, database, progress)
        if files is None:
            database.replace(path)
            return 0
        count = _pack(database, folder / "archive", files)
        (folder / "archive").replace(path)
        return count


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A folder of ours on the same disk."""
    try:
        with tempfile.TemporaryDirectory(prefix=".tadoru-", dir=path.absolute().parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise StoreError(f"{path} can not be written ({error.strerror or error}): check the folder, and the disk.") from error


@contextmanager
def _anywhere() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        yield Path(folder)


def _copy_database(store: EventsStore, to: Path, progress: Progress) -> None:
    if store.is_sqlite:
        store.backup(str(to))
        return
    with closing(open_events(str(to), store.clock)) as copy:
        copy_events(store, copy, progress)
    _one_file(to, store)


def _one_file(database: Path, store: EventsStore) -> None:
    """A database that was written to may have a second file beside it; its own backup has not."""
    alone = database.with_name("alone.db")
    with closing(open_events(str(database), store.clock)) as copy:
        copy.backup(str(alone))
    alone.replace(database)


def _pack(database: Path, archive: Path, files: Files) -> int:
    count = 0
    archive.touch(mode=0o600)
    with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
        tar.add(database, _DATABASE, filter=_plain)
        for key in _keys(database):
            data = files.get(key)
            if data is None:
                continue  # removed since, or never written
            member = _plain(tarfile.TarInfo(_FILES + key))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
            count += 1
    return count


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing about this machine and its people."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _keys(database: Path) -> Iterator[str]:
    """The files that a database names. A copy is asked, so that it names what it holds."""
    with closing(open_events(str(database))) as store:
        seen: set[str] = set()
        for source in store.sources():
            for snapshot in store.snapshots(source.id):
                if snapshot.content_path not in seen:
                    seen.add(snapshot.content_path)
                    yield snapshot.content_path
        before: int | None = None
        while runs := store.runs(limit=_AT_ONCE, before=before):
            yield from (log_key(run) for run in runs if run.finished_at is not None)
            before = runs[-1].id


def restore(path: Path, database: str, files: Files, progress: Progress = _silent) -> int:
    """Put a backup into a database that is new or empty; how many files were put back."""
    kind = _kind(path)
    target = None if is_postgresql(database) else Path(database)
    if target is not None:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
    with _beside(target) if target is not None else _anywhere() as folder:
        copy = folder / _DATABASE
        if kind == "archive":
            _unpack_database(path, copy)
        else:
            shutil.copyfile(path, copy)
        if target is not None and target.exists():
            with closing(open_events(str(copy))) as backup, closing(open_events(database)) as store:
                copy_events(backup, store, progress)
        else:
            restore_events(str(copy), database, progress=progress)
    return _unpack_files(path, files) if kind == "archive" else 0


def _kind(path: Path) -> str:
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise UsageError(f"The backup {path} can not be read ({error.strerror}): check its name.") from None
    if start == _SQLITE:
        if path.with_name(f"{path.name}-wal").exists():  # a part of it is in that file
            raise UsageError(f"{path} is a database in use, and no backup: make one with `tadoru events -d {path} backup FILE`.")
        return "database"
    if start.startswith(_GZIP):
        return "archive"
    raise UsageError(f"{path} is no backup: give a file that `tadoru events backup` wrote.")


def _unpack_database(path: Path, to: Path) -> None:
    with _opened(path) as tar:
        member = next((one for one in tar if one.name == _DATABASE and one.isfile()), None)
        content = tar.extractfile(member) if member is not None else None
        if content is None:
            raise UsageError(f"{path} is no backup: there is no {_DATABASE} in it.")
        with to.open("wb") as out:
            while part := content.read(1 << 20):
                out.write(part)


def _unpack_files(path: Path, files: Files) -> int:
    count = 0
    with _opened(path) as tar:
        for member in tar:
            key = member.name.removeprefix(_FILES)
            # Nothing but ours: an archive may come from anywhere, and a name may lead anywhere.
            is_ours = key.startswith(("var/snapshots/", "var/runlogs/")) and not {"", ".", ".."} & set(key.split("/"))
            content = tar.extractfile(member) if member.isfile() and member.name.startswith(_FILES) and is_ours else None
            if content is not None:
                files.put(key, content.read())
                count += 1
    return count


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:gz") as tar:
            yield tar
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise UsageError(f"The backup {path} is damaged ({error}): use another one.") from error


def is_same(one: str, other: str) -> bool:
    """Whether two addresses name one database."""
    if is_postgresql(one) or is_postgresql(other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)
