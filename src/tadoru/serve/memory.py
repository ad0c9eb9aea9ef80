"""Memory that is given back can be used again by every thread.

The allocator of Linux gives each thread a store of its own, up to eight for each core. Requests come and go on many threads, each
leaves holes in another store, and a service under load grows for hours without holding anything. Two stores are as quick here,
since Python runs one thread at a time, and the size stays where it is after some minutes.
"""

from __future__ import annotations

import ctypes

_ARENAS = -8
"""`M_ARENA_MAX` of glibc's mallopt."""
STORES = 2


def keep_together() -> bool:
    """Ask the allocator for few stores; before the threads begin. False where it has no such setting."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(set_option(_ARENAS, STORES))
