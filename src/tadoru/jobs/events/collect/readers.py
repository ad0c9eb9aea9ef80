"""The reader of each type of source, and the interface of reader plugins.

The built-in readers are in `parse.sources`, one for each type of source. A plugin (entry point group `tadoru.readers`) is chosen
by the setting `reader` of a source and has the same three methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from tadoru.errors import Message
from tadoru.model.event import ParsedSource, ParseProblem, SourceType
from tadoru.model.web import Headers

if TYPE_CHECKING:
    from tadoru.parse.sources.api import ApiSettings
    from tadoru.parse.sources.feed import FeedSettings
    from tadoru.parse.sources.html_page import HtmlSettings
    from tadoru.parse.sources.ics import IcsSettings
    from tadoru.parse.sources.table import TableSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDocument:
    """One body of a source with its metadata."""

    body: bytes
    content_type: str | None
    url: str
    headers: Headers
    page: int
    """The number of the page, from 1."""
    is_detail: bool
    """Another document listed it as the page of one event."""
    now: datetime
    zone: str
    max_events: int = 1_000_000
    """Events that are used at most; a reader need not parse more than one beyond it."""
    max_same_start: int = 1_000_000
    """Events with the same start that are used at most, likewise."""


class SourceReader(Protocol):
    """Parses the documents of a source. It never raises for what a site wrote."""

    def prepare(self, mapping: Mapping[str, Any]) -> Any:
        """Parse the settings of a source. Raises ConfigError."""
        ...

    def first(self, url: str, settings: Any) -> str:
        """The URL of the first page."""
        ...

    def read(self, document: SourceDocument, settings: Any) -> ParsedSource: ...


@dataclass(frozen=True, slots=True)
class BuiltInReader:
    """A reader of Tadoru: a module of `parse.sources`, the type of its settings, and the function that parses a document.

    The module is imported when it is used: a process that parses one large document (`reader_process`) needs no other, and
    importing all of them takes a fifth of a second.
    """

    module: str
    settings: str
    parse: Callable[[SourceDocument, Any], ParsedSource]

    def prepare(self, mapping: Mapping[str, Any]) -> Any:
        return getattr(import_module(f"tadoru.parse.sources.{self.module}"), self.settings).from_mapping(mapping)

    def first(self, url: str, settings: Any) -> str:
        return settings.paging.first(url) if self.module == "api" else url

    def read(self, document: SourceDocument, settings: Any) -> ParsedSource:
        if document.body.startswith(b"%PDF-"):
            reason = Message("This is a PDF file, which is not read. Ask the publisher for a feed, a calendar or a table.")
            return ParsedSource(problems=(ParseProblem(position="start", reason=reason),))
        parsed = self.parse(document, settings)
        if parsed.events or self.module == "html_page":
            return parsed
        return replace(parsed, problems=(*_other_sources(document), *parsed.problems))


def _other_sources(document: SourceDocument) -> Iterator[ParseProblem]:
    """What to add instead of a page that was taken for a feed, a calendar or a table."""
    from tadoru.parse.html import HtmlDocument, PageTooComplex, looks_like_html
    from tadoru.parse.sources.html_page import discover_sources
    from tadoru.parse.sources.raw_fields import read_problem

    try:
        page = HtmlDocument.parse(document.body if looks_like_html(document.body) else b"", document.content_type)
    except PageTooComplex:
        return
    if found := discover_sources(page, page.base_url(document.url)):
        sources = ", ".join(f"{one.url} ({one.type})" for one in found)
        yield read_problem("start", Message("This is a web page. It links to: {sources}.", sources=sources))


def _read_feed(document: SourceDocument, settings: FeedSettings) -> ParsedSource:
    from tadoru.parse.sources.feed import read_feed

    return read_feed(document.body, document.content_type, document.url, settings, page=document.page)


def _read_ics(document: SourceDocument, settings: IcsSettings) -> ParsedSource:
    from tadoru.parse.sources.ics import read_ics

    return read_ics(document.body, document.content_type, document.url, settings, now=document.now, zone=document.zone)


def _read_api(document: SourceDocument, settings: ApiSettings) -> ParsedSource:
    from tadoru.parse.sources.api import read_api

    body, kind, url = document.body, document.content_type, document.url
    return read_api(body, kind, url, settings, page=document.page, headers=document.headers)


def _read_html(document: SourceDocument, settings: HtmlSettings) -> ParsedSource:
    from tadoru.parse.sources.html_page import read_html

    body, kind, url, page, detail = document.body, document.content_type, document.url, document.page, document.is_detail
    return read_html(body, kind, url, settings, page=page, detail=detail, now=document.now, zone=document.zone)


def _read_csv(document: SourceDocument, settings: TableSettings) -> ParsedSource:
    from tadoru.parse.sources.table import read_csv

    body, kind, url, most, same = document.body, document.content_type, document.url, document.max_events, document.max_same_start
    return read_csv(body, kind, url, settings, max_events=most, max_same_start=same)


BUILT_IN: dict[SourceType, SourceReader] = {
    SourceType.RSS: BuiltInReader("feed", "FeedSettings", _read_feed),
    SourceType.ICS: BuiltInReader("ics", "IcsSettings", _read_ics),
    SourceType.API: BuiltInReader("api", "ApiSettings", _read_api),
    SourceType.HTML: BuiltInReader("html_page", "HtmlSettings", _read_html),
    SourceType.CSV: BuiltInReader("table", "TableSettings", _read_csv),
}


def reader_for(kind: SourceType, plugin: str = "") -> SourceReader:
    """The reader of a type of source, or the plugin with this name. Raises ConfigError."""
    if plugin:
        from tadoru.plugins import load_reader

        found: SourceReader = load_reader(plugin)
        return found
    return BUILT_IN[kind]
