"""Limits are exact, also with requests in flight."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.budget import Budget


@pytest.mark.parametrize(
    "limit, counted, in_flight, wanted, room",
    [
        (0, 10**9, 50, 20, 20),
        (10, 0, 0, 20, 10),
        (10, 0, 0, 3, 3),
        (10, 7, 0, 20, 3),
        (10, 7, 2, 20, 1),
        (10, 7, 3, 20, 0),
        (10, 10, 0, 1, 0),
        (10, 12, 3, 1, 0),
        (10, 0, 0, 0, 0),
    ],
)
def test_there_is_room_for_what_the_limit_leaves(limit: int, counted: int, in_flight: int, wanted: int, room: int) -> None:
    assert Budget(limit).leasable(counted, in_flight, wanted) == room


@given(st.integers(1, 50), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8)), max_size=80))
def test_a_crawl_that_asks_for_room_ends_at_most_at_its_limit(limit: int, steps: list[tuple[int, int, int]]) -> None:
    counted = in_flight = 0
    for wanted, finished, uncounted in steps:
        in_flight += Budget(limit).leasable(counted, in_flight, wanted)
        dropped = min(uncounted, in_flight)
        in_flight -= dropped
        done = min(finished, in_flight)
        in_flight, counted = in_flight - done, counted + done
        assert counted + in_flight <= limit
    assert counted + in_flight + Budget(limit).leasable(counted, in_flight, limit) == limit


@pytest.mark.parametrize(
    "max_time, now, left", [(None, 999.0, None), (60.0, 100.0, 60.0), (60.0, 130.0, 30.0), (60.0, 161.0, 0.0), (0.0, 100.0, 0.0)]
)
def test_time_runs_out_and_not_below(max_time: float | None, now: float, left: float | None) -> None:
    assert Budget(max_time=max_time).time_left(100.0, now) == left


@pytest.mark.parametrize(
    "queued, workers, share",
    [(10, 1, 10), (10, 2, 5), (11, 2, 6), (1, 4, 1), (0, 3, 0), (5, 0, 5)],
    ids=["alone", "halves", "rounded up", "one for whoever asks first", "nothing", "nobody has joined"],
)
def test_a_worker_takes_its_part_of_what_is_queued(queued: int, workers: int, share: int) -> None:
    assert Budget.fair_share(queued, workers) == share
