"""The web pages, rendered on the server: the public calendar, and the management pages. They work without JavaScript."""

from __future__ import annotations

from tadoru.serve.web import docs, reviews, sources
from tadoru.serve.web.admin import accounts, api_reference, dashboard
from tadoru.serve.web.calendar import editing, pages, site_files
from tadoru.serve.web.crawls import editing as crawl_editing
from tadoru.serve.web.crawls import page_view, results, tables
from tadoru.serve.web.crawls import pages as crawl_pages
from tadoru.serve.web.rendering import error_page, note_live_position

__all__ = ["ROUTERS", "error_page", "note_live_position"]

# `/manage/crawls/new` comes before `/manage/crawls/{crawl_id}`.
ROUTERS = tuple(module.router for module in (
    pages, site_files, api_reference, accounts, dashboard, sources, reviews, editing, crawl_editing, crawl_pages, results, tables,
    page_view, docs,
))  # fmt: skip
