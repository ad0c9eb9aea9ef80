"""Every order of a list: all pages together hold each event once, in the order that was promised, on every database."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select

from tadoru.errors import UsageError
from tadoru.jobs.events.publish.list_pages import DocumentPage, page_by_change, page_by_relevance, page_by_time
from tadoru.store.calendar.listing import EventFilter, whole_word_line
from tadoru.store.calendar.schema import events
from tadoru.store.calendar.search_text import SearchQuery, parse_query
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, draft, series, whole_days
from tests.contract.events.test_listing import day
from tests.support.clock import FakeClock

Read = Callable[..., DocumentPage]
WORDS = ("花火", "花火大会", "夏の花火", "大会", "Jazz", "jazzy", "night", "市民 花火", "の")
ASKED = ("花火", "jazz", "花火 大会", '"jazz night"', "大会 -jazz", "の", "night jaz")


def filled(store: CalendarStore, collect: Collector, clock: FakeClock, seed: int) -> None:
    """A calendar of chance: equal times, equal changes, equal titles, series, and what lasts for days."""
    chance = random.Random(seed)

    def text(most: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, most)))

    source = collect.source()
    for part in range(3):
        rows = [
            draft(
                text(2), FIRST + timedelta(days=chance.randrange(4)), uid=f"{part}-{number}", description=text(3),
                venue=f"会館 {part} {number}", city=chance.choice(["盛岡", "花巻"]),
            )
            for number in range(9)
        ]  # fmt: skip
        rows.append(draft(text(1), uid=f"w{part}", venue=f"w{part}", occurrence=whole_days(FIRST, chance.randint(2, 6))))
        rows.append(series(title=f"{text(1)} {part}", uid=f"s{part}", venue=f"s{part}"))
        collect.run(source, rows, sweep=False)
        clock.advance(chance.choice([0, 60]))


def through(read: Read, store: CalendarStore, chosen: EventFilter, limit: int, **more: bool) -> list[dict[str, object]]:
    """Everything, page by page."""
    items: list[dict[str, object]] = []
    cursor: str | None = None
    while True:
        page = read(store.events, chosen, limit=limit, cursor=cursor, **more)
        assert len(page.items) == limit or page.next_cursor is None
        items += page.items
        if (cursor := page.next_cursor) is None:
            return items


FILTERS = (
    EventFilter(),
    EventFilter(city="花巻", since=day(1)),
    EventFilter(since=day(2), until=day(3)),
    EventFilter(q="花火"),
    EventFilter(q="jazz", since=day(1)),
)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_list_backwards_is_the_list_turned_around_whatever_the_pages(
    store: CalendarStore, collect: Collector, clock: FakeClock, seed: int
) -> None:
    filled(store, collect, clock, seed)
    seen = 0
    for chosen in FILTERS:
        for read in (page_by_time, page_by_change):
            whole = read(store.events, chosen, limit=200, cursor=None).items
            key = "starts_at" if read is page_by_time else "updated_at"
            assert [(one[key], one["id"]) for one in whole] == sorted({(one[key], one["id"]) for one in whole})
            for limit in (1, 4, 7):
                assert through(read, store, chosen, limit) == whole
                assert through(read, store, chosen, limit, backwards=True) == whole[::-1]
            seen += len(whole)
    assert seen > 100


def far(asked: SearchQuery, line: str) -> int:
    """How far an event is, said in Python."""
    title = line.partition("¦")[0]
    said = 0 if title == f" {' '.join(whole_word_line(one).strip() for one in asked.wanted)} " else 1
    for phrase in asked.wanted:
        places = (
            (whole_word_line(phrase), title, 0),
            (phrase.line, title, 2),
            (whole_word_line(phrase), line, 4),
            (phrase.line, line, 6),
        )
        said += next(points for words, where, points in places if words in where)
    return said


@pytest.mark.parametrize("seed", [3, 4])
def test_a_list_by_relevance_has_what_the_list_by_time_has_the_best_first(
    store: CalendarStore, collect: Collector, clock: FakeClock, seed: int
) -> None:
    filled(store, collect, clock, seed)
    with store.db.read() as sql:
        lines: dict[int, str] = {row.id: row.search_text for row in sql.execute(select(events.c.id, events.c.search_text))}
    distances = set()
    for asked in ASKED:
        query = parse_query(asked)
        assert query is not None
        for chosen in (EventFilter(q=asked), EventFilter(q=asked, since=day(1)), EventFilter(q=asked, city="盛岡", until=day(2))):
            by_time = page_by_time(store.events, chosen, limit=200, cursor=None).items
            promised = sorted(by_time, key=lambda one: (far(query, lines[one["id"]]), one["starts_at"], one["id"]))
            distances |= {far(query, lines[one["id"]]) for one in by_time}
            for limit in (1, 3, 200):
                assert through(page_by_relevance, store, chosen, limit) == promised, (asked, limit)
    assert len(distances) > 5


def test_a_title_comes_before_a_description_and_a_whole_word_before_a_part_of_one(
    store: CalendarStore, collect: Collector
) -> None:
    said = {
        "exact": ("Jazz", ""), "whole": ("Jazz night", ""), "part": ("Jazzy night", ""), "below": ("Concert", "jazz"),
        "deep": ("Concert", "jazzy"), "nothing": ("Concert", "rock"),
    }  # fmt: skip
    rows = [
        draft(title, FIRST + timedelta(days=9 - number), uid=name, venue=name, description=description)
        for number, (name, (title, description)) in enumerate(said.items())
    ]
    collect.run(collect.source(), rows)
    found = [one.event.venue for one in store.events.list_by_relevance(EventFilter(q="jazz")).items]
    assert found == ["exact", "whole", "part", "below", "deep"]


def test_without_words_there_is_no_relevance_and_signs_find_nothing(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source(), [draft("花火")])
    with pytest.raises(UsageError, match="needs a search"):
        store.events.list_by_relevance(EventFilter())
    assert store.events.list_by_relevance(EventFilter(q="%")).items == ()
    for cursor in ("x", "W10", "WzAsIDFd", store.events.list().next_cursor or "WyIyMDI2LTA4LTAxVDAxOjAwOjAwKzAwOjAwIiwgMTJd"):
        with pytest.raises(UsageError, match="Start again"):
            store.events.list_by_relevance(EventFilter(q="花火"), cursor=cursor)
