"""What becomes of several descriptions of one event."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.dedupe import FieldConflict, MergeInput, MergeResult, merge_fields
from tadoru.jobs.events.dedupe.field_merge import FIELD_GROUPS
from tadoru.model.event import EventDraft
from tests.jobs.events.dedupe.event_drafts import at, draft
from tests.jobs.events.dedupe.event_strategies import events


def together(*drafts: EventDraft, trust: tuple[int, ...] = ()) -> MergeResult:
    """Sides 1, 2, …; the first is the most trusted."""
    return merge_fields([MergeInput(each, number, trust[number - 1] if trust else 0) for number, each in enumerate(drafts, 1)])


def conflicts(found: MergeResult) -> dict[str, tuple[str, str]]:
    return {each.field: (each.kept, each.other) for each in found.conflicts}


def test_the_most_trusted_side_is_believed_and_the_others_fill_its_gaps() -> None:
    found = together(draft("春の星空観察会", organizer=""), draft("春の星空観祭会", organizer="天文同好会", price="500円"))
    assert (found.draft.title, found.draft.organizer, found.draft.price) == ("春の星空観察会", "天文同好会", "500円")
    assert (found.owners["title"], found.owners["organizer"], found.owners["price"]) == (1, 2, 2)
    assert found.conflicts == ()


def test_what_nobody_says_belongs_to_nobody() -> None:
    found = together(draft(), draft())
    assert "price" not in found.owners
    assert "is_cancelled" not in found.owners
    assert found.owners["title"] == 1


def test_three_sides_fill_each_other() -> None:
    found = together(draft(), draft(price="無料"), draft(price="500円", image="https://a.example/1.png"))
    assert (found.owners["price"], found.owners["image"]) == (2, 3)
    assert conflicts(found) == {"price": ("無料", "500円")}
    assert found.conflicts[0].number == 3


def test_a_time_is_taken_from_the_side_that_knows_it() -> None:
    found = together(
        draft(when="2026-08-01"), draft(when="2026-08-01T10:00"), draft(when=at("2026-08-01T10:00", end="2026-08-01T12:00"))
    )
    assert found.draft.occurrence == at("2026-08-01T10:00", end="2026-08-01T12:00")
    assert found.owners["occurrence"] == found.owners["timezone"] == 3
    assert found.conflicts == ()


def test_a_more_precise_time_does_not_beat_a_trusted_one_that_it_contradicts() -> None:
    found = together(draft(when="2026-08-01T10:00"), draft(when=at("2026-08-01T13:00", end="2026-08-01T15:00")))
    assert found.draft.occurrence == at("2026-08-01T10:00")
    assert conflicts(found) == {"starts_at": ("2026-08-01T10:00:00+09:00", "2026-08-01T13:00:00+09:00")}


def test_a_single_date_and_the_series_it_belongs_to_make_the_series() -> None:
    dates = tuple(at(f"2026-08-{day:02}T10:00") for day in (1, 8, 15))
    found = together(draft(when=dates[1]), draft(when=dates[0], occurrences=dates, recurrence="FREQ=WEEKLY"))
    assert (found.draft.occurrences, found.draft.recurrence) == (dates, "FREQ=WEEKLY")
    assert found.conflicts == ()


def test_another_day_is_a_contradiction() -> None:
    found = together(draft(when="2026-08-01"), draft(when="2026-08-02T10:00"))
    assert found.draft.occurrence == at("2026-08-01")
    assert conflicts(found) == {"starts_at": ("2026-08-01", "2026-08-02T10:00:00+09:00")}


@pytest.mark.parametrize(
    "name, one, other",
    [
        pytest.param("price", "500円", "1,000円", id="price"),
        pytest.param("city", "みどり市", "あおば市", id="city"),
        pytest.param("venue", "みどり市民会館", "南公民館", id="venue"),
        pytest.param("venue", "みどり市民会館 第1会議室", "みどり市民会館 第2会議室", id="room"),
    ],
)
def test_a_contradiction_is_reported_and_the_trusted_side_believed(name: str, one: str, other: str) -> None:
    first, second = draft(**{name: one}), draft(**{name: other})
    found = together(first, second)
    assert getattr(found.draft, name) == one
    assert conflicts(found) == {name: (one, other)}
    assert conflicts(together(second, first)) == {name: (other, one)}


@pytest.mark.parametrize(
    "name, one, other",
    [
        pytest.param("price", "無料", "0円", id="free"),
        pytest.param("price", "１，０００円", "1000円", id="width"),
        pytest.param("city", "東京都府中市", "府中", id="prefecture"),
        pytest.param("venue", "みどり市民会館", "市民会館", id="alias"),
    ],
)
def test_two_ways_to_write_one_fact_are_no_contradiction(name: str, one: str, other: str) -> None:
    assert together(draft(**{name: one}), draft(**{name: other})).conflicts == ()


def test_different_ends_and_places_on_the_map_are_reported() -> None:
    one = draft(when=at("2026-08-01T10:00", end="2026-08-01T12:00"), latitude=35.0, longitude=139.0)
    other = draft(when=at("2026-08-01T10:00", end="2026-08-01T13:00"), latitude=35.5, longitude=139.0)
    found = together(one, other)
    assert set(conflicts(found)) == {"ends_at", "coordinates"}
    assert (found.draft.latitude, found.draft.longitude) == (35.0, 139.0)


def test_a_cancellation_is_believed_whoever_says_it_and_reported() -> None:
    for sides in ((draft(), draft(is_cancelled=True)), (draft(is_cancelled=True), draft())):
        found = together(*sides)
        assert found.draft.is_cancelled
        assert conflicts(found) == {"is_cancelled": ("cancelled", "not cancelled")}


def test_a_room_is_added_to_the_hall_and_a_page_about_the_event_beats_the_front_page() -> None:
    one = draft(venue="みどり市民会館", url="https://city.example/")
    other = draft(venue="みどり市民会館 大ホール", url="https://city.example/event/20260801-hoshi.html")
    found = together(one, other)
    assert (found.draft.venue, found.draft.url) == (other.venue, other.url)
    assert found.conflicts == ()


def test_a_room_elsewhere_is_not() -> None:
    found = together(draft(venue="みどり市民会館"), draft(venue="南公民館 第1会議室"))
    assert found.draft.venue == "みどり市民会館"


def test_of_equals_the_longer_description_is_taken_and_of_unequals_the_trusted_one() -> None:
    short, long = draft(description="短い。"), draft(description="もっと詳しい説明です。")
    assert together(short, long).owners["description"] == 2
    assert together(short, long, trust=(5, 0)).owners["description"] == 1
    assert together(draft(), long, trust=(5, 0)).owners["description"] == 2


def test_extra_is_put_together_name_by_name() -> None:
    found = together(draft(extra={"定員": "20名"}), draft(extra={"定員": "30名", "持ち物": "双眼鏡"}))
    assert dict(found.draft.extra) == {"定員": "20名", "持ち物": "双眼鏡"}


def test_a_conflict_says_what_is_shown_in_a_sentence() -> None:
    conflict = FieldConflict("price", "500円", "無料", 2)
    assert conflict.why == "Price differs: “500円” is shown, another source has “無料”"


def _says(value: Any) -> bool:
    return value not in (None, "", (), {}, False)


@given(st.lists(events(), min_size=1, max_size=4))
def test_no_field_that_any_side_has_is_lost(sides: list[EventDraft]) -> None:
    found = together(*sides)
    whole = set(FIELD_GROUPS["when"]) | {"uid", "position"}
    for name in (each.name for each in fields(EventDraft) if each.name not in whole):
        assert _says(getattr(found.draft, name)) == any(_says(getattr(side, name)) for side in sides), name
    for name, number in found.owners.items():
        if name != "extra":
            assert getattr(found.draft, name) == getattr(sides[number - 1], name)


@given(events(), st.integers(1, 4))
def test_an_event_merged_with_itself_is_itself_and_contradicts_nothing(event: EventDraft, times: int) -> None:
    found = together(*[replace(event)] * times)
    assert found.draft == event
    assert found.conflicts == ()


@given(st.lists(events(), min_size=2, max_size=4))
def test_a_fact_that_is_not_shown_is_reported(sides: list[EventDraft]) -> None:
    found = together(*sides)
    reported = {each.field for each in found.conflicts}
    for side in sides:
        if side.occurrence.has_time and found.draft.occurrence.has_time and not side.occurrences and not found.draft.occurrences:
            assert side.occurrence.starts_at == found.draft.occurrence.starts_at or "starts_at" in reported
        if side.is_cancelled != found.draft.is_cancelled:
            assert "is_cancelled" in reported
