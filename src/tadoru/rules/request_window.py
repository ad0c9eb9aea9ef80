"""How many requests a host may have in flight: congestion control as TCP has it, for the places of one process.

A host starts with one place. A response that arrives while the host uses all of its places earns one more: up to its fair share
in any case, and beyond it as long as places are free; when none is, what is beyond the share shrinks again. A host that stays
silent loses half of its places each time. So hosts that do not respond cannot take the places of those that do. A host that is
alone with its work and responds may use all places.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_SILENCES = 6
"""Up to this number silences are counted."""
_SHRINKING = 1 / 8


@dataclass(frozen=True, slots=True)
class RequestWindow:
    """What the requests to a host have shown so far."""

    size: float = 1.0
    """The places of the host, at least one."""
    silences: int = 0
    """How often the host was silent, less one for each answer."""


def fair_share(concurrency: int, hosts: int) -> int:
    """The places of each host when this many hosts have work."""
    return -(-concurrency // max(1, hosts))


def limit(window: RequestWindow, *, share: int, concurrency: int) -> int:
    """How many requests the host may have in flight."""
    return concurrency if share >= concurrency and not window.silences else _places(window.size)


def after_answer(window: RequestWindow, *, in_flight: int, share: int, free: int) -> RequestWindow:
    """The window after an answer. `in_flight`: requests to the host, with this one; `free`: free places of the process."""
    size, silences = window.size, max(0, window.silences - 1)
    if in_flight >= _places(size) and (free > 0 or size < share):
        size += 1.0
    elif free <= 0 and size > share:
        size -= (size - share) * _SHRINKING
    elif in_flight < size:
        size = max(1.0, size - (size - in_flight) * _SHRINKING)
    return window if size == window.size and silences == window.silences else RequestWindow(size, silences)


def after_silence(window: RequestWindow) -> RequestWindow:
    """The window after a request to which nothing came back, while nothing else did either."""
    return RequestWindow(max(1.0, window.size / 2), min(window.silences + 1, MAX_SILENCES))


def _places(size: float) -> int:
    return int(size + 0.5)
