"""The charts of crawls: bars that compare parts, and one small line for each figure over the runs. Templates draw them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from fastapi import Request

from tadoru.jobs.reporting.escape import clip, printable, readable_url, url_origin, url_shortener
from tadoru.model.finding import Severity
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import service_of
from tadoru.serve.web.calendar.view_models import is_web_url, number
from tadoru.serve.web.request_input import MAX_ID
from tadoru.serve.web.words import Say
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl

WIDTH, HEIGHT, SIDE, TOP, FOOT = 320, 96, 8, 12, 10
MIN_BAR = 1.5
"""No part of a bar is thinner: one broken page in a thousand must still be seen."""


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One line of a chart of bars."""

    words: str
    count: int
    kind: str
    """The class that gives it its colour."""
    length: float
    """From 0 to 100."""
    href: str = ""


def bar_chart(parts: Iterable[tuple[str, int, str, str]]) -> tuple[ChartBar, ...]:
    """A bar for each (words, count, kind, address), as long as its share of the longest."""
    rows = list(parts)
    most = max((count for _, count, _, _ in rows), default=0) or 1
    return tuple(
        ChartBar(words, count, kind, round(max(MIN_BAR, 100 * count / most), 1) if count else 0.0, href)
        for words, count, kind, href in rows
    )


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run on a line."""

    x: float
    y: float
    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure over the runs, the oldest first."""

    name: str
    """The figure's own name, such as `pages`."""
    points: tuple[TrendPoint, ...]
    least: float
    most: float
    path: str
    """The line, as SVG writes it."""
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def last(self) -> float:
        return self.points[-1].value

    @property
    def change(self) -> float:
        """From the run before the last."""
        return round(self.points[-1].value - self.points[-2].value, 1) if len(self.points) > 1 else 0.0


def trend_line(name: str, values: Sequence[tuple[datetime, float]], *, ceiling: float | None = None) -> Trend | None:
    """A line through the values, which come in the order of time; None when there are fewer than two."""
    if len(values) < 2:
        return None
    first, last = values[0][0], values[-1][0]
    span = (last - first).total_seconds() or 1.0
    most = ceiling if ceiling is not None else max(value for _, value in values)
    least = min(0.0, *(value for _, value in values))
    unit = (HEIGHT - TOP - FOOT) / ((most - least) or 1.0)
    points = tuple(
        TrendPoint(
            round(SIDE + (WIDTH - 2 * SIDE) * (at - first).total_seconds() / span, 1),
            round(HEIGHT - FOOT - (value - least) * unit, 1), at, value,
        )
        for at, value in values
    )  # fmt: skip
    path = "M" + "L".join(f"{one.x} {one.y}" for one in points)
    return Trend(name, points, min(value for _, value in values), max(value for _, value in values), path)


@dataclass(frozen=True, slots=True)
class DayColumn:
    """A day of the overview."""

    day: date
    count: int
    x: float
    y: float
    width: float
    height: float


def daily_columns(counts: Iterable[tuple[date, int]], last: date, days: int = 30) -> tuple[DayColumn, ...]:
    """A column for each of the days up to `last`, in a picture of the size of a trend."""
    found: dict[date, int] = {}
    for day, count in counts:
        found[day] = found.get(day, 0) + count
    shown = [last - timedelta(days=days - 1 - number) for number in range(days)]
    most = max((found.get(day, 0) for day in shown), default=0) or 1
    step = (WIDTH - 2 * SIDE) / days
    columns = []
    for number, day in enumerate(shown):
        count = found.get(day, 0)
        height = round(max(MIN_BAR, (HEIGHT - TOP - FOOT) * count / most), 1) if count else 0.0
        x = round(SIDE + number * step + step * 0.15, 1)
        columns.append(DayColumn(day, count, x, round(HEIGHT - FOOT - height, 1), round(step * 0.7, 1), height))
    return tuple(columns)


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
class CrawlRunRow:
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
class CrawlRow:
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


def crawl_status(crawl: ServedCrawl) -> tuple[str, str]:
    """How a crawl stands, as a colour and the key of its words."""
    if crawl.state is CrawlState.RUNNING and crawl.wanted:
        return "warn", f"crawl.state.{crawl.wanted}_wanted"
    return _KINDS.get(crawl.state, ""), f"crawl.state.{crawl.state.value}"


def crawl_row(crawl: ServedCrawl, last: CrawlRun | None) -> CrawlRow:
    kind, words = crawl_status(crawl)
    figures = last.figures if last is not None else {}
    pages = figure(crawl.progress, "pages") if crawl.is_busy or last is None else figure(figures, "pages")
    return CrawlRow(
        crawl, kind, words, crawl.starts[0] if crawl.starts else "", None if pages is None else int(pages),
        tuple((each.value, int(figure(figures, f"findings.{each.value}") or 0)) for each in Severity) if figures else (),
        crawl.ended_at or crawl.started_at, bool(last is not None and last.changes.get("regression")),
    )  # fmt: skip


def crawl_run_row(run: CrawlRun) -> CrawlRunRow:
    outcome = run.outcome or "running"
    reasons = run.changes.get("reasons") or ()
    return CrawlRunRow(
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
"""Why a run is worse, as `jobs.service_crawl` and `jobs.audit.trend_line` write it, and the key of the same in every language."""


def format_regression(reason: str, say: Say) -> str:
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


def trend_lines(runs: Sequence[CrawlRun]) -> tuple[Trend, ...]:
    """A line for each figure that at least two finished runs have. The newest run comes first."""
    finished = [run for run in reversed(runs) if run.outcome == "finished" and run.ended_at is not None]
    drawn = []
    for name in _TRENDS:
        values = [(run.ended_at, value) for run in finished if (value := figure(run.figures, name)) is not None]
        line = trend_line(
            name, [(at, value) for at, value in values if at is not None], ceiling=100.0 if name == "score" else None
        )
        if line is not None and (line.most or line.least):
            drawn.append(line)
    return tuple(drawn)


def web_url(url: str) -> str:
    """An address that may be a link, or nothing."""
    return url if is_web_url(url) else ""


CRAWLS_URL = "/manage/crawls"
MAX_URL_LENGTH, MAX_TEXT_LENGTH = 90, 400
_TABS = {
    "audit": ("", "findings", "pages", "links", "graph", "compare", "exports"),
    "links": ("", "pages", "links", "graph", "exports"),
    "docs": ("", "pages"),
}


@dataclass(frozen=True, slots=True)
class StatusChip:
    """How a crawl stands, as a colour and the key of its words."""

    kind: str
    words: str


def crawl_or_404(request: Request, crawl_id: int) -> ServedCrawl:
    """The crawl of an address, or 404."""
    if not 0 < crawl_id < MAX_ID:
        raise HttpProblem(404, "")
    try:
        return service_of(request).store.crawl(crawl_id)
    except CrawlNotFound:
        raise HttpProblem(404, "") from None


def crawl_context(crawl: ServedCrawl, say: Say, tab: str = "") -> dict[str, Any]:
    """What the templates of a crawl's pages show around their own content."""
    base = f"{CRAWLS_URL}/{crawl.id}"
    paths = [(f"{base}/{name}" if name else base, say(f"crawl.tab.{name or 'overview'}")) for name in _TABS[crawl.job]]
    return {
        "crawl": crawl, "base": base, "chip": StatusChip(*crawl_status(crawl)), "tabs": paths, "tab": f"{base}/{tab}" if tab else base,
        "short": _url_shortener(crawl), "full": short_url, "said": one_line, "severities": severity_labels(say),
    }  # fmt: skip


def has_tab(crawl: ServedCrawl, tab: str) -> bool:
    """Has a crawl of its job such a page?"""
    return tab in _TABS[crawl.job]


def short_url(url: str) -> str:
    """An address that a person can read, not too long."""
    return clip(readable_url(url), MAX_URL_LENGTH)


def one_line(text: str) -> str:
    """What a stranger wrote, on one line, without signs that turn or hide what stands around it."""
    return clip(printable(text), MAX_TEXT_LENGTH)


def _url_shortener(crawl: ServedCrawl) -> Callable[[str], str]:
    """How a page of a crawl names an address: by its path where it is of the site."""
    name = url_shortener(url_origin(crawl.starts[0])) if crawl.starts else readable_url
    return lambda url: clip(name(url), MAX_URL_LENGTH)


def format_figure(value: float) -> str:
    """A figure: whole where it is whole."""
    return number(int(value)) if float(value).is_integer() else f"{value:,.1f}"


def severity_labels(say: Say) -> Mapping[str, str]:
    return {name: say(f"severity.{name}") for name in ("error", "warning", "notice", "info")}
