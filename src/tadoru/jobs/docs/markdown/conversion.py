"""Options, result and shared state of a conversion.

The modules that convert one kind of element (lists, tables, callouts …) receive a `ConversionContext` and call back into it; they
do not import the converter, which imports them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL
from tadoru.parse.html import Element, is_leaf
from tadoru.parse.page_limits import MAX_LINKS, MAX_MARKDOWN_BLOCKS, MAX_MARKDOWN_CHARACTERS
from tadoru.rules.url import LONGEST_URL, UrlResolver, canonical


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """Options of a conversion."""

    title: str | None = None
    """Written as the first heading if the page has none of level 1."""
    rewrite: Callable[[str], str | None] | None = None
    """Returns another target for an absolute URL; None keeps the URL."""
    decorative_images: bool = False
    """Whether images without alternative text are kept."""
    has_tex: bool = False
    """Whether a script of the page renders text between `\\(` and `\\)` as formulas."""
    most_table_cells: int = 20_000
    """Maximum cells of a table; a longer one is cut, with a note."""
    most_characters: int = MAX_MARKDOWN_CHARACTERS
    """Maximum length of the Markdown; a longer page is cut, with a note."""
    most_blocks: int = MAX_MARKDOWN_BLOCKS
    """Maximum number of blocks; a page with more is cut, with a note."""
    is_partial: bool = False
    """Whether the end of the page is missing already: the Markdown ends with the same note."""


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading as plain text."""

    level: int
    text: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """The Markdown of a page."""

    text: str
    headings: tuple[MarkdownHeading, ...]
    code_blocks: int
    """Code blocks of the page, without signatures that are written as code."""
    tables: int
    images: int
    links: tuple[str, ...]
    """URLs that it links to: absolute, without fragments, each once, in order."""
    is_cut: bool = False
    """Whether its end was left out."""
    left_out: tuple[str, ...] = ()
    """The limits that it exceeds: as `HtmlDocument.left_out`."""
    definitions: tuple[MarkdownHeading, ...] = ()
    """Signatures and terms that have a fragment, as Markdown, with the level `DEFINITION_LEVEL`."""


@dataclass(frozen=True, slots=True)
class NoteIndex:
    """The footnotes of a page: references and notes by the identity of their elements, each with its label."""

    references: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    back: set[str] = field(default_factory=set)
    """The `href` of links from notes back to their references."""
    inside: set[int] = field(default_factory=set)
    """The links in notes, which are not references of others."""


_MAX_DEFINITION_LENGTH = 500
"""Characters of a signature or term by which it is found in the Markdown."""
MAX_DEPTH = 40
"""Nesting depth of blocks (lists in quotes in tables…); deeper elements are written as text."""
_UNSAFE_IN_LINK = re.compile(r"[\s<>\\()]")
_TEXT_ONLY = ("javascript:", "data:", "vbscript:", "about:", "blob:", "file:")


class MarkdownTooLong(Exception):
    """The Markdown exceeds its limit: the current top-level block and all that follows are left out."""


class ConversionContext(ABC):
    """The state of a conversion."""

    def __init__(self, base: str, options: ConvertOptions, root: Element) -> None:
        self.root = root
        self.base = base
        self.options = options
        self.here = base.partition("#")[0]
        self.headings: list[MarkdownHeading] = []
        self.definitions: list[MarkdownHeading] = []
        self.links: dict[str, None] = {}
        self.code_blocks = 0
        self.tables = 0
        self.images = 0
        self.depth = 0
        self.in_link = False
        self.in_heading = 0
        """The level of the heading that is being written; 0 if none is."""
        self.emphasis: frozenset[str] = frozenset()
        self.labels: list[tuple[str | None, str]] = []
        """Ids and texts of tab labels whose panels have not been reached."""
        self.note_index = NoteIndex()
        self.notes: dict[str, str] = {}
        """The labels of footnote references by the ids that they point to."""
        self.asides: list[str] = []
        """The Markdown of notes in the text, which is written at its end."""
        self.remaining = options.most_characters
        """The number of characters that may still be written."""
        self.links_left = MAX_LINKS
        """The number of links that may still be written; further ones are written as text."""
        self.blocks_left = options.most_blocks
        """The number of blocks that may still be written."""
        self._counted = 0
        self._targets: dict[str, str | None] = {}
        self._resolver = UrlResolver()

    def define(self, text: str, term: Element) -> None:
        """Note the fragment of a signature or term, which is written as this text."""
        inside = None if term.id or is_leaf(term) else term.css_first("[id],a[name]")
        anchor = term.id or (inside.id or inside.attributes.get("name") if inside is not None else None)
        if anchor:
            self.definitions.append(MarkdownHeading(DEFINITION_LEVEL, text.partition("\n")[0][:_MAX_DEFINITION_LENGTH], anchor))

    @cached_property
    def _page_url(self) -> str | None:
        """The absolute URL of a fragment of the page, without the fragment."""
        return canonical("#", self.base)

    @cached_property
    def citations(self) -> frozenset[str]:
        """The ids of the page's citations."""
        return frozenset(found for entry in self.root.css(".citation,dt.label") if (found := entry.id))

    @abstractmethod
    def blocks(self, parent: Element) -> list[str]:
        """The blocks in an element as Markdown, without the empty lines between them."""

    @abstractmethod
    def inline(self, nodes: Iterable[Element], breaks: str = "  \n") -> str:
        """Inline content as Markdown without surrounding white space; `breaks` replaces `<br>`."""

    def left_out(self) -> tuple[str, ...]:
        """The limits that the Markdown exceeds."""
        reasons = []
        if self.remaining < 0:
            reasons.append(f"its Markdown has more than {self.options.most_characters:,} characters")
        if self.blocks_left < 0:
            reasons.append(f"its Markdown has more than {self.options.most_blocks:,} blocks")
        if self.links_left < 0:
            reasons.append(f"its Markdown has more than {MAX_LINKS:,} links")
        return tuple(reasons)

    def take(self, characters: int) -> None:
        """Reserve a number of characters. Raises MarkdownTooLong if the limit is exceeded."""
        self.remaining -= characters
        if self.remaining < 0:
            raise MarkdownTooLong

    def quoted(self, blocks: str) -> str:
        """Blocks as a blockquote."""
        self.take(2 * blocks.count("\n"))
        return "\n".join(f"> {line}" if line else ">" for line in blocks.split("\n"))

    def indented(self, blocks: str, width: int) -> str:
        """Blocks with every line but the first indented; empty lines stay empty."""
        if "\n" not in blocks:
            return blocks
        self.take(width * blocks.count("\n"))
        space = " " * width
        first, *rest = blocks.split("\n")
        return "\n".join([first, *(space + line if line else line for line in rest)])

    def target(self, href: str) -> str | None:
        """The target of a link in the Markdown; None if it cannot be written as a link."""
        if href not in self._targets:
            self._targets[href] = self._resolved(href.strip())
        target = self._targets[href]
        self.take(len(target or ""))
        return target

    def absolute_url(self, reference: str) -> str | None:
        """The absolute URL of a link or image, with its fragment."""
        front, _, fragment = reference.partition("#")
        if not front:
            url = self._page_url if len(reference) <= LONGEST_URL else None
        else:
            url = found[0] if (found := self._resolver.resolve(reference, self.base)) is not None else None
        if url is None:
            return None
        self.take(len(url) + len(fragment))
        return f"{url}#{fragment}" if fragment else url

    def _resolved(self, href: str) -> str | None:
        if href.lower().startswith(_TEXT_ONLY):
            return None
        absolute = self.absolute_url(href)
        if absolute is None:
            scheme = href.partition(":")[0]
            is_short = len(href) <= LONGEST_URL
            return (
                _link_target(href)
                if is_short and scheme in {"mailto", "tel", "ftp", "irc", "ircs", "git", "ssh", "magnet"}
                else None
            )
        self.links.setdefault(absolute.partition("#")[0])
        if self.options.rewrite is not None:
            absolute = self.options.rewrite(absolute) or absolute
        return _link_target(absolute)


def _link_target(url: str) -> str:
    """A URL escaped for use between the parentheses of a link."""
    if _UNSAFE_IN_LINK.search(url) is None:
        return url
    url = "".join(url.split()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
    if "(" in url or ")" in url:
        url = url.replace("(", "%28").replace(")", "%29")
    return url


def child_elements(parent: Element) -> list[Element]:
    """The child elements of an element."""
    return [child for child in parent.iter() if child.is_element_node]


def classes_of(element: Element) -> str:
    """The class attribute; empty if there is none."""
    return element.attributes.get("class") or ""
