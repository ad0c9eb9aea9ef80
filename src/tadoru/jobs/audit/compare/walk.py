"""Walking through two ordered streams at once: the one idea that keeps a comparison of a million pages flat in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

T = TypeVar("T")
Key = Callable[[T], Any]


async def side_by_side(
    before: AsyncIterator[T], after: AsyncIterator[T], key: Key[T], on_twin: Callable[[T], object] = lambda twin: None
) -> AsyncIterator[tuple[T | None, T | None]]:
    """What has the same key together, what is on one side only alone; both streams must be in the order of their keys.

    Of several with one key on one side the first counts, and `on_twin` is told the others.
    """
    left, right = _singles(before, key, on_twin), _singles(after, key, on_twin)
    a, b = await anext(left, None), await anext(right, None)
    while a is not None and b is not None:
        first, second = key(a), key(b)
        if first == second:
            yield a, b
            a, b = await anext(left, None), await anext(right, None)
        elif first < second:
            yield a, None
            a = await anext(left, None)
        else:
            yield None, b
            b = await anext(right, None)
    while a is not None:
        yield a, None
        a = await anext(left, None)
    while b is not None:
        yield None, b
        b = await anext(right, None)


async def _singles(items: AsyncIterator[T], key: Key[T], on_twin: Callable[[T], object]) -> AsyncIterator[T]:
    last: Any = None
    async for item in items:
        if (this := key(item)) == last:
            on_twin(item)
        else:
            last = this
            yield item
