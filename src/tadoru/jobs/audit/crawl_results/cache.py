"""Figures that take a pass over a whole crawl are counted once, and kept for as long as its files stay as they are.

A crawl that ended is looked at again and again. SQLite writes to the database or to the log beside it (`-wal`); when neither has
another size or another time, nothing was written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_CACHE_SIZE = 64
"""How many answers are kept of each function: they are small."""


def cached_while_unchanged(read: Callable[..., T]) -> Callable[..., T]:
    """For a function that reads a crawl by its path, and returns what nobody changes."""

    @lru_cache(maxsize=_CACHE_SIZE)
    def kept(seen: tuple[object, ...], path: str, *more: Any, **options: Any) -> T:
        return read(path, *more, **options)

    @wraps(read)
    def looked_up(path: Path | str, *more: Any, **options: Any) -> T:
        # Looked at before it is read: what is written meanwhile makes the next answer another one.
        return kept(file_state(path), str(path), *more, **options)

    return looked_up


def file_state(path: Path | str) -> tuple[object, ...]:
    """What tells one state of a database from the next."""
    return tuple(_state(Path(f"{path}{ending}")) for ending in ("", "-wal"))


def _state(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else ()
