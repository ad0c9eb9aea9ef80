"""Headings: the outline of a page, for readers and for search engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.parse.walk import Heading

_define = partial(define, group="headings")

H1_MISSING = _define(
    "h1-missing",
    Severity.WARNING,
    title=N_("h1 missing"),
    why=N_("The main heading tells readers, screen readers and search engines what the page is about."),
    fix=N_("Add one <h1>."),
)
H1_EMPTY = _define(
    "h1-empty",
    Severity.WARNING,
    title=N_("h1 empty"),
    why=N_("The main heading has no words."),
    fix=N_("Write the heading, or give the image in it an alt text."),
)
H1_MULTIPLE = _define(
    "h1-multiple",
    Severity.NOTICE,
    title=N_("Several h1"),
    why=N_("With several main headings it is unclear which one names the page."),
    fix=N_("Keep one <h1>; make the others <h2>."),
)
H1_TOO_LONG = _define(
    "h1-too-long",
    Severity.INFO,
    title=N_("h1 too long"),
    why=N_("A heading is read at a glance; this one is a paragraph."),
    fix=N_("Shorten it."),
    threshold=Threshold(70, "characters"),
)
H1_IMAGE = _define(
    "h1-image-only",
    Severity.NOTICE,
    title=N_("h1 is an image"),
    why=N_("The only words of the main heading are the alt text of an image, which weigh less than text."),
    fix=N_("Write the heading as text."),
)
H2_MISSING = _define(
    "h2-missing",
    Severity.INFO,
    title=N_("Long text without h2"),
    why=N_("A long text without subheadings is hard to scan."),
    fix=N_("Divide it with <h2> headings."),
    threshold=Threshold(1_000, "words, two Chinese or Japanese characters counted as one"),
)
NONSEQUENTIAL = _define(
    "headings-nonsequential",
    Severity.NOTICE,
    title=N_("Heading levels skipped"),
    why=N_("Screen readers offer headings as an outline; a skipped level is a hole in it."),
    fix=N_("Use the level below the heading above it."),
)
EMPTY = _define(
    "heading-empty",
    Severity.NOTICE,
    title=N_("Empty heading"),
    why=N_("A heading without words is announced by screen readers and says nothing."),
    fix=N_("Remove it, or style an element that is no heading."),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    url, headings = page.url, page.headings
    main = [heading for heading in headings if heading.level == 1]
    texts = [heading.text for heading in main if heading.text]
    # A page without any text lacks more than a heading, and is found for that.
    if not main and page.content.words:
        yield H1_MISSING.on(url)
    if main and not texts:
        yield H1_EMPTY.on(url)
    if len(texts) > 1:
        yield H1_MULTIPLE.among(url, texts)
    for heading in main[:1]:
        if heading.is_image:
            yield H1_IMAGE.on(url, heading.text)
        elif (length := len(heading.text)) > (limit := context.limits[H1_TOO_LONG]):
            yield H1_TOO_LONG.on(url, heading.text, length=length, limit=limit)
    if empty := [f"h{heading.level}" for heading in headings if heading.level > 1 and not heading.text]:
        yield EMPTY.among(url, empty)
    if page.content.words > (limit := context.limits[H2_MISSING]) and not any(
        heading.level in (2, 3) and not heading.is_aside for heading in headings
    ):
        yield H2_MISSING.on(url, words=page.content.words, limit=limit)
    yield from _outline(url, headings)


def _outline(url: str, headings: Sequence[Heading]) -> Iterator[Finding]:
    """Levels are judged from the h1 on, and without menus and asides, which have headings of their own."""
    headings = [heading for heading in headings if not heading.is_aside]
    start = next((at for at, heading in enumerate(headings) if heading.level == 1), None)
    if start is None:
        return
    skipped = [
        f"h{above.level} → h{below.level}: {below.text}"
        for above, below in pairwise(headings[start:])
        if below.level > above.level + 1
    ]
    if skipped:
        yield NONSEQUENTIAL.among(url, skipped)


GROUP = CheckGroup((H1_MISSING, H1_EMPTY, H1_MULTIPLE, H1_TOO_LONG, H1_IMAGE, H2_MISSING, NONSEQUENTIAL, EMPTY), run)
