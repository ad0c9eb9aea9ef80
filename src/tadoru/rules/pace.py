"""The pace of a host: the gap between two requests, and when to pause it for a while.

The store keeps the `Pace` of each host so that all workers use it, and the engine waits. Whether a request is repeated is decided
in `retry`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

MAX_GAP = 60.0
"""Maximum gap by adaptation and by Crawl-delay."""
MAX_HOLD = 3600.0
"""Maximum pause by one Retry-After."""
MAX_DEFAULT_HOLD = 60.0
"""Maximum pause by a 429 or 503 without Retry-After."""
MAX_SILENCE_HOLD = 30.0
"""Maximum pause of a host that does not respond."""
MAX_CHECK_HOLD = 8.0
"""Maximum pause of a host on which only links are checked, by a 429 or 503 without Retry-After."""
LONGEST_CHECK_WAIT = 60.0
"""A host on which only links are checked and that asks for a longer wait is not requested again."""
GIVE_UP_AFTER = 300.0
"""Seconds of silence after which the URLs of a host fail without a request, except for one after each pause."""

_LEAST_GAP_AFTER_STRIKE = 0.5
_MAX_STRIKES = 6
_RECOVERY = 0.9
_CLOSE_ENOUGH = 0.05
_SMOOTHING = 0.2
_SLOW_RATIO = 3.0
_SLOW_FROM = 0.5
_SLOW_STEP = 1.5
_SLOW_MOST = 10.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a host may be requested. All in seconds."""

    gap: float
    """The current gap between two requests."""
    base: float
    """The gap that it returns to."""
    latency: float | None
    """The response time, smoothed over recent responses."""
    baseline: float | None
    """The lowest response time since the crawl started."""
    strikes: int
    """429 and 503 responses and silences, less one for each good response."""


def start(delay: float, crawl_delay: float | None) -> Pace:
    """The pace of a host before the first request."""
    base = max(delay, min(crawl_delay or 0.0, MAX_GAP))
    return Pace(gap=base, base=base, latency=None, baseline=None, strikes=0)


def observe(
    pace: Pace,
    *,
    status: int | None,
    latency: float | None,
    retry_after: float | None,
    silent: bool = False,
    is_check: bool = False,
) -> tuple[Pace, float]:
    """The pace after a response (status None: there was none), and for how many seconds to pause the host.

    `silent`: nothing at all came back from the host since this request was sent. `is_check`: links to it are checked, each a page
    that may be faulty by itself, so that many of them slow the host down only so far.
    """
    limit = min(max(pace.base * _SLOW_MOST, _LEAST_GAP_AFTER_STRIKE), MAX_GAP)
    if silent:
        gap = max(pace.gap, min(max(pace.gap * 2, _LEAST_GAP_AFTER_STRIKE), limit))
        return _struck(pace, gap), min(2.0**pace.strikes, MAX_SILENCE_HOLD)
    hold = min(retry_after or 0.0, MAX_HOLD) if _may_pause(status) else 0.0
    if status in (429, 503):
        if retry_after is None:
            hold = min(2.0**pace.strikes, MAX_CHECK_HOLD if is_check else MAX_DEFAULT_HOLD)
        most = limit if is_check else MAX_GAP
        gap = min(max(pace.gap * 2, _LEAST_GAP_AFTER_STRIKE), max(most, pace.base))
        return _struck(pace, gap), hold
    if status is None or status == 408 or status >= 500:
        return pace, hold  # No sign that the host can handle more.
    return _after_good(_timed(pace, latency)), hold


def _struck(pace: Pace, gap: float) -> Pace:
    return replace(pace, gap=gap, strikes=min(pace.strikes + 1, _MAX_STRIKES))


def _may_pause(status: int | None) -> bool:
    """Whether Retry-After counts. On any other response a page could stop the crawl of the whole site with it."""
    return status is not None and (300 <= status < 400 or status in (408, 413, 429) or status >= 500)


def _timed(pace: Pace, latency: float | None) -> Pace:
    if latency is None:
        return pace
    if pace.latency is None or pace.baseline is None:
        return replace(pace, latency=latency, baseline=latency)
    smoothed = pace.latency + _SMOOTHING * (latency - pace.latency)
    # The first response may have been slow because of empty caches: faster ones lower the baseline, slower ones do not raise it.
    return replace(pace, latency=smoothed, baseline=min(pace.baseline, smoothed))


def _after_good(pace: Pace) -> Pace:
    if _is_overloaded(pace):
        limit = min(pace.base * _SLOW_MOST, MAX_GAP)
        return replace(pace, gap=max(pace.gap, min(pace.gap * _SLOW_STEP, limit)), strikes=max(pace.strikes - 1, 0))
    excess = (pace.gap - pace.base) * _RECOVERY
    gap = pace.base if excess < _CLOSE_ENOUGH else pace.base + excess
    return replace(pace, gap=gap, strikes=max(pace.strikes - 1, 0))


def _is_overloaded(pace: Pace) -> bool:
    """Whether responses have become slow. With a base of 0 the user has said that the host can handle it."""
    if pace.base == 0 or pace.latency is None or pace.baseline is None:
        return False
    return pace.latency > _SLOW_FROM and pace.latency > pace.baseline * _SLOW_RATIO
