"""The REST API: JSON under `/api/v1`, and the calendar feeds.

`events`, `sources`, `reviews`, `crawls`, `crawl_results`, `crawl_desk`, `docs_sites`, `cluster` and `feeds` hold the routes. The
models (`models`, `source_models`, `crawl_models`, `docs_models`) describe requests and responses, `responses` writes JSON with
entity tags and pages, `openapi` publishes the description. Permissions are in `serve.roles`, errors in `serve.problems`.
"""

from __future__ import annotations

from tadoru.serve.api import cluster, crawl_desk, crawl_results, crawls, docs_sites, events, feeds, reviews, sources

ROUTERS = (
    events.router, sources.router, reviews.router, docs_sites.router, crawls.router, crawl_results.router, crawl_desk.router,
    cluster.router, sources.runs_router, feeds.router,
)  # fmt: skip
