"""Handing a crawl to the workers: set up by whoever asks for it, and put where they look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tadoru.cluster import queue
from tadoru.cluster.sharing import shared_options
from tadoru.jobs.audit.run import prepare
from tadoru.options import AuditOptions
from tadoru.store.postgres.address import parse
from tadoru.store.postgres.cluster import Cluster


async def hand_over(options: AuditOptions, urls: Sequence[str], config: dict[str, Any]) -> None:
    """Begin a crawl, or go on with it, and leave it to the workers. Raises UsageError."""
    shared = shared_options(options)
    cluster = Cluster(options.database)
    try:
        queue.prepare(cluster)
        await prepare(options, urls, config)
        # Last: workers find it within a second, by looking.
        cluster.put_crawl(parse(options.database).crawl, "audit", shared)
    finally:
        cluster.close()
