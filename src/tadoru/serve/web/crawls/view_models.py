"""Crawls as pages show them: states, rows of lists, figures and trends, the charts, and what all pages of a crawl share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from fastapi import Request

from tadoru.i18n.stored_texts import format_regression
from tadoru.i18n.translation import N_, Formatter
from tadoru.jobs.reporting.escape import clip, printable, readable_url, url_origin, url_shortener
from tadoru.model.finding import Severity
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs, shown_run
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import service_of
from tadoru.serve.web.calendar.view_models import is_web_url
from tadoru.serve.web.request_input import find_or_404
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl

CRAWLS_URL = "/manage/crawls"
MAX_URL_LENGTH, MAX_TEXT_LENGTH = 90, 400
WIDTH, HEIGHT, SIDE, TOP, FOOT = 320, 96, 8, 12, 10
MIN_BAR = 1.5
"""The least length of a bar: one broken page of a thousand must be visible."""


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One bar of a chart."""

    label: str
    count: int
    kind: str
    """The CSS class of its colour."""
    length: float
    """From 0 to 100."""
    href: str = ""


def bar_chart(parts: Iterable[tuple[str, int, str, str]]) -> tuple[ChartBar, ...]:
    """A bar for each (label, count, kind, URL), with its length relative to the longest."""
    rows = list(parts)
    most = max((count for _, count, _, _ in rows), default=0) or 1
    return tuple(
        ChartBar(label, count, kind, round(max(MIN_BAR, 100 * count / most), 1) if count else 0.0, href)
        for label, count, kind, href in rows
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
    """One figure over the runs, oldest first."""

    name: str
    """The name of the figure, such as `pages`."""
    points: tuple[TrendPoint, ...]
    least: float
    most: float
    path: str
    """The line as an SVG path."""
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def label(self) -> str:
        """The message that names the figure."""
        return FIGURE_LABELS[self.name]

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
    for position, day in enumerate(shown):
        count = found.get(day, 0)
        height = round(max(MIN_BAR, (HEIGHT - TOP - FOOT) * count / most), 1) if count else 0.0
        x = round(SIDE + position * step + step * 0.15, 1)
        columns.append(DayColumn(day, count, x, round(HEIGHT - FOOT - height, 1), round(step * 0.7, 1), height))
    return tuple(columns)


_KINDS = {
    CrawlState.RUNNING: "mine", CrawlState.PAUSED: "warn", CrawlState.FINISHED: "good", CrawlState.FAILED: "bad",
}  # fmt: skip
_OUTCOMES = {"finished": "good", "failed": "bad", "paused": "warn"}
FIGURE_LABELS = {
    "score": N_("Health score"),
    "pages": N_("Pages"),
    "findings.error": N_("Errors"),
    "findings.warning": N_("Warnings"),
    "errors": N_("Pages without a response"),
    "broken_links": N_("Broken links"),
    "median_ms": N_("Median response time (ms)"),
    "added": N_("Pages added"),
    "changed": N_("Pages changed"),
    "removed": N_("Pages removed"),
}
"""The figures that are drawn over time, in this order, if the runs have them."""
JOB_LABELS = {"audit": N_("Site audit"), "links": N_("Link map"), "docs": N_("Documentation")}
STATE_LABELS = {
    CrawlState.QUEUED: N_("Queued"),
    CrawlState.RUNNING: N_("Running"),
    CrawlState.PAUSED: N_("Paused"),
    CrawlState.STOPPED: N_("Stopped"),
    CrawlState.FINISHED: N_("Finished"),
    CrawlState.FAILED: N_("Failed"),
}
_ENDING_LABELS = {"pause": N_("Pausing…"), "stop": N_("Stopping…")}
_SEVERITY_LABELS = {"error": N_("errors"), "warning": N_("warnings"), "notice": N_("notices"), "info": N_("info")}
_PAGE_STATES = {
    "completed": N_("Responded"), "error": N_("No response"), "queued": N_("Queued"), "processing": N_("Fetching"),
    "skipped": N_("Skipped"), "discovered": N_("Not crawled"),
}  # fmt: skip
_TAB_LABELS = {
    "": N_("Overview"), "findings": N_("Findings"), "pages": N_("Pages"), "links": N_("Links"), "graph": N_("Site structure"),
    "redirects": N_("Redirects"), "resources": N_("Resources"), "compare": N_("Compare"), "exports": N_("Export"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CrawlRunRow:
    """A run of a crawl in the table."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    seconds: float | None
    kind: str
    label: str
    figures: Mapping[str, Any]
    is_regression: bool
    reasons: tuple[str, ...]
    new: int
    fixed: int
    can_open: bool
    """Whether its results were kept."""


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """A crawl in the list."""

    crawl: ServedCrawl
    kind: str
    label: str
    start: str
    pages: int | None
    severities: tuple[tuple[str, int], ...]
    """Findings of its last finished run, most severe first."""
    last_at: datetime | None
    is_regression: bool


def crawl_status(crawl: ServedCrawl) -> tuple[str, str]:
    """The state of a crawl as a colour and a label."""
    if crawl.state is CrawlState.RUNNING and crawl.wanted:
        return "warn", _ENDING_LABELS[crawl.wanted]
    return _KINDS.get(crawl.state, ""), STATE_LABELS[crawl.state]


def crawl_row(crawl: ServedCrawl, last: CrawlRun | None) -> CrawlRow:
    """A crawl as the list shows it, with the figures of its last finished run."""
    kind, label = crawl_status(crawl)
    figures = last.figures if last is not None else {}
    pages = figure(crawl.progress, "pages") if crawl.is_busy or last is None else figure(figures, "pages")
    return CrawlRow(
        crawl, kind, label, crawl.starts[0] if crawl.starts else "", None if pages is None else int(pages),
        tuple((each.value, int(figure(figures, f"findings.{each.value}") or 0)) for each in Severity) if figures else (),
        crawl.ended_at or crawl.started_at, bool(last is not None and last.changes.get("regression")),
    )  # fmt: skip


def crawl_run_row(run: CrawlRun, formatter: Formatter, *, can_open: bool = False) -> CrawlRunRow:
    """A run as tables show it."""
    outcome = run.outcome or "running"
    return CrawlRunRow(
        run.id, run.started_at, run.ended_at, (run.ended_at - run.started_at).total_seconds() if run.ended_at else None,
        _OUTCOMES.get(outcome, "mine" if outcome == "running" else ""), STATE_LABELS[CrawlState(outcome)], run.figures,
        bool(run.changes.get("regression")), tuple(_regression_reasons(run.changes, formatter)),
        int(figure(run.changes, "new") or 0), int(figure(run.changes, "fixed") or 0), can_open,
    )  # fmt: skip


def _regression_reasons(changes: Mapping[str, Any], formatter: Formatter) -> Iterator[str]:
    """Why a run is worse, in the language of the page; older and newer versions stored only English that can be shown."""
    codes, english = changes.get("reason_codes") or (), changes.get("reasons") or ()
    try:
        yield from [format_regression(one, formatter.translator) for one in codes]
    except (KeyError, TypeError):
        codes = ()
    if not codes:
        yield from (one for one in english if isinstance(one, str))


def figure(figures: Mapping[str, Any], name: str) -> float | None:
    """A figure by its name; `findings.error` is a name, or the key of a group and a key in it."""
    found: Any = figures.get(name)
    if found is None and "." in name:
        group, _, rest = name.partition(".")
        within = figures.get(group)
        found = within.get(rest) if isinstance(within, Mapping) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def trend_lines(runs: Sequence[CrawlRun]) -> tuple[Trend, ...]:
    """A line for each figure that at least two finished runs have, of runs with the newest first."""
    finished = [run for run in reversed(runs) if run.outcome == "finished" and run.ended_at is not None]
    drawn = []
    for name in FIGURE_LABELS:
        values = [(run.ended_at, value) for run in finished if (value := figure(run.figures, name)) is not None]
        line = trend_line(
            name, [(at, value) for at, value in values if at is not None], ceiling=100.0 if name == "score" else None
        )
        if line is not None and (line.most or line.least):
            drawn.append(line)
    return tuple(drawn)


def status_colour(status: str, code: int | None) -> str:
    """The colour of a status code."""
    if status == "error":
        return "bad"
    if code is None:
        return ""
    return "good" if code < 300 else "warn" if code < 400 else "bad"


def web_url(url: str) -> str:
    """A URL if it may be a link, else an empty text."""
    return url if is_web_url(url) else ""


_TABS = {
    "audit": ("", "findings", "pages", "links", "redirects", "resources", "graph", "compare", "exports"),
    "links": ("", "pages", "links", "redirects", "graph", "exports"),
    "docs": ("", "pages"),
}


_SHOWN_AS = {"occurrences": "findings"}
"""Pages that belong to the tab of another."""


@dataclass(frozen=True, slots=True)
class StatusChip:
    """The state of a crawl as a colour and a label."""

    kind: str
    label: str


def crawl_or_404(request: Request, crawl_id: int) -> ServedCrawl:
    """The crawl with an id, or 404."""
    return find_or_404(service_of(request).store.crawls.get, crawl_id)


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A crawl with the run whose results a page shows."""

    crawl: ServedCrawl
    run: CrawlRun | None
    """None if the crawl has not run here."""
    path: str
    """The database of the results."""
    newest: CrawlRun | None
    is_chosen: bool = False
    """Whether the URL names the run; else it is the last finished one."""
    is_newest_kept: bool = False

    @property
    def base(self) -> str:
        """The URL of the crawl, or of the chosen run."""
        own = f"{CRAWLS_URL}/{self.crawl.id}"
        return f"{own}/runs/{self.run.id}" if self.is_chosen and self.run is not None else own


def open_run(request: Request, crawl_id: int) -> OpenedRun:
    """The crawl of a URL with the run that it names, or the last finished one; 404 if its results are not there."""
    service, crawl = service_of(request), crawl_or_404(request, crawl_id)
    runs = service.store.crawls.runs(crawl.id, limit=MAX_RUNS)
    paths = openable_runs(service, crawl, runs)
    newest = runs[0] if runs else None
    is_newest_kept = newest is not None and newest.id in paths
    if (given := request.path_params.get("run_id")) is not None:
        run = next((one for one in runs if str(one.id) == str(given)), None)
        if run is None or run.id not in paths:
            raise HttpProblem(404, "The results of this run are not available.")
        return OpenedRun(crawl, run, str(paths[run.id]), newest, is_chosen=True, is_newest_kept=is_newest_kept)
    shown = shown_run(service, crawl)
    return OpenedRun(crawl, shown.run, str(shown.path), newest, is_newest_kept=is_newest_kept)


def run_notes(opened: OpenedRun, formatter: Formatter) -> list[tuple[str, str, str]]:
    """What a page says about the run that it shows: sentence, URL and label of a link."""
    _, run, newest, own = formatter.gettext, opened.run, opened.newest, f"{CRAWLS_URL}/{opened.crawl.id}"
    if run is None or newest is None:
        return []
    at = formatter.timestamp(run.started_at)
    if opened.is_chosen:
        label = _(STATE_LABELS[CrawlState(run.outcome or "running")])
        return [(_("Results of the run of {time} ({outcome}).", time=at, outcome=label), own, _("Latest results"))]
    if newest.id == run.id:
        return []
    sentence = {
        "failed": _("The latest run failed. These are the results of the run of {time}.", time=at),
        "stopped": _("The latest run was stopped. These are the results of the run of {time}.", time=at),
        "paused": _("The latest run is paused. These are the results of the run of {time}.", time=at),
    }.get(newest.outcome, _("A run is in progress. These are the results of the run of {time}.", time=at))
    return [(sentence, f"{own}/runs/{newest.id}" if opened.is_newest_kept else "", _("Open the latest run"))]


def crawl_context(opened: OpenedRun, formatter: Formatter, tab: str = "") -> dict[str, Any]:
    """The context that all pages of a crawl share."""
    crawl, base = opened.crawl, opened.base
    paths = [(f"{base}/{name}" if name else base, formatter.gettext(_TAB_LABELS[name])) for name in _TABS[crawl.job]]
    return {
        "crawl": crawl, "base": base, "run_notes": run_notes(opened, formatter),
        "chip": StatusChip(*crawl_status(crawl)), "tabs": paths,
        "tab": f"{base}/{_SHOWN_AS.get(tab, tab)}" if tab else base,
        "short_url": _url_shortener(crawl), "full_url": short_url, "one_line": one_line,
        "severities": severity_labels(formatter), "format_figure": figure_formatter(formatter),
    }  # fmt: skip


def has_tab(crawl: ServedCrawl, tab: str) -> bool:
    """Whether a crawl of this job has such a tab."""
    return tab in _TABS[crawl.job] or (tab == "occurrences" and crawl.job == "audit")


def short_url(url: str) -> str:
    """A readable URL of limited length."""
    return clip(readable_url(url), MAX_URL_LENGTH)


def one_line(text: str) -> str:
    """A text of a site on one line, without control and direction characters."""
    return clip(printable(text), MAX_TEXT_LENGTH)


def _url_shortener(crawl: ServedCrawl) -> Callable[[str], str]:
    """How a page of a crawl shows a URL: the path only, if it belongs to the site."""
    name = url_shortener(url_origin(crawl.starts[0])) if crawl.starts else readable_url
    return lambda url: clip(name(url), MAX_URL_LENGTH)


def figure_formatter(formatter: Formatter) -> Callable[[float], str]:
    """Formats figures: whole numbers as such, others with one decimal."""
    return lambda value: formatter.number(int(value) if float(value).is_integer() else round(value, 1))


def page_state_labels(formatter: Formatter) -> Mapping[str, str]:
    """The names of the states of a URL."""
    return {name: formatter.gettext(label) for name, label in _PAGE_STATES.items()}


def severity_labels(formatter: Formatter) -> Mapping[str, str]:
    """The plural names of the severities."""
    return {name: formatter.gettext(label) for name, label in _SEVERITY_LABELS.items()}
