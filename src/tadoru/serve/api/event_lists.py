"""Lists of events for REST and GraphQL, fast enough for many parallel requests.

On SQLite a short list is read in the event loop itself: passing the query to a thread costs more than the query. Everything else
goes to a few threads. Python runs one thread at a time, so a thread per request only adds contention: with four threads a request
costs a fifth less than with forty. (docs/decisions/0021-lists-of-events-in-the-event-loop.md)
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from fastapi import Request

from tadoru.jobs.events.publish.list_pages import (
    DocumentPage,
    event_highlights,
    highlight_json,
    page_by_change,
    page_by_relevance,
    page_by_time,
    page_if_fast,
)
from tadoru.serve.api.event_queries import EventListQuery, event_filter, resolve_city
from tadoru.serve.api.responses import usage_errors_as
from tadoru.serve.auth.principal import Principal
from tadoru.serve.service import Service, service_of
from tadoru.store.calendar.listing import EventFilter, EventQueries
from tadoru.store.calendar.page_rows import FastPageReader

LIST_THREADS = 4
"""More threads would be slower."""
MAX_INLINE_PAGE = 50
"""Maximum page size that is read in the event loop."""


class EventListReader:
    """Reads the event lists of a service; it closes with the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads = ThreadPoolExecutor(LIST_THREADS, thread_name_prefix="list")
        self._quick: FastPageReader | None = None
        self._is_opened = not service.store.db.is_sqlite
        service.at_end.append(self.close)

    def close(self) -> None:
        self._threads.shutdown()
        if self._quick is not None:
            self._quick.close()

    async def read(self, query: EventListQuery, who: Principal) -> DocumentPage:
        """A page of events, as `read_event_page`."""
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._threads)
        if not self._is_opened:
            self._is_opened = True
            self._quick = await in_thread(FastPageReader, self._service.store.events)
        if self._quick is not None and query.limit <= MAX_INLINE_PAGE and query.order == "starts":
            with usage_errors_as(422):
                page = page_if_fast(
                    self._quick, event_filter(query, who, self._service),
                    limit=query.limit, cursor=query.cursor, backwards=query.is_backwards,
                )  # fmt: skip
            if page is not None and page.items:
                return _with_matches(page, query.q)
        return await in_thread(read_event_page, query, who, self._service)


def list_reader_of(request: Request) -> EventListReader:
    """The list reader of a request's service, created on first use."""
    lists: EventListReader | None = getattr(request.app.state, "lists", None)
    if lists is None:
        request.app.state.lists = lists = EventListReader(service_of(request))
    return lists


def read_event_page(query: EventListQuery, who: Principal, service: Service) -> DocumentPage:
    """A page of events. A city without events is tried as a part of a name."""
    events, chosen = service.store.events, event_filter(query, who, service)
    with usage_errors_as(422):
        page = _read_sorted(query, events, chosen)
        if not page.items and chosen.city is not None and (whole := resolve_city(events, chosen)) != chosen:
            page = _read_sorted(query, events, whole)
    return _with_matches(page, query.q)


def _read_sorted(query: EventListQuery, events: EventQueries, chosen: EventFilter) -> DocumentPage:
    """A page in the requested order. Quarantined events may have no date and are sorted by update."""
    if query.order == "relevance":
        return page_by_relevance(events, chosen, limit=query.limit, cursor=query.cursor)
    by_change = query.order == "updated" or query.status == "quarantine"
    read = page_by_change if by_change else page_by_time
    return read(events, chosen, limit=query.limit, cursor=query.cursor, backwards=query.is_backwards)


def _with_matches(page: DocumentPage, words: str | None) -> DocumentPage:
    for item in page.items:
        item["matches"] = [highlight_json(one) for one in event_highlights(item, words)] if words else []
    return page
