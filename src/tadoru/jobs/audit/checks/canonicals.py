"""Checks of the canonical links of a page. The pages they point to are checked in `site_checks.canonicals`."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding
from tadoru.parse.page import PageView
from tadoru.rules.url import canonical, host_key

_define = CheckDefinitions("canonicals")

MISSING = _define.info(
    "canonical-missing",
    title=N_("Missing canonical"),
    why=N_("If the page is also reachable at other URLs, search engines decide which one to show."),
    fix=N_("Add <link rel=canonical> with the URL of the page."),
)
MULTIPLE = _define.notice(
    "canonical-multiple",
    title=N_("Multiple canonicals"),
    why=N_("The page declares its canonical URL more than once. The declarations may diverge later."),
    fix=N_("Keep one canonical link."),
)
CONFLICTING = _define.error(
    "canonical-conflicting",
    title=N_("Conflicting canonicals"),
    why=N_("The page declares different canonical URLs, so search engines ignore all of them."),
    fix=N_("Keep only the correct canonical URL."),
)
RELATIVE = _define.notice(
    "canonical-relative",
    title=N_("Relative canonical URL"),
    why=N_("If the page is served from another host or scheme, a relative canonical points to that copy."),
    fix=N_("Use an absolute URL that starts with https://."),
)
FRAGMENT = _define.warning(
    "canonical-fragment",
    title=N_("Canonical with fragment (#)"),
    why=N_("Search engines ignore everything after #, so the canonical refers to a different URL than intended."),
    fix=N_("Remove the fragment from the canonical URL."),
)
INVALID = _define.warning(
    "canonical-invalid",
    title=N_("Invalid canonical URL"),
    why=N_("A canonical that is empty or not an http(s) URL is ignored."),
    fix=N_("Set the canonical to the public URL of the page."),
)
OUTSIDE_HEAD = _define.warning(
    "canonical-outside-head",
    title=N_("Canonical outside <head>"),
    why=N_("Search engines ignore a canonical link in the body."),
    fix=N_("Move the link into the <head>, before any element that is not allowed there."),
)
HEADER_MISMATCH = _define.error(
    "canonical-header-mismatch",
    title=N_("Canonical mismatch between HTTP header and HTML"),
    why=N_("The Link header and the HTML declare different canonical URLs."),
    fix=N_("Use the same URL in both, or remove one of them."),
)
CANONICALISED = _define.info(
    "canonicalised",
    title=N_("Canonicalised to another URL"),
    why=N_("The page asks search engines to index another URL in its place."),
    fix=N_("No action is needed if this is intended. Link to the canonical URL directly."),
)
OTHER_HOST = _define.notice(
    "canonical-to-other-host",
    title=N_("Canonical points to another host"),
    why=N_("The page hands over its place in search results to another site."),
    fix=N_("Check that this is intended and not a leftover from a staging site."),
)
TO_HTTP = _define.warning(
    "canonical-to-http",
    title=N_("HTTPS page with HTTP canonical"),
    why=N_("The page asks search engines to index its unencrypted URL."),
    fix=N_("Use the https:// URL as the canonical."),
)
NOINDEX = _define.warning(
    "canonical-with-noindex",
    title=N_("Canonical to another URL with noindex"),
    why=N_("The canonical asks to consolidate the page with another URL, noindex asks to drop it. The result is unpredictable."),
    fix=N_("Use either the canonical or noindex, not both."),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    stated = page.head.canonicals
    in_header = [link.url for link in page.header_links if "canonical" in link.rel]
    if not page.canonical_references and not in_header and context.is_indexable:
        yield MISSING.on(page.url)
    if len(set(stated)) > 1:
        yield CONFLICTING.among(page.url, stated)
    elif len(page.canonical_references) > 1:
        yield MULTIPLE.among(page.url, page.canonical_references)
    if in_header and stated and in_header[0] != stated[0]:
        yield HEADER_MISMATCH.on(page.url, in_header[0], html=stated[0])
    if "canonical" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, page.canonical_references[0])
    yield from _check_syntax(page)
    targets = {*stated, *in_header}
    if len(targets) == 1 and targets != {page.url}:
        target = targets.pop()
        if page.url.startswith("https:") and target == "http:" + page.url[6:]:
            yield TO_HTTP.on(page.url, target)
        elif any(one.name in ("noindex", "none") for one in context.directives):
            yield NOINDEX.on(page.url, target)
        elif host_key(target) != host_key(page.url):
            yield OTHER_HOST.on(page.url, target)
        else:
            yield CANONICALISED.on(page.url, target)


def _check_syntax(page: PageView) -> Iterator[Finding]:
    """Findings about how the canonical URLs are written."""
    references = page.canonical_references
    incomplete = [one for one in references if canonical(one) is None]
    if broken := [one for one in incomplete if not one or canonical(one, page.url) is None]:
        yield INVALID.among(page.url, broken)
    if relative := [one for one in incomplete if one not in broken]:
        yield RELATIVE.among(page.url, relative)
    if with_fragment := [reference for reference in references if "#" in reference]:
        yield FRAGMENT.among(page.url, with_fragment)


GROUP = CheckGroup(_define.checks, run)
