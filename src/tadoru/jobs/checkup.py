"""What every doctor says and asks: how something is, the clock, the time zones, and which optional packages are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib import metadata
from importlib.util import find_spec
from zoneinfo import ZoneInfo

from tadoru.clock import Clock, to_datetime
from tadoru.extras import not_installed

PACKAGES = {
    "playwright": ("render", "pages that need a browser"),
    "fastapi": ("serve", "the service"),
    "psycopg": ("postgres", "PostgreSQL"),
    "procrastinate": ("cluster", "workers on several machines"),
    "mcp": ("mcp", "answering agents"),
    "meilisearch": ("search", "search engines"),
    "apprise": ("notify", "notifications"),
    "pyarrow": ("parquet", "Parquet"),
    "xlsxwriter": ("xlsx", "spreadsheets"),
    "warcio": ("warc", "WARC"),
    "lxml": ("xpath", "XPath selectors"),
    "boto3": ("s3", "object storage"),
}
"""Module → the extra that brings it, and what it is for."""
_SANE = datetime(2025, 1, 1, tzinfo=UTC)


class State(StrEnum):
    """How something is."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    """It works; somebody should look."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at."""

    what: str
    state: State
    words: str


def check_clock(clock: Clock) -> Checked:
    now = to_datetime(clock.now())
    if now < _SANE:
        return Checked("clock", State.BAD, f"It says {now:%Y-%m-%d}, which is long over: set it.")
    return Checked("clock", State.GOOD, f"{now:%Y-%m-%d %H:%M} UTC")


def check_zones(own: str) -> Checked:
    """Whether time zones are known, and the one of this installation among them."""
    try:
        for name in ("Asia/Tokyo", "Europe/London", own):
            ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        return Checked("time zones", State.BAD, f"{error}: install the package tzdata.")
    try:
        version = f", data {metadata.version('tzdata')}"
    except metadata.PackageNotFoundError:
        version = ""
    return Checked("time zones", State.GOOD, f"this installation is in {own}{version}")


def check_packages(names: Iterable[str], needed: Iterable[str] = ()) -> Iterator[Checked]:
    """Which of these are there; one that is needed and is not is bad."""
    names = list(names)
    missing = [name for name in names if find_spec(name) is None]
    for name in missing:
        extra, purpose = PACKAGES[name]
        if name in needed:
            yield Checked("packages", State.BAD, not_installed(purpose, extra))
    there = [PACKAGES[name][1] for name in names if name not in missing]
    not_there = [f"{PACKAGES[name][1]} (tadoru[{PACKAGES[name][0]}])" for name in missing]
    words = f"for {', '.join(there)}" if there else "none of the optional ones"
    yield Checked("packages", State.GOOD, words + (f"; not installed: {', '.join(not_there)}" if not_there else ""))
