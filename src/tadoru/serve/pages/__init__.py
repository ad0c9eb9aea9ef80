"""The pages, made on the server: what everybody sees (`public`), and what those do who look after the calendar (`desk` and more).

They work without a script. Every word is in `words`, every template in `serve/templates`, the whole look in `serve/static`.
"""

from __future__ import annotations

from fastapi import APIRouter

from tadoru.serve.pages import access, desk, editing, entering, public, reviews, sources
from tadoru.serve.pages.rendering import error_page

__all__ = ["error_page", "router"]

router = APIRouter(include_in_schema=False)
for _room in (public, entering, desk, sources, reviews, editing, access):
    router.include_router(_room.router)
