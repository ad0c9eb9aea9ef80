"""Splits a site into chunks: one for each heading of level 1, or as large as a token budget allows.

No chunk starts or ends inside code or a table: if one of these is larger than the budget, so is its chunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.jobs.docs.bundle.markdown_blocks import MarkdownBlock, MarkdownSection, split_blocks, split_sections
from tadoru.jobs.docs.bundle.tokens import TokenCounter

_ANOTHER_TITLE = re.compile(r"\n {0,3}(?:#[ \t\r\n]|=)")
"""Matches in a page that may have more than one title; other pages need not be parsed."""
_MAX_HEADING_LENGTH = 500
"""Characters of a heading in the path of a chunk."""


def split_at_titles(section: str) -> Iterator[str]:
    """One page of full.md, split before each heading of level 1."""
    if not _ANOTHER_TITLE.search(section):
        if section.strip():
            yield section.rstrip() + "\n"
        return
    held: list[str] = []
    for block in split_blocks(section):
        if block.kind == "heading" and block.level == 1 and "".join(held).strip():
            yield "".join(held).rstrip() + "\n"
            held = []
        held.append(block.text)
    if "".join(held).strip():
        yield "".join(held).rstrip() + "\n"


def split_by_tokens(markdown: str, title: str, url: str, budget: int, weigh: TokenCounter) -> Iterator[str]:
    """One page in chunks of at most `budget` tokens, each with the path of its headings."""
    held: list[str] = []
    head, weight, lead = "", 0.0, ""
    for section in split_sections(markdown, title):
        if all(block.kind == "heading" for block in section.blocks):
            lead += section.text  # A heading stays with what follows it.
            continue
        top = _chunk_header(section.path, url)
        for part, heavy in _split_section(section, lead, budget - weigh(top), weigh):
            if held and weight + heavy > budget:
                yield _join_chunk(head, held)
                held = []
            if not held:
                head, weight = top, weigh(top)
            held.append(part)
            weight += heavy
        lead = ""
    if lead:
        held.append(lead)
    if "".join(held).strip():
        yield _join_chunk(head or _chunk_header((title,), url), held)


def _chunk_header(path: tuple[str, ...], url: str) -> str:
    # Headings are cut because each chunk repeats them.
    return f"> Source: {url}\n> Path: {' > '.join(text[:_MAX_HEADING_LENGTH] for text in path)}\n\n"


def _join_chunk(head: str, held: list[str]) -> str:
    return head + "".join(held).rstrip() + "\n"


def _split_section(section: MarkdownSection, lead: str, budget: float, weigh: TokenCounter) -> Iterator[tuple[str, float]]:
    """A section if it fits, else its blocks, with headings kept together with what follows them; each with its tokens."""
    whole = lead + section.text
    if (weight := weigh(whole)) <= budget:
        yield whole, weight
        return
    is_whole = not lead and len(section.blocks) == 1
    for block in section.blocks:
        if block.kind == "heading":
            lead += block.text
            continue
        if not is_whole:
            weight = weigh(block.text)
        for piece, heavy in _split_block(block, weight, budget - weigh(lead) if lead else budget, weigh):
            yield (lead + piece, weigh(lead + piece)) if lead else (piece, heavy)
            lead = ""


def _split_block(block: MarkdownBlock, weight: float, budget: float, weigh: TokenCounter) -> Iterator[tuple[str, float]]:
    """A block of `weight` tokens, or its lines in groups if it is prose that does not fit into a chunk; each with its tokens."""
    lines = block.text.splitlines(keepends=True) if block.kind == "text" and weight > budget else []
    if len(lines) < 2:
        yield block.text, weight
        return
    held: list[str] = []
    weight = 0.0
    for line in lines:
        heavy = weigh(line)
        if held and weight + heavy > budget:
            yield _weighed(held, weight, weigh)
            held, weight = [], 0.0
        held.append(line)
        weight += heavy
    yield _weighed(held, weight, weigh)


def _weighed(lines: list[str], weight: float, weigh: TokenCounter) -> tuple[str, float]:
    """Lines as one text with its tokens, which for several lines may differ a little from their sum."""
    return (lines[0], weight) if len(lines) == 1 else ("".join(lines), weigh("".join(lines)))
