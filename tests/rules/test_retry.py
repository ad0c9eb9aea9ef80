"""Which answers are asked for again, how often, how long after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import FailureKind
from tadoru.rules.retry import GiveUp, Retry, decide, parse_retry_after

NOW = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT


def retries(status: int | None = None, failure: FailureKind | None = None) -> int:
    """How many retries an answer that keeps coming back gets."""
    done = 0
    while isinstance(decide(status=status, failure=failure, attempt=done, retry_after=None, jitter=0.5), Retry):
        done += 1
    return done


FAILURES = {
    FailureKind.DNS: 1,
    FailureKind.REFUSED: 1,
    FailureKind.NETWORK: 3,
    FailureKind.TLS: 0,
    FailureKind.CONNECT_TIMEOUT: 3,
    FailureKind.RESPONSE_TIMEOUT: 3,
    FailureKind.DOWNLOAD_TIMEOUT: 3,
    FailureKind.TOO_LARGE: 0,
    FailureKind.HEADERS_TOO_LARGE: 0,
    FailureKind.INCOMPLETE: 3,
    FailureKind.BAD_ENCODING: 1,
    FailureKind.PROTOCOL: 1,
    FailureKind.BLOCKED_ADDRESS: 0,
    FailureKind.BOT_BLOCKED: 0,
    FailureKind.FORBIDDEN: 0,
    FailureKind.PROXY: 1,
    FailureKind.BAD_REDIRECT: 0,
    FailureKind.TOO_MANY_REDIRECTS: 0,
    FailureKind.REDIRECT_LOOP: 0,
    FailureKind.UNPARSABLE: 0,
    FailureKind.PAGE_LIMIT: 0,
}


@pytest.mark.parametrize("kind", list(FailureKind))
def test_a_failure_is_retried_as_often_as_it_may_pass(kind: FailureKind) -> None:
    assert retries(failure=kind) == FAILURES[kind]


@pytest.mark.parametrize(
    "status, times",
    [(200, 0), (204, 0), (301, 0), (304, 0), (400, 0), (401, 0), (403, 0), (404, 0), (408, 3), (410, 0), (425, 0), (429, 3),
     (499, 0), (500, 2), (501, 0), (502, 2), (503, 2), (504, 2), (505, 0), (520, 2), (599, 2), (600, 0), (999, 0)],
)  # fmt: skip
def test_a_status_is_retried_as_settled(status: int, times: int) -> None:
    assert retries(status=status) == times


@pytest.mark.parametrize("kind", list(FailureKind))
def test_only_after_a_timeout_is_the_next_one_longer(kind: FailureKind) -> None:
    for attempt in range(FAILURES[kind]):
        decision = decide(status=None, failure=kind, attempt=attempt, retry_after=None, jitter=0.0)
        assert isinstance(decision, Retry)
        assert decision.timeout_factor == (2.0 if "timeout" in kind.value else 1.0)


@pytest.mark.parametrize("attempt, jitter, after", [(0, 0.5, 1.0), (1, 0.5, 2.0), (2, 0.5, 4.0), (0, 0.0, 0.5), (2, 0.0, 2.0)])
def test_the_wait_doubles_and_is_spread_by_the_jitter(attempt: int, jitter: float, after: float) -> None:
    assert decide(status=None, failure=FailureKind.NETWORK, attempt=attempt, retry_after=None, jitter=jitter) == Retry(after)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_retry_after_is_waited_for_at_least(status: int) -> None:
    assert decide(status=status, failure=None, attempt=0, retry_after=90.0, jitter=0.9) == Retry(90.0)


@pytest.mark.parametrize("status", [408, 429, 503])
def test_a_page_that_asks_for_more_than_an_hour_is_not_waited_for(status: int) -> None:
    assert decide(status=status, failure=None, attempt=0, retry_after=3600.0, jitter=0.5) == Retry(3600.0)
    given_up = GiveUp(f"answered {status}: asks to wait for 3601 s")
    assert decide(status=status, failure=None, attempt=0, retry_after=3601.0, jitter=0.5) == given_up


def test_a_short_retry_after_does_not_shorten_the_backoff() -> None:
    assert decide(status=503, failure=None, attempt=1, retry_after=0.0, jitter=0.5) == Retry(2.0)


@given(st.integers(0, 2), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_nothing_and_never_over_a_minute(attempt: int, jitter: float) -> None:
    decision = decide(status=429, failure=None, attempt=attempt, retry_after=None, jitter=jitter)
    assert isinstance(decision, Retry)
    assert 0.5 <= decision.after <= 60


@pytest.mark.parametrize(
    "status, failure, attempt, reason",
    [
        (404, None, 0, "answered 404: not retried"),
        (500, None, 2, "answered 500: given up after 2 retries"),
        (None, FailureKind.REFUSED, 1, "connection_refused: given up after 1 retry"),
        (None, FailureKind.TLS, 0, "tls_error: not retried"),
    ],
)
def test_giving_up_says_why(status: int | None, failure: FailureKind | None, attempt: int, reason: str) -> None:
    assert decide(status=status, failure=failure, attempt=attempt, retry_after=5.0, jitter=0.0) == GiveUp(reason)


@pytest.mark.parametrize(
    "value, seconds",
    [
        (None, None),
        ("", None),
        ("   ", None),
        ("0", 0.0),
        ("120", 120.0),
        (" 120 ", 120.0),
        ("1.5", 1.5),
        ("-5", 0.0),
        ("86400", 86400.0),
        ("86401", 86400.0),
        ("9" * 500, 86400.0),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),
        ("Sun Nov  6 08:50:37 1994", 60.0),
        ("Sun, 06 Nov 1994 08:50:37 -0000", 60.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Sun, 06 Nov 1994 07:00:00 GMT", 0.0),
        ("Sun, 06 Nov 2094 08:49:37 GMT", 86400.0),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 99999 08:49:37 GMT", None),
        ("soon", None),
        ("1e3", None),
        ("inf", None),
        ("nan", None),
        ("٣", None),
        ("10 minutes", None),
        ("10, 20", None),
    ],
)
def test_a_retry_after_header_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


@given(st.text(max_size=60), st.floats(0, 4e9))
def test_any_header_gives_nothing_or_at_most_a_day(value: str, now: float) -> None:
    seconds = parse_retry_after(value, now)
    assert seconds is None or 0 <= seconds <= 86400
