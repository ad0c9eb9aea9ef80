"""Makes the title of a page the first heading of its Markdown, and the only one of level 1. Pure.

Manuals in many files start with a heading of their chapter's level; some pages have a line of plain text as title, some a small
heading or a table above it, some have it outside the main content. Pages are merged and split at headings of level 1, so each has
to start with one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tadoru.jobs.docs.bundle.markdown_blocks import MarkdownBlock, plain_text, split_blocks
from tadoru.jobs.docs.markdown import MarkdownDocument, MarkdownHeading, escape

_HEADING = re.compile("#{1,6} ")
_DEEPEST = 6
_MAX_TEXT_ABOVE = 1_000
"""Characters of text above a title that it is moved past: a package name, a table of authors."""
_MAX_LINES_ABOVE = 200
"""Characters above a heading of a lower level that is the title: a version, links to other pages."""


def apply_title(markdown: MarkdownDocument, title: str, *, begins_with_it: bool, has_it: bool) -> MarkdownDocument:
    """A page with its title first. `begins_with_it`: its first heading is the title; `has_it`: a heading of level 1 is."""
    page = _raise_first_heading(markdown) if begins_with_it else _line_to_heading(_move_above_kicker(markdown, title), title)
    if title and page.text:
        page = _begin_with_title(page, title)
    if not begins_with_it and not has_it:
        page = _lower_sections(page, title)
    return _drop_repeated_title(page, title)


def _begin_with_title(markdown: MarkdownDocument, title: str) -> MarkdownDocument:
    """A page that starts with its title: moved up past the text above it, or inserted if the text does not have it."""
    levels = [heading.level for heading in markdown.headings]
    has_it = any(heading.text == title for heading in markdown.headings)
    if markdown.headings and _HEADING.match(markdown.text):
        first = markdown.headings[0].text
        is_it = first.startswith(title) or (levels.count(1) == 1 and _is_similar(first, title))
        return markdown if has_it or is_it or not markdown.text.startswith("# ") else _prepend_title(markdown, title)
    above: list[str] = []
    for block in split_blocks(markdown.text):
        is_lower = block.kind == "heading" and block.level > 1
        if is_lower and (block.level >= min(levels[1:], default=7) or sum(map(len, above)) > _MAX_LINES_ABOVE):
            break  # It is a section with the name of the page.
        if (block.kind == "heading" or len(above) < 3) and _is_title(block, title):
            return _move_title_up(markdown, "".join(above), block, title)
        above.append(block.text)
        if block.kind == "heading" or sum(map(len, above)) > _MAX_TEXT_ABOVE:
            break
    is_below = levels[:1] == [1] and markdown.headings[0].text == title  # Below a long text; it stays there.
    return markdown if is_below else _prepend_title(markdown, title)


def _is_similar(heading: str, title: str) -> bool:
    """Whether a heading contains the title or the title contains the heading, letters and digits compared."""
    one, other = ("".join(char for char in text.casefold() if char.isalnum()) for text in (heading, title))
    return one in other or other in one


def _is_title(block: MarkdownBlock, title: str) -> bool:
    if block.kind == "heading":
        return block.title == title
    return block.kind == "text" and block.text.count("\n") < 3 and plain_text(block.text.strip()) == title


def _move_title_up(markdown: MarkdownDocument, above: str, block: MarkdownBlock, title: str) -> MarkdownDocument:
    rest = markdown.text[len(above) + len(block.text) :]
    headings = markdown.headings
    if block.kind != "heading":
        headings = (MarkdownHeading(1, title, None), *headings)
    line = block.text.strip().lstrip("#" if block.kind == "heading" else "").strip()
    if "](" in line or line.startswith("**"):  # A title has no links, and is not bold.
        line = escape.heading_end(escape.text(title))
    moved = replace(markdown, text=f"# {line}\n\n{above}{rest}".rstrip("\n") + "\n", headings=headings)
    return _raise_sections(moved) if block.kind == "heading" and block.level > 1 else moved


def _prepend_title(markdown: MarkdownDocument, title: str) -> MarkdownDocument:
    line = escape.heading_end(escape.text(title))
    return replace(markdown, text=f"# {line}\n\n{markdown.text}", headings=(MarkdownHeading(1, title, None), *markdown.headings))


def _raise_first_heading(markdown: MarkdownDocument) -> MarkdownDocument:
    """A page that starts with its title, with that heading raised to level 1.

    Its sections are raised too if none is of level 2, so that no level is missing.
    """
    level = min((heading.level for heading in markdown.headings), default=1)
    first = markdown.headings[0] if markdown.headings else None
    if level == 1 or first is None or not markdown.text.startswith("#" * first.level + " "):
        return markdown
    line, _, rest = markdown.text[first.level + 1 :].partition("\n")
    words = escape.heading_end(escape.text(first.text)) if "](" in line else line  # A title has no links.
    return _raise_sections(replace(markdown, text=f"# {words}\n{rest}"))


def _raise_sections(markdown: MarkdownDocument) -> MarkdownDocument:
    """A page whose first heading is of level 1 now, with its sections at level 2 if they are all lower."""
    raised = replace(markdown, headings=(replace(markdown.headings[0], level=1), *markdown.headings[1:]))
    highest = min((heading.level for heading in markdown.headings[1:]), default=2)
    return _shift_headings(raised, 2 - highest) if highest > 2 else raised


def _shift_headings(markdown: MarkdownDocument, down: int) -> MarkdownDocument:
    """A page whose headings after the first are lowered by `down` levels."""
    first, *others = split_blocks(markdown.text)
    text = "".join(
        _shifted_heading(block, down) if block.kind == "heading" and block.text.startswith("#") else block.text
        for block in others
    )
    headings = (replace(other, level=_shifted_level(other.level, down)) for other in markdown.headings[1:])
    return replace(markdown, text=first.text + text, headings=(markdown.headings[0], *headings))


def _shifted_heading(heading: MarkdownBlock, down: int) -> str:
    return "#" * _shifted_level(heading.level, down) + heading.text.lstrip("#")


def _shifted_level(level: int, down: int) -> int:
    return min(max(level + down, 2), _DEEPEST)


def _move_above_kicker(markdown: MarkdownDocument, title: str) -> MarkdownDocument:
    """A page with a small heading above its title (a kicker): the title first, then the kicker as text."""
    if len(markdown.headings) < 2 or markdown.headings[0].level == 1 or markdown.headings[1].level != 1:
        return markdown
    above, found, rest = markdown.text.partition("\n\n# ")
    words, _, rest = rest.partition("\n")
    if not found or "\n" in above or not above.startswith("#") or plain_text(words) != title:
        return markdown
    kind = escape.line_starts(above.lstrip("#").strip())
    return replace(markdown, text=f"# {words}\n\n{kind}\n{rest}", headings=markdown.headings[1:])


def _line_to_heading(markdown: MarkdownDocument, title: str) -> MarkdownDocument:
    """A page whose first line is its title as plain text: that line as a heading."""
    first, _, rest = markdown.text.partition("\n")
    if not title or plain_text(first) != title or not rest.startswith("\n"):
        return markdown
    if not markdown.headings or markdown.headings[0].text == title:
        return markdown
    headings = (MarkdownHeading(1, title, None), *markdown.headings)
    return replace(markdown, text=f"# {first}\n{rest}", headings=headings)


def _drop_repeated_title(markdown: MarkdownDocument, title: str) -> MarkdownDocument:
    """A page without a line or heading right below the title that repeats it."""
    head, _, rest = markdown.text.partition("\n\n")
    again, found, text = rest.partition("\n\n")
    if not found or not head.startswith("# ") or "\n" in again or "](" in again:
        return markdown
    if not plain_text(head[2:]) == plain_text(again.lstrip("#")) == title:
        return markdown
    headings = markdown.headings[:1] + markdown.headings[1 + again.startswith("#") :]
    return replace(markdown, text=f"{head}\n\n{text}", headings=headings)


def _lower_sections(markdown: MarkdownDocument, title: str) -> MarkdownDocument:
    """A page whose title is not a heading and whose sections are of level 1 (Doxygen), with the sections one level lower.

    A page with a title heading keeps its other headings of level 1: it is split there.
    """
    levels = [heading.level for heading in markdown.headings]
    if levels.count(1) < 2 or levels[0] != 1 or markdown.headings[0].text != title:
        return markdown
    return _shift_headings(markdown, 1) if markdown.text.startswith("# ") else markdown


def rename_page(markdown: str, title: str, better: str) -> str:
    """The Markdown of a page with another title: its first heading, if it is the old title, and not a second one with the new."""
    blocks = list(split_blocks(markdown))
    if not blocks or blocks[0].kind != "heading" or blocks[0].level != 1 or blocks[0].title != title:
        return markdown
    others = blocks[1:]
    if others and others[0].kind == "heading" and others[0].title == better:
        del others[0]
    line = escape.heading_end(escape.text(better))
    return f"# {line}\n\n" + "".join(block.text for block in others).lstrip("\n")
