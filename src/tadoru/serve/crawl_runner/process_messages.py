"""What the service and a crawl process exchange: the request to the process, its progress and its notices.

A hostile site can cause any number of notices, so only a limited number is sent; the rest is dropped.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tadoru.engine import notifications
from tadoru.errors import Message, clip_message
from tadoru.log import printable
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.records import CrawlCounts
from tadoru.store.served_crawls.live_messages import LiveMessages


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """The request to a crawl process, passed as JSON."""

    database: str
    crawl_id: int
    operators: Mapping[str, Any]
    private: tuple[str, ...] = ()
    log_format: str = "text"
    log_level: str = "info"

    def to_json(self) -> bytes:
        fields = {name: getattr(self, name) for name in CrawlRequest.__dataclass_fields__}
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> CrawlRequest:
        fields = json.loads(line)
        return cls(**fields | {"private": tuple(fields["private"])})


NOTICES_PER_HEARTBEAT = 5
"""Notices sent per heartbeat."""
MAX_NOTICES = 200
"""Notices sent per run."""
MAX_NOTICE_LENGTH = 400
LONG_PAUSE = 30.0


def progress_of(metrics: CrawlMetrics | None, seconds: float, seen: deque[tuple[float, int]], now: float) -> dict[str, Any]:
    """The progress of a crawl. `seen` holds the counts of the last heartbeats, for the rate."""
    if metrics is None:
        return {"seconds": round(seconds, 1)}
    counts = metrics.counts
    seen.append((now, counts.counted))
    (first, before), (last, after) = seen[0], seen[-1]
    rate = (after - before) / (last - first) if last > first else 0.0
    return progress_counts(counts) | {"rate": round(rate, 1), "seconds": round(seconds, 1)}


def progress_counts(counts: CrawlCounts) -> dict[str, Any]:
    """The progress of a crawl in pages and URLs."""
    waiting = counts.queued + counts.processing
    return {"pages": counts.counted, "errors": counts.error, "queued": waiting, "known": counts.known}


class NoticeSender:
    """Collects the notices of a crawl and sends a limited number of them."""

    def __init__(self, messages: LiveMessages, crawl_id: int) -> None:
        self._messages, self._id = messages, crawl_id
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, str]] = deque(maxlen=NOTICES_PER_HEARTBEAT * 10)
        self._sent = 0
        self._hosts: set[str] = set()

    def add(self, notice: notifications.CrawlNotification) -> None:
        """Queue a notification of the engine."""
        text = self._text(notice)
        if text is not None:
            with self._lock:
                self._waiting.append(text)

    def send(self, level: str, text: str) -> None:
        """Send a notice immediately."""
        shown = text if printable(text) == text else printable(text)
        body = {"crawl_id": self._id, "level": level, "text": clip_message(shown, MAX_NOTICE_LENGTH)}
        self._messages.publish("crawl.notice", f"crawl/{self._id}", body)

    def send_pending(self) -> None:
        """Send the notices since the last call."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(NOTICES_PER_HEARTBEAT, len(self._waiting)))]
        for level, text in batch:
            if self._sent < MAX_NOTICES:
                self.send(level, text)
            elif self._sent == MAX_NOTICES:
                self.send("info", Message("Further notices are omitted. See the results of the crawl."))
            self._sent += 1

    @staticmethod
    def bug_report(notice: notifications.CrawlNotification) -> tuple[str, str] | None:
        """The URL and the trace of a bug in Tadoru, for the log; None for other notices."""
        return (notice.url, notice.trace) if isinstance(notice, notifications.PageHandlerFailed) else None

    def _text(self, notice: notifications.CrawlNotification) -> tuple[str, str] | None:
        match notice:
            case notifications.HostSlowed() if notice.pause >= LONG_PAUSE and not notice.silent:
                return "warning", Message(
                    "{host} requests a pause of {seconds} seconds. Waiting.", host=notice.host, seconds=f"{notice.pause:.0f}"
                )
            case notifications.HostSlowed() if notice.host not in self._hosts and len(self._hosts) < MAX_NOTICES:
                self._hosts.add(notice.host)
                return "info", Message("Slowing down for {host}.", host=notice.host)
            case notifications.SiteMoved():
                return "info", Message("{old} redirects to {new}. Crawling that site.", old=notice.old, new=notice.new)
            case notifications.SitemapRead() if notice.problem:
                return "warning", Message(
                    "The sitemap {url} has a problem: {problem}.", url=notice.url, problem=notice.problem.rstrip(".")
                )
            case notifications.LeasesRecovered():
                return "info", Message("Resumed URLs of a process that ended early: {count}", count=f"{notice.count:,}")
            case notifications.PageTruncated():
                return "warning", Message(
                    "Skipped a part of {url}: {reasons}.", url=notice.url, reasons="; ".join(notice.reasons)
                )
            case notifications.PageNotRendered() if notice.browser_missing:
                return "warning", notice.reason
            case notifications.PageHandlerFailed():
                return "error", Message("Bug in Tadoru on {url}. Please report it with the service log.", url=notice.url)
        return None
