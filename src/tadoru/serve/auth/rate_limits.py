"""Rate limits by token buckets: a bucket fills steadily, and each request takes one token.

A service of one process keeps the buckets in memory; several processes share a file that all of them map, so that a limit applies
to the whole service. The number of buckets is bounded: those unused for longest are dropped first. The reasons for not using a
library are in `docs/decisions/0019-standard-parts.md`.
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from tadoru.clock import Clock
from tadoru.serve.auth.principal import ANONYMOUS, Principal

TABLES, SETS, WAYS = 2, 8192, 8
"""Requests have a table of their own: with one for all, a client with many addresses could evict its own failures by requests."""
_SLOT = struct.Struct("<16sdd")
_SALT = 16
_EMPTY = bytes(16)


@contextmanager
def shared_bucket_file(sets: int = SETS) -> Iterator[str | None]:
    """The path of a new bucket file while the service runs; None on systems without file locks."""
    if importlib.util.find_spec("fcntl") is None:  # pragma: no cover - not on Windows
        yield None
        return
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - in memory; the file name is random
    number, path = tempfile.mkstemp(prefix="tadoru-limits-", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(os.urandom(_SALT))
            file.truncate(_SALT + TABLES * sets * WAYS * _SLOT.size)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)


class TokenBuckets:
    """Buckets in a table of fixed size, in the memory of this process or in a file that all processes map, at `table`.

    A name has eight slots, found by a keyed hash, so that nobody can choose names that evict another's; of eight used slots the
    one unused for longest is evicted. A slot is accessed under a lock, that of a file if there is one, which the system releases
    if a process dies. A slot that was half written then reads as another name's.
    """

    def __init__(self, path: str | None = None, sets: int = SETS, table: int = 0) -> None:
        self._file = Path(path).open("r+b") if path is not None else None  # noqa: SIM115 - as long as the service
        if self._file is not None:
            self._memory = mmap.mmap(self._file.fileno(), 0)
        else:
            self._memory = mmap.mmap(-1, _SALT + TABLES * sets * WAYS * _SLOT.size)
            self._memory[:_SALT] = os.urandom(_SALT)
        self._sets = (len(self._memory) - _SALT) // (TABLES * WAYS * _SLOT.size)
        self._first = table * self._sets
        self._salt = self._memory[:_SALT]
        self._lock = threading.Lock()  # The file lock is per process, not per thread.

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclusive access, across threads and processes. Read and write a bucket inside."""
        with self._lock:
            if self._file is None:
                yield
                return
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def get(self, name: str) -> tuple[float, float] | None:
        """The tokens left in a bucket and the time of that count; None for an unknown name."""
        sign, slots = self._slots(name)
        for slot in slots:
            found, left, at = _SLOT.unpack_from(self._memory, slot)
            if found == sign:
                return left, at
        return None

    def put(self, name: str, left: float, at: float) -> None:
        """Store a bucket."""
        sign, slots = self._slots(name)
        oldest, oldest_at = slots[0], float("inf")
        for slot in slots:
            found, _, seen = _SLOT.unpack_from(self._memory, slot)
            if found == sign:
                oldest = slot
                break
            seen = float("-inf") if found == _EMPTY else seen
            if seen < oldest_at:
                oldest, oldest_at = slot, seen
        _SLOT.pack_into(self._memory, oldest, sign, left, at)

    def close(self) -> None:
        """Unmap the table; the creator of a file deletes it."""
        self._memory.close()
        if self._file is not None:
            self._file.close()

    def _slots(self, name: str) -> tuple[bytes, range]:
        sign = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, key=self._salt).digest()
        start = _SALT + (self._first + int.from_bytes(sign[:4], "little") % self._sets) * WAYS * _SLOT.size
        return sign, range(start, start + WAYS * _SLOT.size, _SLOT.size)


MAX_PASSWORD_CHECKS = 12
"""Maximum number of passwords checked at the same time: more would take the threads of all other requests."""
_EPSILON = 1e-9
"""Tolerance for floating point sums of seconds."""


@dataclass(frozen=True, slots=True)
class RateLimitResult:
    """The result of counting one request."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    """Seconds until the bucket is full again."""
    retry: int
    """Seconds until the next request is allowed; 0 if it is allowed now."""

    def headers(self) -> dict[str, str]:
        """The response headers of the rate limit."""
        headers = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset),
        }
        return headers if self.allowed else headers | {"Retry-After": str(self.retry)}


class RateLimit:
    """At most `count` requests in `seconds`, per name. Limits that share buckets differ in `kind`."""

    def __init__(self, count: int, seconds: float, clock: Clock, *, buckets: TokenBuckets | None = None, kind: str = "") -> None:
        self._count, self._rate, self._clock, self._kind = count, count / seconds, clock, kind
        self._buckets = TokenBuckets() if buckets is None else buckets

    def take(self, name: str, cost: int = 1) -> RateLimitResult:
        """Count a request; with a cost of 0 only check."""
        name = f"{self._kind} {name}"
        with self._buckets.locked():
            now, full = self._clock.monotonic(), float(self._count)
            left, at = self._buckets.get(name) or (full, now)
            if not 0 <= left <= full or at > now:
                left, at = full, now
            left = min(full, left + (now - at) * self._rate)
            allowed = left >= 1 - _EPSILON
            if cost:
                left = max(0.0, left - cost) if allowed else left
                self._buckets.put(name, left, now)
        reset = math.ceil((self._count - left) / self._rate)
        retry = 0 if allowed else max(1, math.ceil((1 - left) / self._rate))
        return RateLimitResult(allowed, self._count, max(0, int(left)), reset, retry)

    def refund(self, name: str) -> None:
        """Return one token to a bucket."""
        name = f"{self._kind} {name}"
        with self._buckets.locked():
            if (found := self._buckets.get(name)) is not None:
                left, at = found
                self._buckets.put(name, min(float(self._count), left + 1), at)


def client_network(address: str) -> str:
    """The network that counts as one client: an IPv4 address, or the /64 network of an IPv6 address."""
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
    """The rate limits of one service; `table` is the path of the bucket file that its processes share."""

    def __init__(self, clock: Clock, *, per_address: int, per_key: int, table: str | None = None, sets: int = SETS) -> None:
        self._requests, self._failures = (TokenBuckets(table, sets, number) for number in range(TABLES))

        def limit(kind: str, count: int, seconds: float, buckets: TokenBuckets) -> RateLimit:
            return RateLimit(count, seconds, clock, buckets=buckets, kind=kind)

        self.addresses = limit("address", per_address, 60, self._requests) if per_address else None
        self.known = limit("known", per_key, 60, self._requests) if per_key else None
        self.failures = limit("failure", 30, 60, self._failures)
        """Failed keys, passwords and links per address; always enabled."""
        self.guesses = limit("guess", 20, 900, self._failures)
        """Passwords per user name and address. Per name alone, a stranger could lock a user out."""
        self.hashing = threading.BoundedSemaphore(MAX_PASSWORD_CHECKS)
        """Passwords being checked in this process."""

    def take(self, principal: Principal, address: str) -> RateLimitResult | None:
        """Count a request: for the address if it is anonymous, else for its key or user. None if that is not limited."""
        if principal is ANONYMOUS:
            return self.addresses.take(client_network(address)) if self.addresses is not None else None
        name = f"key {principal.key_id}" if principal.is_key else f"user {principal.user_id}"
        return self.known.take(name) if self.known is not None else None

    def close(self) -> None:
        """Release the buckets."""
        self._requests.close()
        self._failures.close()
