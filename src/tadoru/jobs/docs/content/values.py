"""What is known of generators and what is found on a page: values only."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.parse.html import Element


@dataclass(frozen=True, slots=True)
class Generator:
    """A program or theme: how it is known, and where it puts what. Selectors are lists of simple ones."""

    name: str
    marks: tuple[str, ...] = ()
    """Each is a set of names (`#id .class`) that together are unmistakable."""
    notes: tuple[str, ...] = ()
    """How its `<meta name="generator">` begins, in lower case."""
    content: tuple[str, ...] = ()
    """Where the text is, the best place first."""
    navigation: str = ""
    noise: str = ""
    """What in the text is not text, beyond what `noise` takes out everywhere."""
    tools: str = ""
    """What is only on pages that are no documentation: its search, its settings. Scripts fill them."""


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of a site's menu. Level 0 is the outermost; entries that only group others have no address and are left out."""

    title: str
    url: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Main:
    """The documentation on a page. `root` lives as long as the page's tree does; everything else is text."""

    root: Element
    generator: str | None
    title: str
    breadcrumbs: tuple[str, ...]
    navigation: tuple[NavItem, ...]
    """The site's reading order as this page's menu has it."""
    next_url: str | None
    prev_url: str | None
    language: str | None
    version: str | None
    confidence: float
    """From 0 to 1."""
    reason: str
    """Why this part was taken."""
    is_tool: bool = False
    """Whether the page is one that the generator adds for its own use, such as its search."""
