"""The REST API: JSON under `/api/v1`, and the calendar feeds.

`events`, `sources`, `reviews`, `crawls`, `crawl_results`, `crawl_desk`, `docs_sites`, `cluster` and `feeds` hold the routes. The
models (`models`, `source_models`, `crawl_models`, `docs_models`) describe requests and responses, `responses` writes JSON with
entity tags and pages, `openapi` publishes the description. Permissions are in `serve.roles`, errors in `serve.problems`.
"""

from __future__ import annotations

from fastapi import APIRouter

from tadoru.serve.api import cluster, crawl_desk, crawl_results, crawls, docs_sites, events, reviews, sources

router = APIRouter()
for one in (events, sources, reviews, docs_sites, crawls, crawl_results, crawl_desk, cluster):
    router.include_router(one.router)
router.include_router(sources.runs_router)
