"""Crawls as pages show them: states as colours and words, figures of runs, lines of trends. Pure, but for the store's values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tadoru.model.finding import Severity
from tadoru.serve.pages.crawls_charts import Trend, trend
from tadoru.serve.pages.showing import is_web
from tadoru.serve.pages.words import Say
from tadoru.store.crawls.values import CrawlRun, CrawlState, ServedCrawl

JOBS = ("audit", "links", "docs")
_KINDS = {
    CrawlState.RUNNING: "mine", CrawlState.PAUSED: "warn", CrawlState.FINISHED: "good", CrawlState.FAILED: "bad",
}  # fmt: skip
_OUTCOMES = {"finished": "good", "failed": "bad", "paused": "warn"}
_TRENDS = (
    "score",
    "pages",
    "findings.error",
    "findings.warning",
    "errors",
    "broken_links",
    "median_ms",
    "added",
    "changed",
    "removed",
)
"""The figures that are drawn over time, in this order; each where the runs have it."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run of a crawl in the table."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    seconds: float | None
    kind: str
    words: str
    figures: Mapping[str, Any]
    is_regression: bool
    reasons: tuple[str, ...]
    new: int
    fixed: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A crawl in the list."""

    crawl: ServedCrawl
    kind: str
    words: str
    start: str
    pages: int | None
    severities: tuple[tuple[str, int], ...]
    """Findings of its last finished run, the gravest first."""
    last_at: datetime | None
    is_regression: bool


def state_of(crawl: ServedCrawl) -> tuple[str, str]:
    """How a crawl stands, as a colour and the key of its words."""
    if crawl.state is CrawlState.RUNNING and crawl.wanted:
        return "warn", f"crawl.state.{crawl.wanted}_wanted"
    return _KINDS.get(crawl.state, ""), f"crawl.state.{crawl.state.value}"


def listed(crawl: ServedCrawl, last: CrawlRun | None) -> Listed:
    kind, words = state_of(crawl)
    figures = last.figures if last is not None else {}
    pages = figure(crawl.progress, "pages") if crawl.is_busy or last is None else figure(figures, "pages")
    return Listed(
        crawl, kind, words, crawl.starts[0] if crawl.starts else "", None if pages is None else int(pages),
        tuple((each.value, int(figure(figures, f"findings.{each.value}") or 0)) for each in Severity) if figures else (),
        crawl.ended_at or crawl.started_at, bool(last is not None and last.changes.get("regression")),
    )  # fmt: skip


def shown_run(run: CrawlRun) -> ShownRun:
    outcome = run.outcome or "running"
    reasons = run.changes.get("reasons") or ()
    return ShownRun(
        run.id, run.started_at, run.ended_at, (run.ended_at - run.started_at).total_seconds() if run.ended_at else None,
        _OUTCOMES.get(outcome, "mine" if outcome == "running" else ""), f"crawl.state.{outcome}", run.figures,
        bool(run.changes.get("regression")), tuple(str(one) for one in reasons if isinstance(one, str)),
        int(figure(run.changes, "new") or 0), int(figure(run.changes, "fixed") or 0),
    )  # fmt: skip


_REASONS = (
    (re.compile(r"([\d,]+) pages? broke\."), "reason.broke"),
    (re.compile(r"([\d,]+) pages? vanished\."), "reason.vanished"),
    (re.compile(r"([\d,]+) pages? can no longer be found by search engines\."), "reason.deindexed"),
    (re.compile(r"([\d,]+) new errors?\."), "reason.new"),
    (re.compile(r"([\d,]+) of ([\d,]+) pages are gone\."), "reason.gone"),
    (re.compile(r"([\d,]+) (?:broken links?|links are broken); ([\d,]+) (?:were )?before\."), "reason.links"),
    (re.compile(r"The score fell from ([\d.]+) to ([\d.]+)\."), "reason.score"),
)
"""Why a run is worse, as `jobs.served` and `jobs.audit.trend` write it, and the key of the same in every language."""


def reason_in(reason: str, say: Say) -> str:
    """A reason in the language of the page; one that is unknown stays as it is."""
    for pattern, key in _REASONS:
        if found := pattern.fullmatch(reason):
            return say(key, **{f"n{place}": value for place, value in enumerate(found.groups())})
    return reason


def figure(figures: Mapping[str, Any], name: str) -> float | None:
    """A number by its name; `findings.error` may be a name or lead into a group."""
    found: Any = figures.get(name)
    if found is None and "." in name:
        group, _, rest = name.partition(".")
        within = figures.get(group)
        found = within.get(rest) if isinstance(within, Mapping) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def trends(runs: Sequence[CrawlRun]) -> tuple[Trend, ...]:
    """A line for each figure that at least two finished runs have. The newest run comes first."""
    finished = [run for run in reversed(runs) if run.outcome == "finished" and run.ended_at is not None]
    drawn = []
    for name in _TRENDS:
        values = [(run.ended_at, value) for run in finished if (value := figure(run.figures, name)) is not None]
        line = trend(name, [(at, value) for at, value in values if at is not None], ceiling=100.0 if name == "score" else None)
        if line is not None and (line.most or line.least):
            drawn.append(line)
    return tuple(drawn)


def web(url: str) -> str:
    """An address that may be a link, or nothing."""
    return url if is_web(url) else ""
