"""The words for what became of a URL, for those who ask about arrays of them without knowing arrays."""

from __future__ import annotations

from enum import IntEnum

REFUSED_CODES = (401, 403, 407, 429, 451, 999)
"""A refusal of us: the page itself may be fine for a visitor."""
PERMANENT = (301, 308)


class State(IntEnum):
    """Where a URL stands, as far as checks care."""

    UNASKED = 0
    """Known, and not to be requested."""
    COMPLETED = 1
    ERROR = 2
    FORBIDDEN = 3
    """By robots.txt."""
    SKIPPED = 4
    """For a reason of this crawl: depth, patterns, a trap."""
    WAITING = 5


class Verdict(IntEnum):
    """What a URL is good for as the target of a link or a statement."""

    UNKNOWN = 0
    """It was not requested, or too large to be read."""
    GOOD = 1
    NOINDEX = 2
    CANONICALISED = 3
    REDIRECT = 4
    BROKEN = 5
    REFUSED = 6
    FORBIDDEN = 7
