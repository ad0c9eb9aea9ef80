"""The pages, made on the server: what everybody sees (`public`), and what those do who look after the calendar (`desk` and more).

They work without a script. Every word is in `words`, every template in `serve/templates`, the whole look in `serve/static`.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends

from tadoru.serve.pages import (
    access,
    cluster,
    crawls,
    crawls_compare,
    crawls_form,
    crawls_reading,
    desk,
    docs,
    editing,
    embedding,
    entering,
    interface,
    public,
    reviews,
    sources,
)
from tadoru.serve.pages.live import note_position
from tadoru.serve.pages.rendering import error_page

__all__ = ["error_page", "router"]

router = APIRouter(include_in_schema=False, dependencies=[Depends(note_position)])
_ROOMS = (
    public, interface, entering, desk, sources, reviews, editing, access,
    embedding, crawls_form, crawls, crawls_reading, crawls_compare, cluster, docs,
)  # fmt: skip
for _room in _ROOMS:
    router.include_router(_room.router)
