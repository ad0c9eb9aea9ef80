"""What a picture of a site is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a URL came out, in the order a reader cares for."""

    BROKEN = "broken"
    BLOCKED = "blocked"
    REDIRECT = "redirect"
    OK = "ok"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Dot:
    """One dot: a page, or the pages of a directory that are not drawn apart."""

    url: str | None
    """None for a directory."""
    parent: int | None
    """The index of the dot it hangs from, which comes before it."""
    depth: int
    outcome: Outcome
    weight: float = 0.0
    """How much leads to it."""
    directory: str = ""
    pages: int = 1
