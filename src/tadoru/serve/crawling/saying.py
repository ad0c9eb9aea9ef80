"""What is said of a crawl while it runs: its progress in numbers, and the few notices that a person should hear.

A hostile site can cause any number of notices: so many at a time are handed on, and the rest only counted.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from tadoru.engine.notices import (
    HostSlowed,
    LeasesRecovered,
    Notice,
    PageBroke,
    PageLimited,
    PageUnrendered,
    SitemapRead,
    SiteMoved,
)
from tadoru.jobs.report.words import counted
from tadoru.log import printable
from tadoru.store.base import Counts
from tadoru.store.crawls.live import LiveMessages
from tadoru.store.metrics import Metrics

AT_ONCE = 5
"""Notices of one beat."""
IN_ALL = 200
"""Notices of one run."""
LONGEST = 400
LONG_PAUSE = 30.0


def progress_of(metrics: Metrics | None, seconds: float, seen: deque[tuple[float, int]], now: float) -> dict[str, Any]:
    """How a crawl stands. `seen` keeps what was counted at the last beats, for the rate."""
    if metrics is None:
        return {"seconds": round(seconds, 1)}
    counts = metrics.counts
    seen.append((now, counts.counted))
    (first, before), (last, after) = seen[0], seen[-1]
    rate = (after - before) / (last - first) if last > first else 0.0
    return counted_of(counts) | {"rate": round(rate, 1), "seconds": round(seconds, 1)}


def counted_of(counts: Counts) -> dict[str, Any]:
    """How far a crawl came, in pages and URLs."""
    waiting = counts.queued + counts.processing
    return {"pages": counts.counted, "errors": counts.error, "queued": waiting, "known": counts.known}


class Notices:
    """Collects notices of a crawl, and hands a bounded number of them on."""

    def __init__(self, store: LiveMessages, crawl_id: int) -> None:
        self._store, self._id = store, crawl_id
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, str]] = deque(maxlen=AT_ONCE * 10)
        self._said = 0
        self._hosts: set[str] = set()

    def hear(self, notice: Notice) -> None:
        """A notice of the engine."""
        words = self._words(notice)
        if words is not None:
            with self._lock:
                self._waiting.append(words)

    def say(self, level: str, text: str) -> None:
        """Something else that is worth saying, at once."""
        body = {"crawl_id": self._id, "level": level, "text": printable(text)[:LONGEST]}
        self._store.tell("crawl.notice", f"crawl/{self._id}", body)

    def hand_on(self) -> None:
        """Tell what was heard since the last time."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        for level, text in batch:
            if self._said < IN_ALL:
                self.say(level, text)
            elif self._said == IN_ALL:
                self.say("info", "There is more to say, which is left out: see what the crawl found.")
            self._said += 1

    @staticmethod
    def is_our_fault(notice: Notice) -> tuple[str, str] | None:
        """The URL and the trace of a fault of our own, for the log."""
        return (notice.url, notice.trace) if isinstance(notice, PageBroke) else None

    def _words(self, notice: Notice) -> tuple[str, str] | None:
        match notice:
            case HostSlowed() if notice.pause >= LONG_PAUSE:
                return "warning", f"{notice.host} asks to be left alone for {notice.pause:.0f} seconds: waiting."
            case HostSlowed() if notice.host not in self._hosts and len(self._hosts) < IN_ALL:
                self._hosts.add(notice.host)
                return "info", f"Slowing down for {notice.host}."
            case SiteMoved():
                return "info", f"{notice.old} redirects to {notice.new}: crawling that site."
            case SitemapRead() if notice.problem:
                return "warning", f"The sitemap {notice.url} has a problem: {notice.problem.rstrip('.')}."
            case LeasesRecovered():
                return "info", f"Went on with {counted(notice.count, 'URL')} of a process that ended early."
            case PageLimited():
                return "warning", f"A part of {notice.url} is left out: {'; '.join(notice.reasons)}."
            case PageUnrendered() if notice.browser_missing:
                return "warning", notice.reason
            case PageBroke():
                return "error", f"Tadoru failed on {notice.url}: please report this, with the log of the service."
        return None
