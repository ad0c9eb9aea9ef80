"""Text that most pages of a site repeat: a banner, a call to subscribe, a notice above every page.

A block of prose as long as a paragraph that stands on at least 60 % of the pages, and on at least five, is taken out of all of
them. Code and tables are never touched, nor is anything inside a list. What stands below the same heading on most pages is no
banner but a section that they share, as the methods of every type in a reference: it stays. A page that would lose more than half
of its text keeps it: then that is what its pages are made of.

No heading is left with nothing below it. Where such a block is all that a section says, it is a colophon at the end of a page,
and goes with its heading; further up it belongs to what the page is about, and stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from math import ceil

from tadoru.jobs.docs.bundle.markdown_blocks import MarkdownBlock, split_blocks

MIN_PAGE_SHARE = 0.6
MIN_PAGES = 5
_MIN_LENGTH = 40
"""Shorter ones ("Returns:", "See also") are how pages of one kind are written."""
_MAX_COUNTERS = 60_000
_Key = int | tuple[int, int] | None
"""A block, or a heading and a block below it."""


class RepeatedBlocks:
    """Counts blocks over one pass of a site's pages, in memory that does not grow with them.

    Frequent ones are found by the algorithm of Misra and Gries: when the counters are used up, all are lowered by one. What is on
    most pages survives that; its count may then be too low, so the pages are counted once more (`needs_recount`).
    """

    def __init__(self, most_counters: int = _MAX_COUNTERS) -> None:
        self._most = most_counters
        self._counts: dict[_Key, int] = {}
        self._is_closed = False
        self._lowered = 0
        self.pages = 0

    def add(self, markdown: str) -> None:
        """Count a page: each of its blocks once."""
        self.pages += not self._is_closed
        counts = self._counts
        for key in {key for _, said, below in _candidates(markdown) for key in (said, below)} - {None}:
            if key in counts:
                counts[key] += 1
            elif not self._is_closed:
                counts[key] = 1
        if len(counts) > self._most:
            self._lower()

    def _lower(self) -> None:
        self._counts = {key: count - 1 for key, count in self._counts.items() if count > 1}
        self._lowered += 1

    @property
    def needs_recount(self) -> bool:
        """Whether the pages must be added again for the counts to be exact."""
        return self._lowered > 0 and not self._is_closed

    def recount(self) -> None:
        """Begin again with what may be frequent."""
        self._counts = {key: 0 for key, count in self._counts.items() if count + self._lowered >= self._least}
        self._is_closed = True

    @property
    def _least(self) -> int:
        return max(MIN_PAGES, ceil(MIN_PAGE_SHARE * self.pages - 1e-9))

    def found(self) -> frozenset[int]:
        """The blocks that are on most pages, and not below the same heading there."""
        frequent = [key for key, count in self._counts.items() if count >= self._least]
        shared = {key[1] for key in frequent if isinstance(key, tuple)}
        return frozenset(key for key in frequent if isinstance(key, int) and key not in shared)


def drop_repeated(markdown: str, repeated: frozenset[int]) -> tuple[str, int]:
    """A page without what most pages repeat, and how many blocks that were."""
    if not repeated or not (found := {at for at, said, _ in _candidates(markdown) if said in repeated}):
        return markdown, 0
    parts = list(split_blocks(markdown))
    drop = _whole_sections(parts, found)
    kept = [block for at, block in enumerate(parts) if at not in drop]
    left = sum(len(block.text) for block in kept if block.kind != "heading")
    if not drop or left < sum(len(block.text) for at, block in enumerate(parts) if at in drop):
        return markdown, 0
    text = "".join(block.text for block in kept)
    return text.rstrip("\n") + "\n" if len(parts) - 1 in drop else text, len(drop)


def _whole_sections(parts: list[MarkdownBlock], found: set[int]) -> set[int]:
    """What goes of the blocks that were found: sections that say nothing else go whole at the end, and stay whole elsewhere."""
    drop = set(found)
    end = len(parts)
    below = 0  # the level of the heading that goes below this one; 0 when something stays there
    is_end = True
    for at in reversed(range(len(parts))):
        heading = parts[at]
        if heading.kind != "heading":
            continue
        own = range(at + 1, end)
        is_lost = all(text in drop for text in own) and (bool(own) or below > heading.level)
        if heading.level > 1 and is_lost and is_end:
            drop.add(at)
            below = heading.level
        else:
            if heading.level > 1 and own and is_lost:
                drop.difference_update(own)
            is_end, below = False, 0
        end = at
    return drop


def _candidates(markdown: str) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    """The blocks that may be taken out, by their place in the page: what each says as a number, and that with its heading's.

    There is no second for what stands above all headings or below the title, nor for what a page ends with: a colophon.
    """
    heading = ""
    headings = 0
    parts = list(split_blocks(markdown))
    for at, block in enumerate(parts):
        if block.kind == "heading":
            heading = block.title
            headings += 1
        elif block.kind == "text" and _is_paragraph(block):
            said = " ".join(block.text.split())
            key = _hash_text(said)
            yield at, key, (_hash_text(heading), key) if headings > 1 and at < len(parts) - 1 else None


def _hash_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest())


def _is_paragraph(block: MarkdownBlock) -> bool:
    text = block.text
    if text[:1] in " \t" or text.startswith("[^"):  # part of a list, or a footnote
        return False
    if text.rstrip().endswith((":", "：")):  # it announces what follows, which is another on every page
        return False
    wide = 0 if text.isascii() else sum(char >= "\u2e80" for char in text)  # a Japanese sentence has half the characters
    return len(text.strip()) + wide >= _MIN_LENGTH
