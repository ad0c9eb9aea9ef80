"""Data classes of a bundle: stored pages, options and results; and text helpers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tadoru.clock import to_datetime

MarkdownOrigin = Literal["html", "rendered", "markdown", "llms-full"]


DEFINITION_LEVEL = 7
"""The level of a signature or term that has a fragment: below all headings."""


@dataclass(frozen=True, slots=True)
class DocHeading:
    """A heading of a page as plain text, or a definition as Markdown, and its fragment."""

    level: int
    text: str
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The metadata in the head of a page."""

    title: str | None = None
    description: str | None = None
    keywords: str | None = None
    author: str | None = None
    ogTitle: str | None = None  # noqa: N815 - the name in index.json
    ogType: str | None = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class StoredDoc:
    """One page as it is stored: its Markdown before any change that needs the whole site."""

    url: str
    title: str
    markdown: str
    number: int
    """Assigned once by the store; never changed and never reused."""
    crawled_at: float
    hash: str
    """SHA-256 of `markdown`."""
    depth: int = 0
    links: tuple[str, ...] = ()
    metadata: PageMetadata = PageMetadata()
    headings: tuple[DocHeading, ...] = ()
    """The headings in order, then the definitions in order."""
    breadcrumbs: tuple[str, ...] = ()
    language: str | None = None
    generator: str | None = None
    version: str | None = None
    source: MarkdownOrigin = "html"
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class StoredSpec:
    """A machine-readable description of an API that the crawl found."""

    url: str
    body: bytes
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class BundleSite:
    """The site that a bundle is written for."""

    base_url: str
    checked_at: float
    """The end of this run, in epoch seconds."""
    title: str = ""
    description: str = ""
    config: Mapping[str, object] = field(default_factory=dict)
    """`config` of index.json: `maxDepth`, `sameDomain`."""
    label: str = ""
    """The version that the user gave this copy of the site."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """URLs of pages that are copies of another, each with the URL of that one."""


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """Which files are written."""

    pages: bool = True
    merge: bool = True
    chunks: bool = True
    chunk_tokens: int = 800
    """Tokens of a chunk, at most; 0 to split only at headings of level 1."""
    max_tokens: int = 0
    """Tokens of full.md, at most; 0 for the whole site."""
    links: str = "keep"
    """`keep`, `short` or `none`: see `links.rewrite_links`."""
    diff: bool = False
    """Whether `changes.md` is written."""
    boilerplate: bool = True
    """Whether text that most pages repeat is removed."""
    tokenizer: str = "estimate"
    local_links: bool = False
    """Whether links between pages point to their files in `pages/`."""


class StoredDocs(Protocol):
    """Returns the stored pages of a site in reading order; called several times, so that they need not be in memory."""

    def __call__(self) -> Iterable[StoredDoc]: ...


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A section of a changed page that was added, changed or removed."""

    kind: Literal["added", "changed", "removed"]
    path: tuple[str, ...]
    anchor: str | None


@dataclass(frozen=True, slots=True)
class DocChange:
    """A page that was added, changed or removed."""

    url: str
    title: str
    file: str
    sections: tuple[SectionChange, ...] = ()
    """What changed in it, as far as the previous text is known."""


@dataclass(frozen=True, slots=True)
class DocChanges:
    """The changes since the previous run."""

    added: tuple[DocChange, ...] = ()
    changed: tuple[DocChange, ...] = ()
    removed: tuple[DocChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class BundleSummary:
    """The result of writing a bundle."""

    pages: int
    tokens: int
    specs: int
    changes: DocChanges
    rewritten: int
    """Files whose bytes changed; index.json with only a new `lastChecked` is not counted."""
    repeated: int
    """Blocks that were removed because most pages repeat them."""
    left_out: int = 0
    """Pages that did not fit into full.md."""


def format_timestamp(seconds: float) -> str:
    """Epoch seconds as a timestamp such as 2026-02-01T14:00:00.000Z."""
    return to_datetime(seconds).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def one_line(text: str, most: int | None = None) -> str:
    """Untrusted text on one line: without control characters and runs of spaces, cut at a length."""
    if not text.isprintable():
        text = "".join(_visible(char) for char in text)
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else line[: most - 1].rstrip() + "…"


def _visible(char: str) -> str:
    """Controls and unusual spaces become a space; zero-width characters are dropped, but for the two that some scripts need."""
    if char.isprintable() or char in "\u200c\u200d":
        return char
    return "" if unicodedata.category(char) == "Cf" else " "
