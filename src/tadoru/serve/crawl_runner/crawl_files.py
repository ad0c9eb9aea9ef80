"""Where the files of a crawl are, how much room all of them take, and how they are removed: only below our own folder.

With SQLite `var/tadoru.db` that is `var/crawls/…` and `var/docs/…`, beside the snapshots of events. No path comes from a request:
a place is made by the store from a crawl's number, or was named by an operator at the machine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tadoru.jobs.docs.run import crawl_database_path
from tadoru.store.files import beside
from tadoru.store.served_crawls.schema import ServedCrawl

if TYPE_CHECKING:  # A process that crawls needs to know nothing of the web.
    from tadoru.serve.service import Service

FOLDERS = ("crawls", "docs")


def data_folder(database: str) -> Path:
    """The folder of a service's own files, by the address of its database."""
    return Path(beside(database)).absolute() / "var"


def crawl_path(service: Service, crawl: ServedCrawl) -> Path:
    """The database of a crawl, or the folder of a documentation site. It need not be there yet."""
    return crawl_path_in(service.store.database, crawl)


def crawl_path_in(database: str, crawl: ServedCrawl) -> Path:
    """The same, by the address of the service's database."""
    return data_folder(database) / crawl.place if crawl.is_ours else Path(crawl.place)


def crawl_database(service: Service, crawl: ServedCrawl) -> Path:
    """The database of a crawl of any job: a documentation site keeps it in its folder."""
    path = crawl_path(service, crawl)
    return crawl_database_path(path) if crawl.job == "docs" else path


def used_bytes(database: str) -> int:
    """The room that the files of all crawls take."""
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
        except OSError:  # Removed while we looked.
            continue


def remove_crawl_files(database: str, crawl: ServedCrawl) -> None:
    """Remove the files of a crawl that is ours. A link is removed, never followed; what an operator named stays."""
    if not crawl.is_ours:
        return
    folder = data_folder(database) / crawl.place.split("/")[0] / str(crawl.id)
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder, ignore_errors=True)
