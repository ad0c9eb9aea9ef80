"""What a driver is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.stored_size import StoredSize


@dataclass(frozen=True, slots=True)
class Job:
    """One crawl that is asked of a peer."""

    url: str
    folder: Path
    """An empty folder for its output, and its current folder."""
    concurrency: int

    @property
    def output(self) -> Path:
        return self.folder / "output"


@dataclass(frozen=True, slots=True)
class InstalledPeer:
    """A peer that is installed."""

    version: str
    command: Callable[[Job], list[str]]


@dataclass(frozen=True, slots=True)
class Peer:
    """A crawler of the comparison."""

    name: str
    work: str
    """What it does with a page: a figure means little without it."""
    prepare: Callable[[Path], InstalledPeer]
    """Install below the given cache folder; raises `Unavailable`."""
    recorded: Callable[[Job], int] | None = None
    """How many pages its own output holds: a cross-check against the server's log. None where the output does not say."""
    kept: Callable[[Job], StoredSize] | None = None
    """What its database holds and weighs, where that is compared."""
    repeats: bool = False
    """Quick enough to be run several times."""


def count_lines(job: Job) -> int:
    """The records of a JSON Lines output."""
    if not job.output.exists():
        return 0
    with job.output.open("rb") as file:
        return sum(1 for _ in file)
