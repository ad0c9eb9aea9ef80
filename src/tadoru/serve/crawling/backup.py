"""Everything of a service in one folder, while it runs: its database, each crawl, each documentation site, the files of events.

The folder is laid out as the service's own is, so that a copy of it can be served as it is. A database is copied by SQLite's own
means, as it was at one moment; of a documentation site that is just being written the copy is made again until it agrees.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tadoru.errors import StoreError, UsageError
from tadoru.jobs.docs.run import database_in
from tadoru.serve.crawling.places import place_of, root_of
from tadoru.store.copying import copy_crawl
from tadoru.store.crawls.values import ServedCrawl
from tadoru.store.service import ServiceStore

OF_EVENTS = ("snapshots", "runlogs")
DATABASE = "tadoru.db"
NOTE = "RESTORE.txt"
TRIES = 5
WORDS = """A backup of a Tadoru service, made at {moment}.

To serve it as it is:          tadoru serve -d var/tadoru.db
To put it back on SQLite:      stop the service, move its var folder away, and copy this var folder to its place.
To put it back on PostgreSQL:  tadoru events -d postgresql://… restore var/tadoru.db  (into an empty database), and copy
                               var/crawls, var/docs, var/snapshots and var/runlogs into the var folder where the service runs.

A crawl that ran when the backup was made is queued, and is gone on with by the service that starts on it.
{left_out}"""


def back_up(store: ServiceStore, folder: Path, say: Callable[[str], None]) -> None:
    """Write a backup into a new folder. Raises UsageError or StoreError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: give another folder, one that is new.")
    to = folder / "var"
    try:
        to.mkdir(parents=True, mode=0o700)
        store.backup(str(to / DATABASE))
        say("the database")
        left_out = [text for crawl in _all(store) if (text := _copy(store, crawl, to, say))]
        for name in OF_EVENTS:
            if (source := root_of(store.database) / name).is_dir():
                shutil.copytree(source, to / name, symlinks=True)
        note = f"\nNot in this backup, because they are kept elsewhere:\n{''.join(left_out)}" if left_out else ""
        (folder / NOTE).write_text(WORDS.format(moment=store.now().isoformat(timespec="seconds"), left_out=note), "utf-8")
    except OSError as error:
        raise StoreError(
            f"{folder} could not be written ({error.strerror}): free some disk space, or give another folder."
        ) from error


def _all(store: ServiceStore) -> list[ServedCrawl]:
    """Every crawl, the newest first."""
    found: list[ServedCrawl] = []
    while page := store.crawls(limit=500, before=found[-1].id if found else None):
        found += page
    return found


def _copy(store: ServiceStore, crawl: ServedCrawl, to: Path, say: Callable[[str], None]) -> str:
    """Copy the files of a crawl; a line about it when they are not ours to copy."""
    if not crawl.is_ours:
        return f"  crawl {crawl.id}: {crawl.place}\n"
    since, target = place_of(store.database, crawl), to / crawl.place
    if crawl.job == "docs":
        if since.is_dir():
            _copy_site(since, target)
    elif since.is_file():
        target.parent.mkdir(parents=True)
        copy_crawl(since, target)
        if (result := since.with_name("result.json")).is_file():
            shutil.copy2(result, target.with_name("result.json"))
    say(f"crawl {crawl.id}")
    return ""


def _copy_site(since: Path, to: Path) -> None:
    """Its list of pages is written last: when it is the same before and after, everything else belongs to it."""
    for _ in range(TRIES):
        before = _index(since)
        shutil.rmtree(to, ignore_errors=True)
        try:
            shutil.copytree(since, to, symlinks=True, ignore=shutil.ignore_patterns("crawl.db*"))
        except shutil.Error:  # A file went while it was copied.
            continue
        if _index(since) == before:
            break
    else:
        raise StoreError(f"{since} is written to again and again: pause its crawl, and make the backup anew.")
    if (file := database_in(since)).is_file():
        database_in(to).parent.mkdir(parents=True, exist_ok=True)
        copy_crawl(file, database_in(to))


def _index(folder: Path) -> bytes:
    file = folder / "index.json"
    return file.read_bytes() if file.is_file() else b""
