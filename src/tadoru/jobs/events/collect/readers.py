"""The reader of each type of source, and the interface of reader plugins.

The built-in readers are in `parse.sources`, one for each type of source. A plugin (entry point group `tadoru.readers`) is chosen
by the setting `reader` of a source and has the same three methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from tadoru.model.event import ParsedSource, SourceType
from tadoru.model.web import Headers
from tadoru.parse.sources.api import ApiSettings, read_api
from tadoru.parse.sources.feed import FeedSettings, read_feed
from tadoru.parse.sources.html_page import HtmlSettings, read_detail, read_html
from tadoru.parse.sources.ics import IcsSettings, read_ics
from tadoru.parse.sources.table import TableSettings, read_csv


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


class SourceReader(Protocol):
    """Parses the documents of a source. It never raises for what a site wrote."""

    def prepare(self, mapping: Mapping[str, Any]) -> Any:
        """Parse the settings of a source. Raises ConfigError."""
        ...

    def first(self, url: str, settings: Any) -> str:
        """The URL of the first page."""
        ...

    def read(self, document: SourceDocument, settings: Any) -> ParsedSource: ...


class _SinglePageReader:
    """A reader whose first page is the URL of the source."""

    def first(self, url: str, settings: Any) -> str:
        return url


class FeedReader(_SinglePageReader):
    def prepare(self, mapping: Mapping[str, Any]) -> FeedSettings:
        return FeedSettings.from_mapping(mapping)

    def read(self, document: SourceDocument, settings: FeedSettings) -> ParsedSource:
        return read_feed(document.body, document.content_type, document.url, settings)


class IcsReader(_SinglePageReader):
    def prepare(self, mapping: Mapping[str, Any]) -> IcsSettings:
        return IcsSettings.from_mapping(mapping)

    def read(self, document: SourceDocument, settings: IcsSettings) -> ParsedSource:
        return read_ics(document.body, document.content_type, document.url, settings, now=document.now, zone=document.zone)


class ApiReader:
    def prepare(self, mapping: Mapping[str, Any]) -> ApiSettings:
        return ApiSettings.from_mapping(mapping)

    def first(self, url: str, settings: ApiSettings) -> str:
        return settings.paging.first(url)

    def read(self, document: SourceDocument, settings: ApiSettings) -> ParsedSource:
        body, kind, url = document.body, document.content_type, document.url
        return read_api(body, kind, url, settings, page=document.page, headers=document.headers)


class HtmlReader(_SinglePageReader):
    def prepare(self, mapping: Mapping[str, Any]) -> HtmlSettings:
        return HtmlSettings.from_mapping(mapping)

    def read(self, document: SourceDocument, settings: HtmlSettings) -> ParsedSource:
        body, kind, url = document.body, document.content_type, document.url
        if document.is_detail:
            return read_detail(body, kind, url, settings, now=document.now, zone=document.zone)
        return read_html(body, kind, url, settings, page=document.page, now=document.now, zone=document.zone)


class CsvReader(_SinglePageReader):
    def prepare(self, mapping: Mapping[str, Any]) -> TableSettings:
        return TableSettings.from_mapping(mapping)

    def read(self, document: SourceDocument, settings: TableSettings) -> ParsedSource:
        return read_csv(document.body, document.content_type, document.url, settings)


BUILT_IN: dict[SourceType, SourceReader] = {
    SourceType.RSS: FeedReader(),
    SourceType.ICS: IcsReader(),
    SourceType.API: ApiReader(),
    SourceType.HTML: HtmlReader(),
    SourceType.CSV: CsvReader(),
}


def reader_for(kind: SourceType, plugin: str = "") -> SourceReader:
    """The reader of a type of source, or the plugin with this name. Raises ConfigError."""
    if plugin:
        from tadoru.plugins import load_reader

        found: SourceReader = load_reader(plugin)
        return found
    return BUILT_IN[kind]
