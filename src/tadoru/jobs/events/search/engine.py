"""What is asked of any search engine, what may go wrong, and which one a configuration names.

An index is *the* index (what people search) or *the new one* (made beside it, and then put in its place). Most calls return at
once with a ticket when the engine does the work later; whoever called asks until it `is_done`.
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
"""What an engine calls a task that it does later; None when it is done already."""


class SearchEngineError(TadoruError):
    """The engine cannot do it; trying again would not help."""


class SearchEngineBusy(SearchEngineError):
    """The engine cannot do it now: it is down, too slow, or has too much to do."""

    retry_after: str | None = None
    """The header of its answer that says when to come again, as it came."""


class SearchEngineSilent(SearchEngineBusy):
    """The engine gave no answer of its own: it may have done it, or not."""


class BatchTooLarge(SearchEngineError):
    """It is too much at once."""


class SearchEngine(Protocol):
    """One index of one search engine."""

    name: str
    """The same for the same index, whoever asks: its engine, address and name. No secret is in it."""

    def has_index(self) -> bool: ...

    def create_new(self) -> Sequence[TaskId]:
        """An empty new index with the settings of ours; one that was left behind is dropped. Call it before anything new."""
        ...

    def put(self, documents: Sequence[Mapping[str, Any]], *, new: bool) -> TaskId:
        """Add documents, each in the place of the one with its id."""
        ...

    def remove(self, ids: Sequence[str]) -> TaskId:
        """Drop documents of the index; those that are not there are no matter."""
        ...

    def swap_in(self) -> TaskId:
        """The new index is the index from now on, at once. Not to be called again when it is not known whether it was done."""
        ...

    def delete_old(self) -> TaskId:
        """What was the index before is dropped."""
        ...

    def is_done(self, ticket: int) -> bool:
        """Whether the engine has done it. Raises when it could not."""
        ...

    def close(self) -> None: ...


def engine_for(options: EventsOptions, environment: Mapping[str, str] | None = None) -> SearchEngine | None:
    """The engine of a configuration; None when there is none."""
    if not options.search_engine:
        return None
    address = urlsplit(options.search_url or "")
    if address.scheme not in ("http", "https") or not address.hostname or address.username or address.query or address.fragment:
        raise ConfigError("A search engine needs its address: give --search-url, such as http://127.0.0.1:7700.")
    name = options.search_index
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise ConfigError(f"The index {quoted(name)} cannot be called so: use letters, digits, - and _.")
    key = ""
    if options.search_key:
        key = (os.environ if environment is None else environment).get(options.search_key, "")
        if not key:
            raise ConfigError(f"The variable {options.search_key} with the key of the search engine is empty: set it.")
    url = f"{address.scheme}://{address.netloc}{address.path.rstrip('/')}"
    if options.search_engine == "meilisearch":
        from tadoru.jobs.events.search.meilisearch_engine import MeilisearchEngine

        return MeilisearchEngine(url, key, name)
    from tadoru.jobs.events.search.typesense_engine import TypesenseEngine

    return TypesenseEngine(url, key, name)


def engine_error(engine: str, status: int | None, said: str, key: str, retry_after: str | None = None) -> SearchEngineError:
    """An answer that is no success, as an error of ours. What the engine said is shortened, and never has the key."""
    error = _engine_error(engine, status, said, key)
    if isinstance(error, SearchEngineBusy):
        error.retry_after = retry_after
    return error


def _engine_error(engine: str, status: int | None, said: str, key: str) -> SearchEngineError:
    detail = " ".join((said.replace(key, "…") if key else said).split())[:200].rstrip(".")
    match status:
        case None:
            return SearchEngineSilent(f"{engine} cannot be reached ({detail}): check --search-url, and that it is running.")
        case 401 | 403:
            return SearchEngineError(
                f"{engine} refused the key: check the variable that --search-key names, and what that key may do."
            )
        case 413:
            return BatchTooLarge(f"{engine} does not take so much at once ({detail}): let it take more.")
        case 408 | 425 | 429 | 503:
            return SearchEngineBusy(f"{engine} has too much to do (answer {status}): run the same command again later.")
        case 500 | 502 | 504:
            return SearchEngineSilent(f"{engine} failed (answer {status}): look into its log, and run the same command again.")
    return SearchEngineError(f"{engine} refused it (answer {status}: {detail}): check its version and the name of the index.")


DOCUMENT_VERSION = "1"
"""The form of documents and of an index's settings: another one, and an index is made anew."""
SEARCHABLE = ("title", "venue", "organizer", "category", "city", "address", "description")
"""Fields that are searched, the most telling first."""
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
    """Whether an engine is told of it: not what is hidden, in quarantine or a part of another, nor archived unless wanted."""
    shown = event.status is EventStatus.ACTIVE and event.merged_into is None and event.starts_at is not None
    return shown and (archived or event.archived_at is None)


def search_document(event: CalendarEvent) -> dict[str, Any]:
    """What an engine is told of an event that `is_indexed`. A place is `lat` and `lon`: each engine has its own form of it."""
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
    """A document without its place, and the place."""
    rest = {name: value for name, value in document.items() if name not in ("lat", "lon")}
    return rest, (document["lat"], document["lon"]) if "lat" in document else None
