"""The register of sources and its history."""

from __future__ import annotations

from typing import Any

import pytest

from tadoru.errors import UsageError
from tadoru.model.event import SourceType
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import draft
from tests.support.clock import FakeClock

GIVEN = {"name": "盛岡市", "type": "csv", "url": "https://example.org/e.csv"}


def test_a_source_keeps_every_field(store: CalendarStore) -> None:
    given: dict[str, Any] = {
        **GIVEN,
        "city": "盛岡",
        "frequency": "low",
        "enabled": False,
        "notes": "a note",
        "settings": {"mapping": {"title": "名称"}, "rows": [1, 2.5, None, True]},
        "timezone": "Asia/Tokyo",
        "priority": 3,
        "licence": "CC BY 4.0",
        "terms_url": "https://example.org/terms",
        "allow_private": True,
        "named_host": "127.0.0.1:8000",
        "low_hours": 72,
        "secret": "MORIOKA_KEY",
    }
    made = store.sources.add(given, by="mika")
    assert {name: getattr(made, name) for name in given} == given
    assert made.type is SourceType.CSV
    assert made.created_at == made.updated_at == store.db.now()
    assert store.sources.get(made.id) == made
    assert store.sources.list(enabled=True) == ()


@pytest.mark.parametrize(
    "given, said",
    [
        pytest.param({"name": "A", "type": "rss"}, "A source needs a url", id="no address"),
        pytest.param({**GIVEN, "name": " "}, "A source needs a name", id="a name of spaces"),
        pytest.param({**GIVEN, "type": "xls"}, "Unknown source type “xls”. Use rss, ics, api, html, csv", id="type"),
        pytest.param({**GIVEN, "frequency": "hourly"}, "Unknown frequency “hourly”. Use high, normal, low", id="frequency"),
        pytest.param({**GIVEN, "low_hours": 100}, "from 24 to 72", id="hours"),
        pytest.param({**GIVEN, "colour": "red"}, "Unknown field “colour”", id="an unknown field"),
        pytest.param({**GIVEN, "depends_on": 7}, "Source 7 not found", id="a source that is not there"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(store: CalendarStore, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        store.sources.add(given, by="mika")
    assert store.sources.list() == ()


def test_two_sources_may_not_have_one_name(store: CalendarStore) -> None:
    store.sources.add(GIVEN, by="mika")
    other = store.sources.add({**GIVEN, "name": "B"}, by="mika")
    for change in (
        lambda: store.sources.add(GIVEN, by="mika"),
        lambda: store.sources.edit(other.id, {"name": "盛岡市"}, by="mika"),
    ):
        with pytest.raises(UsageError, match="A source named “盛岡市” already exists"):
            change()


def test_every_change_is_remembered(store: CalendarStore, clock: FakeClock) -> None:
    made = store.sources.add(GIVEN, by="mika")
    clock.advance(10)
    changed = store.sources.edit(made.id, {"city": "盛岡", "settings": {"encoding": "cp932"}, "name": "盛岡市"}, by="ren")
    store.sources.disable(made.id, by="ren")
    store.sources.enable(made.id, by="ren")
    store.sources.enable(made.id, by="ren")
    store.sources.remove(made.id, by="mika")
    assert changed.updated_at > made.updated_at
    assert [(one.by, one.field, one.old, one.new) for one in store.sources.history(made.id)] == [
        ("mika", "source", None, "盛岡市"),
        ("ren", "city", "", "盛岡"),
        ("ren", "settings", {}, {"encoding": "cp932"}),
        ("ren", "enabled", True, False),
        ("ren", "enabled", False, True),
        ("mika", "source", "盛岡市", None),
    ]


def test_another_address_forgets_the_validators_of_the_old_one(store: CalendarStore) -> None:
    made = store.sources.add(GIVEN, by="mika")
    store.schedule.remember(made.id, etag=b'W/"\xff"', last_modified=b"Sun, 06 Nov 1994 08:49:37 GMT", body_hash="x")
    store.sources.edit(made.id, {"notes": "same place"}, by="mika")
    assert (store.schedule.state(made.id).etag, store.schedule.state(made.id).last_modified) == (
        b'W/"\xff"',
        b"Sun, 06 Nov 1994 08:49:37 GMT",
    )
    store.sources.edit(made.id, {"url": "https://example.org/new.csv"}, by="mika")
    state = store.schedule.state(made.id)
    assert (state.etag, state.last_modified, state.body_hash) == (None, None, "")


def test_a_source_can_not_wait_for_itself(store: CalendarStore) -> None:
    first = store.sources.add(GIVEN, by="mika")
    second = store.sources.add({**GIVEN, "name": "B", "depends_on": first.id}, by="mika")
    third = store.sources.add({**GIVEN, "name": "C", "depends_on": second.id}, by="mika")
    with pytest.raises(UsageError, match="would depend on itself"):
        store.sources.edit(first.id, {"depends_on": third.id}, by="mika")


def test_events_of_a_removed_source_stay(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft()])
    collect.store.runs.add_snapshot(source.id, source.url, "1/2023-11-14/a.ics", collect.store.db.now())
    assert collect.store.sources.remove(source.id, by="mika") == ("1/2023-11-14/a.ics",)
    (only,) = collect.store.events.list().items
    assert only.event.source_id is None
    (said,) = collect.store.events.provenance(only.event.id).sightings
    assert (said.source_id, said.draft) == (None, draft())


def test_a_source_that_is_not_there_is_said_in_a_sentence(store: CalendarStore) -> None:
    for ask in (store.sources.get, store.schedule.state, lambda one: store.sources.remove(one, by="mika")):
        with pytest.raises(UsageError, match=r"Source 5 not found\. `tadoru events sources list`"):
            ask(5)


def test_what_was_learnt_about_several_sources_is_read_at_once(store: CalendarStore) -> None:
    made = [store.sources.add({**GIVEN, "name": name, "url": f"https://{name}.example/"}, by="mika") for name in ("a", "b", "c")]
    store.schedule.remember(made[1].id, body_hash="x")
    states = store.schedule.states([made[0].id, made[1].id, 999])
    assert states == {one.id: store.schedule.state(one.id) for one in made[:2]}
    assert store.schedule.states([]) == {}
