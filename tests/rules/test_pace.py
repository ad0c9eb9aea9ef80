"""How a host's gap grows on complaints, shrinks on good answers, and stays in its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.pace import Pace, observe, start


def after(pace: Pace, status: int | None, times: int = 1, latency: float | None = None, retry_after: float | None = None) -> Pace:
    for _ in range(times):
        pace, _hold = observe(pace, status=status, latency=latency, retry_after=retry_after)
    return pace


def hold(pace: Pace, status: int | None, retry_after: float | None = None) -> float:
    return observe(pace, status=status, latency=None, retry_after=retry_after)[1]


@pytest.mark.parametrize(
    "delay, crawl_delay, gap",
    [
        (1.0, None, 1.0),
        (1.0, 0.5, 1.0),
        (1.0, 5.0, 5.0),
        (0.0, None, 0.0),
        (0.0, 2.0, 2.0),
        (1.0, 60.0, 60.0),
        (1.0, 3600.0, 60.0),
        (90.0, 5.0, 90.0),
    ],
)
def test_the_first_gap_is_the_longer_of_delay_and_crawl_delay(delay: float, crawl_delay: float | None, gap: float) -> None:
    assert start(delay, crawl_delay) == Pace(gap=gap, base=gap, latency=None, baseline=None, strikes=0)


@pytest.mark.parametrize("status", [429, 503])
def test_a_complaint_doubles_the_gap_and_counts(status: int) -> None:
    pace = after(start(1.0, None), status)
    assert (pace.gap, pace.base, pace.strikes) == (2.0, 1.0, 1)


def test_a_complaint_slows_down_even_a_crawl_without_delay() -> None:
    assert after(start(0.0, None), 429).gap == 0.5


@pytest.mark.parametrize(
    "retry_after, seconds", [(0.0, 0.0), (7.0, 7.0), (3600.0, 3600.0), (86400.0, 3600.0)], ids=["none", "some", "hour", "day"]
)
@pytest.mark.parametrize("status", [301, 408, 413, 429, 500, 503])
def test_a_retry_after_is_obeyed_up_to_an_hour(status: int, retry_after: float, seconds: float) -> None:
    assert hold(start(1.0, None), status, retry_after) == seconds


@pytest.mark.parametrize("status", [None, 200, 204, 401, 403, 404, 410])
def test_a_retry_after_where_it_means_nothing_does_not_stop_the_site(status: int | None) -> None:
    assert hold(start(1.0, None), status, 3600.0) == 0


def test_without_retry_after_a_host_is_left_alone_longer_each_time() -> None:
    pace, holds = start(0.0, None), []
    for _ in range(9):
        pace, seconds = observe(pace, status=429, latency=None, retry_after=None)
        holds.append(seconds)
    assert holds == [1, 2, 4, 8, 16, 32, 60, 60, 60]


@pytest.mark.parametrize("status", [200, 204, 304, 404, 403])
def test_a_good_answer_lets_the_gap_recover_and_forgives_a_strike(status: int) -> None:
    slowed = after(start(1.0, None), 429, times=2)
    pace = after(slowed, status)
    assert 1.0 < pace.gap < slowed.gap
    assert pace.strikes == 1
    assert hold(pace, status) == 0


@pytest.mark.parametrize("status", [None, 408, 500, 502, 504])
def test_a_bad_answer_that_is_no_complaint_changes_nothing(status: int | None) -> None:
    slowed = after(start(1.0, None), 429, times=2)
    assert observe(slowed, status=status, latency=9.0, retry_after=None) == (slowed, 0.0)


def test_silence_pauses_a_host_longer_each_time_and_widens_its_gap_up_to_ten_times() -> None:
    pace, holds, gaps = start(1.0, None), [], []
    for _ in range(7):
        pace, seconds = observe(pace, status=None, latency=None, retry_after=None, silent=True)
        holds.append(seconds)
        gaps.append(pace.gap)
    assert holds == [1, 2, 4, 8, 16, 30, 30]
    assert gaps == [2, 4, 8, 10, 10, 10, 10]
    assert after(pace, 200, times=100).gap == 1.0


def test_silence_slows_down_even_a_crawl_without_delay() -> None:
    pace, _ = observe(start(0.0, None), status=None, latency=None, retry_after=None, silent=True)
    assert (pace.gap, observe(pace, status=None, latency=None, retry_after=None, silent=True)[0].gap) == (0.5, 0.5)


def test_silence_does_not_shorten_a_gap_that_complaints_made_long() -> None:
    struck = after(start(1.0, None), 503, times=5)
    assert observe(struck, status=None, latency=None, retry_after=None, silent=True)[0].gap == struck.gap == 32.0


def test_answers_that_become_slow_widen_the_gap_up_to_ten_times() -> None:
    usual = after(start(0.2, None), 200, times=10, latency=0.1)
    slow = after(usual, 200, times=10, latency=2.0)
    assert usual.gap == 0.2
    assert slow.gap > 0.3
    assert after(slow, 200, times=50, latency=2.0).gap == pytest.approx(2.0)


def test_the_gap_comes_back_when_the_answers_are_fast_again() -> None:
    slow = after(after(start(0.2, None), 200, latency=0.1), 200, times=50, latency=2.0)
    assert after(slow, 200, times=100, latency=0.1).gap == 0.2


def test_a_host_that_was_always_slow_is_not_slowed_down() -> None:
    assert after(start(0.2, None), 200, times=50, latency=4.0).gap == 0.2


def test_slower_but_still_quick_answers_do_not_matter() -> None:
    assert after(after(start(0.2, None), 200, latency=0.01), 200, times=50, latency=0.45).gap == 0.2


def test_a_cold_first_answer_does_not_hide_a_later_slow_down() -> None:
    warm = after(after(start(0.2, None), 200, latency=3.0), 200, times=40, latency=0.1)
    assert after(warm, 200, times=20, latency=3.0).gap > 0.2


def test_without_delay_latency_does_not_slow_down() -> None:
    assert after(after(start(0.0, None), 200, latency=0.1), 200, times=50, latency=9.0).gap == 0.0


def test_slow_answers_do_not_shorten_a_gap_that_complaints_made_long() -> None:
    struck = after(after(start(0.2, None), 200, latency=0.1), 503, times=8)
    slow = after(struck, 200, times=10, latency=9.0)
    assert struck.gap > 10 * 0.2
    assert after(slow, 200, latency=9.0).gap == slow.gap


answers = st.tuples(
    st.sampled_from([None, 200, 301, 404, 408, 429, 500, 503]),
    st.none() | st.floats(0, 100),
    st.none() | st.floats(0, 86400),
)
delays = st.sampled_from([0.0, 100.0]) | st.floats(0, 100)


@given(delays, st.none() | st.floats(0, 1000), st.lists(answers, max_size=60))
def test_the_gap_stays_in_its_bounds_and_recovers(
    delay: float, crawl_delay: float | None, seen: list[tuple[int | None, float | None, float | None]]
) -> None:
    pace = start(delay, crawl_delay)
    for status, latency, retry_after in seen:
        silent = status is None and latency is None
        pace, seconds = observe(pace, status=status, latency=latency, retry_after=retry_after, silent=silent)
        assert pace.base <= pace.gap <= max(60.0, pace.base)
        assert 0 <= seconds <= 3600
        assert pace.strikes >= 0
    recovered = after(pace, 200, times=150, latency=0.0)
    assert (recovered.gap, recovered.strikes) == (pace.base, 0)
