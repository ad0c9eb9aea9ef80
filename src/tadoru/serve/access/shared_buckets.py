"""The buckets of rate limits for a service of several processes: one table of fixed size in a file that all of them map.

A name has one of eight places, found by a keyed hash, so that nobody can choose names that push out another's; when all eight are
taken, the one that was not seen for longest is given up. A place is read and written under a lock of the file, which the system
takes back from a process that dies. A place that was half written then reads as one that nobody has.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

SETS, WAYS = 8192, 8
_PLACE = struct.Struct("<16sdd")
_SALT = 16
_EMPTY = bytes(16)


@contextmanager
def shared_table(sets: int = SETS) -> Iterator[str | None]:
    """The path of a new table, for as long as the service runs; nothing on a system that can not share one."""
    if importlib.util.find_spec("fcntl") is None:  # pragma: no cover - not on Windows
        yield None
        return
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - memory; the file has a name of its own
    number, path = tempfile.mkstemp(prefix="tadoru-limits-", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(os.urandom(_SALT))
            file.truncate(_SALT + sets * WAYS * _PLACE.size)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)


class SharedBuckets:
    """One table, in this process."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("r+b")  # noqa: SIM115 - as long as the service
        self._memory = mmap.mmap(self._file.fileno(), 0)
        self._sets = (len(self._memory) - _SALT) // (WAYS * _PLACE.size)
        self._salt = self._memory[:_SALT]
        self._lock = threading.Lock()  # The lock of the file is one for all threads.

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else reads or writes meanwhile."""
        import fcntl

        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def get(self, name: str) -> tuple[float, float] | None:
        """What is left in a bucket, and when that was; nothing for one that is not known."""
        sign, places = self._places(name)
        for place in places:
            found, left, at = _PLACE.unpack_from(self._memory, place)
            if found == sign:
                return left, at
        return None

    def put(self, name: str, left: float, at: float) -> None:
        """Keep a bucket."""
        sign, places = self._places(name)
        oldest, oldest_at = places[0], float("inf")
        for place in places:
            found, _, seen = _PLACE.unpack_from(self._memory, place)
            if found == sign:
                oldest = place
                break
            seen = float("-inf") if found == _EMPTY else seen
            if seen < oldest_at:
                oldest, oldest_at = place, seen
        _PLACE.pack_into(self._memory, oldest, sign, left, at)

    def close(self) -> None:
        """Let go of it; the file is its maker's."""
        self._memory.close()
        self._file.close()

    def _places(self, name: str) -> tuple[bytes, range]:
        sign = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, key=self._salt).digest()
        start = _SALT + int.from_bytes(sign[:4], "little") % self._sets * WAYS * _PLACE.size
        return sign, range(start, start + WAYS * _PLACE.size, _PLACE.size)
