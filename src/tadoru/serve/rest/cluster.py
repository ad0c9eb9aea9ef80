"""The cluster over REST: who works, at what, and what is wrong. It only reads; `tadoru cluster` changes the state of crawls."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from tadoru.serve.cluster_watch import cluster_of
from tadoru.serve.rest.answers import UNCHANGED, json_answer, problems
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.rest.models_cluster import Cluster

router = APIRouter(tags=["cluster"])
_NONE: dict[str, Any] = {
    "is_there": False, "at": None, "alive": 0, "rate": 0.0, "workers": [], "crawls": [], "hosts": [],
    "queue": {"waiting": 0, "again": 0, "running": 0, "stalled": 0, "failed": 0},
}  # fmt: skip


@router.get("/api/v1/cluster", response_model=Cluster, responses=UNCHANGED | problems(), summary="Read the cluster")
def read_cluster(request: Request, who: Asker, service: The) -> Response:
    """The workers, crawls and queue of the cluster in the service's own database, and the hosts that are slow or fail. A look is
    a few seconds old at most."""
    found = cluster_of(service)
    return json_answer(request, who, _NONE if found is None else {"is_there": True, **found.document()})
