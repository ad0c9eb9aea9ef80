"""When a source is collected again. Pure."""

from __future__ import annotations

from tadoru.store.events.values import Source

HOUR = 3600.0
PERIODS = {"high": 3 * HOUR, "normal": 12 * HOUR}
LONGEST = 7 * 24 * HOUR
"""However often a source fails, it is tried once a week, for ever."""
LONGEST_WISH = 24 * HOUR
"""A source may ask to be read less often, up to this."""


def period(source: Source) -> float:
    """Seconds between two runs."""
    return PERIODS.get(source.frequency, source.low_hours * HOUR)


def after_success(source: Source, wish: float | None) -> float:
    """Seconds until the next run; `wish` is what the source itself asks for (its ttl)."""
    return max(period(source), min(wish or 0.0, LONGEST_WISH))


def after_failure(source: Source, failures: int, *, jitter: float, retry_after: float | None = None) -> float:
    """Seconds until the next run after so many failures in a row: one period, then twice as long each time, give or take a
    tenth (`jitter`, in [0, 1)); never sooner than the server asked for."""
    wait = min(period(source) * 2.0 ** min(failures - 1, 20), LONGEST) * (0.9 + 0.2 * jitter)
    return min(max(wait, retry_after or 0.0), LONGEST)
