"""When a source is collected again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.collect.collector import HOUR, MAX_INTERVAL, delay_after_failure, delay_after_success, run_interval
from tadoru.model.event import SourceType
from tadoru.store.calendar.records import EventSource

NOW = datetime(2026, 8, 1, tzinfo=UTC)
SOURCE = EventSource(
    id=1, name="Town", type=SourceType.ICS, url="https://town.example/", city="", frequency="normal", enabled=True, notes="",
    created_at=NOW, updated_at=NOW, settings={}, timezone="", priority=0, depends_on=None, licence="", terms_url="",
    allow_private=False, named_host="", low_hours=24, secret="",
)  # fmt: skip


@pytest.mark.parametrize("frequency, low, hours", [("high", 24, 3), ("normal", 24, 12), ("low", 24, 24), ("low", 72, 72)])
def test_each_frequency_has_its_period(frequency: str, low: int, hours: int) -> None:
    assert run_interval(replace(SOURCE, frequency=frequency, low_hours=low)) == hours * HOUR


@pytest.mark.parametrize("failures, hours", [(1, 12), (2, 24), (3, 48), (4, 96), (5, 168), (50, 168)])
def test_each_failure_doubles_the_wait_up_to_a_week(failures: int, hours: int) -> None:
    assert delay_after_failure(SOURCE, failures, jitter=0.5) == pytest.approx(hours * HOUR)


def test_a_source_that_asks_for_a_longer_wait_gets_it() -> None:
    assert delay_after_failure(SOURCE, 1, jitter=0.0, retry_after=20 * HOUR) == 20 * HOUR
    assert delay_after_failure(SOURCE, 1, jitter=0.0, retry_after=10**9) == MAX_INTERVAL


def test_a_source_may_ask_to_be_read_less_often_but_not_more() -> None:
    assert delay_after_success(SOURCE, None) == 12 * HOUR
    assert delay_after_success(SOURCE, HOUR) == 12 * HOUR
    assert delay_after_success(SOURCE, 20 * HOUR) == 20 * HOUR
    assert delay_after_success(SOURCE, 10**9) == 24 * HOUR


@given(st.integers(1, 10**6), st.floats(0, 1, exclude_max=True), st.sampled_from(["high", "normal", "low"]))
def test_a_failing_source_is_tried_for_ever_and_never_at_once(failures: int, jitter: float, frequency: str) -> None:
    wait = delay_after_failure(replace(SOURCE, frequency=frequency), failures, jitter=jitter)
    assert 0.9 * 3 * HOUR <= wait <= MAX_INTERVAL
