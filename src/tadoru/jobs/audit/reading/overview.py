"""A crawl in figures: how its URLs stand, how they answered, what was found, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path
from typing import TypeVar

from tadoru.jobs.audit.reading.unchanged import kept_while_unchanged
from tadoru.jobs.audit.reading.values import Charts, Overview, Reason, RunFigures, SeverityFigures, Skipped, TimeFigures
from tadoru.jobs.audit.report.summary import TIME_BOUNDS
from tadoru.model.finding import Severity
from tadoru.store.browse_totals import Standing
from tadoru.store.read_only import ReadOnlyCrawl, at_once, looking_at
from tadoru.store.runs import Run
from tadoru.store.values import UNLINKED

T = TypeVar("T")
_MOST_REASONS = 12
_CLASSES = ("2xx", "3xx", "4xx", "5xx", "no answer", "not requested", "waiting")


@kept_while_unchanged
def overview(path: Path | str) -> Overview:
    """The figures of a crawl."""
    with looking_at(path) as crawl:
        standing, counted = crawl.standing()
        of_site = [one for one in standing if one.internal]
        states = _counted((one.status, one.urls) for one in of_site)
        indexability = tuple(
            Reason(reason=reason, indexable=indexable, pages=pages) for reason, indexable, pages in crawl.indexabilities()
        )
        runs = at_once(crawl.runs())
        last = runs[-1] if runs else None
        return Overview(
            start_url=crawl.start_url() or "",
            started_at=last.started_at if last else None,
            ended_at=last.ended_at if last else None,
            seconds=(last.ended_at - last.started_at).total_seconds() if last and last.ended_at else None,
            outcome=last.outcome if last else None,
            score=last.score if last else None,
            states=dict(states),
            codes=dict(sorted(_counted((one.status_code or 0, one.urls) for one in of_site if _answered(one)).items())),
            pages=states["completed"] + states["error"],
            waiting=states["queued"] + states["processing"],
            external=sum(one.urls for one in standing if not one.internal),
            unlinked=sum(one.urls for one in of_site if _answered(one) and one.depth >= UNLINKED),
            indexable=sum(one.pages for one in indexability if one.indexable),
            indexability=indexability,
            skipped=tuple(Skipped(reason=reason, urls=urls) for reason, urls in crawl.skip_reasons(_MOST_REASONS)),
            severities=_severities(crawl),
            charts=_charts(of_site, counted),
            runs=tuple(_run(run) for run in runs),
        )


@kept_while_unchanged
def charts(path: Path | str) -> Charts:
    """Only what charts are drawn from."""
    with looking_at(path) as crawl:
        standing, counted = crawl.standing()
    return _charts([one for one in standing if one.internal], counted)


def _charts(of_site: Sequence[Standing], counted: Sequence[tuple[int, int]]) -> Charts:
    found = _counted((_class_of(one), one.urls) for one in of_site)
    depths = _counted((one.depth, one.urls) for one in of_site if _answered(one) and one.depth < UNLINKED)
    classes = {name: found[name] for name in (*_CLASSES, *sorted(found.keys() - set(_CLASSES)))}
    return Charts(classes=classes, times=times(counted), depths=tuple(sorted(depths.items())))


def times(counts: Sequence[tuple[int, int]]) -> TimeFigures:
    """The distribution of times that were counted by milliseconds, the fastest first."""
    total = sum(count for _, count in counts)
    wanted = [max(1, ceil(share * total)) for share in (0.5, 0.9, 0.99)]
    reached: list[int | None] = [None, None, None]
    classes = [0] * (len(TIME_BOUNDS) + 1)
    seen = 0
    for ms, count in counts:
        seen += count
        classes[sum(ms > bound for bound in TIME_BOUNDS)] += count
        for place, rank in enumerate(wanted):
            if reached[place] is None and seen >= rank:
                reached[place] = ms
    p50, p90, p99 = reached
    return TimeFigures(count=total, p50=p50, p90=p90, p99=p99, bounds=TIME_BOUNDS, classes=tuple(classes))


def _severities(crawl: ReadOnlyCrawl) -> tuple[SeverityFigures, ...]:
    catalogue = crawl.stored_checks()
    if not catalogue:
        return ()
    counts, pages = crawl.finding_counts()
    found = []
    for severity in Severity:
        own = [counts.get(each.number, 0) for each in catalogue if each.check.severity is severity]
        checks = sum(count > 0 for count in own)
        found.append(
            SeverityFigures(severity=severity.value, checks=checks, findings=sum(own), pages=pages.get(severity.value, 0))
        )
    return tuple(found)


def _counted(pairs: Iterable[tuple[T, int]]) -> Counter[T]:
    found: Counter[T] = Counter()
    for name, count in pairs:
        found[name] += count
    return found


def _answered(one: Standing) -> bool:
    return one.status == "completed"


def _class_of(one: Standing) -> str:
    match one.status:
        case "completed":
            return f"{(one.status_code or 0) // 100}xx"
        case "error":
            return "no answer"
        case "queued" | "processing":
            return "waiting"
    return "not requested"


def _run(run: Run) -> RunFigures:
    return RunFigures(
        number=run.number, kind=run.kind, started_at=run.started_at, ended_at=run.ended_at, outcome=run.outcome, score=run.score,
        kept=run.kept,
    )  # fmt: skip
