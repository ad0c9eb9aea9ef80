"""REST: JSON under `/api/v1`, and the seed's own paths.

`asked` reads the parameters of lists, `answers` writes JSON with entity tags and pages, `models` describes what goes in and out.
The routes are in `events`, `sources`, `runs` and `reviews`; `register` says what may be changed over the network, `running`
collects sources in the background. Who may call what is in `serve.roles`; errors are told by `serve.problems`.
"""

from __future__ import annotations

from fastapi import APIRouter

from tadoru.serve.rest import cluster, crawls, crawls_files, crawls_reading, docs_sites, events, reviews, runs, sources

router = APIRouter()
for room in (events, sources, runs, reviews, docs_sites, crawls, crawls_reading, crawls_files, cluster):
    router.include_router(room.router)
