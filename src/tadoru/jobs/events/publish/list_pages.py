"""Pages of event lists as JSON documents, with highlights of a search.

The most frequent filters (city, period, category) are answered from bare rows (`store.calendar.page_rows`), which takes a
fraction of the time; a test compares both ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from tadoru.jobs.events.publish.json_documents import event_json, format_local, format_stamp, time_json
from tadoru.parse.text_cleaning import is_html, plain_text
from tadoru.store.calendar.listing import EventFilter, EventQueries
from tadoru.store.calendar.page_rows import EVENT_COLUMNS, FastPageReader, RowPage, is_simple_filter, read_page_rows, to_utc
from tadoru.store.calendar.records import EventPage, EventRecord, EventTime
from tadoru.store.calendar.search_text import SearchHighlight, find_highlights

_TIMES, _UPDATED = EVENT_COLUMNS.index("times"), EVENT_COLUMNS.index("updated_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """One page of a list."""

    items: list[dict[str, Any]]
    next_cursor: str | None
    modified: datetime | None
    """The latest change of its events."""


def page_by_time(
    events: EventQueries, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False
) -> DocumentPage:
    """Events in the order of time, each at its first occurrence that matches; `backwards`: latest first."""
    if is_simple_filter(chosen):
        return _from_rows(events, read_page_rows(events, chosen, limit=limit, cursor=cursor, backwards=backwards))
    return _documents(events, events.list(chosen, limit=limit, cursor=cursor, backwards=backwards))


def page_if_fast(
    quick: FastPageReader, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False
) -> DocumentPage | None:
    """The result of `page_by_time` if it is available within a few milliseconds, else None."""
    if not is_simple_filter(chosen):
        return None
    page = quick.page_rows(chosen, limit=limit, cursor=cursor, backwards=backwards)
    return None if page is None or any(row[_TIMES] > 1 for row in page.rows) else _finished(page, {})


def page_by_change(
    events: EventQueries, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False
) -> DocumentPage:
    """All matching events in the order of their last change; `backwards`: latest first."""
    found = events.list_by_change(chosen, limit=limit, cursor=cursor, absorbed=False, backwards=backwards)
    return _documents(events, found)


def page_by_relevance(events: EventQueries, chosen: EventFilter, *, limit: int, cursor: str | None) -> DocumentPage:
    """The events that match a search, most relevant first."""
    return _documents(events, events.list_by_relevance(chosen, limit=limit, cursor=cursor))


def _documents(events: EventQueries, page: EventPage) -> DocumentPage:
    series = events.records([one.event.id for one in page.items if one.event.times > 1])
    items = []
    for one in page.items:
        times = series[one.event.id].times if one.event.id in series else ()
        items.append(event_json(EventRecord(event=one.event, time=one.time, times=times)))
    modified = max((one.event.updated_at for one in page.items), default=None)
    return DocumentPage(items=items, next_cursor=page.next_cursor, modified=modified)


def _from_rows(events: EventQueries, page: RowPage) -> DocumentPage:
    series = [row[0] for row in page.rows if row[_TIMES] > 1]
    return _finished(page, events.records(series) if series else {})


def _finished(page: RowPage, known: Mapping[int, EventRecord]) -> DocumentPage:
    items = [_document(row, known[row[0]].times if row[0] in known else ()) for row in page.rows]
    modified = max((row[_UPDATED] for row in page.rows), default=None)
    return DocumentPage(items=items, next_cursor=page.next_cursor, modified=to_utc(modified) if modified else None)


def _document(row: Any, times: tuple[EventTime, ...]) -> dict[str, Any]:
    """The same document as `json_documents.event_json`, from a row. The columns are unpacked one by one, in the order of
    EVENT_COLUMNS, because that is fastest: each request builds twenty of them."""
    (
        number, title, description, timezone, venue, address, city, lat, lon, category, price, organizer, url, image, source_url,
        source_id, licence, terms_url, dedupe_key, recurrence, when_note, uid, sequence, status, created, updated, seen,
        cancelled, vanished, archived, _, extra, starts, ends, has_time,
    ) = row  # fmt: skip
    return {
        "id": number, "title": title, "description": description,
        "starts_at": _local(starts, timezone), "ends_at": _local(ends, timezone) if ends else None,
        "all_day": not has_time and ends is not None, "has_time": bool(has_time), "timezone": timezone, "venue": venue,
        "address": address, "city": city, "lat": lat, "lon": lon, "category": category, "price": price, "organizer": organizer,
        "url": url, "image": image, "source_url": source_url, "source_id": source_id, "licence": licence, "terms_url": terms_url,
        "dedupe_key": dedupe_key, "status": status, "created_at": _stamp(created), "updated_at": _stamp(updated),
        "last_seen": _stamp(seen), "cancelled_at": _stamp(cancelled), "vanished_at": _stamp(vanished),
        "archived_at": _stamp(archived), "recurrence": recurrence, "when_note": when_note,
        "occurrences": [time_json(one, timezone) for one in times] if len(times) > 1 else [],
        "uid": uid, "sequence": sequence, "extra": _object(extra) if isinstance(extra, str) else extra,
    }  # fmt: skip


@lru_cache(maxsize=8192)
def _local(value: Any, of: str) -> str | None:
    """A time of an event in its zone. Cached, because many events share one."""
    return format_local(to_utc(value), of)


def _object(text: str) -> Any:
    return json.loads(text) if text != "{}" else {}


@lru_cache(maxsize=8192)
def _stamp(value: Any) -> str | None:
    """A timestamp in UTC; on SQLite it is text of a fixed length. Cached, because the events of one run share them."""
    if value is None:
        return None
    return f"{value[:10]}T{value[11:19]}Z" if isinstance(value, str) else format_stamp(value)


SEARCHED_FIELDS = ("title", "venue", "address", "city", "category", "organizer", "description")
"""Searched fields, in order."""


def event_highlights(event: Mapping[str, Any], asked: str) -> tuple[SearchHighlight, ...]:
    """The fields of an event that match the search; descriptions as plain text."""
    texts = {name: event[name] for name in SEARCHED_FIELDS if event[name]}
    if "description" in texts and is_html(texts["description"]):
        texts["description"] = " ".join(plain_text(texts["description"]).split())
    return find_highlights(texts, asked)


def highlight_json(match: SearchHighlight) -> dict[str, Any]:
    """A highlight as JSON."""
    return {"field": match.field, "text": match.text, "marks": [{"start": start, "end": end} for start, end in match.marks]}


_KINDS = ("市", "区", "町", "村", "都", "道", "府", "県")


def find_city(asked: str, known: Iterable[str]) -> str | None:
    """The city of a list with this name, or with this name without 市, 区, 町 or 村 if it is unambiguous."""
    cities = list(known)
    if asked in cities:
        return asked
    called = [city for city in cities if city.endswith(_KINDS) and city[:-1] == asked]
    return called[0] if len(called) == 1 else None


def suggest_cities(asked: str, known: Iterable[str]) -> tuple[str, ...]:
    """Cities with a similar name."""
    return tuple(city for city in known if city and (asked in city or city in asked))[:5]
