"""Splits a page into chunks that can be read on their own: by headings and a token budget, or at each heading of level 1.

A chunk begins with a heading where it can: a section that does not fit behind the ones before it begins a new chunk, with
everything below it. Code or a table that is larger than the budget is divided between its lines into several of the same kind; a
line is never divided, nor is a table with a very long header, so a chunk with one of these is larger.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tadoru.jobs.docs.bundle.markdown_blocks import FENCES, MarkdownBlock, MarkdownSection, anchored_sections, split_blocks
from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, DocHeading, one_line
from tadoru.jobs.docs.bundle.tokens import TokenCounter, round_tokens

_ANOTHER_TITLE = re.compile(r"\n {0,3}(?:#[ \t\r\n]|=)")
"""Matches in a page that may have more than one title; other pages need not be parsed."""
_MAX_HEADING_LENGTH = 500
"""Characters of a heading in the path of a chunk."""
_FULL_ENOUGH = 0.25
"""The share of the budget from which a chunk is closed for the sake of a section that fits into the next one as a whole."""
_ID_LINE_TOKENS = 21
"""More than the line with the ID of a chunk has."""
_MAX_REPEATED = 100_000
"""Characters that the header of a table, or the first line of code, may take when every row or line repeats it."""
_TABLE_RULE = re.compile(r"\|?[ \t]*+:?-")


@dataclass(frozen=True, slots=True)
class DocChunk:
    """A part of a page: its text, the headings that lead to it, and the fragment of its first heading or definition."""

    path: tuple[str, ...]
    anchor: str | None
    text: str


@dataclass(slots=True)
class ChunkedPage:
    """What the chunks of a page share; it gives each chunk an ID that stays while its heading stays."""

    url: str
    title: str
    breadcrumbs: tuple[str, ...] = ()
    """Where the site files the page, without the page itself."""
    file: str | None = None
    seen: Counter[str] = field(default_factory=Counter)

    def chunk_id(self, chunk: DocChunk) -> str:
        """An ID by page, heading and, if a section has several chunks, the place among them."""
        place = chunk.anchor or "\n".join(chunk.path)
        self.seen[place] += 1
        return hashlib.sha256(f"{self.url}\n{place}\n{self.seen[place]}".encode("utf-8", "replace")).hexdigest()[:12]

    def header(self, path: Sequence[str], anchor: str | None) -> str:
        """The lines above the text of a chunk: its URL and its breadcrumb."""
        # Headings are cut because each chunk repeats them.
        steps = " > ".join(one_line(text, _MAX_HEADING_LENGTH) for text in (*self.breadcrumbs, *path))
        return f"> Source: {self.location(anchor)}\n> Path: {steps}\n"

    def location(self, anchor: str | None) -> str:
        """The URL of a heading of the page."""
        return f"{self.url}#{anchor}" if anchor else self.url


def chunk_files(
    page: ChunkedPage, chunks: Iterable[DocChunk], next_file: Callable[[], str], weigh: TokenCounter, *, with_header: bool
) -> Iterator[tuple[str, str, str]]:
    """Name and content of each chunk's file, and its line of chunks.jsonl."""
    for chunk in chunks:
        number, file, tokens = page.chunk_id(chunk), next_file(), round_tokens(weigh(chunk.text))
        head = page.header(chunk.path, chunk.anchor) + f"> Chunk: {number}, {tokens} tokens\n\n" if with_header else ""
        row = {
            "id": number, "url": page.location(chunk.anchor), "fragment": chunk.anchor, "title": page.title,
            "breadcrumbs": list(page.breadcrumbs), "path": [one_line(step, _MAX_HEADING_LENGTH) for step in chunk.path],
            "tokens": tokens, "file": file, "pageFile": page.file, "text": chunk.text,
        }  # fmt: skip
        yield file, head + chunk.text, json.dumps(row, ensure_ascii=False) + "\n"


def split_at_titles(section: str, title: str = "") -> Iterator[DocChunk]:
    """One page of full.md, split before each heading of level 1."""
    if not _ANOTHER_TITLE.search(section):
        if section.strip():
            yield DocChunk((title,), None, section.rstrip() + "\n")
        return
    held: list[str] = []
    path: tuple[str, ...] = (title,)
    for block in split_blocks(section):
        if block.kind == "heading" and block.level == 1:
            if "".join(held).strip():
                yield DocChunk(path, None, "".join(held).rstrip() + "\n")
                held = []
            path = (title,) if block.title == title else (title, block.title)
        held.append(block.text)
    if "".join(held).strip():
        yield DocChunk(path, None, "".join(held).rstrip() + "\n")


def split_by_tokens(
    markdown: str, page: ChunkedPage, headings: Sequence[DocHeading], budget: int, weigh: TokenCounter
) -> Iterator[DocChunk]:
    """One page in chunks whose files have at most `budget` tokens."""
    sections = anchored_sections(markdown, page.title, headings)
    held = _OpenChunk((page.title,))
    lead, lead_weight = "", 0.0
    heading: tuple[tuple[str, ...], str | None] = held.path, None
    weights = [weigh(section.text) for section, _ in sections]
    wholes = _subtree_weights([section for section, _ in sections], weights)
    for (section, anchor), own, whole in zip(sections, weights, wholes, strict=True):
        lead_weight = lead_weight if lead else whole
        is_full = held.weight >= _FULL_ENOUGH * budget and held.weight + lead_weight > budget
        # What follows a section of several chunks has its own, so that it stays the same when that section grows.
        if held.parts and (is_full or held.is_rest or (section.level == 1 and not lead)):
            yield held.closed()
        if all(block.kind == "heading" for block in section.blocks):
            lead += section.text  # A heading stays with what follows it.
            heading = section.path, anchor
            continue
        place = section.path, anchor
        if lead and section.level == DEFINITION_LEVEL:
            place = heading[0], heading[1] or anchor
        top = weigh(page.header(*place)) + _ID_LINE_TOKENS
        for at, (part, heavy) in enumerate(_split_section(section, own, lead, budget - top, weigh)):
            if held.parts and held.weight + heavy > budget:
                yield held.closed()
            if not held.parts:
                held.path, held.anchor = place
                held.weight, held.is_rest = top, at > 0
            held.parts.append(part)
            held.weight += heavy
        lead = ""
    if held.parts and lead and held.weight + weigh(lead) > budget:
        yield held.closed()
        held.path, held.anchor = heading
    held.parts.append(lead)
    if "".join(held.parts).strip():
        yield held.closed()


@dataclass(slots=True)
class _OpenChunk:
    """A chunk that is being filled."""

    path: tuple[str, ...]
    anchor: str | None = None
    parts: list[str] = field(default_factory=list)
    weight: float = 0.0
    is_rest: bool = False
    """Whether it begins inside a section."""

    def closed(self) -> DocChunk:
        text, self.parts, self.weight = "".join(self.parts).rstrip() + "\n", [], 0.0
        return DocChunk(self.path, self.anchor, text)


def _subtree_weights(sections: Sequence[MarkdownSection], weights: Sequence[float]) -> list[float]:
    """The tokens of each section with all sections below it."""
    totals = list(weights)
    parents: list[int] = []
    ends: list[tuple[int, int]] = []
    for at, section in enumerate(sections):
        while parents and sections[parents[-1]].level >= section.level:
            ends.append((parents.pop(), at))
        parents.append(at)
    ends += [(at, len(sections)) for at in parents]
    sums = [0.0]
    for weight in weights:
        sums.append(sums[-1] + weight)
    for at, end in ends:
        totals[at] = sums[end] - sums[at]
    return totals


def _split_section(
    section: MarkdownSection, own: float, lead: str, budget: float, weigh: TokenCounter
) -> Iterator[tuple[str, float]]:
    """A section of `own` tokens if it fits, else its blocks, with headings kept with what follows them; each with its tokens."""
    whole = lead + section.text
    if (weight := weigh(whole) if lead else own) <= budget:
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
    """A block of `weight` tokens, or its lines in groups if it does not fit into a chunk; each with its tokens.

    Each group of lines of code is a fence of its own, each group of rows a table with the same header.
    """
    head, lines, tail = _divided(block) if weight > budget else ("", [], "")
    if len(lines) < 2:
        yield block.text, weight
        return
    around = weigh(head + tail) if head else 0.0
    if around > budget / 2 and len(head) * len(lines) > _MAX_REPEATED:
        yield block.text, weight
        return
    held: list[str] = []
    weight = around
    for line in lines:
        heavy = weigh(line)
        if held and weight + heavy > budget:
            yield _weighed([head, *held, tail], weight, weigh)
            held, weight = [], around
        held.append(line)
        weight += heavy
    yield _weighed([head, *held, tail], weight, weigh)


def _divided(block: MarkdownBlock) -> tuple[str, list[str], str]:
    """What each part of a block begins with, its lines, and what each part ends with."""
    lines = block.text.splitlines(keepends=True)
    if block.kind == "text":
        return "", lines, ""
    last = max((at for at, line in enumerate(lines) if line.strip()), default=0)
    first, end = lines[0].lstrip("> \t"), lines[last].strip("> \t\n")
    # In a quotation each line has its mark, so that the parts are quotations too.
    if block.kind == "code" and first.startswith(FENCES) and not end.strip(first[0]) and block.text.count(end) == 2:
        return lines[0], lines[1:last], lines[last].rstrip("\n") + "\n\n"
    if block.kind == "table" and last > 1 and _TABLE_RULE.match(lines[1]):
        return lines[0] + lines[1], lines[2 : last + 1], "\n"
    return "", [], ""


def _weighed(parts: list[str], weight: float, weigh: TokenCounter) -> tuple[str, float]:
    """Lines as one text with its tokens, which for several lines may differ a little from their sum."""
    filled = [part for part in parts if part]
    return (filled[0], weight) if len(filled) == 1 else ("".join(filled), weigh("".join(filled)))
