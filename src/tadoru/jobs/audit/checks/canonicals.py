"""Canonical links: which of several URLs a page wants to be known by. Whether its target is good takes the whole site."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.parse.page import PageView
from tadoru.rules.url import canonical, host_key

_define = partial(define, group="canonicals")

MISSING = _define(
    "canonical-missing",
    Severity.INFO,
    title=N_("Canonical missing"),
    why=N_("If the page is reachable under other URLs as well, search engines choose which one to show."),
    fix=N_("Name the page's own URL in <link rel=canonical>."),
)
MULTIPLE = _define(
    "canonical-multiple",
    Severity.NOTICE,
    title=N_("Several canonicals"),
    why=N_("The page names its canonical URL more than once: sooner or later they will differ."),
    fix=N_("Keep one."),
)
CONFLICTING = _define(
    "canonical-conflicting",
    Severity.ERROR,
    title=N_("Conflicting canonicals"),
    why=N_("The page names different canonical URLs: search engines ignore them all."),
    fix=N_("Keep the right one."),
)
RELATIVE = _define(
    "canonical-relative",
    Severity.NOTICE,
    title=N_("Canonical is relative"),
    why=N_("On a copy of the page under another host or scheme it points to the copy."),
    fix=N_("Write the whole URL, with https://."),
)
FRAGMENT = _define(
    "canonical-fragment",
    Severity.WARNING,
    title=N_("Canonical with fragment"),
    why=N_("Search engines leave out what follows #, so the canonical means another URL than it says."),
    fix=N_("Remove the fragment."),
)
INVALID = _define(
    "canonical-invalid",
    Severity.WARNING,
    title=N_("Canonical is not a web address"),
    why=N_("A canonical that is empty or not http(s) is ignored."),
    fix=N_("Name the page's public URL."),
)
OUTSIDE_HEAD = _define(
    "canonical-outside-head",
    Severity.WARNING,
    title=N_("Canonical outside head"),
    why=N_("Search engines ignore a canonical link in the body."),
    fix=N_("Move it into the <head>, before any element that does not belong there."),
)
HEADER_MISMATCH = _define(
    "canonical-header-mismatch",
    Severity.ERROR,
    title=N_("Canonical in header and HTML differ"),
    why=N_("The Link header and the page name different canonical URLs."),
    fix=N_("Let both say the same, or keep one of them."),
)
CANONICALISED = _define(
    "canonicalised",
    Severity.INFO,
    title=N_("Canonicalised to another URL"),
    why=N_("The page asks search engines to show another URL in its place."),
    fix=N_("Nothing, if that is meant; link to the other URL directly."),
)
OTHER_HOST = _define(
    "canonical-to-other-host",
    Severity.NOTICE,
    title=N_("Canonical on another host"),
    why=N_("The page gives its place in search results to another site."),
    fix=N_("Make sure that this is meant, and no left-over of a test system."),
)
TO_HTTP = _define(
    "canonical-to-http",
    Severity.WARNING,
    title=N_("Canonical from HTTPS to HTTP"),
    why=N_("The page asks to be known by its unencrypted URL."),
    fix=N_("Name the https:// URL."),
)
NOINDEX = _define(
    "canonical-with-noindex",
    Severity.WARNING,
    title=N_("Canonical elsewhere and noindex"),
    why=N_("One asks to count the page for another URL, the other to forget it: the results are unpredictable."),
    fix=N_("Choose one of them."),
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
    yield from _references(page)
    targets = {*stated, *in_header}
    if len(targets) == 1 and targets != {page.url}:
        yield from _elsewhere(context, page, targets.pop())


def _references(page: PageView) -> Iterator[Finding]:
    """How they are written."""
    references = page.canonical_references
    incomplete = [one for one in references if canonical(one) is None]
    if broken := [one for one in incomplete if not one or canonical(one, page.url) is None]:
        yield INVALID.among(page.url, broken)
    if relative := [one for one in incomplete if one not in broken]:
        yield RELATIVE.among(page.url, relative)
    if with_fragment := [reference for reference in references if "#" in reference]:
        yield FRAGMENT.among(page.url, with_fragment)


def _elsewhere(context: PageContext, page: PageView, target: str) -> Iterator[Finding]:
    if page.url.startswith("https:") and target == "http:" + page.url[6:]:
        yield TO_HTTP.on(page.url, target)
    elif any(one.name in ("noindex", "none") for one in context.directives):
        yield NOINDEX.on(page.url, target)
    elif host_key(target) != host_key(page.url):
        yield OTHER_HOST.on(page.url, target)
    else:
        yield CANONICALISED.on(page.url, target)


GROUP = CheckGroup(
    (
        MISSING,
        MULTIPLE,
        CONFLICTING,
        RELATIVE,
        FRAGMENT,
        INVALID,
        OUTSIDE_HEAD,
        HEADER_MISMATCH,
        CANONICALISED,
        OTHER_HOST,
        TO_HTTP,
        NOINDEX,
    ),
    run,
)
