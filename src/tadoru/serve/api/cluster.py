"""The cluster over REST: workers, crawls, queue and hosts with problems. Read-only; `tadoru cluster` changes crawls."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field

from tadoru.serve.api.events import CurrentPrincipal, CurrentService
from tadoru.serve.api.models import Json, ResponseModel
from tadoru.serve.api.responses import NOT_MODIFIED, json_response, problem_responses
from tadoru.serve.cluster_watch import cluster_status

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


class ClusterWorkerOut(ResponseModel):
    """A worker, as last reported."""

    name: str = Field(examples=["den-1"])
    machine: str = Field(examples=["den"])
    pid: int
    version: str = Field(examples=["0.1.0"])
    started_at: datetime
    seen_at: datetime
    is_alive: bool
    hosts: int = Field(description="Hosts it is crawling now.")
    pages: int = Field(description="Pages since its start.")
    rate: float = Field(description="Pages per second.")


class ClusterCrawlOut(ResponseModel):
    """A crawl of the cluster."""

    name: str = Field(examples=["shops"])
    job: str = Field(examples=["audit"])
    state: str = Field(description="open, stopped, done or failed.", examples=["open"])
    error: str = Field(description="Reason of the failure.")
    added_at: datetime
    ended_at: datetime | None
    has_data: bool = Field(description="False before its first result.")
    done: int
    queued: int
    in_flight: int
    errors: int
    hosts_waiting: int = Field(description="Hosts with queued URLs; of an open crawl.")


class ClusterQueueOut(ResponseModel):
    """The tasks by state."""

    waiting: int
    again: int = Field(description="Failed and waiting for a retry.")
    running: int
    stalled: int = Field(description="Started by a worker that is gone; others take them over.")
    failed: int = Field(description="Failed permanently.")


class ClusterHostOut(ResponseModel):
    """A slow or failing host."""

    name: str = Field(examples=["slow.example"])
    crawl: str = Field(examples=["shops"])
    trouble: str = Field(description="failed, robots, slowed, or empty.", examples=["slowed"])
    queued: int | None
    gap: float | None = Field(description="Seconds between two requests.")
    latency: float | None = Field(description="Response time in seconds.")
    wait: float | None = Field(description="Seconds until the next request.")
    attempts: int = Field(description="Failed tasks of this host.")


class ClusterOut(ResponseModel):
    """The cluster in the service's database; empty if there is none. Times are those of the database."""

    is_there: bool = Field(description="False on SQLite, and on PostgreSQL before the first worker started.")
    at: datetime | None
    alive: int = Field(description="Live workers.")
    rate: float = Field(description="Pages per second of all workers.")
    workers: list[ClusterWorkerOut]
    crawls: list[ClusterCrawlOut] = Field(description="Open crawls first, then the latest; at most 50.")
    queue: ClusterQueueOut
    hosts: list[ClusterHostOut] = Field(description="Worst first; at most 10.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})


router = APIRouter(tags=["cluster"])
_NONE: dict[str, Any] = {
    "is_there": False, "at": None, "alive": 0, "rate": 0.0, "workers": [], "crawls": [], "hosts": [],
    "queue": {"waiting": 0, "again": 0, "running": 0, "stalled": 0, "failed": 0},
}  # fmt: skip


@router.get(
    "/api/v1/cluster", response_model=ClusterOut, responses=NOT_MODIFIED | problem_responses(), summary="Read the cluster"
)
def read_cluster(request: Request, who: CurrentPrincipal, service: CurrentService) -> Response:
    """Workers, crawls, queue, and slow or failing hosts of the cluster in the service's database. At most a few seconds old."""
    found = cluster_status(service)
    return json_response(request, who, _NONE if found is None else {"is_there": True, **found.document()})
