"""Bounded caches in front of the database."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TypeVar

from tadoru.rules.url import MAX_CACHED_LENGTH

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """A dict that drops its older half when it is full; reads cost as much as those of a dict."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity = capacity

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._capacity:
            self._drop(self._capacity // 2)
        super().__setitem__(key, value)

    def add(self, entries: Mapping[K, V]) -> None:
        """Many entries at the price of one."""
        self.update(entries)
        if len(self) > self._capacity:
            self._drop(len(self) - self._capacity // 2)

    def _drop(self, number: int) -> None:
        for old in list(islice(self, number)):
            self.pop(old, None)  # Another thread may have emptied it.


class TextCache(BoundedCache[str, V]):
    """A cache with URLs or texts as keys; long keys are not cached, because a hundred thousand of them would take too much
    memory.
    """

    def __setitem__(self, key: str, value: V) -> None:
        if len(key) <= MAX_CACHED_LENGTH:
            super().__setitem__(key, value)

    def add(self, entries: Mapping[str, V]) -> None:
        super().add({key: value for key, value in entries.items() if len(key) <= MAX_CACHED_LENGTH})
