"""The cluster page: workers, crawls, the task queue, and slow or failing hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.i18n.translation import N_, Formatter
from tadoru.serve.service import Service, can_have_cluster, cluster_status, cluster_status_or_none, service_of
from tadoru.serve.web.rendering import formatter_of, render

if TYPE_CHECKING:
    from tadoru.store.cluster.records import ClusterCrawlStatus, ClusterStatus, HostStatus, WorkerStatus

router = APIRouter(include_in_schema=False)
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
