"""Checks of meta descriptions, which search results show as snippets, and of meta keywords."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.parse.text_width import DESCRIPTION_SIZE, columns, pixels

_define = CheckDefinitions("descriptions")

MISSING = _define.notice(
    "description-missing",
    title=N_("Missing meta description"),
    why=N_("Search engines choose some text of the page as the snippet."),
    fix=N_("Add a <meta name=description> that summarises the page in one or two sentences."),
)
MULTIPLE = _define.warning(
    "description-multiple",
    title=N_("Multiple meta descriptions"),
    why=N_("Search engines may show any of the descriptions."),
    fix=N_("Keep one <meta name=description>."),
)
TOO_LONG = _define.info(
    "description-too-long",
    title=N_("Meta description too long"),
    why=N_("Search results truncate long descriptions."),
    fix=N_("Put the important information first and shorten the rest."),
    threshold=Threshold(155, "characters, full-width ones counted twice"),
)
TOO_WIDE = _define.info(
    "description-too-wide",
    title=N_("Meta description too wide (pixels)"),
    why=N_("Search results truncate descriptions by their width in pixels."),
    fix=N_("Shorten the description."),
    threshold=Threshold(985, "pixels"),
    merged_into=("description-too-long",),
)
TOO_SHORT = _define.info(
    "description-too-short",
    title=N_("Meta description too short"),
    why=N_("The snippet has room for more information that helps people choose the page."),
    fix=N_("Summarise the page in one or two sentences."),
    threshold=Threshold(70, "characters, full-width ones counted twice"),
)
OUTSIDE_HEAD = _define.warning(
    "description-outside-head",
    title=N_("Meta description outside <head>"),
    why=N_("Search engines may ignore a meta description in the body."),
    fix=N_("Move the element into the <head>."),
)
SAME_AS_TITLE = _define.notice(
    "description-same-as-title",
    title=N_("Meta description same as title"),
    why=N_("A snippet that repeats the title gives no further information."),
    fix=N_("Write a separate description."),
)
KEYWORDS = _define.info(
    "meta-keywords-present",
    title=N_("Meta keywords present"),
    why=N_("Search engines ignore meta keywords, and competitors can read them."),
    fix=N_("Remove the meta keywords."),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None or not context.is_indexable:
        return
    if page.keywords:
        yield KEYWORDS.on(page.url, page.keywords)
    description = next(filter(None, page.descriptions), "")
    if not description:
        yield MISSING.on(page.url)
        return
    if len(page.descriptions) > 1:
        yield MULTIPLE.on(page.url, description, count=len(page.descriptions))
    if "description" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, description)
    if description == page.head.title:
        yield SAME_AS_TITLE.on(page.url, description)
        return
    length, width = columns(description), pixels(description, DESCRIPTION_SIZE)
    if length > (limit := context.limits[TOO_LONG]) or width > context.limits[TOO_WIDE]:
        yield TOO_LONG.on(page.url, description, length=length, limit=limit, pixels=width)
    elif length < (limit := context.limits[TOO_SHORT]):
        yield TOO_SHORT.on(page.url, description, length=length, limit=limit)


GROUP = CheckGroup(_define.checks, run)
