"""Searching events: the same words find the same events in both databases, and the index is never out of step with the texts."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from tadoru.errors import UsageError
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.drafts import event_columns
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.migrate import VERSIONS, prepare_database
from tadoru.store.calendar.schema import events, occurrences
from tadoru.store.calendar.search_conditions import (
    contains_words,
    matching_ids,
    matching_occurrences,
    occurrence_matches,
    text_contains,
)
from tadoru.store.calendar.search_text import parse_query, search_line
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, PlainMatcher, bad, draft, series
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer

ASKED = (
    "花火", "火大", "花", "会", "花火大会", "大会 -花火", '"夏の花火"', "ジャズ", "じゃず", "JAZZ", "jaz", '"jazz night"',
    "第3回", "2026", "盛岡 花火", "無料", "-花火", "ホール", "café", "cafe", "ない言葉", "100%", "_", "'", "\\", "a", "子ども",
    "ｺﾄﾞﾓ",
)  # fmt: skip
WORDS = (
    "花火",
    "大会",
    "夏の",
    "ジャズ",
    "Jazz",
    "night",
    "第3回",
    "2026",
    "100%",
    "Café",
    "市民",
    "ホール",
    "こども",
    "無料",
    "の",
    "会",
)


def line(chance: random.Random) -> str:
    return "".join(chance.choice(["", " ", "・"]) + chance.choice(WORDS) for _ in range(chance.randint(1, 5)))


def searched(store: CalendarStore) -> dict[int, str]:
    """The text of every event, made again from what it says."""
    fields = ("title", "venue", "address", "city", "category", "organizer", "description")
    with store.db.read() as sql:
        rows = sql.execute(select(events)).mappings().all()
    for row in rows:
        expected = "" if row["status"] == "quarantine" else search_line([row[name] for name in fields])
        assert row["search_text"] == expected, row["id"]
    return {row["id"]: row["search_text"] for row in rows}


def check(store: CalendarStore) -> int:
    """The index finds what a scan finds; how many it found."""
    lines, count = searched(store), 0
    for asked in ASKED:
        asks = parse_query(asked)
        assert asks is not None
        expected = {number for number, one in lines.items() if asks.wanted and asks.is_found(one)}
        with store.db.read() as sql:
            numbers = set(sql.execute(select(events.c.id).where(contains_words(asks, is_sqlite=store.db.is_sqlite))).scalars())
        assert numbers == expected, asked
        count += len(expected)
    if store.db.is_sqlite:
        with store.db.write() as sql:  # SQLite compares the index with the texts itself, and raises.
            sql.execute(text("INSERT INTO events_search(events_search, rank) VALUES ('integrity-check', 1)"))
    return count


class History:
    """Everything that is done to events, in any order."""

    def __init__(self, store: CalendarStore, collect: Collector, clock: FakeClock, seed: int) -> None:
        self.store, self.collect, self.clock = store, collect, clock
        self.chance = random.Random(seed)
        self.sources = [collect.source(name) for name in ("A", "B")]
        self.matcher = PlainMatcher()

    def some_event(self) -> int:
        with self.store.db.read() as sql:
            return self.chance.choice(list(sql.execute(select(events.c.id)).scalars()))

    def collected(self) -> None:
        chance = self.chance
        drafts = [
            draft(
                chance.choice([line(chance), "花火大会"]), FIRST + timedelta(days=chance.randrange(6)),
                uid=f"u{chance.randrange(30)}", description=line(chance), venue=line(chance),
                city=chance.choice(["盛岡", "花巻"]),
            )
            for _ in range(chance.randint(1, 8))
        ]  # fmt: skip
        rows = {one.uid: one for one in drafts}
        quarantined = (bad(line(chance)),) if chance.random() < 0.3 else ()
        self.collect.run(chance.choice(self.sources), list(rows.values()), quarantined, sweep=chance.random() < 0.5)

    def edited(self) -> None:
        name = self.chance.choice(["title", "description", "venue", "address", "organizer", "category"])
        self.store.edits.edit(self.some_event(), {name: line(self.chance)}, self.matcher, by="mika")

    def given_back(self) -> None:
        self.store.edits.release_fields(self.some_event(), frozenset({"title", "description"}), self.matcher, by="mika")

    def hidden(self) -> None:
        self.store.edits.hide(self.some_event(), by="mika")

    def shown(self) -> None:
        self.store.edits.unhide(self.some_event(), by="mika")

    def created(self) -> None:
        self.store.edits.create(draft(line(self.chance), organizer=line(self.chance)), self.matcher, by="mika")

    def merged(self) -> None:
        self.store.merges.merge(self.some_event(), self.some_event(), self.matcher, by="mika")

    def parted(self) -> None:
        done = self.store.merges.list()
        if done:
            self.store.merges.undo(self.chance.choice(done).id, self.matcher, by="mika")

    def archived(self) -> None:
        self.clock.advance(20 * 86400)
        self.store.retention.archive(after=timedelta(days=3))

    def go_on(self, steps: int) -> None:
        self.collected()
        ways: list[Callable[[], None]] = [
            self.collected, self.collected, self.edited, self.given_back, self.hidden, self.shown, self.created, self.merged,
            self.merged, self.parted, self.archived,
        ]  # fmt: skip
        for _ in range(steps):
            try:
                self.chance.choice(ways)()
            except UsageError:
                continue  # A merged event cannot be edited, and so on: then nothing was done.


@pytest.mark.parametrize("seed", [1])
def test_the_index_is_in_step_with_the_texts_after_any_history(
    store: CalendarStore, collect: Collector, clock: FakeClock, seed: int
) -> None:
    history = History(store, collect, clock, seed)
    found_in_all = 0
    for _ in range(4):
        history.go_on(12)
        found_in_all += check(store)
    assert found_in_all > 100  # else this would prove nothing


FIRE, JAZZ = "夏の花火大会", "Jazz Night"
FOUND = {
    "two characters": ("花火", [FIRE]),
    "one character": ("火", [FIRE]),
    "one character at the end of a word": ("館", [FIRE]),
    "no reading of characters": ("カイ", []),
    "kinds of kana": ("ほーる", [JAZZ]),
    "half width": ("ﾎｰﾙ", [JAZZ]),
    "wide letters": ("ｊａｚｚ", [JAZZ]),
    "beginnings of words": ("jaz nig", [JAZZ]),
    "a phrase has whole words": ('"jazz nig"', []),
    "a phrase is in its order": ('"night jazz"', []),
    "both": ("会", [FIRE, JAZZ]),
    "an exclusion": ("会 -花火", [JAZZ]),
    "the address, digits between": ("中央1丁目", [FIRE]),
    "the organizer": ("実行委員会", [FIRE]),
    "the category": ("fireworks", [FIRE]),
    "the city": ("花巻", [JAZZ]),
    "all words": ("花火 jazz", []),
    "no language of ours": ("'; DROP TABLE events; --", []),
    "a sign alone": ('"', []),
    "a sign that LIKE knows": ("%", []),
    "nothing": (" ", [FIRE, JAZZ]),
}


def test_the_same_words_find_the_same_events(store: CalendarStore, collect: Collector) -> None:
    fire = draft(FIRE, address="中央1丁目2番", organizer="実行委員会", category="fireworks", description="雨天中止")
    jazz = draft(JAZZ, FIRST + timedelta(hours=1), city="花巻", venue="ホール", description="会費は100円")
    collect.run(collect.source(), [fire, jazz])
    for name, (asked, expected) in FOUND.items():
        chosen = EventFilter(q=asked)
        assert [one.event.title for one in store.events.list(chosen).items] == expected, name
        assert store.events.count(chosen) == len(expected), name
        assert sorted(one.event.title for one in store.events.list_by_change(chosen).items) == sorted(expected), name


def test_a_list_of_what_is_found_goes_on_where_it_ended(store: CalendarStore, collect: Collector) -> None:
    every = [draft(f"花火 {n}", FIRST + timedelta(days=n % 5), uid=f"u{n}") for n in range(17)]
    collect.run(collect.source(), [*every, series("花火教室", weeks=4), draft("朝市")])
    for since in (None, (FIRST + timedelta(days=2)).date()):
        chosen, titles, cursor = EventFilter(q="花火", since=since), [], None
        for _ in range(20):
            page = store.events.list(chosen, limit=3, cursor=cursor)
            titles += [one.event.title for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert titles == [one.event.title for one in store.events.list(chosen, limit=100).items]
        assert len(titles) == len(set(titles)) == store.events.count(chosen) >= 10


def test_every_way_to_a_list_finds_the_same(tmp_path: Path, clock: FakeClock) -> None:
    """On SQLite the share of what is found decides how a list is made; what is in it must not depend on that."""
    store = open_calendar(str(tmp_path / "events.db"), clock)
    History(store, Collector(store, PlainMatcher()), clock, seed=3).go_on(25)
    for asked in ("花火", "会 -花火", "jazz night", "ない言葉"):
        asks = parse_query(asked)
        assert asks is not None
        few = matching_occurrences(asks)
        with store.db.read() as sql:
            ways = [
                sql.execute(select(few.c.event_id, few.c.number)).all(),
                sql.execute(select(occurrences.c.event_id, occurrences.c.number).where(occurrence_matches(asks))).all(),
                sql.execute(select(occurrences.c.event_id, occurrences.c.number).join(events).where(text_contains(asks))).all(),
            ]
            assert set(sql.execute(matching_ids(asks)).scalars()) >= {row[0] for row in ways[0]}
        assert set(map(tuple, ways[0])) == set(map(tuple, ways[1])) == set(map(tuple, ways[2]))
    store.close()


def fail_after_writing(store: CalendarStore) -> None:
    with store.db.write_events() as sql:
        sql.execute(text("UPDATE events SET search_text = ' 花火 火 '"))
        raise ZeroDivisionError


def test_what_is_undone_is_not_in_the_index(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source(), [draft("朝市", venue="公園")])
    with pytest.raises(ZeroDivisionError):
        fail_after_writing(store)
    assert check(store) == 0
    with store.db.write_events() as sql:
        sql.execute(text("UPDATE events SET title = '花火', search_text = ' 花火 火 ¦ 公園 園 ¦ 盛岡 岡 '"))
    assert check(store) > 0
    with store.db.write_events() as sql:
        sql.execute(text("DELETE FROM events"))
    assert check(store) == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_older_database_is_searched_like_a_new_one(
    kind: str, tmp_path: Path, clock: FakeClock, request: pytest.FixtureRequest
) -> None:
    postgres: PostgresServer | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    address = postgres.new_database() if postgres else str(tmp_path / "old.db")
    old = CalendarDatabase(address, clock)
    prepare_database(old, VERSIONS[: VERSIONS.index("0004")])
    one = draft("夏の花火大会", description="<b>ＪＡＺＺ</b>\n雨天中止")
    stamps = {"created_at": old.now(), "updated_at": old.now(), "last_seen": old.now(), "status": "active"}
    with old.write() as sql:
        row = event_columns(one, old.now()) | stamps | {"search_text": "夏の花火大会\n市民会館  \njazz\n雨天中止"}
        sql.execute(insert(events), [row | {"uid": f"u{n}"} for n in range(3)])
    old.close()
    store = open_calendar(address, clock)
    assert check(store) > 0
    store.close()
    if postgres:
        postgres.drop(address)


@pytest.mark.parametrize("size", [0, 70_000])
def test_a_text_of_any_length_is_taken(store: CalendarStore, collect: Collector, size: int) -> None:
    """PostgreSQL has a limit on the words of one text, and on the length of a word."""
    many = "".join(chr(0x4E00 + n % 20000) for n in range(size))
    collect.run(collect.source(), [draft("花火", description=f"{many} {'x' * size}")])
    assert [one.event.title for one in store.events.list(EventFilter(q="花火")).items] == ["花火"]
    assert check(store) > 0
