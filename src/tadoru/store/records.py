"""What a job keeps of a URL beyond the seed's columns: values that it fills and every backend writes with the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tadoru.model.finding import Finding


class Alternate(NamedTuple):
    """A page in another language."""

    language: str
    url: str
    source: str
    """`html` or `http`."""


class StructuredItem(NamedTuple):
    """An item of structured data."""

    syntax: str
    type: str
    properties: Mapping[str, object]


class ResourceUse(NamedTuple):
    """A resource that a page is made of."""

    url: str
    host: str
    kind: str
    internal: bool
    wanted: bool
    """Whether it is to be requested, to see that it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A page of documentation as Markdown."""

    title: str
    markdown: str
    source: str
    """`html`, `rendered`, or `markdown`: the site's own."""
    generator: str | None = None
    language: str | None = None
    version: str | None = None
    confidence: float = 1.0
    metadata: Mapping[str, str | None] = field(default_factory=dict)
    headings: Sequence[tuple[int, str, str | None]] = ()
    """Level, text, anchor."""
    breadcrumbs: Sequence[str] = ()
    navigation: Sequence[str] = ()
    """The URLs of the site's menu, in its order."""
    next_url: str | None = None
    prev_url: str | None = None


class Specification(NamedTuple):
    """A machine-readable description of an API."""

    content_type: str
    body: bytes


class Offered(NamedTuple):
    """A page as Markdown that the site gives in another place than the page itself."""

    url: str
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecords:
    """One URL, judged. Also of one that gave no answer, or was not asked: then only the first three say something."""

    indexable: bool
    indexability: str
    findings: Sequence[Finding] = ()
    http_version: str | None = None
    address: str | None = None
    transferred_bytes: int | None = None
    body_hash: str | None = None
    etag: str | None = None
    last_modified_field: str | None = None
    headers: Sequence[tuple[str, str]] = ()
    charset: str | None = None
    language: str | None = None
    title_length: int | None = None
    title_pixels: int | None = None
    description_length: int | None = None
    description_pixels: int | None = None
    h1: str | None = None
    word_count: int | None = None
    text_ratio: float | None = None
    canonical_http: str | None = None
    x_robots_tag: str | None = None
    next_url: str | None = None
    prev_url: str | None = None
    sketch: bytes | None = None
    headings: Sequence[tuple[int, str]] = ()
    images: Sequence[tuple[str, str | None, str, str, str]] = ()
    directives: Sequence[tuple[str, str, str, str]] = ()
    rendering: Mapping[str, object] | None = None
    extracted: Mapping[str, Sequence[str]] | None = None
    hreflang: Sequence[Alternate] = ()
    items: Sequence[StructuredItem] = ()
    body: bytes | None = None
    """Compressed by zlib, when bodies are kept."""
    document: DocumentRecord | None = None
    drops_document: bool = False
    """What an earlier run kept of the page as documentation is no longer true. A page that only failed keeps it."""
    specification: Specification | None = None
    offered: Sequence[Offered] = ()
