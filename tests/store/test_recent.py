"""The bounded memory in front of the database: it never outgrows its bound, and forgets the oldest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.url import MAX_CACHED_LENGTH
from tadoru.store.crawl.caches import BoundedCache, TextCache


def test_the_older_half_goes_when_it_is_full() -> None:
    recent: BoundedCache[int, str] = BoundedCache(4)
    for number in range(5):
        recent[number] = str(number)
    assert dict(recent) == {2: "2", 3: "3", 4: "4"}


def test_many_entries_at_once_push_out_the_oldest() -> None:
    recent: BoundedCache[int, str] = BoundedCache(4)
    recent[0] = "0"
    recent.add({number: str(number) for number in range(1, 10)})
    assert dict(recent) == {8: "8", 9: "9"}


@given(st.lists(st.one_of(st.integers(0, 30), st.frozensets(st.integers(0, 30)))), st.integers(2, 12))
def test_it_never_holds_more_than_its_capacity_and_always_what_came_last(
    steps: list[int | frozenset[int]], capacity: int
) -> None:
    recent: BoundedCache[int, int] = BoundedCache(capacity)
    for step in steps:
        if isinstance(step, int):
            recent[step] = step
            assert recent[step] == step
        else:
            recent.add({number: number for number in step})
        assert len(recent) <= capacity
        assert all(key == value for key, value in recent.items())


def test_long_texts_are_not_remembered() -> None:
    recent: TextCache[int] = TextCache(4)
    recent["a" * MAX_CACHED_LENGTH] = 1
    recent["b" * (MAX_CACHED_LENGTH + 1)] = 2
    recent.add({"c": 3, "d" * (MAX_CACHED_LENGTH + 1): 4})
    assert list(recent.values()) == [1, 3]
