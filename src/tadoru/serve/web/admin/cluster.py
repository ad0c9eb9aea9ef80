"""The page about the cluster: workers, its crawls, the queue, and the hosts that something is wrong with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.serve.cluster_watch import can_have_cluster, cluster_status, cluster_status_or_none
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.calendar.view_models import Formatter
from tadoru.serve.web.rendering import formatter_of, render
from tadoru.serve.web.words import Say

if TYPE_CHECKING:
    from tadoru.store.cluster.status import ClusterCrawlStatus, ClusterStatus, HostStatus, WorkerStatus

router = APIRouter(include_in_schema=False)
_STATES = {
    "open": ("mine", "cluster.state_open"), "stopped": ("", "cluster.state_stopped"), "done": ("good", "cluster.state_done"),
    "failed": ("bad", "cluster.state_failed"),
}  # fmt: skip
_TROUBLES = {
    "robots": ("bad", "cluster.trouble_robots"), "slowed": ("warn", "cluster.trouble_slowed"), "": ("", "cluster.trouble_none"),
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
    """The cluster as it was a moment ago; without one, what it is and how to get one."""
    service, telling = service_of(request), formatter_of(request)
    found = cluster_status(service)
    if found is None:
        sentence = telling.say("cluster.none_yet" if can_have_cluster(service) else "cluster.what")
        return render(request, "cluster.html", place="/manage/cluster", cluster=None, sentence=sentence)
    return render(
        request, "cluster.html", place="/manage/cluster", cluster=found, tiles=_tiles(found, telling.say),
        workers=[_worker(one, found, telling) for one in found.workers],
        crawls=[_crawl(one, telling.say) for one in found.crawls], hosts=[_host(one, telling) for one in found.hosts],
    )  # fmt: skip


def cluster_summary(service: Service, say: Say) -> str:
    """A line for the overview; empty without a cluster."""
    found = cluster_status_or_none(service)
    if found is None:
        return ""
    crawls = sum(one.state == "open" for one in found.crawls)
    return say("cluster.line", alive=found.alive, all=len(found.workers), rate=f"{found.rate:,.1f}", crawls=crawls)


def _tiles(found: ClusterStatus, say: Say) -> list[tuple[str, str]]:
    queue = found.queue
    troubles = (
        (queue.again, say("cluster.again")),
        (queue.stalled, say("cluster.stalled")),
        (queue.failed, say("cluster.failed")),
    )
    return [
        (f"{found.alive:,}", say("cluster.alive")), (f"{len(found.workers) - found.alive:,}", say("cluster.gone")),
        (f"{found.rate:,.1f}", say("cluster.rate")), (f"{sum(one.hosts for one in found.workers):,}", say("cluster.asked")),
        (f"{queue.waiting:,}", say("cluster.waiting")), (f"{queue.running:,}", say("cluster.running")),
        *((f"{count:,}", words) for count, words in troubles if count),
    ]  # fmt: skip


def _worker(one: WorkerStatus, found: ClusterStatus, telling: Formatter) -> WorkerRow:
    since = telling.span(max(0.0, (found.at - one.started_at).total_seconds()))
    seen = telling.say("cluster.ago", span=telling.span(max(0.0, (found.at - one.seen_at).total_seconds())))
    return WorkerRow(one, since, seen, f"{one.rate:,.1f}")


def _crawl(one: ClusterCrawlStatus, say: Say) -> ClusterCrawlRow:
    # A newer program may know more states than this one.
    kind, words = _STATES.get(one.state, ("", ""))
    return ClusterCrawlRow(one, kind, say(words) if words else one.state)


def _host(one: HostStatus, telling: Formatter) -> HostRow:
    if one.trouble == "failed":
        kind, words = "bad", telling.say("cluster.trouble_failed", count=one.attempts)
    else:
        kind, words = _TROUBLES[one.trouble][0], telling.say(_TROUBLES[one.trouble][1])
    times = ["–" if value is None else telling.span(value) for value in (one.gap, one.latency, one.wait)]
    return HostRow(one, kind, words, *times)
