"""Removes text that most pages of a site repeat: a banner, a call to subscribe, a notice above every page.

A paragraph that is on at least 60 % of the pages, and on at least five, is removed from all of them, and a table that has only
links too. Code and other tables are not changed. A paragraph below the same heading on most pages is a section that they share,
as the methods of every type in a reference: it stays. A page that would lose more than half of its text is not changed.

No heading is left without content. If such a paragraph is all that a section contains, the section is removed with its heading
at the end of a page (a colophon), and stays elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from math import ceil

from tadoru.jobs.docs.bundle.markdown_blocks import MarkdownBlock, split_blocks

MIN_PAGE_SHARE = 0.6
MIN_PAGES = 5
_MIN_LENGTH = 40
"""Characters; shorter paragraphs ("Returns:", "See also") are part of how reference pages are written."""
_MAX_COUNTERS = 60_000
_Key = int | tuple[int, int] | None
"""The hash of a block, or the hashes of a heading and a block below it."""


class RepeatedBlocks:
    """Counts blocks in one pass over a site's pages, in constant memory.

    Frequent blocks are found by the Misra–Gries algorithm: when all counters are in use, each is lowered by one. Blocks that are
    on most pages remain; their counts may be too low, so the pages are counted once more (`needs_recount`).
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
        for key in {key for _, block, below in _candidates(markdown) for key in (block, below)} - {None}:
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
        """Whether the pages must be added again to get exact counts."""
        return self._lowered > 0 and not self._is_closed

    def recount(self) -> None:
        """Restart the counts of the blocks that may be frequent."""
        self._counts = {key: 0 for key, count in self._counts.items() if count + self._lowered >= self._least}
        self._is_closed = True

    @property
    def _least(self) -> int:
        return max(MIN_PAGES, ceil(MIN_PAGE_SHARE * self.pages - 1e-9))

    def found(self) -> frozenset[int]:
        """The hashes of blocks that are on most pages and not below the same heading there."""
        frequent = [key for key, count in self._counts.items() if count >= self._least]
        shared = {key[1] for key in frequent if isinstance(key, tuple)}
        return frozenset(key for key in frequent if isinstance(key, int) and key not in shared)


def drop_repeated(markdown: str, repeated: frozenset[int]) -> tuple[str, int]:
    """A page without repeated blocks, and the number of removed blocks."""
    if not repeated or not (found := {at for at, block, _ in _candidates(markdown) if block in repeated}):
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
    """The blocks to remove: sections without other content are removed whole at the end of a page, and stay elsewhere."""
    drop = set(found)
    end = len(parts)
    below = 0  # The level of a removed heading below this one; 0 if something remains there.
    is_end = True
    for at in reversed(range(len(parts))):
        heading = parts[at]
        if heading.kind != "heading":
            continue
        section = range(at + 1, end)
        is_lost = all(text in drop for text in section) and (bool(section) or below > heading.level)
        if heading.level > 1 and is_lost and is_end:
            drop.add(at)
            below = heading.level
        else:
            if heading.level > 1 and section and is_lost:
                drop.difference_update(section)
            is_end, below = False, 0
        end = at
    return drop


def _candidates(markdown: str) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    """The index of each removable block of a page, its hash, and the hashes of its heading and itself.

    The latter is None for blocks above all headings or directly below the title, and for the last block (a colophon).
    """
    heading = ""
    headings = 0
    parts = list(split_blocks(markdown))
    for at, block in enumerate(parts):
        if block.kind == "heading":
            heading = block.title
            headings += 1
        elif (block.kind == "text" and _is_paragraph(block)) or (block.kind == "table" and _is_menu(block.text)):
            text = " ".join(block.text.split())
            key = _hash_text(text)
            yield at, key, (_hash_text(heading), key) if headings > 1 and at < len(parts) - 1 else None


def _hash_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest())


_MENU_LINK = re.compile(r"!?\[[^\[\]]*+\]\([^()\s]*+\)")
_MAX_MENU_WORDS = 40
"""Characters of a menu besides its links: the name of a manual."""


def _is_menu(table: str) -> bool:
    """Whether a table has links to other pages, and hardly anything else."""
    rest, links = _MENU_LINK.subn("", table)
    return links > 1 and sum(map(str.isalnum, rest)) < _MAX_MENU_WORDS


def _is_paragraph(block: MarkdownBlock) -> bool:
    text = block.text
    if text[:1] in " \t" or text.startswith("[^"):  # Part of a list, or a footnote.
        return False
    if text.rstrip().endswith((":", "：")):  # It introduces what follows, which differs between pages.
        return False
    length = len(text.strip())
    if length >= _MIN_LENGTH or text.isascii():
        return length >= _MIN_LENGTH
    return length + sum(char >= "\u2e80" for char in text) >= _MIN_LENGTH  # A Japanese sentence has half as many characters.
