"""What the rooms of the service's crawls give and take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class CrawlState(StrEnum):
    """How a crawl of the service stands."""

    QUEUED = "queued"
    """It is to be run as soon as there is room."""
    RUNNING = "running"
    PAUSED = "paused"
    """Somebody paused it; it goes on where it was."""
    STOPPED = "stopped"
    """Somebody ended it; what it found is there, and it can be gone on with."""
    FINISHED = "finished"
    FAILED = "failed"
    """It could not be run; `error` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCrawl:
    """A crawl that the service knows."""

    id: int
    name: str
    job: str
    """`audit`, `links` or `docs`."""
    starts: tuple[str, ...]
    options: Mapping[str, Any]
    """What was chosen, by the names of the job's options."""
    place: str
    """Its database, or its folder for `docs`: below the service's own folder as `crawls/…` or `docs/…`, or a path that an
    operator named, which is never removed from the disk."""
    state: CrawlState
    wanted: str
    """`pause` or `stop`, when somebody asked a running crawl for it."""
    again: bool
    """Its next run asks for everything again."""
    error: str
    webhook: str
    """Where it is told that a run found the site worse than before; empty for nowhere."""
    every: int | None
    """Seconds from one run to the next, of a crawl that repeats itself."""
    next_at: datetime | None
    created_at: datetime
    created_by: str
    started_at: datetime | None
    ended_at: datetime | None
    beat_at: datetime | None
    progress: Mapping[str, Any]
    """The last that was heard of its run: `pages`, `errors`, `queued`, `known`, `rate` (pages a second), `seconds`."""

    @property
    def is_ours(self) -> bool:
        """Its files are below the service's own folder."""
        return self.place.startswith(("crawls/", "docs/"))

    @property
    def is_busy(self) -> bool:
        return self.state in (CrawlState.QUEUED, CrawlState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRun:
    """One run of a crawl, as trends know it."""

    id: int
    crawl_id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str
    """`finished`, `paused`, `stopped`, `failed`; empty while it runs."""
    figures: Mapping[str, Any]
    """Numbers to compare runs by, such as `pages`, `errors`, `score`, `findings.error`."""
    changes: Mapping[str, Any]
    """What is different from the run before, and whether that is a regression."""
    told_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMessage:
    """What is told to those who watch."""

    id: int
    """Grows with every message: who was away asks for what came after the last one they saw."""
    at: datetime
    kind: str
    """Such as `crawl.progress`; the kinds are in `serve.live`."""
    subject: str
    """What it is about, such as `crawl/12` or `source/3`."""
    body: Mapping[str, Any]
