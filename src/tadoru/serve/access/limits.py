"""How often somebody may ask: a bucket for each, that fills steadily and empties by one with each request.

A service of one process has the buckets in its own memory; one of several has a table that all of them share (`shared_buckets`),
so that a limit is one for the whole service. Those of the longest unseen are forgotten first: a crowd of addresses can not take
the memory.
"""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from tadoru.clock import Clock
from tadoru.serve.access.shared_buckets import SharedBuckets

MOST = 50_000
"""Buckets that are remembered."""
HASHES = 12
"""Sign-ins whose password is being hashed, or waits for it: more would take the threads that answer everybody else."""
_HAIR = 1e-9
"""What adding up parts of seconds may lose."""


@dataclass(frozen=True, slots=True)
class Taken:
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


class Buckets(Protocol):
    """Where the buckets are. Between reading and writing one, `held` keeps others out."""

    def held(self) -> AbstractContextManager[None]: ...

    def get(self, name: str) -> tuple[float, float] | None: ...

    def put(self, name: str, left: float, at: float) -> None: ...


class OwnBuckets:
    """Those of one process."""

    def __init__(self, most: int = MOST) -> None:
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


class Limit:
    """So many in so many seconds, for each name. Limits that share buckets are told apart by their `kind`."""

    def __init__(self, count: int, seconds: float, clock: Clock, *, buckets: Buckets | None = None, kind: str = "") -> None:
        self._count, self._rate, self._clock, self._kind = count, count / seconds, clock, kind
        self._buckets: Buckets = OwnBuckets() if buckets is None else buckets

    def take(self, name: str, cost: int = 1) -> Taken:
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
        return Taken(allowed, self._count, max(0, int(left)), reset, retry)

    def give_back(self, name: str) -> None:
        """Return what was taken: it was not what is counted here."""
        name = f"{self._kind} {name}"
        with self._buckets.held():
            if (found := self._buckets.get(name)) is not None:
                left, at = found
                self._buckets.put(name, min(float(self._count), left + 1), at)


def neighbourhood(address: str) -> str:
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


class Limits:
    """The limits of one service; `table` is the path of what its processes share."""

    def __init__(self, clock: Clock, *, per_address: int, per_key: int, table: str | None = None) -> None:
        self._shared = shared = SharedBuckets(table) if table is not None else None

        def limit(kind: str, count: int, seconds: float) -> Limit:
            return Limit(count, seconds, clock, buckets=shared, kind=kind)

        self.addresses = limit("address", per_address, 60) if per_address else None
        self.known = limit("known", per_key, 60) if per_key else None
        self.failures = limit("failure", 30, 60)
        """Of keys, passwords and links from one address. Always there."""
        self.guesses = limit("guess", 20, 900)
        """Of passwords for one name from one address. Were it for the name alone, a stranger could lock anybody out."""
        self.hashing = threading.BoundedSemaphore(HASHES)
        """Of those whose password is being looked at, in this process."""

    def close(self) -> None:
        """Let go of what is shared."""
        if self._shared is not None:
            self._shared.close()
