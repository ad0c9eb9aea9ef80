"""The buckets of rate limits for a service of several processes: one table of fixed size in a file that all of them map.

A name has one of eight places, found by a keyed hash, so that nobody can choose names that push out another's; when all eight are
taken, the one that was not seen for longest is given up. A place is read and written under a lock of the file, which the system
takes back from a process that dies. A place that was half written then reads as one that nobody has.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import math
import mmap
import os
import struct
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from tadoru.clock import Clock
from tadoru.serve.auth.principal import ANONYMOUS, Principal

SETS, WAYS = 8192, 8
_PLACE = struct.Struct("<16sdd")
_SALT = 16
_EMPTY = bytes(16)


@contextmanager
def shared_bucket_file(sets: int = SETS) -> Iterator[str | None]:
    """The path of a new table, for as long as the service runs; nothing on a system that cannot share one."""
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


MAX_BUCKETS = 50_000
"""Buckets that are remembered."""
MAX_PASSWORD_CHECKS = 12
"""Sign-ins whose password is being hashed, or waits for it: more would take the threads that answer everybody else."""
_HAIR = 1e-9
"""What adding up parts of seconds may lose."""


@dataclass(frozen=True, slots=True)
class RateLimitResult:
    """One request counted."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    """Seconds until the bucket is full again."""
    retry: int
    """Seconds until the next request is allowed; 0 when it is."""

    def headers(self) -> dict[str, str]:
        """What the caller is told."""
        told = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset),
        }
        return told if self.allowed else told | {"Retry-After": str(self.retry)}


class BucketStore(Protocol):
    """Where the buckets are. Between reading and writing one, `held` keeps others out."""

    def held(self) -> AbstractContextManager[None]: ...

    def get(self, name: str) -> tuple[float, float] | None: ...

    def put(self, name: str, left: float, at: float) -> None: ...


class MemoryBuckets:
    """Those of one process."""

    def __init__(self, most: int = MAX_BUCKETS) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            yield

    def get(self, name: str) -> tuple[float, float] | None:
        return self._kept.get(name)

    def put(self, name: str, left: float, at: float) -> None:
        self._kept[name] = (left, at)
        self._kept.move_to_end(name)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)


class RateLimit:
    """So many in so many seconds, for each name. Limits that share buckets are told apart by their `kind`."""

    def __init__(self, count: int, seconds: float, clock: Clock, *, buckets: BucketStore | None = None, kind: str = "") -> None:
        self._count, self._rate, self._clock, self._kind = count, count / seconds, clock, kind
        self._buckets: BucketStore = MemoryBuckets() if buckets is None else buckets

    def take(self, name: str, cost: int = 1) -> RateLimitResult:
        """Count a request; with a cost of 0 only look."""
        name = f"{self._kind} {name}"
        with self._buckets.held():
            now, full = self._clock.monotonic(), float(self._count)
            left, at = self._buckets.get(name) or (full, now)
            if not 0 <= left <= full or at > now:
                left, at = full, now
            left = min(full, left + (now - at) * self._rate)
            allowed = left >= 1 - _HAIR
            if cost:
                left = max(0.0, left - cost) if allowed else left
                self._buckets.put(name, left, now)
        reset = math.ceil((self._count - left) / self._rate)
        retry = 0 if allowed else max(1, math.ceil((1 - left) / self._rate))
        return RateLimitResult(allowed, self._count, max(0, int(left)), reset, retry)

    def give_back(self, name: str) -> None:
        """Return what was taken: it was not what is counted here."""
        name = f"{self._kind} {name}"
        with self._buckets.held():
            if (found := self._buckets.get(name)) is not None:
                left, at = found
                self._buckets.put(name, min(float(self._count), left + 1), at)


def client_network(address: str) -> str:
    """What counts as one caller: an IPv4 address, or the /64 network that one customer gets of IPv6."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.IPv6Network((ip, 64), strict=False))
    return str(ip)


class RateLimits:
    """The limits of one service; `table` is the path of what its processes share."""

    def __init__(self, clock: Clock, *, per_address: int, per_key: int, table: str | None = None) -> None:
        self._shared = shared = SharedBuckets(table) if table is not None else None

        def limit(kind: str, count: int, seconds: float) -> RateLimit:
            return RateLimit(count, seconds, clock, buckets=shared, kind=kind)

        self.addresses = limit("address", per_address, 60) if per_address else None
        self.known = limit("known", per_key, 60) if per_key else None
        self.failures = limit("failure", 30, 60)
        """Of keys, passwords and links from one address. Always there."""
        self.guesses = limit("guess", 20, 900)
        """Of passwords for one name from one address. Were it for the name alone, a stranger could lock anybody out."""
        self.hashing = threading.BoundedSemaphore(MAX_PASSWORD_CHECKS)
        """Of those whose password is being looked at, in this process."""

    def take(self, principal: Principal, address: str) -> RateLimitResult | None:
        """Count a request: for the address if it is anonymous, else for its key or user. None if that is not limited."""
        if principal is ANONYMOUS:
            return self.addresses.take(client_network(address)) if self.addresses is not None else None
        name = f"key {principal.key_id}" if principal.is_key else f"user {principal.user_id}"
        return self.known.take(name) if self.known is not None else None

    def close(self) -> None:
        """Unmap the shared file."""
        if self._shared is not None:
            self._shared.close()
