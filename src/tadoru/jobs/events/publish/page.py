"""A page of a list as plain objects, for programs that read it a part at a time. The objects are those of `documents`.

The questions that are asked most (a city, a period, a category) are answered from bare rows (`store.events.page_rows`), which
takes a fraction of the time; a test holds both ways to the same answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tadoru.jobs.events.publish.documents import FIELDS, document, local, stamp, time_of
from tadoru.store.events.listing import EventFilter, Listing
from tadoru.store.events.page_rows import EVENT_COLUMNS, RowPage, is_plain, moment, page_rows
from tadoru.store.events.values import EventTime, Page
from tadoru.store.events.walking import Told, told_all

_STAMPS = ("created_at", "updated_at", "last_seen", "cancelled_at", "vanished_at", "archived_at")
_PLACE = len(EVENT_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A part of a list."""

    items: list[dict[str, Any]]
    next_cursor: str | None
    modified: datetime | None
    """When one of these changed last."""


def page_by_time(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None) -> DocumentPage:
    """The events of a list in the order of time, each at the first of its times that fits."""
    if is_plain(chosen):
        return _from_rows(store, page_rows(store, chosen, limit=limit, cursor=cursor))
    return _documents(store, store.events(chosen, limit=limit, cursor=cursor))


def page_by_change(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None) -> DocumentPage:
    """The events that fit, whenever they take place, in the order of their last change."""
    return _documents(store, store.events_by_change(chosen, limit=limit, cursor=cursor, absorbed=False))


def _documents(store: Listing, page: Page) -> DocumentPage:
    series = told_all(store, [one.event.id for one in page.items if one.event.times > 1])
    items = []
    for one in page.items:
        times = series[one.event.id].times if one.event.id in series else ()
        items.append(document(Told(event=one.event, time=one.time, times=times)))
    modified = max((one.event.updated_at for one in page.items), default=None)
    return DocumentPage(items=items, next_cursor=page.next_cursor, modified=modified)


def _from_rows(store: Listing, page: RowPage) -> DocumentPage:
    series = [row.id for row in page.rows if row.times > 1]
    known = told_all(store, series) if series else {}
    items = [_document(row, known[row.id].times if row.id in known else ()) for row in page.rows]
    modified = max((row.updated_at for row in page.rows), default=None)
    return DocumentPage(items=items, next_cursor=page.next_cursor, modified=moment(modified) if modified else None)


def _document(row: Any, times: tuple[EventTime, ...]) -> dict[str, Any]:
    """What `documents.document` makes of an event, from its row."""
    values: dict[str, Any] = dict(zip(EVENT_COLUMNS, row, strict=False))
    starts, ends, has_time = row[_PLACE:]
    zone = values["timezone"]
    for name in _STAMPS:
        values[name] = _stamp(values[name])
    values["starts_at"] = local(moment(starts), zone)
    values["ends_at"] = local(moment(ends), zone) if ends else None
    values["has_time"] = bool(has_time)
    values["all_day"] = not has_time and ends is not None
    values["occurrences"] = [time_of(one, zone) for one in times] if len(times) > 1 else []
    if isinstance(values["extra"], str):
        values["extra"] = json.loads(values["extra"])
    return {name: values[name] for name in FIELDS}


def _stamp(value: Any) -> str | None:
    """A time of ours; SQLite has it as text of one length, in UTC."""
    if isinstance(value, str):
        return f"{value[:10]}T{value[11:19]}Z"
    return stamp(value)
