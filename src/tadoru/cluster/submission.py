"""Submits a crawl to the workers: prepares it, and stores the options that they need, without secrets and local files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tadoru.cluster import queue
from tadoru.config.options import AuditOptions
from tadoru.config.resolve import CREDENTIALS
from tadoru.errors import UsageError
from tadoru.jobs.audit.run import AuditCrawl
from tadoru.store.cluster.registry import ClusterRegistry
from tadoru.store.crawl.postgres.crawl_url import parse

LOCAL_OPTIONS = frozenset({"database", "seed_urls", "report", "baseline", "fail_on", "suppress", "processes"})
"""Options that depend on one machine, such as files."""


def shared_options(options: AuditOptions) -> dict[str, Any]:
    """The options for the workers. Raises UsageError for a crawl that cannot be shared."""
    if any(getattr(options, name, None) for name in CREDENTIALS) or "@" in (options.proxy or ""):
        raise UsageError(
            "A crawl with credentials cannot be submitted to workers: the database would contain them. Run it without --detach."
        )
    return {one.name: getattr(options, one.name) for one in fields(options) if _is_shared(one.name)}


def options_from_shared(shared: Mapping[str, Any], database: str) -> AuditOptions:
    """The options of a submitted crawl, without those that this version does not know."""
    known = {one.name for one in fields(AuditOptions) if _is_shared(one.name)}
    found = {name: value for name, value in shared.items() if name in known}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return AuditOptions(**values, database=database, processes=1)


def _is_shared(name: str) -> bool:
    return name not in LOCAL_OPTIONS and name not in CREDENTIALS


async def submit_crawl(crawl: AuditCrawl) -> None:
    """Start or resume a crawl on the workers. Raises UsageError."""
    shared, database = shared_options(crawl.options), crawl.options.database
    cluster = ClusterRegistry(database)
    try:
        queue.prepare_schema(cluster)
        await crawl.prepare()
        # Last: workers find it within a second.
        cluster.put_crawl(parse(database).crawl, "audit", shared)
    finally:
        cluster.close()
