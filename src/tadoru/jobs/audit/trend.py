"""Audit runs over time: the figures for trend charts, and whether a run is a regression.

A regression is one by `tadoru compare --fail-on regressions`, or a clear drop of the score. It is open until a run is as good as
the last one before it; then the site has recovered. Regression and recovery are each reported once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.i18n.stored_texts import regression, regression_changes
from tadoru.jobs.audit.compare.comparison import ChangeKind, CrawlComparison, compare_runs
from tadoru.jobs.audit.compare.run_handles import open_runs
from tadoru.jobs.audit.score import score_change
from tadoru.model.finding import Severity
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import open_existing

MAX_SCORE_DROP = 2.0
"""Points by which the score may drop, for example because the site grows, before it is a regression."""
MAX_CHECKS = 20
_BROKEN = ("link-broken", "link-external-broken", "link-broken-fragment")
EarlierRun = tuple[str, Mapping[str, Any], Mapping[str, Any]]
"""Outcome, figures and changes of a run."""
_REGRESSIONS = (
    (ChangeKind.BROKEN, "pages_broke"),
    (ChangeKind.REMOVED, "pages_vanished"),
    (ChangeKind.DEINDEXED, "pages_deindexed"),
)


async def audit_figures(database: str, clock: Clock) -> dict[str, float]:
    """The figures of the last run of a crawl by name."""
    store = open_existing(database, clock)
    try:
        with store.snapshot():
            return await _figures(store)
    finally:
        await store.close()


async def _figures(store: CrawlDatabase) -> dict[str, float]:
    found: dict[str, float] = dict.fromkeys(("pages", "errors"), 0)
    found |= dict.fromkeys((f"status.{group}xx" for group in "2345"), 0)
    for state in store.summary.states():
        if not state.internal or state.status not in ("completed", "error"):
            continue
        found["pages"] += state.urls
        if state.status == "error":
            found["errors"] += state.urls
        else:
            name = f"status.{(state.status_code or 0) // 100}xx"
            found[name] = found.get(name, 0) + state.urls
    checks, totals = await store.run_pages.check_words(), await store.run_pages.check_totals(None)
    for severity in Severity:
        found[f"findings.{severity.value}"] = 0
    for number, count in totals.items():
        found[f"findings.{checks[number].severity}"] += count
    by_id = {checks[number].id: count for number, count in totals.items()}
    found["broken_links"] = sum(by_id.get(name, 0) for name in _BROKEN)
    most = sorted(by_id.items(), key=lambda item: (-item[1], item[0]))[:MAX_CHECKS]
    found |= {f"check.{name}": count for name, count in most}
    found["indexable"] = sum(count for _, indexable, count in store.summary.indexabilities() if indexable)
    found |= {name: round(value, 1) for name, value in _times(store.summary.response_times(), store.summary.response_count())}
    runs = await store.runs.all()
    if runs and runs[-1].score is not None:
        found["score"] = round(runs[-1].score, 2)
    return found


def _times(times: Iterable[float], count: int) -> Iterator[tuple[str, float]]:
    """The percentiles of `count` times, which are given in ascending order."""
    wanted = {max(0, ceil(share * count) - 1): name for share, name in ((0.95, "p95_ms"), (0.5, "median_ms"))}
    for rank, time in enumerate(times):
        if rank in wanted:
            yield wanted[rank], time


async def audit_changes(database: str, clock: Clock) -> dict[str, Any]:
    """The changes since the previous run; empty if there is none."""
    try:
        before, after = await open_runs([database], clock)
    except UsageError:
        return {}
    try:
        return _describe_changes(await compare_runs(before, after, shown=0))
    finally:
        await before.close()
        await after.close()


def _describe_changes(result: CrawlComparison) -> dict[str, Any]:
    reasons = [regression(code, count=result.counts[kind]) for kind, code in _REGRESSIONS if result.counts[kind]]
    if new := result.new_findings(Severity.ERROR):
        reasons.append(regression("new_errors", count=new))
    before, after = result.before.run, result.after.run
    if (change := score_change(before, after)) is not None and -change > MAX_SCORE_DROP:
        reasons.append(regression("score_fell", before=round(before.score or 0.0, 1), after=round(after.score or 0.0, 1)))
    return regression_changes(reasons) | {
        "new": result.counts[ChangeKind.NEW_FINDING], "fixed": result.counts[ChangeKind.FIXED_FINDING],
        "added": result.counts[ChangeKind.ADDED], "removed": result.counts[ChangeKind.REMOVED],
    }  # fmt: skip


def count_problems(figures: Mapping[str, Any]) -> float | None:
    """The number of problems of a run, for comparing runs; None if it is unknown."""
    names = ("errors", "status.4xx", "status.5xx", "findings.error", "broken_links", "removed")
    known = [float(figures[name]) for name in names if name in figures]
    return sum(known) if known else None


def mark_recovery(changes: Mapping[str, Any], figures: Mapping[str, Any], earlier: Iterable[EarlierRun]) -> dict[str, Any]:
    """The changes of a run with the state of an open regression, given the earlier runs (newest first).

    A regression stores the number of problems before it, so that the recovery is recognised.
    """
    found, runs = dict(changes), list(earlier)
    since = _open_regression(runs)
    good = (
        next((count_problems(its) for outcome, its, _ in runs[since:] if outcome == "finished"), None)
        if since is not None
        else None
    )
    if since is not None and runs[since][2].get("before") is not None:
        good = runs[since][2]["before"]
    if found.get("regression"):
        last = next((its for outcome, its, _ in runs if outcome == "finished"), {})
        found["before"] = good if since is not None else count_problems(last)
    elif good is not None and (now := count_problems(figures)) is not None and now <= good:
        found["recovered"] = True
    return found


def _open_regression(runs: list[EarlierRun]) -> int | None:
    """The index of the run with the open regression; None if there is none."""
    for number, (_, _, changes) in enumerate(runs):
        if changes.get("recovered"):
            return None
        if changes.get("regression"):
            return number
    return None
