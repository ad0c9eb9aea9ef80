"""The dashboard: totals, the chart of runs by day, crawl activity, failing sources, and the latest runs; and the cluster page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.i18n.translation import N_, Formatter
from tadoru.model.event import RunStatus
from tadoru.serve.api.event_queries import local_today
from tadoru.serve.service import Service, can_have_cluster, cluster_status, cluster_status_or_none, service_of
from tadoru.serve.web.crawls import view_models
from tadoru.serve.web.rendering import formatter_of, render
from tadoru.serve.web.sources import overdue_note, source_run_row
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.served_crawls.register import CrawlNotFound

router = APIRouter(include_in_schema=False)
MAX_CHARTED_RUNS = 20_000
"""Runs that the chart of runs counts at most."""
WIDTH, HEIGHT, LEFT, TOP, FOOT = 720, 200, 44, 14, 30


@dataclass(frozen=True, slots=True)
class DayBar:
    """The runs of a day: succeeded below, failed on top."""

    day: date
    x: float
    width: float
    well: int
    failed: int
    well_y: float
    well_height: float
    failed_y: float
    failed_height: float
    label: str
    """Under the axis; most days have none."""
    is_between: bool
    """Its label may be hidden on narrow screens."""


@dataclass(frozen=True, slots=True)
class GridLine:
    """A grid line and its value."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class RunsChart:
    """All of it."""

    bars: tuple[DayBar, ...]
    lines: tuple[GridLine, ...]
    total: int
    failed: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


def runs_chart(runs: Iterable[tuple[date, bool]], last: date, days: int = 30) -> RunsChart:
    """A bar for each of the days up to `last`, from the day of each run and whether it failed."""
    well: Counter[date] = Counter()
    failed: Counter[date] = Counter()
    for day, is_failed in runs:
        (failed if is_failed else well)[day] += 1
    shown = [last - timedelta(days=days - 1 - number) for number in range(days)]
    highest = _rounded_up(max((well[day] + failed[day] for day in shown), default=0))
    step = (WIDTH - LEFT) / days
    unit = (HEIGHT - TOP - FOOT) / highest
    floor = HEIGHT - FOOT
    bars = []
    for number, day in enumerate(shown):
        well_height, failed_height = round(well[day] * unit, 1), round(failed[day] * unit, 1)
        bars.append(DayBar(
            day=day, x=round(LEFT + number * step + step * 0.15, 1), width=round(step * 0.7, 1), well=well[day],
            failed=failed[day], well_y=round(floor - well_height, 1), well_height=well_height,
            failed_y=round(floor - well_height - failed_height, 1), failed_height=failed_height,
            label=f"{day.month}/{day.day}" if (days - 1 - number) % 7 == 0 else "",
            is_between=(days - 1 - number) % 14 != 0,
        ))  # fmt: skip
    lines = tuple(GridLine(round(floor - part * unit, 1), f"{part:,}") for part in dict.fromkeys((0, highest // 2, highest)))
    return RunsChart(tuple(bars), lines, sum(well[day] + failed[day] for day in shown), sum(failed[day] for day in shown))


def _rounded_up(value: int) -> int:
    """The next round number for an axis."""
    size = 1
    while True:
        for part in (2, 4, 10):
            if value <= part * size:
                return part * size
        size *= 10


ACTIVITY_DAYS = 30
MAX_REGRESSIONS = 5
MAX_COUNTED_RUNS = 5000
"""Runs that a chart counts at most."""


@dataclass(frozen=True, slots=True)
class RegressedRun:
    """A run that was worse than the previous one."""

    crawl_id: int
    name: str
    at: datetime | None
    reasons: tuple[str, ...]
    new: int
    fixed: int
    has_failed: bool
    """It has no results to compare; those of the run before it are shown."""


@dataclass(frozen=True, slots=True)
class CrawlActivity:
    """All of it."""

    running: tuple[view_models.CrawlRow, ...]
    regressed: tuple[RegressedRun, ...]
    columns: tuple[view_models.DayColumn, ...]
    pages: int
    runs: int


def crawl_activity(service: Service, today: date, formatter: Formatter) -> CrawlActivity:
    """Running crawls, recent regressions, and pages crawled by day."""
    store = service.store
    here = zone_or_utc(service.options.timezone)
    runs = store.crawls.runs_since(store.db.now() - timedelta(days=ACTIVITY_DAYS), limit=MAX_COUNTED_RUNS)
    days = [
        (run.ended_at.astimezone(here).date(), int(view_models.figure(run.figures, "pages") or 0)) for run in runs if run.ended_at
    ]
    newest = {run.crawl_id: run.id for run in reversed(runs)}
    failed = {run.id: run for run in runs if run.outcome == "failed" and newest[run.crawl_id] == run.id}
    worse = [view_models.crawl_run_row(run, formatter) for run in runs if run.changes.get("regression") or run.id in failed]
    crawl_ids = {run.id: run.crawl_id for run in runs}
    names = _names(service, [crawl_ids[one.id] for one in worse[:MAX_REGRESSIONS]])
    return CrawlActivity(
        running=tuple(view_models.crawl_row(one, None) for one in store.crawls.busy()),
        regressed=tuple(
            RegressedRun(
                crawl_ids[one.id],
                names.get(crawl_ids[one.id], ""),
                one.ended_at,
                one.reasons,
                one.new,
                one.fixed,
                one.id in failed,
            )
            for one in worse[:MAX_REGRESSIONS]
        ),
        columns=view_models.daily_columns(days, today, ACTIVITY_DAYS), pages=sum(count for _, count in days), runs=len(runs),
    )  # fmt: skip


def _names(service: Service, numbers: Sequence[int]) -> dict[int, str]:
    found = {}
    for number in set(numbers):
        try:
            found[number] = service.store.crawls.get(number).name
        except CrawlNotFound:  # Removed just now.
            continue
    return found


@router.get("/manage")
def dashboard(request: Request) -> Response:
    """The dashboard."""
    service, formatter = service_of(request), formatter_of(request)
    _ = formatter.gettext
    store, health = service.store, service.store.statistics.source_health()
    totals = store.statistics.totals()
    failing = sorted((one for one in health if one.enabled and one.failures), key=lambda one: -one.failures)
    tiles = [
        (_("published events"), totals.events["active"], "/manage/events"),
        (_("hidden"), totals.events["hidden"], "/manage/events?status=hidden"),
        (_("in quarantine"), totals.events["quarantine"], "/manage/events?status=quarantine"),
        (_("to review"), totals.open_reviews, "/manage/reviews"),
        (_("sources"), totals.sources, "/manage/sources"),
        (_("failing sources"), len(failing), "/manage/sources"),
    ]
    runs = [source_run_row(one) for one in store.runs.list(limit=8)]
    return render(
        request, "admin/dashboard.html", place="/manage", tiles=tiles, chart=_chart(service), failing=failing[:8], runs=runs,
        names={one.source_id: one.name for one in health},
        activity=crawl_activity(service, local_today(service), formatter), cluster_line=cluster_summary(service, formatter),
        overdue_note=overdue_note(service, health, formatter),
    )  # fmt: skip


def _chart(service: Service) -> RunsChart:
    here = zone_or_utc(service.options.timezone)
    since = service.store.db.now() - timedelta(days=31)
    runs = [one for one in service.store.runs.list(limit=MAX_CHARTED_RUNS) if one.started_at >= since and one.status is not None]
    return runs_chart(
        ((one.started_at.astimezone(here).date(), one.status is RunStatus.FAIL) for one in runs), local_today(service)
    )


if TYPE_CHECKING:
    from tadoru.store.cluster.records import ClusterCrawlStatus, ClusterStatus, HostStatus, WorkerStatus

_STATES = {
    "open": ("mine", N_("Running")), "stopped": ("", N_("Stopped")), "done": ("good", N_("Done")),
    "failed": ("bad", N_("Failed")),
}  # fmt: skip
_PROBLEMS = {
    "robots": ("bad", N_("robots.txt does not respond")), "slowed": ("warn", N_("slowed down at the request of the host")),
    "": ("", N_("slow by configuration")),
}  # fmt: skip


class WorkerRow(NamedTuple):
    """A row of the table of workers."""

    worker: WorkerStatus
    since: str
    seen: str
    rate: str


class ClusterCrawlRow(NamedTuple):
    """A row of the table of crawls."""

    crawl: ClusterCrawlStatus
    kind: str
    state: str


class HostRow(NamedTuple):
    """A row of the table of hosts."""

    host: HostStatus
    kind: str
    trouble: str
    gap: str
    latency: str
    wait: str


@router.get("/manage/cluster")
def cluster_page(request: Request) -> Response:
    """The present state of the cluster; without one, how to set it up."""
    service, formatter = service_of(request), formatter_of(request)
    found = cluster_status(service)
    if found is None:
        _ = formatter.gettext
        if can_have_cluster(service):
            sentence = _("No cluster yet. Start tadoru worker with the same database URL on each machine.")
        else:
            sentence = _(
                "A cluster is several machines that crawl together with one PostgreSQL database. "
                "Run this service with PostgreSQL (tadoru serve -d postgresql://…) and start tadoru worker on each machine."
            )
        return render(request, "admin/cluster.html", place="/manage/cluster", cluster=None, sentence=sentence)
    return render(
        request, "admin/cluster.html", place="/manage/cluster", cluster=found, tiles=_tiles(found, formatter),
        workers=[_worker(one, found, formatter) for one in found.workers],
        crawls=[_crawl(one, formatter) for one in found.crawls], hosts=[_host(one, formatter) for one in found.hosts],
    )  # fmt: skip


def cluster_summary(service: Service, formatter: Formatter) -> str:
    """A line for the dashboard; empty without a cluster."""
    found = cluster_status_or_none(service)
    if found is None:
        return ""
    _, crawls = formatter.gettext, sum(one.state == "open" for one in found.crawls)
    return _(
        "Active workers: {alive} of {all}. Pages per second: {rate}. Running crawls: {crawls}.",
        alive=found.alive,
        all=len(found.workers),
        rate=formatter.number(round(found.rate, 1)),
        crawls=crawls,
    )


def _tiles(found: ClusterStatus, formatter: Formatter) -> list[tuple[str, str]]:
    _, queue = formatter.gettext, found.queue
    problems = (
        (queue.again, _("tasks to retry")),
        (queue.stalled, _("stalled tasks")),
        (queue.failed, _("failed tasks")),
    )
    return [
        (formatter.number(found.alive), _("active workers")),
        (formatter.number(len(found.workers) - found.alive), _("lost workers")),
        (formatter.number(round(found.rate, 1)), _("pages per second")),
        (formatter.number(sum(one.hosts for one in found.workers)), _("active hosts")),
        (formatter.number(queue.waiting), _("queued tasks")), (formatter.number(queue.running), _("running tasks")),
        *((formatter.number(count), label) for count, label in problems if count),
    ]  # fmt: skip


def _worker(one: WorkerStatus, found: ClusterStatus, formatter: Formatter) -> WorkerRow:
    since = formatter.duration(max(0.0, (found.at - one.started_at).total_seconds()))
    _ = formatter.gettext
    seen = _("{span} ago", span=formatter.duration(max(0.0, (found.at - one.seen_at).total_seconds())))
    return WorkerRow(one, since, seen, formatter.number(round(one.rate, 1)))


def _crawl(one: ClusterCrawlStatus, formatter: Formatter) -> ClusterCrawlRow:
    # A newer version may know more states.
    kind, label = _STATES.get(one.state, ("", one.state))
    return ClusterCrawlRow(one, kind, formatter.gettext(label))


def _host(one: HostStatus, formatter: Formatter) -> HostRow:
    if one.trouble == "failed":
        kind, label = "bad", formatter.ngettext("failed {count} time", "failed {count} times", one.attempts)
    else:
        kind, label = _PROBLEMS[one.trouble][0], formatter.gettext(_PROBLEMS[one.trouble][1])
    times = ["–" if value is None else formatter.duration(value) for value in (one.gap, one.latency, one.wait)]
    return HostRow(one, kind, label, *times)
