"""The numbers behind every form: how each URL came out, and how many there are of each. One look at every URL; none is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from tadoru.jobs.links.result import CrawlResult, FailedUrl, UrlInfo
from tadoru.jobs.report.escape import origin
from tadoru.jobs.report.graph.dots import Outcome


def outcome_of(info: UrlInfo, failed: FailedUrl | None) -> Outcome:
    """A failure decides; a code that was accepted is no failure and counts as fine."""
    if failed is not None:
        return Outcome.BLOCKED if failed.blocked else Outcome.BROKEN
    if info.status_code is None:
        return Outcome.UNREAD
    if info.redirect_to or 300 <= info.status_code <= 399:
        return Outcome.REDIRECT
    return Outcome.OK


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over the internal URLs."""

    failed: Mapping[str, FailedUrl]
    outcomes: Mapping[Outcome, int]
    statuses: tuple[tuple[str, int], ...]
    """Label and count, the codes in order, then what has none."""
    depths: tuple[tuple[int, int], ...]
    """Depth and count, every depth up to the deepest."""
    rate: float
    """Pages a second."""
    first_seen: datetime | None
    site: str
    """The origin that most URLs are on. Counted, because a start URL often redirects to another host."""
    unread_below: Mapping[str | None, int]
    """For each URL that was given as a parent, how many of its children were not requested."""

    @classmethod
    def of(cls, result: CrawlResult) -> Figures:
        failed = {failure.url: failure for failure in result.failed_urls}
        outcomes: Counter[Outcome] = Counter()
        statuses: Counter[str] = Counter()
        depths: Counter[int] = Counter()
        below: Counter[str | None] = Counter()
        home = origin(result.start_url)
        homes = Counter({home: 0})
        first_seen: datetime | None = None
        for info in result.internal_urls:
            failure = failed.get(info.url)
            outcome = outcome_of(info, failure)
            outcomes[outcome] += 1
            statuses[_status_label(info, failure)] += 1
            depths[info.depth] += 1
            below[info.parent_url] += outcome is Outcome.UNREAD
            if not info.url.startswith(home + "/"):
                home = origin(info.url)
            homes[home] += 1
            if first_seen is None or info.discovered_at < first_seen:
                first_seen = info.discovered_at
        duration = result.crawl_duration
        return cls(
            failed=failed,
            outcomes=outcomes,
            statuses=tuple(sorted(statuses.items())),
            depths=tuple((depth, depths[depth]) for depth in _every(depths)),
            rate=result.total_processed / duration if duration > 0 else 0.0,
            first_seen=first_seen,
            site=max(homes, key=lambda home: homes[home]),
            unread_below=below,
        )

    def outcome(self, info: UrlInfo) -> Outcome:
        return outcome_of(info, self.failed.get(info.url))

    def bears(self, info: UrlInfo) -> bool:
        """Whether a URL was requested, or others hang from it: a report keeps these, and the others may be millions."""
        return info.url in self.unread_below or self.outcome(info) is not Outcome.UNREAD


def _every(depths: Mapping[int, int]) -> Iterable[int]:
    # A start list or a resumed state may name a depth far from the others; empty ones are shown only when they are few.
    deepest = max(depths, default=-1)
    return range(deepest + 1) if deepest <= 2 * len(depths) else sorted(depths)


def _status_label(info: UrlInfo, failed: FailedUrl | None) -> str:
    code = info.status_code
    if code is None and failed is not None:
        code = failed.status_code
    if code is not None:
        return str(code)
    return "no answer" if failed is not None else "not requested"
