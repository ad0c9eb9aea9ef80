"""A page of a list as plain objects, for programs that read it a part at a time. The objects are those of `documents`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tadoru.jobs.events.publish.documents import document
from tadoru.store.events.listing import EventFilter, Listing
from tadoru.store.events.values import Page
from tadoru.store.events.walking import Told, told_all


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A part of a list."""

    items: list[dict[str, Any]]
    next_cursor: str | None
    modified: datetime | None
    """When one of these changed last."""


def page_by_time(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None) -> DocumentPage:
    """The events of a list in the order of time, each at the first of its times that fits."""
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
