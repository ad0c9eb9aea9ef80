"""What every format is made from: the crawl with its links, and its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from tadoru.jobs.links.result import BrokenLink, CrawlResult, FailedUrl, LinkEdge, UrlInfo
from tadoru.jobs.reporting.escape import url_origin
from tadoru.jobs.reporting.graph_layout import UrlOutcome

OUTCOME_NAMES = {
    UrlOutcome.OK: "Fine",
    UrlOutcome.REDIRECT: "Redirected",
    UrlOutcome.BROKEN: "Broken",
    UrlOutcome.BLOCKED: "Blocked",
    UrlOutcome.UNREAD: "Not requested",
}


@dataclass(frozen=True, slots=True)
class LinksReport:
    """A crawl, its links, and how much of it to show."""

    result: CrawlResult
    edges: Callable[[], Iterable[LinkEdge]]
    """Streams the links between pages from the store; may be called more than once."""
    broken: tuple[BrokenLink, ...] = ()
    """Usually `result.bad_links`."""
    show_external: bool = False
    checked: bool = False
    """Whether links were checked, so that none being broken is worth a sentence."""
    accepted: int = 0
    """Bad links that a suppression file accepts, and that are not among the broken."""

    @property
    def all_well(self) -> str:
        """What is said of a check that found nothing bad; no full stop at its end."""
        works = "Every link that was tried works" if self.result.stopped else "Every link works"
        return f"{works}, but for {self.accepted:,} that you accept" if self.accepted else works


def outcome_of(info: UrlInfo, failed: FailedUrl | None) -> UrlOutcome:
    """A failure decides; a code that was accepted is no failure and counts as fine."""
    if failed is not None:
        return UrlOutcome.BLOCKED if failed.blocked else UrlOutcome.BROKEN
    if info.status_code is None:
        return UrlOutcome.UNREAD
    if info.redirect_to or 300 <= info.status_code <= 399:
        return UrlOutcome.REDIRECT
    return UrlOutcome.OK


@dataclass(frozen=True, slots=True)
class LinksFigures:
    """Counts over the internal URLs."""

    failed: Mapping[str, FailedUrl]
    outcomes: Mapping[UrlOutcome, int]
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
    def of(cls, result: CrawlResult) -> LinksFigures:
        failed = {failure.url: failure for failure in result.failed_urls}
        outcomes: Counter[UrlOutcome] = Counter()
        statuses: Counter[str] = Counter()
        depths: Counter[int] = Counter()
        below: Counter[str | None] = Counter()
        home = url_origin(result.start_url)
        homes = Counter({home: 0})
        first_seen: datetime | None = None
        for info in result.internal_urls:
            failure = failed.get(info.url)
            outcome = outcome_of(info, failure)
            outcomes[outcome] += 1
            statuses[_status_label(info, failure)] += 1
            depths[info.depth] += 1
            below[info.parent_url] += outcome is UrlOutcome.UNREAD
            if not info.url.startswith(home + "/"):
                home = url_origin(info.url)
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

    def outcome(self, info: UrlInfo) -> UrlOutcome:
        return outcome_of(info, self.failed.get(info.url))

    def bears(self, info: UrlInfo) -> bool:
        """Whether a URL was requested, or others hang from it: a report keeps these, and the others may be millions."""
        return info.url in self.unread_below or self.outcome(info) is not UrlOutcome.UNREAD


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
