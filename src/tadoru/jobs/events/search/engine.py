"""The interface of a search engine, its errors, and the documents it receives.

An engine has *the* index, which users search, and *the new one*, which is built beside it and then swapped in. Engines that work
asynchronously return the id of a task; the caller polls `is_done`.

A document is an event as a flat object. Times are seconds since 1970, so that they can be filtered and sorted. There are no
nulls: empty fields are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from tadoru.config.options import EventsOptions
from tadoru.errors import ConfigError, TadoruError, quoted
from tadoru.model.event import EventStatus
from tadoru.store.calendar.records import CalendarEvent
from tadoru.store.calendar.search_text import strip_tags

TaskId = int | None
"""The id of an asynchronous task; None if it is done already."""


class SearchEngineError(TadoruError):
    """The engine cannot do it; retrying would not help."""


class SearchEngineBusy(SearchEngineError):
    """The engine cannot do it now: it is down, too slow or overloaded."""

    retry_after: str | None = None
    """The Retry-After header of the response, as received."""


class SearchEngineSilent(SearchEngineBusy):
    """The engine did not respond: it may have done it or not."""


class BatchTooLarge(SearchEngineError):
    """The request is too large for the engine."""


class SearchEngine(Protocol):
    """One index of one search engine."""

    name: str
    """Identifies the index: engine, URL and name. It contains no secret."""

    def has_index(self) -> bool: ...

    def create_new(self) -> Sequence[TaskId]:
        """Create an empty new index with our settings; an abandoned one is deleted. Call it before writing to the new index."""
        ...

    def put(self, documents: Sequence[Mapping[str, Any]], *, new: bool) -> TaskId:
        """Add documents, replacing those with the same id."""
        ...

    def remove(self, ids: Sequence[str]) -> TaskId:
        """Delete documents; missing ones are ignored."""
        ...

    def swap_in(self) -> TaskId:
        """Replace the index by the new one, atomically. Do not repeat it if it is unknown whether it was done."""
        ...

    def delete_old(self) -> TaskId:
        """Delete the previous index."""
        ...

    def is_done(self, ticket: int) -> bool:
        """Whether a task is done. Raises if it failed."""
        ...

    def close(self) -> None: ...


def engine_for(options: EventsOptions, environment: Mapping[str, str] | None = None) -> SearchEngine | None:
    """The engine of a configuration; None if there is none."""
    if not options.search_engine:
        return None
    address = urlsplit(options.search_url or "")
    if address.scheme not in ("http", "https") or not address.hostname or address.username or address.query or address.fragment:
        raise ConfigError("The search engine needs a URL. Set --search-url, such as http://127.0.0.1:7700.")
    name = options.search_index
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise ConfigError("Invalid index name {name}. Use letters, digits, - and _.", name=quoted(name))
    key = ""
    if options.search_key:
        key = (os.environ if environment is None else environment).get(options.search_key, "")
        if not key:
            raise ConfigError(
                "The environment variable {variable} with the key of the search engine is not set.", variable=options.search_key
            )
    url = f"{address.scheme}://{address.netloc}{address.path.rstrip('/')}"
    if options.search_engine == "meilisearch":
        from tadoru.jobs.events.search.meilisearch_engine import MeilisearchEngine

        return MeilisearchEngine(url, key, name)
    from tadoru.jobs.events.search.typesense_engine import TypesenseEngine

    return TypesenseEngine(url, key, name)


def engine_error(engine: str, status: int | None, text: str, key: str, retry_after: str | None = None) -> SearchEngineError:
    """An error for an unsuccessful response. The text of the engine is shortened, and never contains the key."""
    error = _engine_error(engine, status, text, key)
    if isinstance(error, SearchEngineBusy):
        error.retry_after = retry_after
    return error


def _engine_error(engine: str, status: int | None, text: str, key: str) -> SearchEngineError:
    detail = " ".join((text.replace(key, "…") if key else text).split())[:200].rstrip(".")
    match status:
        case None:
            return SearchEngineSilent(
                "Cannot connect to {engine} ({reason}). Check --search-url and that it is running.", engine=engine, reason=detail
            )
        case 401 | 403:
            return SearchEngineError(
                "{engine} rejected the key. Check the variable that --search-key names and the permissions of the key.",
                engine=engine,
            )
        case 413:
            return BatchTooLarge(
                "The request is too large for {engine} ({reason}). Raise its limit.", engine=engine, reason=detail
            )
        case 408 | 425 | 429 | 503:
            return SearchEngineBusy(
                "{engine} is overloaded (status {status}). Rerun the command later.", engine=engine, status=status
            )
        case 500 | 502 | 504:
            return SearchEngineSilent(
                "{engine} failed (status {status}). Check its log and rerun the command.", engine=engine, status=status
            )
    return SearchEngineError(
        "{engine} rejected the request (status {status}: {reason}). Check its version and the index name.",
        engine=engine,
        status=status,
        reason=detail,
    )


DOCUMENT_VERSION = "1"
"""The version of documents and index settings: after a change an index is rebuilt."""
SEARCHABLE = ("title", "venue", "organizer", "category", "city", "address", "description")
"""Searched fields, most important first."""
FILTERABLE = ("id", "city", "category", "starts_at", "ends_at", "local_date", "cancelled", "archived", "updated_at")
SORTABLE = ("starts_at", "updated_at")
TEXTS = (
    "uid",
    "title",
    "description",
    "venue",
    "address",
    "city",
    "category",
    "organizer",
    "price",
    "url",
    "source_url",
    "licence",
)
_SPACE = re.compile(r"\s+")


def is_indexed(event: CalendarEvent, *, archived: bool) -> bool:
    """Whether an event is in the index: it is active, not merged, and not archived unless wanted."""
    shown = event.status is EventStatus.ACTIVE and event.merged_into is None and event.starts_at is not None
    return shown and (archived or event.archived_at is None)


def search_document(event: CalendarEvent) -> dict[str, Any]:
    """The document of an event that `is_indexed`. Its location is `lat` and `lon`; each engine has its own format for it."""
    assert event.starts_at is not None
    found: dict[str, Any] = {name: text for name in TEXTS if (text := getattr(event, name))}
    if event.description:
        found["description"] = _SPACE.sub(" ", strip_tags(event.description)).strip()
    found |= {
        "id": str(event.id), "starts_at": int(event.starts_at.timestamp()), "all_day": event.all_day,
        "timezone": event.timezone, "cancelled": event.cancelled_at is not None, "archived": event.archived_at is not None,
        "updated_at": int(event.updated_at.timestamp()),
    }  # fmt: skip
    if event.ends_at is not None:
        found["ends_at"] = int(event.ends_at.timestamp())
    if event.local_date is not None:
        found["local_date"] = event.local_date.isoformat()
    if event.lat is not None and event.lon is not None:
        found |= {"lat": event.lat, "lon": event.lon}
    return found


def split_location(document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[float, float] | None]:
    """A document without its location, and the location."""
    rest = {name: value for name, value in document.items() if name not in ("lat", "lon")}
    return rest, (document["lat"], document["lon"]) if "lat" in document else None
