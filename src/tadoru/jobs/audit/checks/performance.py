"""Checks of the speed and size of a page. Comparisons with the rest of the site are in `site_checks.performance`."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.model.web import LinkKind, Response

_define = CheckDefinitions("performance")

TTFB = _define.warning(
    "ttfb-slow",
    title=N_("Slow server response"),
    why=N_("The browser cannot display anything before the first byte arrives."),
    fix=N_("Cache the page, or make it faster to generate."),
    threshold=Threshold(0.8, "seconds"),
)
LARGE = _define.notice(
    "html-too-large",
    title=N_("Large HTML document"),
    why=N_("A document of this size loads and renders slowly, especially on mobile devices."),
    fix=N_("Split the page, or move inline data to separate files."),
    threshold=Threshold(1_000_000, "bytes"),
)
UNCOMPRESSED = _define.notice(
    "text-uncompressed",
    title=N_("Uncompressed text"),
    why=N_("Compression reduces HTML to a quarter of its size or less."),
    fix=N_("Enable gzip, Brotli or zstd compression on the server."),
    threshold=Threshold(1_400, "bytes"),
    is_site_wide=True,
)
RESOURCES = _define.info(
    "resources-too-many",
    title=N_("Too many scripts and stylesheets"),
    why=N_("Each file is another request before the page is complete."),
    fix=N_("Combine the files, and remove unused ones."),
    threshold=Threshold(50, "files"),
)
BLOCKING = _define.info(
    "scripts-render-blocking",
    title=N_("Render-blocking scripts"),
    why=N_("Scripts in the <head> without async or defer block the rest of the page."),
    fix=N_("Add defer or async."),
    threshold=Threshold(2, "scripts"),
)
NO_CACHING = _define.info(
    "caching-headers-missing",
    title=N_("Missing caching headers"),
    why=N_("Without a lifetime or a validator, browsers download the page again on every visit."),
    fix=N_("Send Cache-Control, and ETag or Last-Modified."),
    is_site_wide=True,
)
INLINE = _define.notice(
    "inline-code-too-large",
    title=N_("Large inline code"),
    why=N_("Inline scripts, styles and images are sent with every page and cannot be cached."),
    fix=N_("Move them to separate files."),
    threshold=Threshold(100_000, "characters"),
)
DOM = _define.info(
    "dom-too-large",
    title=N_("Large DOM"),
    why=N_("A large number of elements slows down layout and scripts."),
    fix=N_("Split the page, or load parts of it on demand."),
    threshold=Threshold(10_000, "elements"),
)

_VALIDATORS = ("cache-control", "expires", "etag", "last-modified")


def run(context: PageContext) -> Iterator[Finding]:
    page, response, limits = context.document, context.response, context.limits
    if page is None or response is None:
        return
    yield from _check_response(context, response)
    if page.size > (limit := limits[LARGE]):
        yield LARGE.on(page.url, size=page.size, limit=limit)
    if len(page.blocking_scripts) > limits[BLOCKING]:
        yield BLOCKING.among(page.url, page.blocking_scripts)
    if (inline := page.inline_script_bytes + page.inline_style_bytes + page.data_uri_bytes) > (limit := limits[INLINE]):
        yield INLINE.on(page.url, characters=inline, limit=limit)
    if page.elements > (limit := limits[DOM]):
        yield DOM.on(page.url, count=page.elements, limit=limit)
    if (count := _count_resources(context)) > (limit := limits[RESOURCES]):
        yield RESOURCES.on(page.url, count=count, limit=limit)


def _check_response(context: PageContext, response: Response) -> Iterator[Finding]:
    limits, headers = context.limits, context.headers
    ttfb = response.timings.ttfb
    if ttfb is not None and ttfb > (limit := limits[TTFB]):
        yield TTFB.on(context.url, f"{ttfb:.2f} s", seconds=round(ttfb, 3), limit=limit)
    if len(response.body) > (limit := limits[UNCOMPRESSED]) and headers.get("content-encoding", "identity") == "identity":
        yield UNCOMPRESSED.on(context.url, size=len(response.body), limit=limit)
    if not any(name in headers for name in _VALIDATORS):
        yield NO_CACHING.on(context.url)


def _count_resources(context: PageContext) -> int:
    styles = {link.url for link in context.links[LinkKind.LINK] if "stylesheet" in link.rel}
    return len({link.url for link in context.links[LinkKind.SCRIPT]} | styles)


GROUP = CheckGroup(_define.checks, run)
