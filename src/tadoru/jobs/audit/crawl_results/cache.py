"""Caches figures of a crawl until its database changes.

Such figures take a pass over the whole crawl, and a finished crawl is read again and again. SQLite writes to the database or to
its log (`-wal`); if neither has another size or time, nothing was written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
CACHE_SIZE = 64
"""Results cached of each function; they are small."""


def cached_while_unchanged(read: Callable[..., T]) -> Callable[..., T]:
    """Caches a function that reads crawls by their paths, its only positional arguments, and returns an immutable value."""

    @lru_cache(maxsize=CACHE_SIZE)
    def cached(states: tuple[object, ...], paths: tuple[str, ...], **options: Any) -> T:
        return read(*paths, **options)

    @wraps(read)
    def look_up(*paths: Path | str, **options: Any) -> T:
        # The state is read first: a write during the call makes the next result another one.
        states = tuple(_state(Path(f"{path}{ending}")) for path in paths for ending in ("", "-wal"))
        return cached(states, tuple(map(str, paths)), **options)

    return look_up


def _state(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else ()
