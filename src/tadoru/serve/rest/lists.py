"""Lists of events, for REST and GraphQL, and for many who ask at once.

Where the database is a file and the answer a matter of a moment, the loop itself asks for it: to hand the question to a thread,
and to fight with it over the interpreter, costs more than the question. Everything else goes to a few threads.
"""

from __future__ import annotations

from fastapi import Request

from tadoru.jobs.events.publish.matches import match_json, matches_of
from tadoru.jobs.events.publish.page import DocumentPage, page_at_once, page_by_change, page_by_relevance, page_by_time
from tadoru.serve.access.who import Caller
from tadoru.serve.rest.answers import refusing
from tadoru.serve.rest.asked import Listed, filter_of, with_city
from tadoru.serve.rest.threads import Threads
from tadoru.serve.service import Service, service_of
from tadoru.store.events.listing import EventFilter, Listing
from tadoru.store.events.page_rows import AtOnce

THREADS = 4
"""More of them would be slower."""
SHORT = 50
"""Events of a page that the loop makes, at most."""


class Lists:
    """What reads the lists of a service for those who ask most; ends with it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads = Threads(THREADS)
        self._quick: AtOnce | None = None
        self._is_opened = not service.store.is_sqlite
        service.at_end.append(self.close)

    def close(self) -> None:
        self._threads.close()
        if self._quick is not None:
            self._quick.close()

    async def read(self, asked: Listed, who: Caller) -> DocumentPage:
        """As `read_page`."""
        if not self._is_opened:
            self._is_opened = True
            self._quick = await self._threads.run(AtOnce, self._service.store)
        if self._quick is not None and asked.limit <= SHORT and asked.order == "starts":
            with refusing(422):
                page = page_at_once(
                    self._quick, filter_of(asked, who, self._service),
                    limit=asked.limit, cursor=asked.cursor, backwards=asked.is_backwards,
                )  # fmt: skip
            if page is not None and page.items:
                return _with_matches(page, asked.q)
        return await self._threads.run(read_page, asked, who, self._service)


def lists_of(request: Request) -> Lists:
    """Those of the service that a request is for; made with the first."""
    lists: Lists | None = getattr(request.app.state, "lists", None)
    if lists is None:
        request.app.state.lists = lists = Lists(service_of(request))
    return lists


def read_page(asked: Listed, who: Caller, service: Service) -> DocumentPage:
    """A page of events. A city that nothing takes place in may be half a name."""
    store, chosen = service.store, filter_of(asked, who, service)
    with refusing(422):
        page = _read(asked, store, chosen)
        if not page.items and chosen.city is not None and (whole := with_city(store, chosen)) != chosen:
            page = _read(asked, store, whole)
    return _with_matches(page, asked.q)


def _read(asked: Listed, store: Listing, chosen: EventFilter) -> DocumentPage:
    """In the order that is asked for. What is in quarantine may have no time, and is listed by its changes."""
    if asked.order == "relevance":
        return page_by_relevance(store, chosen, limit=asked.limit, cursor=asked.cursor)
    by_change = asked.order == "updated" or asked.status == "quarantine"
    read = page_by_change if by_change else page_by_time
    return read(store, chosen, limit=asked.limit, cursor=asked.cursor, backwards=asked.is_backwards)


def _with_matches(page: DocumentPage, words: str | None) -> DocumentPage:
    for item in page.items:
        item["matches"] = [match_json(one) for one in matches_of(item, words)] if words else []
    return page
