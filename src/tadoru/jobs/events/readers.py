"""The door to the readers: which one reads a source, how its settings are checked, and what every reader is told.

The built-in readers are in `parse.sources`, one for each type of source. A plugin (entry point group `tadoru.readers`) is chosen
by the setting `reader` of a source and has the same two methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from tadoru.model.event import Reading, SourceType
from tadoru.model.web import Headers
from tadoru.parse.sources.api import ApiSettings, read_api
from tadoru.parse.sources.feed import FeedSettings, read_feed
from tadoru.parse.sources.ics import IcsSettings, read_ics
from tadoru.parse.sources.selected import HtmlSettings, read_detail, read_html
from tadoru.parse.sources.table import TableSettings, read_csv


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One body of a source, and what a reader may want to know about it."""

    body: bytes
    content_type: str | None
    url: str
    headers: Headers
    page: int
    """Of a source with several, from 1."""
    is_detail: bool
    """It was named by another document as being about one event."""
    now: datetime
    zone: str


class Reader(Protocol):
    """Reads the documents of a source. It never raises for what a site wrote."""

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raises ConfigError, in a sentence, when the settings can not be used."""
        ...

    def read(self, document: Document, settings: Mapping[str, Any]) -> Reading: ...

    def first(self, url: str, settings: Mapping[str, Any]) -> str:
        """The address of the first page."""
        ...


class _BuiltIn:
    """What the built-in readers share."""

    settings: type[Any]

    def check(self, settings: Mapping[str, Any]) -> None:
        self.settings.from_mapping(settings)

    def first(self, url: str, settings: Mapping[str, Any]) -> str:
        return url


class FeedReader(_BuiltIn):
    settings = FeedSettings

    def read(self, document: Document, settings: Mapping[str, Any]) -> Reading:
        return read_feed(document.body, document.content_type, document.url, FeedSettings.from_mapping(settings))


class IcsReader(_BuiltIn):
    settings = IcsSettings

    def read(self, document: Document, settings: Mapping[str, Any]) -> Reading:
        chosen = IcsSettings.from_mapping(settings)
        return read_ics(document.body, document.content_type, document.url, chosen, now=document.now, zone=document.zone)


class ApiReader(_BuiltIn):
    settings = ApiSettings

    def first(self, url: str, settings: Mapping[str, Any]) -> str:
        return ApiSettings.from_mapping(settings).paging.first(url)

    def read(self, document: Document, settings: Mapping[str, Any]) -> Reading:
        chosen = ApiSettings.from_mapping(settings)
        return read_api(document.body, document.content_type, document.url, chosen, page=document.page, headers=document.headers)


class HtmlReader(_BuiltIn):
    settings = HtmlSettings

    def read(self, document: Document, settings: Mapping[str, Any]) -> Reading:
        chosen = HtmlSettings.from_mapping(settings)
        body, kind, url = document.body, document.content_type, document.url
        if document.is_detail:
            return read_detail(body, kind, url, chosen, now=document.now, zone=document.zone)
        return read_html(body, kind, url, chosen, page=document.page, now=document.now, zone=document.zone)


class CsvReader(_BuiltIn):
    settings = TableSettings

    def read(self, document: Document, settings: Mapping[str, Any]) -> Reading:
        return read_csv(document.body, document.content_type, document.url, TableSettings.from_mapping(settings))


BUILT_IN: dict[SourceType, Reader] = {
    SourceType.RSS: FeedReader(),
    SourceType.ICS: IcsReader(),
    SourceType.API: ApiReader(),
    SourceType.HTML: HtmlReader(),
    SourceType.CSV: CsvReader(),
}


def reader_for(kind: SourceType, plugin: str = "") -> Reader:
    """The reader of a type of source, or the plugin that was asked for. Raises ConfigError."""
    if plugin:
        from tadoru.plugins import load_reader

        found: Reader = load_reader(plugin)
        return found
    return BUILT_IN[kind]
