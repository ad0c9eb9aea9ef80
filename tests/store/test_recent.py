"""The bounded memory in front of the database: it never outgrows its bound, and forgets the oldest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.url import LONGEST_KEPT
from tadoru.store.recent import Recent, RecentTexts


def test_the_older_half_goes_when_it_is_full() -> None:
    recent: Recent[int, str] = Recent(4)
    for number in range(5):
        recent[number] = str(number)
    assert dict(recent) == {2: "2", 3: "3", 4: "4"}


def test_many_entries_at_once_push_out_the_oldest() -> None:
    recent: Recent[int, str] = Recent(4)
    recent[0] = "0"
    recent.add({number: str(number) for number in range(1, 10)})
    assert dict(recent) == {8: "8", 9: "9"}


@given(st.lists(st.one_of(st.integers(0, 30), st.frozensets(st.integers(0, 30)))), st.integers(2, 12))
def test_it_never_holds_more_than_its_capacity_and_always_what_came_last(
    steps: list[int | frozenset[int]], capacity: int
) -> None:
    recent: Recent[int, int] = Recent(capacity)
    for step in steps:
        if isinstance(step, int):
            recent[step] = step
            assert recent[step] == step
        else:
            recent.add({number: number for number in step})
        assert len(recent) <= capacity
        assert all(key == value for key, value in recent.items())


def test_long_texts_are_not_remembered() -> None:
    recent: RecentTexts[int] = RecentTexts(4)
    recent["a" * LONGEST_KEPT] = 1
    recent["b" * (LONGEST_KEPT + 1)] = 2
    recent.add({"c": 3, "d" * (LONGEST_KEPT + 1): 4})
    assert list(recent.values()) == [1, 3]
