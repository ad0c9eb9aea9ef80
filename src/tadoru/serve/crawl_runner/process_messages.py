"""What the process of a crawl is started for. Apart from that process: it knows the whole engine, and the service need not."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tadoru.engine.notifications import (
    CrawlNotification,
    HostSlowed,
    LeasesRecovered,
    PageHandlerFailed,
    PageNotRendered,
    PageTruncated,
    SitemapRead,
    SiteMoved,
)
from tadoru.jobs.reporting.formatting import format_count
from tadoru.log import printable
from tadoru.store.crawl.interface import CrawlCounts
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.served_crawls.live_messages import LiveMessages


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """What a process is started for. It crosses to it as JSON."""

    database: str
    crawl_id: int
    operators: Mapping[str, Any]
    private: tuple[str, ...] = ()
    log_format: str = "text"
    log_level: str = "info"

    def dumped(self) -> bytes:
        fields = {name: getattr(self, name) for name in CrawlRequest.__dataclass_fields__}
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def loaded(cls, line: bytes) -> CrawlRequest:
        fields = json.loads(line)
        return cls(**fields | {"private": tuple(fields["private"])})


NOTICES_PER_HEARTBEAT = 5
"""Notices of one beat."""
MAX_NOTICES = 200
"""Notices of one run."""
MAX_NOTICE_LENGTH = 400
LONG_PAUSE = 30.0


def progress_of(metrics: CrawlMetrics | None, seconds: float, seen: deque[tuple[float, int]], now: float) -> dict[str, Any]:
    """How a crawl stands. `seen` keeps what was counted at the last beats, for the rate."""
    if metrics is None:
        return {"seconds": round(seconds, 1)}
    counts = metrics.counts
    seen.append((now, counts.counted))
    (first, before), (last, after) = seen[0], seen[-1]
    rate = (after - before) / (last - first) if last > first else 0.0
    return progress_counts(counts) | {"rate": round(rate, 1), "seconds": round(seconds, 1)}


def progress_counts(counts: CrawlCounts) -> dict[str, Any]:
    """How far a crawl came, in pages and URLs."""
    waiting = counts.queued + counts.processing
    return {"pages": counts.counted, "errors": counts.error, "queued": waiting, "known": counts.known}


class NoticeSender:
    """Collects notices of a crawl, and hands a bounded number of them on."""

    def __init__(self, store: LiveMessages, crawl_id: int) -> None:
        self._store, self._id = store, crawl_id
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, str]] = deque(maxlen=NOTICES_PER_HEARTBEAT * 10)
        self._said = 0
        self._hosts: set[str] = set()

    def hear(self, notice: CrawlNotification) -> None:
        """A notice of the engine."""
        words = self._words(notice)
        if words is not None:
            with self._lock:
                self._waiting.append(words)

    def say(self, level: str, text: str) -> None:
        """Something else that is worth saying, at once."""
        body = {"crawl_id": self._id, "level": level, "text": printable(text)[:MAX_NOTICE_LENGTH]}
        self._store.tell("crawl.notice", f"crawl/{self._id}", body)

    def hand_on(self) -> None:
        """Tell what was heard since the last time."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(NOTICES_PER_HEARTBEAT, len(self._waiting)))]
        for level, text in batch:
            if self._said < MAX_NOTICES:
                self.say(level, text)
            elif self._said == MAX_NOTICES:
                self.say("info", "There is more to say, which is left out: see what the crawl found.")
            self._said += 1

    @staticmethod
    def is_our_fault(notice: CrawlNotification) -> tuple[str, str] | None:
        """The URL and the trace of a fault of our own, for the log."""
        return (notice.url, notice.trace) if isinstance(notice, PageHandlerFailed) else None

    def _words(self, notice: CrawlNotification) -> tuple[str, str] | None:
        match notice:
            case HostSlowed() if notice.pause >= LONG_PAUSE:
                return "warning", f"{notice.host} asks to be left alone for {notice.pause:.0f} seconds: waiting."
            case HostSlowed() if notice.host not in self._hosts and len(self._hosts) < MAX_NOTICES:
                self._hosts.add(notice.host)
                return "info", f"Slowing down for {notice.host}."
            case SiteMoved():
                return "info", f"{notice.old} redirects to {notice.new}: crawling that site."
            case SitemapRead() if notice.problem:
                return "warning", f"The sitemap {notice.url} has a problem: {notice.problem.rstrip('.')}."
            case LeasesRecovered():
                return "info", f"Went on with {format_count(notice.count, 'URL')} of a process that ended early."
            case PageTruncated():
                return "warning", f"A part of {notice.url} is left out: {'; '.join(notice.reasons)}."
            case PageNotRendered() if notice.browser_missing:
                return "warning", notice.reason
            case PageHandlerFailed():
                return "error", f"Tadoru failed on {notice.url}: please report this, with the log of the service."
        return None
