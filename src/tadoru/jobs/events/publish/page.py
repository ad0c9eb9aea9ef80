"""A page of a list as plain objects, for programs that read it a part at a time. The objects are those of `documents`.

The questions that are asked most (a city, a period, a category) are answered from bare rows (`store.events.page_rows`), which
takes a fraction of the time; a test holds both ways to the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from tadoru.jobs.events.publish.documents import document, local, stamp, time_of
from tadoru.store.events.listing import EventFilter, Listing
from tadoru.store.events.page_rows import EVENT_COLUMNS, AtOnce, RowPage, is_plain, moment, page_rows
from tadoru.store.events.search_rank import events_by_relevance
from tadoru.store.events.values import EventTime, Page
from tadoru.store.events.walking import Told, told_all

_TIMES, _UPDATED = EVENT_COLUMNS.index("times"), EVENT_COLUMNS.index("updated_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A part of a list."""

    items: list[dict[str, Any]]
    next_cursor: str | None
    modified: datetime | None
    """When one of these changed last."""


def page_by_time(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False) -> DocumentPage:
    """The events of a list in the order of time, each at the first of its times that fits; `backwards` the last one first."""
    if is_plain(chosen):
        return _from_rows(store, page_rows(store, chosen, limit=limit, cursor=cursor, backwards=backwards))
    return _documents(store, store.events(chosen, limit=limit, cursor=cursor, backwards=backwards))


def page_at_once(
    quick: AtOnce, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False
) -> DocumentPage | None:
    """The same as `page_by_time` where that is a matter of a moment, else None."""
    if not is_plain(chosen):
        return None
    page = quick.page_rows(chosen, limit=limit, cursor=cursor, backwards=backwards)
    return None if page is None or any(row[_TIMES] > 1 for row in page.rows) else _finished(page, {})


def page_by_change(
    store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False
) -> DocumentPage:
    """The events that fit, whenever they take place, in the order of their last change; `backwards` the latest first."""
    found = store.events_by_change(chosen, limit=limit, cursor=cursor, absorbed=False, backwards=backwards)
    return _documents(store, found)


def page_by_relevance(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None) -> DocumentPage:
    """The events of a list that is searched, the best first."""
    return _documents(store, events_by_relevance(store, chosen, limit=limit, cursor=cursor))


def _documents(store: Listing, page: Page) -> DocumentPage:
    series = told_all(store, [one.event.id for one in page.items if one.event.times > 1])
    items = []
    for one in page.items:
        times = series[one.event.id].times if one.event.id in series else ()
        items.append(document(Told(event=one.event, time=one.time, times=times)))
    modified = max((one.event.updated_at for one in page.items), default=None)
    return DocumentPage(items=items, next_cursor=page.next_cursor, modified=modified)


def _from_rows(store: Listing, page: RowPage) -> DocumentPage:
    series = [row[0] for row in page.rows if row[_TIMES] > 1]
    return _finished(page, told_all(store, series) if series else {})


def _finished(page: RowPage, known: Mapping[int, Told]) -> DocumentPage:
    items = [_document(row, known[row[0]].times if row[0] in known else ()) for row in page.rows]
    modified = max((row[_UPDATED] for row in page.rows), default=None)
    return DocumentPage(items=items, next_cursor=page.next_cursor, modified=moment(modified) if modified else None)


def _document(row: Any, times: tuple[EventTime, ...]) -> dict[str, Any]:
    """What `documents.document` makes of an event, from its row. The columns are named one by one, in the order of
    EVENT_COLUMNS: twenty of these are made for each request, and this is the quickest way that there is."""
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
        "occurrences": [time_of(one, timezone) for one in times] if len(times) > 1 else [],
        "uid": uid, "sequence": sequence, "extra": _object(extra) if isinstance(extra, str) else extra,
    }  # fmt: skip


@lru_cache(maxsize=8192)
def _local(value: Any, of: str) -> str | None:
    """A time of an event where it takes place. Many take place at ten o'clock."""
    return local(moment(value), of)


def _object(text: str) -> Any:
    return json.loads(text) if text != "{}" else {}


def _stamp(value: Any) -> str | None:
    """A time of ours; SQLite has it as text of one length, in UTC."""
    if value is None:
        return None
    return f"{value[:10]}T{value[11:19]}Z" if isinstance(value, str) else stamp(value)
