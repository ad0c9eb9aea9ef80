"""The cluster over REST: workers, crawls, queue and hosts with problems. Read-only; `tadoru cluster` changes crawls."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import Response
from pydantic import ConfigDict, Field

from tadoru.serve.api.models import Json, ResponseModel
from tadoru.serve.api.responses import ApiRouter, Call
from tadoru.serve.service import cluster_status
from tadoru.store.cluster.records import ClusterCrawlStatus, HostStatus, QueueStatus, WorkerStatus

_EXAMPLE: Json = {
    "is_there": True, "at": "2026-08-01T09:00:00Z", "alive": 1, "rate": 12.5,
    "workers": [{
        "name": "den-1", "machine": "den", "pid": 4242, "version": "0.1.0", "started_at": "2026-08-01T08:00:00Z",
        "seen_at": "2026-08-01T08:59:59Z", "is_alive": True, "hosts": 3, "pages": 45_000, "rate": 12.5,
    }],
    "crawls": [{
        "name": "shops", "job": "audit", "state": "stopped", "error": "", "added_at": "2026-08-01T08:00:00Z",
        "ended_at": "2026-08-01T08:30:00Z",
        "has_data": True, "done": 45_000, "queued": 120_000, "in_flight": 3, "errors": 12, "hosts_waiting": 300,
    }],
    "queue": {"waiting": 200, "again": 0, "running": 3, "stalled": 0, "failed": 0},
    "hosts": [{
        "name": "slow.example", "crawl": "shops", "trouble": "slowed", "queued": 80, "gap": 32.0, "latency": 4.5, "wait": 12.0,
        "attempts": 0,
    }],
}  # fmt: skip


class ClusterOut(ResponseModel):
    """The cluster in the service's database; empty if there is none. Times are those of the database."""

    is_there: bool = Field(description="False on SQLite, and on PostgreSQL before the first worker started.")
    at: datetime | None
    alive: int = Field(description="Live workers.")
    rate: float = Field(description="Pages per second of all workers.")
    workers: list[WorkerStatus]
    crawls: list[ClusterCrawlStatus] = Field(description="Open crawls first, then the latest; at most 50.")
    queue: QueueStatus
    hosts: list[HostStatus] = Field(description="Worst first; at most 10.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})


router = ApiRouter(tags=["cluster"])
_NONE: dict[str, Any] = {
    "is_there": False, "at": None, "alive": 0, "rate": 0.0, "workers": [], "crawls": [], "hosts": [],
    "queue": {"waiting": 0, "again": 0, "running": 0, "stalled": 0, "failed": 0},
}  # fmt: skip


@router.read("/api/v1/cluster", ClusterOut, "Read the cluster")
def read_cluster(call: Call) -> Response:
    """Workers, crawls, queue, and slow or failing hosts of the cluster in the service's database. At most a few seconds old."""
    found = cluster_status(call.service)
    return call.json(_NONE if found is None else {"is_there": True, **found.document()})
