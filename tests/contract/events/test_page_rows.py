"""The quick way to a page gives what the thorough way gives, on every database."""

from __future__ import annotations

import pytest

from tadoru.jobs.events.publish.json_documents import event_json
from tadoru.jobs.events.publish.list_pages import page_by_time
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.page_rows import is_simple_filter
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, draft, many, series, whole_days
from tests.contract.events.test_listing import day

ASKED = (
    EventFilter(),
    EventFilter(archived=None),
    EventFilter(city="花巻市"),
    EventFilter(category="music"),
    EventFilter(since=day(1)),
    EventFilter(since=day(0), until=day(3)),
    EventFilter(until=day(2), archived=None),
    EventFilter(city="nowhere", since=day(1)),
)


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_pages_from_bare_rows_are_the_documents_of_a_walk(store: CalendarStore, collect: Collector, limit: int) -> None:
    days = draft("写真展", uid="w", occurrence=whole_days(FIRST, 4))
    other = draft("音楽会", uid="o", city="花巻市", category="music", extra={"a": "b"})
    collect.run(collect.source(), [*many(7), series(uid="s"), days, other])
    for asked in ASKED:
        assert is_simple_filter(asked)
        found, cursor = [], None
        while True:
            page = page_by_time(store.events, asked, limit=limit, cursor=cursor)
            found += page.items
            if (cursor := page.next_cursor) is None:
                break
        assert found == [event_json(told) for told in store.events.iterate(asked)], asked
    assert page_by_time(store.events, EventFilter(), limit=100, cursor=None).items


def test_a_question_of_another_kind_is_not_plain() -> None:
    assert not is_simple_filter(EventFilter(q="x"))
    assert not is_simple_filter(EventFilter(source_id=1))
    assert not is_simple_filter(EventFilter(vanished=True))
