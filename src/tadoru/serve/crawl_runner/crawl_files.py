"""The files of crawls: where they are, how much space they use, the copies of earlier runs, and their removal.

Before a run replaces the results of another, these are copied to `crawls/ID/runs/RUN.db`, so that every run can be opened and
compared, and a failed or stopped run hides nothing. Documentation sites keep their own versions.

With the SQLite database `var/tadoru.db` they are in `var/crawls/…` and `var/docs/…`, beside the snapshots of events. No path
comes from a request: the store derives it from the crawl's ID, or an operator gave it on the command line.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tadoru.jobs.docs.bundle.output_folder import crawl_database_path
from tadoru.store.copy_crawl import copy_crawl
from tadoru.store.crawl.sqlite.store import CrawlNotReadable, at_once, looking_at
from tadoru.store.files import beside
from tadoru.store.served_crawls.schema import CrawlRun, ServedCrawl

if TYPE_CHECKING:  # The crawl process does not import the web service.
    from tadoru.serve.service import Service

FOLDERS = ("crawls", "docs")
KEPT_RUNS = 10
"""Earlier runs whose results are kept; the last finished one always is."""
MAX_RUNS = 200
"""Runs of a crawl that are looked through for their files."""


def data_folder(database: str) -> Path:
    """The data folder of a service, by the URL or path of its database."""
    return Path(beside(database)).absolute() / "var"


def crawl_path(service: Service, crawl: ServedCrawl) -> Path:
    """The database of a crawl, or the folder of a documentation site. It may not exist yet."""
    return crawl_path_in(service.store.db.database, crawl)


def crawl_path_in(database: str, crawl: ServedCrawl) -> Path:
    """The same, by the URL or path of the service's database."""
    return data_folder(database) / crawl.place if crawl.is_ours else Path(crawl.place)


def crawl_database(service: Service, crawl: ServedCrawl) -> Path:
    """The database of a crawl of any job; that of a documentation site is in its folder."""
    path = crawl_path(service, crawl)
    return crawl_database_path(path) if crawl.job == "docs" else path


class KeptResults(NamedTuple):
    """The results of a run, and their file."""

    run: CrawlRun | None
    """None if the crawl has not run here."""
    path: Path


def run_file(database: str, crawl_id: int, run_id: int) -> Path:
    """The copy of the results of a run, if it was kept."""
    return data_folder(database) / "crawls" / str(crawl_id) / "runs" / f"{run_id}.db"


def shown_run(service: Service, crawl: ServedCrawl) -> KeptResults:
    """The results that pages show: those of the last finished run, or of the first one while there is no other."""
    live, database = crawl_database(service, crawl), service.store.db.database
    good = service.store.crawls.finished_runs([crawl.id]).get(crawl.id)
    if good is not None:
        kept = run_file(database, crawl.id, good.id)
        return KeptResults(good, kept if kept.is_file() else live)
    newest = next(iter(service.store.crawls.runs(crawl.id, limit=1)), None)
    kept = run_file(database, crawl.id, newest.id) if newest is not None else live
    return KeptResults(newest, kept if kept.is_file() else live)


def run_database(service: Service, crawl: ServedCrawl, run_id: int) -> Path | None:
    """The results of one run; None if they were not kept. A paused run goes on in the next one, and so do its results."""
    found = openable_runs(service, crawl, service.store.crawls.runs(crawl.id, limit=MAX_RUNS))
    return found.get(run_id)


def openable_runs(service: Service, crawl: ServedCrawl, runs: Sequence[CrawlRun]) -> dict[int, Path]:
    """The results of each run that were kept, by its ID; runs are given from the newest on."""
    database, found = service.store.db.database, {}
    newer: Path | None = crawl_database(service, crawl)
    for run in runs:
        kept = run_file(database, crawl.id, run.id)
        is_continued = run.outcome in ("paused", "stopped", "failed") and run is not runs[0]
        path = kept if kept.is_file() else newer if run is runs[0] or is_continued else None
        if path is not None and path.is_file():
            found[run.id] = path
        newer = path
    return found


def keep_last_run(database: str, crawl: ServedCrawl, runs: Sequence[CrawlRun]) -> None:
    """Keep the results of the last run before another one starts anew. After a failed or stopped run, that one starts from the
    last good results, so that it is compared with these."""
    live, over = crawl_path_in(database, crawl), [run for run in runs if run.ended_at is not None]
    if crawl.job == "docs" or not crawl.again or not over or not live.is_file():
        return
    last, kept = over[0], run_file(database, crawl.id, over[0].id)
    good = next(
        (file for run in over if run.outcome == "finished" and (file := run_file(database, crawl.id, run.id)).is_file()), None
    )
    if last.outcome == "finished":
        _copy_to(live, kept)
        good = kept
    elif last.outcome == "stopped" or (good is not None and _is_over(live)):
        _copy_to(live, kept)
        _replace(live, good)
    _remove_old_runs(kept.parent, good)


def _copy_to(since: Path, to: Path) -> None:
    """Copy a crawl to a file that is there as a whole or not at all."""
    part = to.with_suffix(".part")
    if not to.is_file():
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part.unlink(missing_ok=True)
        copy_crawl(since, part)
        part.replace(to)


def _replace(live: Path, good: Path | None) -> None:
    """Put the good results in place of the others, or nothing."""
    part = live.with_suffix(".part")
    part.unlink(missing_ok=True)
    if good is not None:
        copy_crawl(good, part)
    for ending in ("-wal", "-shm"):
        Path(f"{live}{ending}").unlink(missing_ok=True)
    if good is not None:
        part.replace(live)
    else:
        live.unlink()


def _remove_old_runs(folder: Path, good: Path | None) -> None:
    newest = sorted(folder.glob("*.db"), key=lambda file: int(file.stem), reverse=True)
    for file in newest[KEPT_RUNS:]:
        if file != good:
            file.unlink(missing_ok=True)


def _is_over(path: Path) -> bool:
    """Whether the last run in a database has ended, so that nothing of it can be continued."""
    try:
        with looking_at(path) as crawl:
            runs = at_once(crawl.runs.all())
    except CrawlNotReadable:
        return True
    return not runs or runs[-1].ended_at is not None


def used_bytes(database: str) -> int:
    """The size of the files of all crawls."""
    return sum(_sizes(data_folder(database) / name for name in FOLDERS))


def _sizes(folders: Iterator[Path]) -> Iterator[int]:
    waiting = [str(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        yield entry.stat(follow_symlinks=False).st_size
        except OSError:  # Removed in the meantime.
            continue


def remove_crawl_files(database: str, crawl: ServedCrawl) -> None:
    """Remove the files of a crawl in the data folder, and its earlier runs. A symbolic link is removed, not followed; files that
    an operator added stay."""
    for name in FOLDERS:
        folder = data_folder(database) / name / str(crawl.id)
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
