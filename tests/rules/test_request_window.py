"""How many requests a host may have in flight: more with responses, fewer with silence, never none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.request_window import RequestWindow, after_answer, after_silence, fair_share, limit


def answered(window: RequestWindow, times: int, *, share: int = 5, free: int = 10, concurrency: int = 50) -> RequestWindow:
    """A host that uses all of its places."""
    for _ in range(times):
        places = limit(window, share=share, concurrency=concurrency)
        window = after_answer(window, in_flight=places, share=share, free=free)
    return window


def places(window: RequestWindow, share: int = 5) -> int:
    return limit(window, share=share, concurrency=50)


@pytest.mark.parametrize("concurrency, hosts, share", [(50, 0, 50), (50, 1, 50), (50, 12, 5), (50, 60, 1), (4, 3, 2), (1, 9, 1)])
def test_places_are_shared_between_the_hosts_with_work(concurrency: int, hosts: int, share: int) -> None:
    assert fair_share(concurrency, hosts) == share


def test_a_host_that_is_alone_may_use_all_places_at_once() -> None:
    assert places(RequestWindow(), share=50) == 50


def test_among_others_a_host_starts_with_one_place() -> None:
    assert places(RequestWindow()) == 1


def test_each_response_to_a_host_that_uses_its_places_earns_one_more() -> None:
    assert [places(answered(RequestWindow(), times)) for times in range(5)] == [1, 2, 3, 4, 5]


def test_free_places_go_to_a_host_that_responds_beyond_its_share() -> None:
    assert places(answered(RequestWindow(), 40)) == 41


def test_without_free_places_a_host_earns_its_share_and_no_more() -> None:
    assert places(answered(RequestWindow(), 40, free=0)) == 5


def test_what_is_beyond_the_share_shrinks_when_others_need_it() -> None:
    assert places(answered(answered(RequestWindow(), 40), 40, free=0)) == 5


def test_places_that_are_not_used_are_lost() -> None:
    window = answered(RequestWindow(), 40)
    for _ in range(60):
        window = after_answer(window, in_flight=2, share=5, free=10)
    assert places(window) <= 3


def test_silence_halves_the_places_down_to_one() -> None:
    window, seen = answered(RequestWindow(), 39), []
    for _ in range(7):
        window = after_silence(window)
        seen.append(places(window))
    assert seen == [20, 10, 5, 3, 1, 1, 1]


def test_a_silent_host_does_not_get_all_places_when_it_is_alone() -> None:
    assert places(after_silence(RequestWindow()), share=50) == 1


def test_responses_raise_the_places_of_a_silent_host_again() -> None:
    window = after_silence(after_silence(after_silence(answered(RequestWindow(), 7))))
    assert places(window, share=50) == 1
    assert places(answered(window, 3, share=50), share=50) == 50


steps = st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.integers(1, 50), st.integers(-5, 50)), max_size=80)


@given(steps)
def test_a_host_always_has_a_place_and_recovers(seen: list[tuple[bool, int, int, int]]) -> None:
    window = RequestWindow()
    for silent, in_flight, share, free in seen:
        window = after_silence(window) if silent else after_answer(window, in_flight=in_flight, share=share, free=free)
        assert places(window, share) >= 1
    assert places(answered(window, 20)) >= 5
