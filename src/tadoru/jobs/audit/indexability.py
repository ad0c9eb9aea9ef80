"""Whether a search engine may show a URL, and if not, why: one word or two, the same in the database, reports and exports."""

from __future__ import annotations

from tadoru.jobs.audit.context import PageContext

INDEXABLE = "indexable"


def indexability(context: PageContext) -> str:
    """`indexable`, or the first reason against it in the order that search engines meet them."""
    if context.robots_rule is not None:
        return "blocked by robots.txt"
    response = context.response
    if response is None:
        return "no response"
    if response.is_redirect or context.is_refreshed:
        return "redirected"
    if response.status >= 500:
        return "server error"
    if response.status >= 400:
        return "client error"
    if response.status != 200:
        return "no content"
    if _is_noindex(context):
        return "noindex"
    page = context.document
    if page is not None and page.head.canonical not in (None, page.url):
        return "canonicalised"
    canonical = next((link.url for link in page.header_links if "canonical" in link.rel), None) if page is not None else None
    if page is not None and canonical not in (None, page.url):
        return "canonicalised"
    return INDEXABLE


def _is_noindex(context: PageContext) -> bool:
    if context.page is not None:
        return any(one.name in ("noindex", "none") for one in context.directives)
    # Not HTML: only the header can say it.
    tags = context.headers.get("x-robots-tag", "").lower()
    return any(word.strip() in ("noindex", "none") for word in tags.replace(":", ",").split(","))
