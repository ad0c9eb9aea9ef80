"""Limits of what is kept of one page, and the texts for what is left out.

A small page may contain a million items, or repeat one long value in each of them. The limits are several times what the
largest pages for readers have: the index of a manual has some 20,000 links, a long single-page specification 200,000 elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.rules.url import LONGEST_URL

MAX_LINKS = 50_000
"""Links and resources of one page, together."""
MAX_LINK_CHARACTERS = 2_500_000
"""Of the URLs (each counted once), texts and fragments of a page's links and resources; of a sitemap's relative URLs."""
MAX_STATEMENTS = 2_000
"""Headings, images, canonical links, hreflang annotations, robots directives and the like, of each kind."""
MAX_ANCHOR_CHARACTERS = 4_000_000
"""Of the ids and names that fragments can point at."""
MAX_TAGS = 220_000
"""Start tags of a page, of which each takes some 5 microseconds. Long single-page specifications have 200,000."""
MAX_DOC_TAGS = 130_000
"""Start tags of a page of documentation; each takes 10 to 15 microseconds. The single-page manual of Node.js has 120,000."""
MAX_DOC_LINKS = 20_000
"""Links of a page of documentation that count as one tag each; further ones, which take twice as long as others, as two."""
MAX_MARKDOWN_BLOCKS = 60_000
"""Blocks of the Markdown of one page: paragraphs, headings, code, tables. The single-page manual of Node.js has 20,000."""
MAX_MARKDOWN_CHARACTERS = 10_000_000
"""Of the Markdown that is made of one page. The index of CMake's manual takes more than 6,000,000."""
MAX_MARKDOWN_GROWTH = 10
"""How many times as long as the page its Markdown may be; short pages are not held to it."""

TOO_LONG_ANCHORS = f"its ids have more than {MAX_ANCHOR_CHARACTERS:,} characters"


def too_many(what: str) -> str:
    """More statements of one kind than are kept."""
    return f"it has more than {MAX_STATEMENTS:,} {what}"


def link_limits(links: int, characters: int, too_long: int) -> Iterator[str]:
    """Why links are left out: how many were kept, how many characters they had left, how many were refused as too long.

    A page of exactly as many links as are kept is taken for one that has more.
    """
    if links >= MAX_LINKS:
        yield f"it has more than {MAX_LINKS:,} links and resources"
    if characters < 0:
        yield f"the URLs and texts of its links have more than {MAX_LINK_CHARACTERS:,} characters"
    if too_long:
        yield f"{too_long:,} of its URLs are longer than {LONGEST_URL:,} characters"


def markdown_limit(size: int) -> int:
    """How many characters of Markdown may be made of a page of so many bytes."""
    return min(MAX_MARKDOWN_CHARACTERS, max(1_000_000, MAX_MARKDOWN_GROWTH * size))
