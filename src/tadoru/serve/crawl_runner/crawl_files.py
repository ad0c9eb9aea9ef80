"""The files of crawls: where they are, how much space they use, and their removal.

With the SQLite database `var/tadoru.db` they are in `var/crawls/…` and `var/docs/…`, beside the snapshots of events. No path
comes from a request: the store derives it from the crawl's ID, or an operator gave it on the command line.
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

if TYPE_CHECKING:  # The crawl process does not import the web service.
    from tadoru.serve.service import Service

FOLDERS = ("crawls", "docs")


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
    """Remove the files of a crawl in the data folder. A symbolic link is removed, not followed; files that an operator added
    stay."""
    if not crawl.is_ours:
        return
    folder = data_folder(database) / crawl.place.split("/")[0] / str(crawl.id)
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder, ignore_errors=True)
