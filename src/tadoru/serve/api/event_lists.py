"""Lists of events for REST and GraphQL, fast enough for many parallel requests.

On SQLite a short list is read in the event loop itself: passing the query to a thread costs more than the query. Everything else
goes to a few threads. Python runs one thread at a time, so a thread per request only adds contention: with four threads a request
costs a fifth less than with forty.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

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
from tadoru.store.calendar.event_records import FastPageReader
from tadoru.store.calendar.listing import EventFilter, EventQueries

T = TypeVar("T")
_Task = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]]


class ThreadPool:
    """A fixed number of threads, started with the first call. They end with `close` or with the process."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._started: list[threading.Thread] = []

    async def run(self, call: Callable[..., T], *given: Any) -> T:
        """Call a function in a thread and return its result."""
        if not self._started:
            self._start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._tasks.put((loop, future, call, given))
        return await future

    def close(self) -> None:
        """End the threads after their queued calls."""
        for _ in self._started:
            self._tasks.put(None)
        for thread in self._started:
            thread.join()
        self._started = []

    def _start(self) -> None:
        self._started = [threading.Thread(target=self._work, name=f"list {n}", daemon=True) for n in range(self._count)]
        for thread in self._started:
            thread.start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            loop, future, call, given = task
            try:
                result, error = call(*given), None
            except BaseException as raised:
                result, error = None, raised
            with suppress(RuntimeError):  # The loop has ended.
                loop.call_soon_threadsafe(_set_result, future, result, error)
            del task, loop, future, call, given, result, error


def _set_result(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():  # The request was cancelled.
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


LIST_THREADS = 4
"""More threads would be slower."""
MAX_INLINE_PAGE = 50
"""Maximum page size that is read in the event loop."""


class EventListReader:
    """Reads the event lists of a service; it closes with the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads = ThreadPool(LIST_THREADS)
        self._quick: FastPageReader | None = None
        self._is_opened = not service.store.is_sqlite
        service.at_end.append(self.close)

    def close(self) -> None:
        self._threads.close()
        if self._quick is not None:
            self._quick.close()

    async def read(self, query: EventListQuery, who: Principal) -> DocumentPage:
        """A page of events, as `read_event_page`."""
        if not self._is_opened:
            self._is_opened = True
            self._quick = await self._threads.run(FastPageReader, self._service.store)
        if self._quick is not None and query.limit <= MAX_INLINE_PAGE and query.order == "starts":
            with usage_errors_as(422):
                page = page_if_fast(
                    self._quick, event_filter(query, who, self._service),
                    limit=query.limit, cursor=query.cursor, backwards=query.is_backwards,
                )  # fmt: skip
            if page is not None and page.items:
                return _with_matches(page, query.q)
        return await self._threads.run(read_event_page, query, who, self._service)


def list_reader_of(request: Request) -> EventListReader:
    """The list reader of a request's service, created on first use."""
    lists: EventListReader | None = getattr(request.app.state, "lists", None)
    if lists is None:
        request.app.state.lists = lists = EventListReader(service_of(request))
    return lists


def read_event_page(query: EventListQuery, who: Principal, service: Service) -> DocumentPage:
    """A page of events. A city without events is tried as a part of a name."""
    store, chosen = service.store, event_filter(query, who, service)
    with usage_errors_as(422):
        page = _read_sorted(query, store, chosen)
        if not page.items and chosen.city is not None and (whole := resolve_city(store, chosen)) != chosen:
            page = _read_sorted(query, store, whole)
    return _with_matches(page, query.q)


def _read_sorted(query: EventListQuery, store: EventQueries, chosen: EventFilter) -> DocumentPage:
    """A page in the requested order. Quarantined events may have no date and are sorted by update."""
    if query.order == "relevance":
        return page_by_relevance(store, chosen, limit=query.limit, cursor=query.cursor)
    by_change = query.order == "updated" or query.status == "quarantine"
    read = page_by_change if by_change else page_by_time
    return read(store, chosen, limit=query.limit, cursor=query.cursor, backwards=query.is_backwards)


def _with_matches(page: DocumentPage, words: str | None) -> DocumentPage:
    for item in page.items:
        item["matches"] = [highlight_json(one) for one in event_highlights(item, words)] if words else []
    return page
