"""Caches figures of a crawl until its database changes.

Such figures take a pass over the whole crawl, and a finished crawl is read again and again. SQLite writes to the database or to
its log (`-wal`); if neither has another size or time, nothing was written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
CACHE_SIZE = 64
"""Results cached of a function whose results are small."""
LARGE_CACHE_SIZE = 8
"""Results cached of a function whose results are large: comparisons, graphs and drawings."""


def cached_while_unchanged(size: int = CACHE_SIZE) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Caches a function that reads crawls by their paths, its only positional arguments, and returns an immutable value."""

    def decorate(read: Callable[P, T]) -> Callable[P, T]:
        untyped: Callable[..., T] = read

        @lru_cache(maxsize=size)
        def cached(states: tuple[object, ...], paths: tuple[str, ...], **options: Any) -> T:
            return untyped(*paths, **options)

        @wraps(read)
        def look_up(*paths: P.args, **options: P.kwargs) -> T:
            # The state is read first: a write during the call makes the next result another one.
            states = tuple(_state(Path(f"{path}{ending}")) for path in paths for ending in ("", "-wal"))
            values: dict[str, Any] = dict(options)
            return cached(states, tuple(map(str, paths)), **values)

        return look_up

    return decorate


def _state(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else ()
