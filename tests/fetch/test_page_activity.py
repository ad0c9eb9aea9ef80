"""When a page counts as resting, told by hand: the seconds are numbers, nothing waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.fetch.browser.page_timing import LONG_REQUEST_SECONDS, MOVING_FACTOR, UNCHANGED_SECONDS, PageActivity

QUIET = 0.5


def activity() -> PageActivity:
    """A page whose document is there at 1."""
    page = PageActivity(QUIET, 0.0)
    page.request_started("document", 0.1)
    page.request_ended("document", 0.9)
    page.document_loaded(1.0)
    return page


def test_a_document_that_is_not_complete_is_waited_for() -> None:
    page = PageActivity(QUIET, 0.0)
    page.request_started("document", 0.1)
    page.request_ended("document", 0.2)
    assert page.settles_at(100.0) is None


def test_a_document_that_a_script_keeps_from_being_read_to_its_end_is_not_waited_for_for_ever() -> None:
    page = PageActivity(QUIET, 0.0)
    page.request_started("document", 0.1)
    page.document_received()
    page.request_ended("document", 0.2)
    assert page.settles_at(0.3) == 0.2 + MOVING_FACTOR * QUIET
    page.document_replaced("other", 0.3)
    assert page.settles_at(0.4) is None


def test_a_plain_page_rests_a_moment_after_it_is_there() -> None:
    page = activity()
    assert page.settles_at(1.0) == 1.5
    assert page.last_activity == 1.0


@pytest.mark.parametrize("what", ["document_changed", "asked and answered"])
def test_whatever_moves_begins_the_wait_again(what: str) -> None:
    page = activity()
    if what == "document_changed":
        page.document_changed(1.4)
    else:
        page.request_started("a", 1.3)
        page.request_ended("a", 1.4)
    assert page.settles_at(1.4) == pytest.approx(1.9)
    assert page.last_activity == 1.4


def test_a_request_on_its_way_is_waited_for_until_it_looks_like_one_that_waits_for_news() -> None:
    page = activity()
    page.request_started("a", 1.2)
    assert page.settles_at(3.0) == 1.2 + LONG_REQUEST_SECONDS
    assert page.settles_at(1.2 + LONG_REQUEST_SECONDS) == pytest.approx(1.2 + QUIET)
    page.request_ended("a", 4.0)
    assert page.settles_at(4.0) == 4.5


def test_an_answer_nobody_asked_for_moves_nothing() -> None:
    page = activity()
    moves = page.changes
    page.request_ended("unknown", 1.2)
    assert page.changes == moves
    assert page.settles_at(1.2) == 1.5


def test_time_spent_waiting_for_a_turn_is_not_the_sites() -> None:
    page = activity()
    page.request_held("a")
    page.request_started("a", 1.2)
    assert page.settles_at(100.0) is None
    page.request_released("a", 100.0)
    assert page.settles_at(100.0) == 100.0 + LONG_REQUEST_SECONDS


def test_a_page_that_moves_without_asking_for_anything_rests_all_the_same() -> None:
    page = activity()
    for tenth in range(11, 40):
        page.document_changed(tenth / 10)
    assert page.settles_at(3.9) == 0.9 + MOVING_FACTOR * QUIET
    assert page.last_activity == 0.9


def test_a_page_that_polls_rests_when_nothing_comes_of_it() -> None:
    page = activity()
    for number in range(20):
        page.request_started(str(number), 1 + number / 10)
        if number:
            page.request_ended(str(number - 1), 1 + number / 10)
    assert page.settles_at(2.9) == 1.0 + UNCHANGED_SECONDS
    assert page.last_activity == 1.0


def test_a_poll_that_brings_something_is_worth_waiting_for() -> None:
    page = activity()
    for number in range(4):
        page.request_started(str(number), 2.0)
        page.request_ended(str(number), 2.1)
    page.document_changed(2.2)
    page.request_started("next", 2.3)
    assert page.settles_at(2.4) == 2.3 + LONG_REQUEST_SECONDS


def test_another_document_begins_anew() -> None:
    page = activity()
    page.request_started("old", 1.1)
    page.request_started("new", 1.2)
    page.document_replaced("new", 1.3)
    assert page.settles_at(1.4) is None
    page.document_loaded(1.5)
    assert page.settles_at(1.5) == 1.2 + LONG_REQUEST_SECONDS
    page.request_ended("new", 1.6)
    assert page.settles_at(1.6) == pytest.approx(2.1)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["request_started", "request_ended", "document_changed", "request_held", "request_released"]),
        st.sampled_from("abc"),
        st.floats(0, 3),
    )
)


@given(STEPS)
def test_a_page_that_is_left_alone_always_comes_to_rest(steps: list[tuple[str, str, float]]) -> None:
    page, now = activity(), 1.0
    for what, name, seconds in steps:
        now += seconds
        if what == "document_changed":
            page.document_changed(now)
        elif what == "request_held":
            page.request_held(name)
        else:
            getattr(page, what)(name, now)
    for name in "abc":
        page.request_released(name, now)
    for _ in range(10):
        at = page.settles_at(now)
        assert at is not None
        if at <= now:
            break
        now = at
    else:
        pytest.fail("it never rests")
    assert page.last_activity <= now
