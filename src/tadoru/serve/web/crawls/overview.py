"""The overview of a crawl in figures and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from tadoru.errors import StoreError
from tadoru.i18n.formatter import Formatter
from tadoru.i18n.translation import translator
from tadoru.jobs.audit import crawl_results
from tadoru.jobs.audit.crawl_results.models import CheckSummary, CrawlOverview, TimeFigures
from tadoru.jobs.audit.report.messages import (
    INDEXABILITIES,
    format_milliseconds,
    format_time_bound,
    response_class_name,
    score_grade,
    translate_name,
)
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.serve.crawl_runner.crawl_files import crawl_database
from tadoru.serve.service import Service
from tadoru.serve.web.crawls.view_models import ChartBar, bar_chart, severity_labels
from tadoru.store.served_crawls.schema import ServedCrawl

FIX_FIRST = 5
"""Checks that are listed as most urgent."""


_KINDS = {"2xx": "good", "3xx": "warn", "4xx": "bad", "5xx": "bad", "no answer": "bad"}
_FILTERS = {"no answer": "error", "waiting": "queued", "not requested": "skipped"}
"""Their names in the filter of the list of pages."""


@dataclass(frozen=True, slots=True)
class OverviewCharts:
    """The figures and charts of the overview."""

    overview: CrawlOverview
    grade: str
    tiles: tuple[tuple[str, int, str], ...]
    answers: tuple[ChartBar, ...]
    times: tuple[ChartBar, ...]
    percentiles: tuple[str, str, str] | None
    depths: tuple[ChartBar, ...]
    indexability: tuple[ChartBar, ...]
    first: tuple[CheckSummary, ...]


def overview_charts(service: Service, crawl: ServedCrawl, formatter: Formatter) -> OverviewCharts | None:
    """The overview of a crawl; None if there is nothing to read, or it cannot be read now."""
    path = crawl_database(service, crawl)
    try:
        found = crawl_results.read_overview(path)
        checks = crawl_results.list_findings(path, lang=formatter.lang) if found.severities else []
    except (crawl_results.CrawlNotReadable, StoreError):
        return None
    base, translate = f"/manage/crawls/{crawl.id}", translator(formatter.lang)
    return OverviewCharts(
        overview=found,
        grade=score_grade(found.score, translate) if found.score is not None else "",
        tiles=_tiles(found, formatter, base, has_links=crawl.job != "docs"),
        answers=bar_chart(
            (
                response_class_name(name, translate),
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
            (translate_name(INDEXABILITIES, one.reason, translate), one.pages, "good" if one.indexable else "", "")
            for one in found.indexability
        ),
        first=tuple(one for one in checks if one.severity in ("error", "warning"))[:FIX_FIRST],
    )


def _tiles(found: CrawlOverview, formatter: Formatter, base: str, *, has_links: bool) -> tuple[tuple[str, int, str], ...]:
    _, severities = formatter.gettext, severity_labels(formatter)
    tiles = [(_("pages"), found.pages, f"{base}/pages")]
    if found.severities:
        tiles.append((_("indexable"), found.indexable, f"{base}/pages?indexable=yes"))
        tiles += [
            (severities[one.severity], one.findings, f"{base}/findings?severity={one.severity}") for one in found.severities[:3]
        ]
    elif has_links:
        broken = sum(found.charts.classes.get(name, 0) for name in ("4xx", "5xx", "no answer"))
        tiles.append((_("broken URLs"), broken, f"{base}/links?which=broken"))
    if found.waiting:
        tiles.append((_("not crawled yet"), found.waiting, f"{base}/pages?answer=queued"))
    if has_links:
        tiles.append((_("external URLs"), found.external, f"{base}/links?which=external"))
    return tuple(tiles)


def depth_bars(depths: Sequence[tuple[int, int]], base: str) -> tuple[ChartBar, ...]:
    """A bar for each depth with a link to its pages; if there are many, the last bar counts the rest."""
    shown = limit_columns([(str(depth), pages) for depth, pages in depths])
    return bar_chart((depth, pages, "good", f"{base}/pages?depth={depth}" if depth.isdecimal() else "") for depth, pages in shown)


def _times(times: TimeFigures) -> tuple[ChartBar, ...]:
    """Response times by class, each named by its upper bound, without empty classes at the end."""
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
