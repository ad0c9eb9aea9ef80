"""What goes into a conversion and what comes out of it: values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tadoru.parse.page_limits import MAX_MARKDOWN_CHARACTERS


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """How a page is written."""

    title: str | None = None
    """Written as the first heading when the page has none of level 1."""
    rewrite: Callable[[str], str | None] | None = None
    """Given an absolute address, what to link to instead; None leaves the link as it is."""
    decorative_images: bool = False
    """Whether images without a description are kept."""
    has_tex: bool = False
    """Whether a script of the page makes formulas of what stands between `\\(` and `\\)` in its text."""
    most_table_cells: int = 20_000
    """A table is cut after so many, with a note."""
    most_characters: int = MAX_MARKDOWN_CHARACTERS
    """The page is cut after so many, with a note."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as a reader sees it, without Markdown."""

    level: int
    text: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class Markdown:
    """A page as Markdown, ending in a line break, or empty."""

    text: str
    headings: tuple[Heading, ...]
    code_blocks: int
    """Blocks of code of the page; signatures written as code are not among them."""
    tables: int
    images: int
    links: tuple[str, ...]
    """Where it links to: absolute, without fragments, each once, in order."""
    is_cut: bool = False
    """Whether it was too long and its end is left out."""
