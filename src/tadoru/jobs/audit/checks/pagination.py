"""Checks of `rel=next` and `rel=prev`. The order of a series is checked in `site_checks.pagination`."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding
from tadoru.model.web import LinkKind

_define = CheckDefinitions("pagination")

MULTIPLE = _define.warning(
    "pagination-multiple",
    title=N_("Multiple rel=next or rel=prev"),
    why=N_("A page in a series can have only one next page and one previous page."),
    fix=N_("Keep one rel=next and one rel=prev."),
)
TO_SELF = _define.warning(
    "pagination-to-self",
    title=N_("rel=next or rel=prev points to itself"),
    why=N_("The series never ends."),
    fix=N_("Remove rel=next from the last page and rel=prev from the first page."),
)
NOT_LINKED = _define.notice(
    "pagination-not-in-anchor",
    title=N_("Pagination URL not linked"),
    why=N_("Search engines discover pages through <a> links and no longer use rel=next."),
    fix=N_("Link to the next and previous pages with <a> elements."),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None or not (page.nexts or page.prevs):
        return
    if len(set(page.nexts)) > 1 or len(set(page.prevs)) > 1:
        yield MULTIPLE.among(page.url, page.nexts if len(set(page.nexts)) > 1 else page.prevs)
    named = dict.fromkeys((*page.nexts, *page.prevs))
    if page.url in named:
        yield TO_SELF.on(page.url)
    linked = {link.url for link in context.links[LinkKind.A]}
    if lost := [url for url in named if url not in linked and url != page.url]:
        yield NOT_LINKED.among(page.url, lost)


GROUP = CheckGroup(_define.checks, run)
