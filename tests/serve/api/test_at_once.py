"""Lists that the loop itself answers: the same as all others, and only where nothing has to be waited for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from itertools import product
from pathlib import Path

import pytest

from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.page_rows import FastPageReader, RowPage, read_page_rows
from tests.serve.api.conftest import fill
from tests.support.calendar import row
from tests.support.serving import ServiceHarness

AUGUST = {"since": date(2050, 8, 1), "until": date(2050, 8, 31)}
ASKED = [EventFilter(), EventFilter(archived=None), *(
    EventFilter(city=city, category=category, **period)  # type: ignore[arg-type]
    for city, category, period in product((None, "花巻市", "nowhere"), (None, "music"), ({}, AUGUST))
)]  # fmt: skip


@pytest.fixture
def quick(shown: ServiceHarness) -> Iterator[FastPageReader]:
    with closing(FastPageReader(shown.store.events)) as made:
        yield made


@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_answered_at_once_is_what_is_answered_otherwise(
    shown: ServiceHarness, quick: FastPageReader, backwards: bool
) -> None:
    listed = 0
    for asked in ASKED:
        cursor = None
        while True:
            expected = read_page_rows(shown.store.events, asked, limit=2, cursor=cursor, backwards=backwards)
            assert quick.page_rows(asked, limit=2, cursor=cursor, backwards=backwards) == expected, asked
            listed += len(expected.rows)
            if (cursor := expected.next_cursor) is None:
                break
    assert listed > len(ASKED)


def test_what_takes_longer_than_a_moment_is_left_to_others_and_the_next_question_is_answered(shown: ServiceHarness) -> None:
    with closing(FastPageReader(shown.store.events, steps=5)) as hasty:
        assert hasty.page_rows(EventFilter(), limit=20, cursor=None) is None
        assert hasty.page_rows(EventFilter(city="nowhere"), limit=20, cursor=None) == RowPage([], None)
    with closing(FastPageReader(shown.store.events, steps=2_000)) as quick:
        answers = [quick.page_rows(EventFilter(), limit=20, cursor=None) for _ in range(50)]
    # The driver goes on counting from one question to the next: that must not end any of them.
    assert all(isinstance(answer, RowPage) and answer.rows for answer in answers)


def test_nobody_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    harness = ServiceHarness(path)
    fill(harness)
    harness.store.db.engine.dispose()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")  # The one in which readers wait for writers.
        with closing(FastPageReader(harness.store.events)) as quick:
            assert quick.page_rows(EventFilter(), limit=20, cursor=None)
            other.execute("BEGIN EXCLUSIVE")
            assert quick.page_rows(EventFilter(), limit=20, cursor=None) is None
            other.execute("COMMIT")
            assert quick.page_rows(EventFilter(), limit=20, cursor=None)
    harness.close()


def test_no_view_of_the_database_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    harness = ServiceHarness(path)
    fill(harness)
    asked = EventFilter(city="盛岡市")
    with closing(FastPageReader(harness.store.events)) as quick:
        before = quick.page_rows(asked, limit=20, cursor=None)
        assert before is not None
        town = harness.calendar.source("third", url="https://third.example/", city="盛岡市")
        harness.calendar.say(town, row("夕市", "2050-08-02 16:00", uid="x"))
        after = quick.page_rows(asked, limit=20, cursor=None)
        assert after is not None
        assert len(after.rows) == len(before.rows) + 1
        with closing(sqlite3.connect(path)) as other:
            busy, *_ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert not busy
    harness.close()


def test_a_list_with_a_series_a_half_name_or_words_is_as_complete_as_any(harness: ServiceHarness) -> None:
    harness.calendar.say(
        harness.calendar.source("紫波町", city="紫波町", url="https://shiwa.example/"),
        row("体操", "2050-08-04 09:00", uid="t", recurrence="RRULE:FREQ=WEEKLY;COUNT=3"),
    )
    everything = harness.anybody.get("/api/v1/events?from=2050-08-01&limit=50").json()["items"]
    assert everything == harness.anybody.get("/api/v1/events?from=2050-08-01&limit=100").json()["items"]
    assert [one["title"] for one in harness.anybody.get("/api/v1/events?from=2050-08-01&city=花巻").json()["items"]] == [
        "音楽会",
        "夜の音楽会",
    ]
    assert all(one["matches"] == [] for one in everything)
    assert harness.anybody.get("/api/v1/events?from=2050-08-01&q=野菜").json()["items"][0]["matches"]
    assert harness.anybody.get("/api/v1/events?from=2050-08-01&cursor=zzz").status_code == 422
