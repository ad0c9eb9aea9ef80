"""How often somebody may ask: a bucket for each, that fills steadily and empties by one with each request.

The buckets are in memory, each worker has its own. Those of the longest unseen are forgotten first, so that a crowd of addresses
can not take the memory.
"""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass

from tadoru.clock import Clock

MOST = 50_000
"""Buckets that are remembered."""
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


class Limit:
    """So many in so many seconds, for each name."""

    def __init__(self, count: int, seconds: float, clock: Clock, *, most: int = MOST) -> None:
        self._count, self._rate, self._clock, self._most = count, count / seconds, clock, most
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str, cost: int = 1) -> Taken:
        """Count a request; with a cost of 0 only look."""
        with self._lock:
            now = self._clock.monotonic()
            left, at = self._buckets.get(name, (float(self._count), now))
            left = min(float(self._count), left + (now - at) * self._rate)
            allowed = left >= 1 - _HAIR
            if cost:
                left = max(0.0, left - cost) if allowed else left
                self._buckets[name] = (left, now)
                self._buckets.move_to_end(name)
                if len(self._buckets) > self._most:
                    self._buckets.popitem(last=False)
        reset = math.ceil((self._count - left) / self._rate)
        retry = 0 if allowed else max(1, math.ceil((1 - left) / self._rate))
        return Taken(allowed, self._count, max(0, int(left)), reset, retry)

    @property
    def remembered(self) -> int:
        return len(self._buckets)


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
    """The limits of one service."""

    def __init__(self, clock: Clock, *, per_address: int, per_key: int) -> None:
        self.addresses = Limit(per_address, 60, clock) if per_address else None
        self.known = Limit(per_key, 60, clock) if per_key else None
        self.failures = Limit(30, 60, clock)
        """Of keys, passwords and links from one address. Always there."""
        self.names = Limit(20, 900, clock)
        """Of passwords for one name, wherever they come from."""
