"""A small site that was crawled by each job, in this process: something to read for tests that run no crawls."""

from __future__ import annotations

from tadoru.serve.crawl_runner.crawl_process import StopRequest, run_crawl
from tadoru.serve.crawl_runner.process_messages import CrawlRequest
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import current
from tests.support.serving import ServiceHarness
from tests.support.site import Site

BY = Actor(who="test")
JOBS = ("audit", "docs", "links")
"""Crawls 1, 2 and 3."""


def crawl_a_site(harness: ServiceHarness) -> None:
    """Three pages, of which one has no title, and a link to a fourth that is not there."""
    with Site() as site:
        site.page("/", title="Home", links=["/a", "/b", "/gone"])
        site.page("/a", title="A", links=["/"])
        site.page("/b", title="", links=["/a"])
        for job in JOBS:
            _crawled(harness, site, job)


def _crawled(harness: ServiceHarness, site: Site, job: str) -> None:
    harness.store.crawls.add(f"{job} of it", job, [site.url("/")], {"delay": 0.0}, BY)
    found = harness.store.claims.claim(current(), at_once=99)
    assert found is not None
    private = (site.base.partition("//")[2],)
    request = CrawlRequest(database=harness.service.options.database, crawl_id=found.id, operators={}, private=private)
    run_crawl(request, harness.store, StopRequest(), harness.service.log)
