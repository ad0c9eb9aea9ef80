"""What was read of a crawl, kept as long as its files are as they were: the figures of a large site take seconds to count.

Nearly every crawl that somebody looks at is at rest, and is looked at more than once. A crawl that runs changes all the time and
is read anew each time. What is kept is of bounded size, and there is a bounded number of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

T = TypeVar("T")
Stamp = tuple[tuple[int, int], ...]
MOST = 64


def kept(read: Callable[..., T], *paths: Path | str, **chosen: Any) -> T:
    """`read(*paths, **chosen)`, from what is kept when no file has changed since."""
    names = tuple(str(path) for path in paths)
    return cast(T, _read(read, names, tuple(_stamp(name) for name in names), tuple(sorted(chosen.items()))))


@lru_cache(maxsize=MOST)
def _read(
    read: Callable[..., Any], names: tuple[str, ...], _stamps: tuple[Stamp, ...], chosen: tuple[tuple[str, Any], ...]
) -> Any:
    return read(*names, **dict(chosen))


def _stamp(path: str) -> Stamp:
    """What tells that a database has changed: it is written to its log first, and to the file itself later."""
    return tuple(_times(f"{path}{more}") for more in ("", "-wal"))


def _times(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
