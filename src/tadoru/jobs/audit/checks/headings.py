"""Checks of the headings of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.parse.walk import HeadingElement

_define = CheckDefinitions("headings")

H1_MISSING = _define.warning(
    "h1-missing",
    title=N_("Missing h1"),
    why=N_("The main heading tells readers, screen readers and search engines what the page is about."),
    fix=N_("Add one <h1>."),
)
H1_EMPTY = _define.warning(
    "h1-empty",
    title=N_("Empty h1"),
    why=N_("The main heading has no text."),
    fix=N_("Add text to the heading, or alt text to the image in it."),
)
H1_MULTIPLE = _define.notice(
    "h1-multiple",
    title=N_("Multiple h1"),
    why=N_("With several main headings, the topic of the page is ambiguous."),
    fix=N_("Keep one <h1> and change the others to <h2>."),
)
H1_TOO_LONG = _define.info(
    "h1-too-long",
    title=N_("h1 too long"),
    why=N_("A long heading is hard to take in at a glance."),
    fix=N_("Shorten the heading."),
    threshold=Threshold(70, "characters"),
)
H1_IMAGE = _define.notice(
    "h1-image-only",
    title=N_("h1 contains only an image"),
    why=N_("The only text of the main heading is the alt text of an image, which carries less weight than text."),
    fix=N_("Write the heading as text."),
)
H2_MISSING = _define.info(
    "h2-missing",
    title=N_("Long content without h2"),
    why=N_("A long text without subheadings is hard to scan."),
    fix=N_("Structure the text with <h2> headings."),
    threshold=Threshold(1_000, "words, two Chinese or Japanese characters counted as one"),
)
NONSEQUENTIAL = _define.notice(
    "headings-nonsequential",
    title=N_("Skipped heading level"),
    why=N_("Screen readers use headings as an outline, and a skipped level breaks it."),
    fix=N_("Use the next heading level without skipping one."),
)
EMPTY = _define.notice(
    "heading-empty",
    title=N_("Empty heading"),
    why=N_("Screen readers announce the heading, but it has no text."),
    fix=N_("Remove the heading, or use another element for styling."),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    url, headings = page.url, page.headings
    main = [heading for heading in headings if heading.level == 1]
    texts = [heading.text for heading in main if heading.text]
    # A page without any text is reported as empty.
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
    yield from _check_outline(url, headings)


def _check_outline(url: str, headings: Sequence[HeadingElement]) -> Iterator[Finding]:
    """Findings about heading levels after the h1. Menus and asides have headings of their own and are ignored."""
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


GROUP = CheckGroup(_define.checks, run)
