"""When a failed request is repeated, how often and after how long. The engine counts and waits; hosts are paced by `pace`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from tadoru.model.web import FailureKind

MAX_RETRY_AFTER = 24 * 3600.0
MAX_BACKOFF = 60.0
LONGEST_WAIT = 3600.0
"""A page that asks for a longer wait is not retried."""

_SECONDS = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_TIMEOUTS = frozenset({FailureKind.CONNECT_TIMEOUT, FailureKind.RESPONSE_TIMEOUT, FailureKind.DOWNLOAD_TIMEOUT})
_RETRIES = {
    **dict.fromkeys(_TIMEOUTS, 3),
    FailureKind.NETWORK: 3,
    FailureKind.INCOMPLETE: 3,
    FailureKind.DNS: 1,
    FailureKind.REFUSED: 1,
    FailureKind.PROTOCOL: 1,
    FailureKind.BAD_ENCODING: 1,
    FailureKind.PROXY: 1,
}
"""Retries of temporary failures. The other kinds would fail again: certificates, sizes, redirects, the guard."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Repeat the request."""

    after: float
    """Minimum seconds from now."""
    timeout_factor: float = 1.0
    """Factor for the original timeout."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not repeat the request."""

    reason: str


def parse_retry_after(value: str | None, now: float) -> float | None:
    """The seconds of a Retry-After header (seconds or an HTTP date), at most a day; None when it is not valid."""
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    else:
        try:
            date = parsedate_to_datetime(text)
            # HTTP dates are in GMT, also in the old format without a zone.
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def decide(
    *,
    status: int | None,
    failure: FailureKind | None,
    attempt: int,
    retry_after: float | None,
    jitter: float,
    limit: int | None = None,
) -> Retry | GiveUp:
    """Whether to repeat a request with this result. `attempt`: retries already done; `jitter`: in [0, 1); `limit`: retries of any
    temporary failure, instead of a number for each."""
    allowed = _allowed(status, failure)
    if allowed and limit is not None:
        allowed = limit
    what = f"answered {status}" if failure is None else str(failure)
    if allowed == 0:
        return GiveUp(f"{what}: not retried")
    if attempt >= allowed:
        return GiveUp(f"{what}: given up after {attempt} {'retry' if attempt == 1 else 'retries'}")
    if retry_after is not None and retry_after > LONGEST_WAIT:
        return GiveUp(f"{what}: asks to wait for {retry_after:.0f} s")
    backoff = min(2.0**attempt * (0.5 + jitter), MAX_BACKOFF)
    return Retry(max(backoff, retry_after or 0.0), 2.0 if failure in _TIMEOUTS else 1.0)


def _allowed(status: int | None, failure: FailureKind | None) -> int:
    """The number of retries for a status or failure."""
    if failure is not None:
        return _RETRIES.get(failure, 0)
    if status in (408, 429):
        return 3
    if status in (501, 505):  # Not implemented by the server: it would fail again.
        return 0
    return 2 if status is not None and 500 <= status < 600 else 0
