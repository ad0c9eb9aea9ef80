"""What was read of a crawl, kept as long as its files are as they were: the figures of a large site take seconds to count.

Nearly every crawl that somebody looks at is at rest, and is looked at more than once. A crawl that runs changes all the time and
is read anew each time. What is kept is of bounded size, and there is a bounded number of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from tadoru.errors import StoreError
from tadoru.jobs.audit import crawl_results
from tadoru.jobs.audit.crawl_results.models import CheckSummary, CrawlOverview, TimeFigures
from tadoru.jobs.audit.report.messages import (
    INDEXABILITIES,
    LANGUAGES,
    format_milliseconds,
    format_time_bound,
    response_class_names,
)
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.serve.crawl_runner.crawl_files import crawl_database
from tadoru.serve.service import Service
from tadoru.serve.web.calendar.view_models import Formatter
from tadoru.serve.web.crawls.view_models import ChartBar, bar_chart
from tadoru.store.served_crawls.schema import ServedCrawl

T = TypeVar("T")
Stamp = tuple[tuple[int, int], ...]
CACHE_SIZE = 64


def read_cached(read: Callable[..., T], *paths: Path | str, **chosen: Any) -> T:
    """`read(*paths, **chosen)`, from what is kept when no file has changed since."""
    names = tuple(str(path) for path in paths)
    return cast(T, _read(read, names, tuple(_stamp(name) for name in names), tuple(sorted(chosen.items()))))


@lru_cache(maxsize=CACHE_SIZE)
def _read(
    read: Callable[..., Any], names: tuple[str, ...], _stamps: tuple[Stamp, ...], chosen: tuple[tuple[str, Any], ...]
) -> Any:
    return read(*names, **dict(chosen))


def _stamp(path: str) -> Stamp:
    """What tells that a database has changed: it is written to its log first, and to the file itself later."""
    return tuple(_file_times(f"{path}{more}") for more in ("", "-wal"))


def _file_times(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


FIX_FIRST = 5
"""Checks that are shown as what to mend first."""
_KINDS = {"2xx": "good", "3xx": "warn", "4xx": "bad", "5xx": "bad", "no answer": "bad"}
_FILTERS = {"no answer": "error", "waiting": "queued", "not requested": "skipped"}
"""How the list of pages names them."""


@dataclass(frozen=True, slots=True)
class OverviewCharts:
    """What the page draws."""

    overview: CrawlOverview
    grade: str
    tiles: tuple[tuple[str, int, str], ...]
    answers: tuple[ChartBar, ...]
    times: tuple[ChartBar, ...]
    percentiles: tuple[str, str, str] | None
    depths: tuple[ChartBar, ...]
    indexability: tuple[ChartBar, ...]
    first: tuple[CheckSummary, ...]


def overview_charts(service: Service, crawl: ServedCrawl, telling: Formatter) -> OverviewCharts | None:
    """The figures of a crawl; None when there is nothing to read, or not now."""
    path = crawl_database(service, crawl)
    try:
        found = read_cached(crawl_results.read_overview, path)
        grave = read_cached(crawl_results.list_findings, path, lang=telling.lang) if found.severities else []
    except (crawl_results.CrawlNotReadable, StoreError):
        return None
    base, words = f"/manage/crawls/{crawl.id}", LANGUAGES[telling.lang]
    answers = response_class_names(words)
    return OverviewCharts(
        overview=found,
        grade=words.grade(found.score) if found.score is not None else "",
        tiles=_tiles(found, telling, base, has_links=crawl.job != "docs"),
        answers=bar_chart(
            (
                answers.get(name, name),
                count,
                _KINDS.get(name, ""),
                f"{base}/pages?{urlencode({'answer': _FILTERS.get(name, name)})}",
            )
            for name, count in found.charts.classes.items()
            if count
        ),
        times=_times(found.charts.times),
        percentiles=_percentiles(found.charts.times),
        depths=depth_bars(found.charts.depths, base),
        indexability=bar_chart(
            (words.named(INDEXABILITIES, one.reason), one.pages, "good" if one.indexable else "", "")
            for one in found.indexability
        ),
        first=tuple(one for one in grave if one.severity in ("error", "warning"))[:FIX_FIRST],
    )


def _tiles(found: CrawlOverview, telling: Formatter, base: str, *, has_links: bool) -> tuple[tuple[str, int, str], ...]:
    say = telling.say
    tiles = [(say("over.pages"), found.pages, f"{base}/pages")]
    if found.severities:
        tiles.append((say("over.indexable"), found.indexable, f"{base}/pages?indexable=yes"))
        tiles += [
            (say(f"severity.{one.severity}"), one.findings, f"{base}/findings?severity={one.severity}")
            for one in found.severities[:3]
        ]
    elif has_links:
        broken = sum(found.charts.classes.get(name, 0) for name in ("4xx", "5xx", "no answer"))
        tiles.append((say("over.broken"), broken, f"{base}/links?which=broken"))
    if found.waiting:
        tiles.append((say("over.waiting"), found.waiting, f"{base}/pages?answer=queued"))
    if has_links:
        tiles.append((say("over.external"), found.external, f"{base}/links?which=external"))
    return tuple(tiles)


def depth_bars(depths: Sequence[tuple[int, int]], base: str) -> tuple[ChartBar, ...]:
    """A bar for each depth, with the way to its pages; of very many, the last one holds all the rest."""
    shown = limit_columns([(str(depth), pages) for depth, pages in depths])
    return bar_chart((depth, pages, "good", f"{base}/pages?depth={depth}" if depth.isdecimal() else "") for depth, pages in shown)


def _times(times: TimeFigures) -> tuple[ChartBar, ...]:
    """The classes of response times without those at the end that are empty; each is named by its upper end."""
    if not times.count:
        return ()
    names = [*(f"≤ {format_time_bound(bound)}" for bound in times.bounds), f"> {format_time_bound(times.bounds[-1])}"]
    classes = list(zip(names, times.classes, strict=True))
    while not classes[-1][1]:
        classes.pop()
    return bar_chart(
        (name, count, "good" if bound <= 1000 else "warn", "")
        for (name, count), bound in zip(classes, (*times.bounds, 10**9), strict=False)
    )


def _percentiles(times: TimeFigures) -> tuple[str, str, str] | None:
    if times.p50 is None or times.p90 is None or times.p99 is None:
        return None
    return format_milliseconds(times.p50), format_milliseconds(times.p90), format_milliseconds(times.p99)
