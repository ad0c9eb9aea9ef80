"""Checks of robots directives in the page and in `X-Robots-Tag`. Most are intended, so most findings are informational."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Check, Finding

_define = CheckDefinitions("directives")

NOINDEX = _define.notice(
    "directive-noindex",
    title=N_("Noindex"),
    why=N_("The page is excluded from search results."),
    fix=N_("No action is needed if this is intended. Otherwise, remove the directive."),
)
NOFOLLOW = _define.notice(
    "directive-nofollow",
    title=N_("Nofollow"),
    why=N_("Search engines do not follow the links on the page."),
    fix=N_("Remove the directive unless every link on the page is untrusted."),
)
NONE = _define.notice(
    "directive-none",
    title=N_("None (noindex, nofollow)"),
    why=N_("The page is excluded from search results, and its links are not followed."),
    fix=N_("No action is needed if this is intended. Otherwise, remove the directive."),
)
NOARCHIVE = _define.info(
    "directive-noarchive",
    title=N_("Noarchive"),
    why=N_("Search engines do not show a cached copy of the page."),
    fix=N_("No action is needed if this is intended."),
)
NOSNIPPET = _define.notice(
    "directive-nosnippet",
    title=N_("Nosnippet"),
    why=N_("Search results show no snippet for the page, which reduces clicks."),
    fix=N_("Remove the directive, or use max-snippet instead."),
)
NOIMAGEINDEX = _define.info(
    "directive-noimageindex",
    title=N_("Noimageindex"),
    why=N_("The images on the page are excluded from image search."),
    fix=N_("No action is needed if this is intended."),
)
NOTRANSLATE = _define.info(
    "directive-notranslate",
    title=N_("Notranslate"),
    why=N_("Search engines do not offer a translation of the page."),
    fix=N_("No action is needed if this is intended."),
)
UNAVAILABLE_AFTER = _define.info(
    "directive-unavailable-after",
    title=N_("Unavailable_after"),
    why=N_("The page is excluded from search results after the given date."),
    fix=N_("Check that the date is correct."),
)
CONFLICTING = _define.warning(
    "directive-conflicting",
    title=N_("Conflicting directives"),
    why=N_("The page has a directive and its opposite. Search engines apply the more restrictive one."),
    fix=N_("Keep only the directive that you want."),
)
UNKNOWN = _define.warning(
    "directive-unknown",
    title=N_("Unknown directive"),
    why=N_("Search engines ignore directives that they do not know."),
    fix=N_("Correct the spelling, or remove the directive."),
)
OUTSIDE_HEAD = _define.warning(
    "directive-outside-head",
    title=N_("Robots meta tag outside <head>"),
    why=N_("Some search engines ignore directives in the body."),
    fix=N_("Move the element into the <head>."),
)

_NAMED: dict[str, Check] = {
    "noindex": NOINDEX, "nofollow": NOFOLLOW, "none": NONE, "noarchive": NOARCHIVE, "nocache": NOARCHIVE, "nosnippet": NOSNIPPET,
    "noimageindex": NOIMAGEINDEX, "notranslate": NOTRANSLATE, "unavailable_after": UNAVAILABLE_AFTER,
}  # fmt: skip
_NO_SNIPPET = ("max-snippet", "0")
"""The same as `nosnippet`."""
_OTHERS = frozenset(
    "index follow all noodp noydir max-snippet max-image-preview max-video-preview indexifembedded archive snippet noai "
    "noimageai imageindex translate cache".split()
)
_OPPOSITES = (
    ("index", "noindex"),
    ("follow", "nofollow"),
    ("index", "none"),
    ("follow", "none"),
    ("all", "noindex"),
    ("all", "none"),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    if "robots" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, ", ".join(one.name for one in page.directives))
    if not context.directives and not page.directives and not page.header_directives:
        return
    in_header = {one.name for one in page.header_directives}
    found: dict[Check, str] = {}
    for one in context.directives:
        if (check := NOSNIPPET if (one.name, one.value) == _NO_SNIPPET else _NAMED.get(one.name)) is not None:
            found.setdefault(check, one.value or one.name)
    for check, value in found.items():
        source = "X-Robots-Tag" if check.id.removeprefix("directive-").replace("-", "_") in in_header else "meta"
        yield check.on(page.url, value, source=source)
    names = {one.name for one in context.directives}
    if conflicts := [f"{one}, {other}" for one, other in _OPPOSITES if one in names and other in names]:
        yield CONFLICTING.among(page.url, conflicts)
    everyone = (*page.directives, *page.header_directives)
    if unknown := [one.name for one in everyone if one.name not in _NAMED and one.name not in _OTHERS]:
        yield UNKNOWN.among(page.url, unknown)


GROUP = CheckGroup(_define.checks, run)
