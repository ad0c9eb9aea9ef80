"""The matcher in the database's hands: what two sources say about one event, from the row to the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.jobs.events.dedupe import EventMatcher
from tadoru.jobs.events.dedupe.matcher import RunMatcher
from tadoru.model.event import EventDraft, ReviewReason
from tadoru.store.calendar.records import ApplyResult, Matcher
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.jobs.events.dedupe.event_drafts import at, draft
from tests.support.clock import FakeClock

JUDGE: Matcher = EventMatcher()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CalendarStore]:
    opened = open_calendar(str(tmp_path / "events.db"), FakeClock())
    yield opened
    opened.close()


def collect(store: CalendarStore, name: str, *drafts: EventDraft, priority: int = 0) -> ApplyResult:
    """One run of a source of this name."""
    known = {source.name: source for source in store.sources.list()}
    values = {"name": name, "type": "csv", "url": f"https://{name}.example/events.csv", "priority": priority}
    source = known.get(name) or store.sources.add(values, by="test")
    return store.results.apply(store.runs.start(source.id), drafts, (), JUDGE)


def test_two_sources_make_one_event_and_each_field_knows_its_source(store: CalendarStore) -> None:
    collect(store, "blog", draft("【無料】春の星空観察察会", "2026-08-01", venue="市民会館", price="無料"))
    applied = collect(store, "city", draft("春の星空観察会", at("2026-08-01T19:00", end="2026-08-01T21:00")), priority=5)
    assert (applied.merged, applied.inserted, applied.review) == (1, 0, 0)
    (line,) = store.events.list().items
    assert (line.event.title, line.event.venue, line.event.price) == ("春の星空観察会", "みどり市民会館", "無料")
    assert line.event.has_time
    owners = {name: owner.source_id for name, owner in store.events.provenance(line.event.id).owners.items()}
    blog, city = (next(source.id for source in store.sources.list() if source.name == name) for name in ("blog", "city"))
    assert (owners["title"], owners["occurrence"], owners["price"]) == (city, city, blog)


def test_two_courses_that_look_alike_stay_two(store: CalendarStore) -> None:
    collect(store, "city", draft("体操教室(初級)"), draft("体操教室(中級)"), draft("体操教室(初級)", "2026-08-01T13:00"))
    applied = collect(store, "blog", draft("体操教室(中級)"))
    assert applied.merged == 1
    assert sorted(line.event.title for line in store.events.list().items) == [
        "体操教室(中級)",
        "体操教室(初級)",
        "体操教室(初級)",
    ]
    assert store.reviews.list() == ()


def test_a_doubtful_pair_goes_to_a_person_with_the_reasons(store: CalendarStore) -> None:
    collect(store, "city", draft(when="2026-08-01T10:00"))
    applied = collect(store, "blog", draft(when="2026-08-01T10:30"))
    assert (applied.inserted, applied.review) == (1, 1)
    (review,) = store.reviews.list(reason=ReviewReason.DEDUPE_CONFLICT)
    assert "Start times differ: 10:30 and 10:00" in [reason["why"] for reason in review.detail["reasons"]]
    store.reviews.merge(review.id, JUDGE, "ada")
    (line,) = store.events.list().items
    assert line.event.starts_at == at("2026-08-01T10:00").starts_at


def test_what_merged_sources_disagree_about_is_asked(store: CalendarStore) -> None:
    collect(store, "city", draft(price="500円"), priority=5)
    collect(store, "blog", draft(price="1,000円"))
    (line,) = store.events.list().items
    assert line.event.price == "500円"
    (review,) = store.reviews.list(reason=ReviewReason.DEDUPE_CONFLICT)
    assert review.detail["reasons"] == ["Price differs: “500円” is shown, another source has “1,000円”"]


def test_rows_numbered_anew_find_their_events(store: CalendarStore) -> None:
    first = [draft(title, uid=str(number)) for number, title in enumerate(("星の会", "月の夕べ", "陶芸の集い"), 1)]
    collect(store, "city", *first)
    before = {line.event.title: line.event.id for line in store.events.list().items}
    again = [draft(title, uid=str(number)) for number, title in enumerate(("朝の市", "星の会", "月の夕べ", "陶芸の集い"), 1)]
    collect(store, "city", *again)
    after = {line.event.title: line.event.id for line in store.events.list().items}
    assert {title: after.get(title) for title in before} == before
    assert len(after) == 4


def test_a_merge_can_be_undone(store: CalendarStore) -> None:
    collect(store, "city", draft())
    collect(store, "blog", draft("春の星空観察察会"))
    (line,) = store.events.list().items
    (merge,) = store.merges.list(event_id=line.event.id)
    assert merge.score is not None
    assert merge.score >= 0.85
    store.merges.undo(merge.id, JUDGE, "ada")
    assert sorted(line.event.title for line in store.events.list().items) == ["春の星空観察会", "春の星空観察察会"]


def test_a_run_that_compared_too_many_pairs_still_merges_events_of_the_same_title(store: CalendarStore) -> None:
    collect(store, "city", *(draft(f"星空観察会{number}", uid=str(number)) for number in range(30)))
    matcher = RunMatcher(pairs=10)
    new = [draft(f"星空観察会{number}", uid=f"blog {number}") for number in (3, 28, 29)]
    source = store.sources.add({"name": "blog", "type": "csv", "url": "https://blog.example/events.csv"}, by="test")
    applied = store.results.apply(store.runs.start(source.id), new, (), matcher)
    assert matcher.has_reached_limit
    assert (applied.merged, applied.inserted) == (3, 0)


def test_a_run_within_the_limit_compares_as_ever() -> None:
    matcher = RunMatcher()
    pair = draft("【無料】春の星空観察察会"), draft("春の星空観察会")
    assert matcher.compare(*pair, same_source=False) == EventMatcher().compare(*pair, same_source=False)
    assert not matcher.has_reached_limit


def test_two_calendars_that_pass_on_one_entry_make_one_event(store: CalendarStore) -> None:
    uid = "20260801-7c1e2a44@calendar.example"
    collect(store, "hall", draft("みどり市民クラシックコンサート", uid=uid))
    applied = collect(store, "fans", draft("みどりクラシックコンサートの日", city="", venue="", uid=uid))
    assert (applied.merged, applied.inserted) == (1, 0)
    applied = collect(store, "old list", draft("みどり市民クラシックコンサート", "2026-07-25T10:00", city="", venue="", uid=uid))
    assert (applied.merged, applied.inserted, applied.review) == (0, 1, 1)
