"""A copy of a crawl's database while it is written to: whole, and as it was at one moment."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tadoru.store.database import translated


def copy_crawl(path: Path, to: Path) -> None:
    """Copy a crawl's file, with what is in its log, into one new file that only its owner may read."""
    to.touch(mode=0o600)
    address = f"{path.resolve().as_uri()}?mode=ro"
    with (
        translated(str(path)),
        closing(sqlite3.connect(address, uri=True, timeout=30)) as since,
        closing(sqlite3.connect(to)) as copy,
    ):
        since.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # One file is the whole copy.
