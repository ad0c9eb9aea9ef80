"""What a person does by hand: their fields are theirs, whatever the sources say later."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tadoru.errors import UsageError
from tadoru.model.event import EventStatus, Occurrence
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, PlainMatcher, bad, draft, series
from tests.support.clock import FakeClock


def test_an_event_of_a_persons_own_is_listed_and_theirs(store: CalendarStore, matcher: PlainMatcher) -> None:
    made = store.edits.create(draft(price="無料"), matcher, by="mika")
    assert (made.status, made.source_id, made.sequence) == (EventStatus.ACTIVE, None, 0)
    (only,) = store.events.list(EventFilter(city="盛岡")).items
    assert only.event == made
    owners = store.events.provenance(made.id).owners
    assert {owners[name].who for name in ("title", "price", "occurrence", "city")} == {"mika"}


def test_a_source_that_finds_a_persons_event_changes_none_of_its_fields(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    made = store.edits.create(draft(price="無料"), matcher, by="mika")
    collect.run(collect.source(), [draft(price="500円", organizer="星の会")])
    event = store.events.get(made.id)
    assert store.events.count() == 1
    assert (event.price, event.organizer) == ("無料", "星の会")


@pytest.mark.parametrize(
    "field, mine, theirs",
    [
        pytest.param("title", "星祭り", "星まつり!", id="title"),
        pytest.param("description", "", "あやしい説明", id="emptied"),
        pytest.param("city", "花巻", "北上", id="city"),
        pytest.param("latitude", None, 39.7, id="taken off the map"),
        pytest.param("is_cancelled", True, False, id="cancelled"),
    ],
)
def test_an_edited_field_is_never_written_over(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher, field: str, mine: object, theirs: object
) -> None:
    source = collect.source()
    collect.run(source, [draft(uid="1")])
    edited = store.edits.edit(1, {field: mine}, matcher, by="mika")
    collect.run(source, [draft(**{"uid": "1", "price": "1円", field: theirs})])  # type: ignore[arg-type]
    after = store.events.get(1)
    column = {"latitude": "lat", "is_cancelled": "cancelled_at"}.get(field, field)
    assert getattr(after, column) == getattr(edited, column)
    assert after.price == "1円", "the rest is the source's"
    assert store.events.provenance(1).owners[field].owner == "person"


def test_a_moved_event_stays_where_the_person_put_it(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    source = collect.source()
    collect.run(source, [series(uid="s")])
    later = FIRST + timedelta(days=40)
    moved = store.edits.edit(1, {"occurrence": Occurrence(starts_at=later)}, matcher, by="mika")
    assert (moved.starts_at, moved.times) == (later, 1)
    collect.run(source, [series(uid="s", weeks=6)])
    assert [one.starts_at for one in store.events.times(1)] == [later]
    assert [one.event.id for one in store.events.list(EventFilter(since=later.date(), until=later.date())).items] == [1]


def test_a_field_that_is_given_back_is_the_sources_again(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    source = collect.source()
    collect.run(source, [draft(uid="1")])
    store.edits.edit(1, {"title": "星祭り"}, matcher, by="mika")
    back = store.edits.release_fields(1, frozenset({"title"}), matcher, by="mika")
    assert (back.title, back.title_clean) == ("星まつり", "星まつり")
    assert store.events.provenance(1).owners == {}


def test_every_edit_is_in_the_history_and_raises_the_sequence(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher, clock: FakeClock
) -> None:
    collect.run(collect.source(), [draft(uid="1")])
    clock.advance(10)
    edited = store.edits.edit(1, {"price": "無料"}, matcher, by="mika")
    assert (edited.sequence, edited.updated_at) == (1, store.db.now())
    assert store.edits.edit(1, {"price": "無料"}, matcher, by="mika").sequence == 1
    (change,) = store.events.provenance(1).history
    assert (change["by"], change["at"], change["changes"]) == ("mika", store.db.now(), {"price": ["", "無料"]})


def test_a_hidden_event_is_not_listed_and_stays_hidden(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft(uid="1")])
    assert store.edits.hide(1, by="mika").status is EventStatus.HIDDEN
    collect.run(source, [draft(uid="1", price="500円")])
    assert store.events.list().items == ()
    assert [one.event.price for one in store.events.list(EventFilter(statuses=(EventStatus.HIDDEN,))).items] == ["500円"]
    assert store.edits.unhide(1, by="mika").status is EventStatus.ACTIVE
    assert store.events.list().items[0].event.sequence == 3


def test_edits_that_make_no_sense_are_said_in_a_sentence(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    collect.run(collect.source(), [draft()], (bad(),))
    with pytest.raises(UsageError, match=r"The field “colour” of an event cannot be edited\. Choose from"):
        store.edits.edit(1, {"colour": "red"}, matcher, by="mika")
    with pytest.raises(UsageError, match="Title missing"):
        store.edits.edit(1, {"title": " "}, matcher, by="mika")
    with pytest.raises(UsageError, match=r"is in quarantine\. Complete it with"):
        store.edits.edit(2, {"title": "会"}, matcher, by="mika")
    with pytest.raises(UsageError, match=r"is in quarantine\. Resolve its review first"):
        store.edits.hide(2, by="mika")
    with pytest.raises(UsageError, match="Event 9 not found"):
        store.edits.edit(9, {"title": "会"}, matcher, by="mika")
