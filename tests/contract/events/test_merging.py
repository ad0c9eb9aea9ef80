"""Events are merged and parted again: nothing is lost, and taking a merge back restores what there was."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tadoru.errors import UsageError
from tadoru.model.event import EventStatus
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.dumping import MOVING, dump
from tests.contract.events.matching import FIRST, PlainMatcher, draft, many, series, utc
from tests.support.clock import FakeClock

WHOLE = ("events", "occurrences", "sightings", "blocks", "field_owners")


def two(collect: Collector) -> tuple[int, int]:
    """Two events that only a person would merge."""
    collect.run(collect.source("A"), [draft("星まつり", uid="a", price="500円")])
    collect.run(collect.source("B"), [draft("夏の夕べ", uid="b", organizer="星の会", venue="公民館")])
    return 1, 2


def test_a_merged_event_has_what_both_sides_say(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    one, other = two(collect)
    done = store.merges.merge(one, other, matcher, by="mika")
    assert (done.kept_id, done.absorbed_id, done.by) == (one, other, "mika")
    (only,) = store.events.list().items
    assert (only.event.id, only.event.title, only.event.price, only.event.organizer) == (one, "星まつり", "500円", "星の会")
    assert store.events.get(other).merged_into == one
    assert {said.draft.title for said in store.events.provenance(one).sightings if said.draft} == {"星まつり", "夏の夕べ"}


def test_taking_a_merge_back_restores_every_row(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher, clock: FakeClock
) -> None:
    one, other = two(collect)
    clock.advance(60)
    collect.run(store.sources.get(2), [draft("夏の夕べ", uid="b", organizer="星の会", venue="公民館")])
    store.edits.edit(other, {"category": "音楽"}, matcher, by="ren")
    before = dump(store.db, *WHOLE, without=MOVING)
    clock.advance(60)
    done = store.merges.merge(one, other, matcher, by="mika")
    assert store.events.get(one).category == "音楽"
    clock.advance(60)
    assert store.merges.undo(done.id, matcher, by="ren") == (one, other)
    assert dump(store.db, *WHOLE, without=MOVING) == before
    (told,) = store.merges.list(event_id=one)
    assert (told.undone_by, told.undone_at) == ("ren", store.db.now())


def test_undoing_in_the_reverse_order_restores_a_chain_of_merges(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    one, other = two(collect)
    collect.run(collect.source("C"), [series("体操教室")])
    before = dump(store.db, *WHOLE, without=MOVING)
    first = store.merges.merge(other, 3, matcher, by="mika")
    second = store.merges.merge(one, other, matcher, by="mika")
    assert store.events.get(one).times == 4
    with pytest.raises(UsageError, match=rf"Event {other} was merged into {one} later. Undo that merge first"):
        store.merges.undo(first.id, matcher, by="mika")
    store.merges.undo(second.id, matcher, by="mika")
    store.merges.undo(first.id, matcher, by="mika")
    assert dump(store.db, *WHOLE, without=MOVING) == before
    with pytest.raises(UsageError, match="is already undone"):
        store.merges.undo(first.id, matcher, by="mika")


def test_undoing_what_was_recognised_at_once_makes_an_event_of_its_own(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    collect.run(collect.source("A"), [draft(price="500円")])
    second = collect.source("B")
    collect.run(second, [draft(organizer="星の会")])
    (done,) = store.merges.list()
    kept, other = store.merges.undo(done.id, matcher, by="mika")
    assert (store.events.get(kept).organizer, store.events.get(other).organizer) == ("", "星の会")
    assert (store.events.get(kept).price, store.events.get(other).price) == ("500円", "")
    assert store.events.get(kept).uid != store.events.get(other).uid
    assert collect.run(second, [draft(organizer="星の会")]).unchanged == 1
    assert store.events.count() == 2


def test_what_was_parted_is_not_merged_again_when_a_row_changes(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    collect.run(collect.source("A"), [draft(uid="a")])
    second = collect.source("B")
    collect.run(second, [draft(uid="b")])
    store.merges.undo(store.merges.list()[0].id, matcher, by="mika")
    collect.run(second, [draft(uid="b", at=FIRST + timedelta(days=1))])
    applied = collect.run(second, [draft(uid="b")])
    assert (applied.updated, applied.absorbed, applied.review) == (1, 0, 0)
    assert store.events.count() == 2


def test_events_kept_apart_from_an_absorbed_one_are_apart_from_the_other_too(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    collect.run(collect.source("A"), [draft("夏の夕べ", uid="a")])
    collect.run(collect.source("B"), [draft(uid="b")])
    third = collect.source("C")
    collect.run(third, [draft(uid="c")])
    _, parted = store.merges.undo(store.merges.list()[0].id, matcher, by="mika")
    done = store.merges.merge(1, 2, matcher, by="mika")
    assert {"low_id": 1, "high_id": parted, "at": store.db.now(), "by": "mika"} in dump(store.db, "apart")["apart"]
    store.merges.undo(done.id, matcher, by="mika")
    assert [(row["low_id"], row["high_id"]) for row in dump(store.db, "apart")["apart"]] == [(1, 2), (2, parted)]


def test_what_a_person_has_hidden_stays_hidden_in_a_merge(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    one, other = two(collect)
    store.edits.hide(other, by="ren")
    done = store.merges.merge(one, other, matcher, by="mika")
    assert store.events.list().items == ()
    store.merges.undo(done.id, matcher, by="mika")
    assert (store.events.get(one).status, store.events.get(other).status) == (EventStatus.ACTIVE, EventStatus.HIDDEN)


def test_a_vanished_event_is_back_by_a_merge_and_vanished_again_without_it(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    first = collect.source("A")
    collect.run(first, [draft(uid="a"), *many(9)])
    collect.run(first, many(9), sweep=True)
    collect.run(collect.source("B"), [draft("夏の夕べ", uid="b")])
    ((gone,), new) = store.events.list(EventFilter(vanished=True)).items, store.events.list(EventFilter(q="夕べ")).items[0]
    done = store.merges.merge(gone.event.id, new.event.id, matcher, by="mika")
    assert store.events.get(gone.event.id).vanished_at is None
    store.merges.undo(done.id, matcher, by="mika")
    assert store.events.get(gone.event.id).vanished_at == gone.event.vanished_at
    assert store.events.get(new.event.id).vanished_at is None


def test_no_row_is_lost_to_merges_in_a_row(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    for name in "ABCD":
        collect.run(
            collect.source(name), [replace(one, title=f"{one.title}{name}", title_clean=one.title + name) for one in many(5)]
        )
    ids = [one.event.id for one in store.events.list(limit=100).items]
    for other in ids[1:]:
        store.merges.merge(ids[0], other, matcher, by="mika")
    assert store.events.count() == 1
    assert len(store.events.provenance(ids[0]).sightings) == 20 == store.statistics.totals().rows
    for done in store.merges.list():
        store.merges.undo(done.id, matcher, by="mika")
    assert sorted(one.event.id for one in store.events.list(limit=100).items) == sorted(ids)


def test_a_row_of_an_absorbed_event_goes_on_telling_the_other(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    one, other = two(collect)
    store.merges.merge(one, other, matcher, by="mika")
    collect.run(store.sources.get(2), [draft("夏の夕べ", uid="b", organizer="月の会", venue="公民館")])
    assert store.events.get(one).organizer == "月の会"


def test_merging_what_can_not_be_merged_is_said_in_a_sentence(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    one, other = two(collect)
    with pytest.raises(UsageError, match="cannot be merged with itself"):
        store.merges.merge(one, one, matcher, by="mika")
    with pytest.raises(UsageError, match="Event 77 not found"):
        store.merges.merge(one, 77, matcher, by="mika")
    store.merges.merge(one, other, matcher, by="mika")
    with pytest.raises(UsageError, match=rf"Event {other} was merged into {one}. Use that one"):
        store.merges.merge(one, other, matcher, by="mika")
    with pytest.raises(UsageError, match="Merge 9 not found"):
        store.merges.undo(9, matcher, by="mika")


def test_times_keep_their_zone_through_a_merge(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    one, other = two(collect)
    store.merges.merge(one, other, matcher, by="mika")
    event = store.events.get(one)
    assert (event.starts_at, event.timezone) == (utc(2023, 12, 1, 1, 0), "Asia/Tokyo")
    assert event.starts_at is not None
    assert event.starts_at.utcoffset() == timedelta(0)
