"""What the files of a site are made from, and what is said about the writing: values only."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tadoru.clock import to_datetime

MarkdownOrigin = Literal["html", "rendered", "markdown", "llms-full"]


@dataclass(frozen=True, slots=True)
class DocHeading:
    """A heading of a page as a reader sees it, and the fragment that leads to it."""

    level: int
    text: str
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """What the head of a page says of it: the seed's fields."""

    title: str | None = None
    description: str | None = None
    keywords: str | None = None
    author: str | None = None
    ogTitle: str | None = None  # noqa: N815 - the seed's name, and the name in index.json
    ogType: str | None = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class StoredDoc:
    """One page as it is kept: its Markdown before anything that needs the whole site has been done to it."""

    url: str
    title: str
    markdown: str
    number: int
    """Given once by the store, never changed, never given to another page."""
    crawled_at: float
    hash: str
    """SHA-256 of `markdown`."""
    depth: int = 0
    links: tuple[str, ...] = ()
    metadata: PageMetadata = PageMetadata()
    headings: tuple[DocHeading, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    order_key: tuple[int | str, ...] = ()
    """The page's place in reading order; whoever hands the pages over has sorted them by it."""
    language: str | None = None
    generator: str | None = None
    version: str | None = None
    source: MarkdownOrigin = "html"
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class StoredSpec:
    """A machine-readable description of an API that was met on the way."""

    url: str
    body: bytes
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class BundleSite:
    """What is said once for the whole site."""

    base_url: str
    checked_at: float
    """When this run ended."""
    title: str = ""
    description: str = ""
    config: Mapping[str, object] = field(default_factory=dict)
    """The seed's `config`: `maxDepth`, `sameDomain`."""


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """Which files are wanted."""

    pages: bool = True
    merge: bool = True
    chunks: bool = True
    chunk_tokens: int | None = None
    diff: bool = False
    """Whether `changes.md` is wanted."""
    boilerplate: bool = True
    """Whether text that most pages repeat is taken out."""
    tokenizer: str = "estimate"
    local_links: bool = False
    """Whether links between pages lead to their files, in `pages/`."""


class StoredDocs(Protocol):
    """The stored pages of a site in reading order; asked for several times, and never all in memory."""

    def __call__(self) -> Iterable[StoredDoc]: ...


@dataclass(frozen=True, slots=True)
class DocChange:
    """A page that came, changed or went."""

    url: str
    title: str
    file: str


@dataclass(frozen=True, slots=True)
class DocChanges:
    """What is different from the files of the run before."""

    added: tuple[DocChange, ...] = ()
    changed: tuple[DocChange, ...] = ()
    removed: tuple[DocChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class BundleSummary:
    """What a run left in the folder."""

    pages: int
    tokens: int
    specs: int
    changes: DocChanges
    rewritten: int
    """Files whose bytes are new; index.json with only a new `lastChecked` is not counted."""
    repeated: int
    """Blocks that most pages repeat, and that were taken out of them."""


def format_timestamp(seconds: float) -> str:
    """Epoch seconds in the seed's form: 2026-02-01T14:00:00.000Z."""
    return to_datetime(seconds).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def one_line(text: str, most: int | None = None) -> str:
    """Text of a stranger on one line: no control characters, no runs of spaces, cut at a length."""
    if not text.isprintable():
        text = "".join(_visible(char) for char in text)
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else line[: most - 1].rstrip() + "…"


def _visible(char: str) -> str:
    """Controls and odd spaces end a word; marks without width are nothing, but for the two that some scripts are spelled with."""
    if char.isprintable() or char in "\u200c\u200d":
        return char
    return "" if unicodedata.category(char) == "Cf" else " "
