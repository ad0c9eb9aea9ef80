"""What goes into a conversion and what comes out of it: values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from tadoru.parse.html import Element
from tadoru.parse.page_limits import MAX_MARKDOWN_CHARACTERS
from tadoru.rules.url import LONGEST_URL, canonical


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
class MarkdownHeading:
    """A heading as a reader sees it, without Markdown."""

    level: int
    text: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """A page as Markdown, ending in a line break, or empty."""

    text: str
    headings: tuple[MarkdownHeading, ...]
    code_blocks: int
    """Blocks of code of the page; signatures written as code are not among them."""
    tables: int
    images: int
    links: tuple[str, ...]
    """Where it links to: absolute, without fragments, each once, in order."""
    is_cut: bool = False
    """Whether it was too long and its end is left out."""


MAX_DEPTH = 40
"""Lists in quotes in tables… below this, only the text is written: no page is made so for a reader."""
_TEXT_ONLY = ("javascript:", "data:", "vbscript:", "about:", "blob:", "file:")


class MarkdownTooLong(Exception):
    """What is being written is over the limit: the block that it is a part of is left out, and all that follows."""


class ConversionContext:
    """One conversion under way."""

    def __init__(self, base: str, options: ConvertOptions, root: Element) -> None:
        self.root = root
        self.base = base
        self.options = options
        self.here = base.partition("#")[0]
        self.headings: list[MarkdownHeading] = []
        self.links: dict[str, None] = {}
        self.code_blocks = 0
        self.tables = 0
        self.images = 0
        self.depth = 0
        self.in_link = False
        self.in_heading = 0
        """The level of the heading that is being written."""
        self.emphasis: frozenset[str] = frozenset()
        self.labels: list[tuple[str | None, str]] = []
        """Labels of tabs whose panels are still to come: their ids and texts."""
        self.notes: dict[str, str] = {}
        """The ids that references to footnotes point at, with the labels the references have."""
        self.asides: list[str] = []
        """Notes that stood in the text, written, for its end."""
        self.room = options.most_characters
        """How many characters may still be written."""
        self._targets: dict[str, str | None] = {}

    @cached_property
    def citations(self) -> frozenset[str]:
        """The ids of the citations of the page."""
        return frozenset(found for entry in self.root.css(".citation,dt.label") if (found := entry.id))

    def blocks(self, parent: Element) -> list[str]:
        """The blocks below an element, each as Markdown without the empty lines between them."""
        raise NotImplementedError

    def inline(self, nodes: Iterable[Element], breaks: str = "  \n") -> str:
        """What stands in a line, as Markdown without white space at its ends; `breaks` is what `<br>` becomes."""
        raise NotImplementedError

    def take(self, characters: int) -> None:
        """Take room for so many characters. Raises PageTooLong when there is none left."""
        self.room -= characters
        if self.room < 0:
            raise MarkdownTooLong

    def quoted(self, blocks: str) -> str:
        """Every line as one of a quote."""
        self.take(2 * blocks.count("\n"))
        return "\n".join(f"> {line}" if line else ">" for line in blocks.split("\n"))

    def indented(self, blocks: str, width: int) -> str:
        """Every line but the first moved to the right; empty lines stay empty."""
        if "\n" not in blocks:
            return blocks
        self.take(width * blocks.count("\n"))
        space = " " * width
        first, *rest = blocks.split("\n")
        return "\n".join([first, *(space + line if line else line for line in rest)])

    def target(self, href: str) -> str | None:
        """What a link of the page is to point at; None when it leads nowhere that can be written down."""
        if href not in self._targets:
            self._targets[href] = self._resolved(href.strip())
        target = self._targets[href]
        self.take(len(target or ""))
        return target

    def address(self, reference: str) -> str | None:
        """An address of the page (a link, an image) made absolute, with its fragment."""
        url = canonical(reference, self.base)
        if url is None:
            return None
        fragment = reference.partition("#")[2]
        self.take(len(url) + len(fragment))
        return f"{url}#{fragment}" if fragment else url

    def _resolved(self, href: str) -> str | None:
        if href.lower().startswith(_TEXT_ONLY):
            return None
        absolute = self.address(href)
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
    """A URL so that it can stand between the parentheses of a link."""
    url = "".join(url.split()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
    if "(" in url or ")" in url:
        url = url.replace("(", "%28").replace(")", "%29")
    return url


def child_elements(parent: Element) -> list[Element]:
    """The elements right below an element."""
    return [child for child in parent.iter() if child.is_element_node]


def classes_of(element: Element) -> str:
    """The class attribute, empty when there is none."""
    return element.attributes.get("class") or ""
