"""How fast a host is asked: the gap between two requests, and when to leave it alone for a while.

Values in, values out: the store keeps a host's `Pace` so that every worker goes by it, the engine waits. Whether one request
is worth repeating is `retry`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

MAX_GAP = 60.0
"""Adaptation never makes a gap longer than this, nor is a longer Crawl-delay honoured."""
MAX_HOLD = 3600.0
"""The longest that one Retry-After keeps a host from being asked."""
MAX_UNTOLD_HOLD = 60.0
"""The longest that a 429 or 503 without Retry-After does."""

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
    """What is known of a host's patience. All seconds."""

    gap: float
    """Between two requests, now."""
    base: float
    """What the gap returns to."""
    latency: float | None
    """Smoothed over the recent answers."""
    baseline: float | None
    """How fast it answered when the crawl began, or since."""
    strikes: int
    """429s and 503s not yet made up for by good answers."""


def start(delay: float, crawl_delay: float | None) -> Pace:
    """The pace for a host that has not been asked anything yet."""
    base = max(delay, min(crawl_delay or 0.0, MAX_GAP))
    return Pace(gap=base, base=base, latency=None, baseline=None, strikes=0)


def observe(pace: Pace, *, status: int | None, latency: float | None, retry_after: float | None) -> tuple[Pace, float]:
    """The pace after an answer (status None: there was none), and for how many seconds to leave the host alone."""
    hold = min(retry_after or 0.0, MAX_HOLD) if _can_ask_to_wait(status) else 0.0
    if status in (429, 503):
        if retry_after is None:
            hold = min(2.0**pace.strikes, MAX_UNTOLD_HOLD)
        gap = min(max(pace.gap * 2, _LEAST_GAP_AFTER_STRIKE), max(MAX_GAP, pace.base))
        return replace(pace, gap=gap, strikes=min(pace.strikes + 1, _MAX_STRIKES)), hold
    if status is None or status == 408 or status >= 500:
        return pace, hold  # No sign that the host can take more.
    return _after_good(_timed(pace, latency)), hold


def _can_ask_to_wait(status: int | None) -> bool:
    """Where Retry-After means something. On any other answer a page could stop the crawl of its whole site with it."""
    return status is not None and (300 <= status < 400 or status in (408, 413, 429) or status >= 500)


def _timed(pace: Pace, latency: float | None) -> Pace:
    if latency is None:
        return pace
    if pace.latency is None or pace.baseline is None:
        return replace(pace, latency=latency, baseline=latency)
    smoothed = pace.latency + _SMOOTHING * (latency - pace.latency)
    # The first answer may have been a cold one: a faster host than it seemed moves the baseline, a slower one does not.
    return replace(pace, latency=smoothed, baseline=min(pace.baseline, smoothed))


def _after_good(pace: Pace) -> Pace:
    if _labours(pace):
        limit = min(pace.base * _SLOW_MOST, MAX_GAP)
        return replace(pace, gap=max(pace.gap, min(pace.gap * _SLOW_STEP, limit)), strikes=max(pace.strikes - 1, 0))
    excess = (pace.gap - pace.base) * _RECOVERY
    gap = pace.base if excess < _CLOSE_ENOUGH else pace.base + excess
    return replace(pace, gap=gap, strikes=max(pace.strikes - 1, 0))


def _labours(pace: Pace) -> bool:
    """Answers have become slow. A base of 0 is a person's word that the host can take it."""
    if pace.base == 0 or pace.latency is None or pace.baseline is None:
        return False
    return pace.latency > _SLOW_FROM and pace.latency > pace.baseline * _SLOW_RATIO
