"""Checks of the titles of pages."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.parse.page import PageView
from tadoru.parse.text_width import TITLE_SIZE, columns, pixels

_define = CheckDefinitions("titles")

MISSING = _define.error(
    "title-missing",
    title=N_("Missing title"),
    why=N_("The title is the headline in search results. Without one, search engines generate it."),
    fix=N_("Add a unique <title> that describes the page."),
)
MULTIPLE = _define.warning(
    "title-multiple",
    title=N_("Multiple titles"),
    why=N_("Search engines may show any of the titles."),
    fix=N_("Keep one <title>."),
)
TOO_LONG = _define.notice(
    "title-too-long",
    title=N_("Title too long"),
    why=N_(
        "Search results truncate long titles: by their width in pixels, which depends on the letters, at about 60 characters."
    ),
    fix=N_("Put the important words first and shorten the rest."),
    threshold=Threshold(60, "characters, full-width ones counted twice"),
)
TOO_WIDE = _define.notice(
    "title-too-wide",
    title=N_("Title too wide (pixels)"),
    why=N_("Search results truncate titles by their width in pixels, not by their length."),
    fix=N_("Shorten the title."),
    threshold=Threshold(561, "pixels"),
    merged_into=("title-too-long",),
)
TOO_SHORT = _define.notice(
    "title-too-short",
    title=N_("Title too short"),
    why=N_("One or two words rarely describe what the page offers."),
    fix=N_("Describe the content of the page and add the name of the site."),
    threshold=Threshold(20, "characters, full-width ones counted twice"),
)
SAME_AS_H1 = _define.info(
    "title-same-as-h1",
    title=N_("Title same as h1"),
    why=N_("The title appears outside the page, where it can give information that the heading does not."),
    fix=N_("Add context to the title, such as the name of the site."),
)
OUTSIDE_HEAD = _define.warning(
    "title-outside-head",
    title=N_("Title outside <head>"),
    why=N_("Search engines may ignore a <title> in the body."),
    fix=N_("Move the <title> into the <head>, before any element that is not allowed there."),
)
PLACEHOLDER = _define.warning(
    "title-placeholder",
    title=N_("Placeholder title"),
    why=N_("The title is a default that was set by a tool."),
    fix=N_("Replace it with a title that describes the page."),
)

_PLACEHOLDERS = frozenset(
    (
        "untitled|untitled document|untitled page|new page|document|title|page title|home|index|react app|vite app|"
        "welcome|無題|無題ドキュメント|無題のページ|新しいページ|タイトル|ホーム|ページタイトル"
    ).split("|")
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    head = page.head
    if not head.title:
        yield MISSING.on(page.url)
        return
    if page.titles_in_head > 1:
        yield MULTIPLE.on(page.url, head.title, count=page.titles_in_head)
    if page.titles_in_head < 1:
        yield OUTSIDE_HEAD.on(page.url, head.title)
    if _is_placeholder(page, head.title):
        yield PLACEHOLDER.on(page.url, head.title)
    elif context.is_indexable:
        yield from _check_length(context, page, head.title)


def _is_placeholder(page: PageView, title: str) -> bool:
    plain = title.lower().strip(" .!|-")
    # The index of a book is really called "Index", and its heading says so.
    return plain in _PLACEHOLDERS and not (plain == "index" and any(heading.text.lower() == plain for heading in page.headings))


def _check_length(context: PageContext, page: PageView, title: str) -> Iterator[Finding]:
    length, width = columns(title), pixels(title, TITLE_SIZE)
    if length > (limit := context.limits[TOO_LONG]) or width > context.limits[TOO_WIDE]:
        yield TOO_LONG.on(page.url, title, length=length, limit=limit, pixels=width)
    elif length < (limit := context.limits[TOO_SHORT]):
        yield TOO_SHORT.on(page.url, title, length=length, limit=limit)
    first = next((heading.text for heading in page.headings if heading.level == 1), None)
    if first is not None and first.casefold() == title.casefold():
        yield SAME_AS_H1.on(page.url, title)


GROUP = CheckGroup(_define.checks, run)
