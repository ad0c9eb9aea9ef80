"""What workers are told of a crawl: the options that say how it is done, without secrets and without what is one machine's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from tadoru.cluster import queue
from tadoru.config.options import AuditOptions
from tadoru.config.resolve import CREDENTIALS
from tadoru.errors import UsageError
from tadoru.jobs.audit.run import prepare
from tadoru.store.cluster.registry import ClusterRegistry
from tadoru.store.crawl.postgres.crawl_url import parse

LOCAL_OPTIONS = frozenset({"database", "seed_urls", "report", "baseline", "fail_on", "suppress", "processes"})
"""Files are on one machine only."""


def shared_options(options: AuditOptions) -> dict[str, Any]:
    """What the workers have to know. Raises UsageError for a crawl that only this machine can do."""
    if any(getattr(options, name, None) for name in CREDENTIALS) or "@" in (options.proxy or ""):
        raise UsageError(
            "A crawl with credentials cannot be left to workers, since the database would hold them: run it without --detach."
        )
    return {one.name: getattr(options, one.name) for one in fields(options) if _is_shared(one.name)}


def options_from_shared(shared: Mapping[str, Any], database: str) -> AuditOptions:
    """The options of a crawl, as somebody shared them; what a newer or older program calls otherwise is left out."""
    known = {one.name for one in fields(AuditOptions) if _is_shared(one.name)}
    found = {name: value for name, value in shared.items() if name in known}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return AuditOptions(**values, database=database, processes=1)


def _is_shared(name: str) -> bool:
    return name not in LOCAL_OPTIONS and name not in CREDENTIALS


async def submit_crawl(options: AuditOptions, urls: Sequence[str], config: dict[str, Any]) -> None:
    """Begin a crawl, or go on with it, and leave it to the workers. Raises UsageError."""
    shared = shared_options(options)
    cluster = ClusterRegistry(options.database)
    try:
        queue.prepare_schema(cluster)
        await prepare(options, urls, config)
        # Last: workers find it within a second, by looking.
        cluster.put_crawl(parse(options.database).crawl, "audit", shared)
    finally:
        cluster.close()
