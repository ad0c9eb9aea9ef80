"""Questions for a person: asked once, answered in five ways, and closed by themselves when they are about nothing any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

import pytest

from tadoru.errors import UsageError
from tadoru.model.event import EventStatus, QuarantinedEvent, RawEvent, ReviewReason
from tadoru.store.calendar.drafts import raw_from_json, raw_to_json
from tadoru.store.calendar.records import MergedDraft, Sighting
from tadoru.store.calendar.review_items import ReviewRequest
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, TOKYO, PlainMatcher, bad, draft, many
from tests.support.clock import FakeClock


def doubtful(collect: Collector) -> int:
    """Two events whose titles begin alike: the id of the question."""
    collect.run(collect.source("A"), [draft("星まつり2023", uid="a")])
    collect.run(collect.source("B"), [draft("星まつり前夜祭", uid="b")])
    (asked,) = collect.store.reviews.list()
    return asked.id


def test_a_question_says_what_it_is_about(store: CalendarStore, collect: Collector, clock: FakeClock) -> None:
    review = store.reviews.get(doubtful(collect))
    assert (review.reason, review.candidate_ids) == (ReviewReason.DEDUPE_CONFLICT, (1, 2))
    assert (review.detail["score"], review.detail["reasons"], review.detail["verdict"]) == (0.6, ["titles begin alike"], "review")
    assert (review.created_at, review.resolved_at, review.source_id) == (store.db.now(), None, 2)


def test_merging_answers_it(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    number = doubtful(collect)
    assert store.reviews.merge(number, matcher, by="mika") == 1
    review = store.reviews.get(number)
    assert (review.resolution, review.by, review.resolved_at) == ("merge", "mika", store.db.now())
    (done,) = store.merges.list()
    assert (done.kept_id, done.absorbed_id, done.score, done.reasons) == (1, 2, 0.6, ("titles begin alike",))
    with pytest.raises(UsageError, match=r"is already resolved \(merge\)"):
        store.reviews.merge(number, matcher, by="mika")


def test_a_person_says_which_one_is_kept(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    number = doubtful(collect)
    with pytest.raises(UsageError, match="is not about event 9, but about 1, 2"):
        store.reviews.merge(number, matcher, by="mika", keep=9)
    assert store.reviews.merge(number, matcher, by="mika", keep=2) == 2
    assert store.events.get(1).merged_into == 2


def test_a_pair_that_is_kept_apart_is_not_asked_about_again(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    assert store.reviews.keep_apart(doubtful(collect), matcher, by="mika") == (1, 2)
    second = store.sources.get(2)
    for title in ("星まつり前夜祭", "星まつり前々夜祭", "星まつり2023"):
        applied = collect.run(second, [draft(title, uid="b")])
        assert (applied.review, applied.absorbed) == (0, 0)
    assert store.events.count() == 2


def test_that_events_are_different_can_be_taken_back(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    number = doubtful(collect)
    store.reviews.keep_apart(number, matcher, by="mika")
    assert store.reviews.reopen(number) == (1, 2)
    assert [one.id for one in store.reviews.list()] == [number]
    assert store.reviews.merge(number, matcher, by="mika") == 1
    with pytest.raises(UsageError, match="Only reviews that were kept separate or dismissed"):
        store.reviews.reopen(number)


def test_many_similar_events_are_connected_by_questions_and_not_asked_pair_by_pair(
    store: CalendarStore, collect: Collector
) -> None:
    for number in range(12):
        collect.run(collect.source(f"S{number}"), [draft(f"星まつり {number}", uid="a")])
    assert 11 <= len(store.reviews.list()) <= 15
    connected = {1}
    for _ in range(12):
        connected |= {each for one in store.reviews.list() if connected & set(one.candidate_ids) for each in one.candidate_ids}
    assert len(connected) == 12


def test_a_pair_that_is_merged_elsewhere_is_answered(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    number = doubtful(collect)
    store.merges.merge(2, 1, matcher, by="ren")
    assert (store.reviews.get(number).resolution, store.reviews.get(number).by) == ("merge", "ren")


def test_keeping_apart_what_was_merged_since_is_refused(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    doubtful(collect)
    store.reviews.request(ReviewRequest("mine:1", (1, 2), ReviewReason.DEDUPE_CONFLICT, None, {}))
    store.merges.merge(1, 2, matcher, by="ren")
    (own,) = store.reviews.list()
    with pytest.raises(UsageError, match=r"were merged in the meantime\. Undo that merge"):
        store.reviews.keep_apart(own.id, matcher, by="mika")


def test_an_answer_about_an_absorbed_event_holds_for_the_one_it_is_a_part_of(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    number = doubtful(collect)
    collect.run(collect.source("C"), [draft("夏の夕べ", uid="c")])
    store.merges.merge(3, 2, matcher, by="ren")
    assert store.reviews.keep_apart(number, matcher, by="mika") == (1, 3)


def test_dismissing_leaves_everything_and_is_remembered(store: CalendarStore, collect: Collector) -> None:
    number = doubtful(collect)
    store.reviews.dismiss(number, by="mika")
    assert store.reviews.get(number).resolution == "dismiss"
    collect.run(store.sources.get(2), [draft("星まつり前々夜祭", uid="b")])
    assert (store.reviews.list(), store.events.count()) == ((), 2)


def test_a_question_of_the_callers_own_is_asked_once(store: CalendarStore) -> None:
    question = ReviewRequest("parse:1:abc", (), ReviewReason.PARSE_ERROR, None, {"why": "It is no calendar."})
    assert store.reviews.request(question)
    assert not store.reviews.request(question)
    assert [one.reason for one in store.reviews.list(reason=ReviewReason.PARSE_ERROR)] == [ReviewReason.PARSE_ERROR]
    assert store.reviews.list(reason=ReviewReason.MISSING_REQUIRED) == ()


def test_reviews_are_listed_in_pages_oldest_first(store: CalendarStore) -> None:
    for number in range(5):
        store.reviews.request(ReviewRequest(f"mine:{number}", (), ReviewReason.PARSE_ERROR, None, {}))
    first = store.reviews.list(limit=2)
    assert [one.subject for one in first] == ["mine:0", "mine:1"]
    assert [one.subject for one in store.reviews.list(limit=2, after=first[-1].id)] == ["mine:2", "mine:3"]
    store.reviews.dismiss(first[0].id, by="mika")
    assert [one.subject for one in store.reviews.list(is_open=False)] == ["mine:0"]
    assert len(store.reviews.list(is_open=None)) == 5
    with pytest.raises(UsageError, match=r"Review 99 not found\. `tadoru events review list`"):
        store.reviews.get(99)


def test_a_row_that_lacks_something_is_fixed_by_hand(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    source = collect.source()
    collect.run(source, [], (bad(uid="x"),))
    (asked,) = store.reviews.list()
    fixed = draft("日時未定の会", uid="x")
    event_id = store.reviews.fix(asked.id, fixed, matcher, by="mika")
    assert (store.events.get(event_id).status, store.events.get(event_id).starts_at) == (EventStatus.ACTIVE, FIRST)
    collect.run(source, [], (bad(uid="x"),), sweep=True)
    assert (collect.titles(), store.reviews.list()) == (["日時未定の会"], ())


def test_what_the_person_added_stays_when_the_source_is_put_right(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher
) -> None:
    source = collect.source()
    collect.run(source, [], (bad(uid="x"),))
    event_id = store.reviews.fix(store.reviews.list()[0].id, draft("日時未定の会", uid="x", price="無料"), matcher, by="mika")
    owners = store.events.provenance(event_id).owners
    assert owners["price"].who == owners["occurrence"].who == "mika"
    assert "title" not in owners
    later = FIRST + timedelta(days=3)
    collect.run(source, [draft("日時未定の会", later, uid="x", price="500円", category="会合")])
    event = store.events.get(event_id)
    assert (event.starts_at, event.price) == (FIRST, "無料"), "the person said so"
    assert event.category == "会合", "the person did not speak of it"


def test_a_row_is_read_again_with_better_settings(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    source = collect.source()
    collect.run(source, [], (bad(uid="x"),))
    (asked,) = store.reviews.list()
    raw = store.reviews.raw(asked.id)
    assert raw == bad(uid="x").raw
    assert raw is not None
    still = QuarantinedEvent(raw=raw, reason=ReviewReason.MISSING_REQUIRED, why="It still has no date.")
    assert not store.reviews.retry(asked.id, still, matcher, by="mika")
    assert (store.reviews.get(asked.id).detail["why"], store.reviews.get(asked.id).resolved_at) == ("It still has no date.", None)
    assert store.reviews.retry(asked.id, draft("日時未定の会", uid="x"), matcher, by="mika")
    assert collect.titles() == ["日時未定の会"]
    assert collect.run(source, [draft("日時未定の会", uid="x")]).unchanged == 1


def test_fix_is_no_answer_to_a_doubtful_pair(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    with pytest.raises(UsageError, match="Resolve it with merge or keep-apart"):
        store.reviews.fix(doubtful(collect), draft(), matcher, by="mika")


def test_a_dismissed_row_is_asked_about_again_only_when_it_says_something_else(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [], (bad(uid="x"),))
    store.reviews.dismiss(store.reviews.list()[0].id, by="mika")
    assert collect.run(source, [], (bad(uid="x"),)).review == 0
    assert collect.run(source, [], (bad("別の会", uid="x"),)).review == 1
    assert store.statistics.totals().events["quarantine"] == 1


def test_a_row_that_was_gone_for_a_while_is_asked_about_again(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft()], (bad(),))
    collect.run(source, [draft()], sweep=True)
    assert store.reviews.list() == ()
    assert collect.run(source, [draft()], (bad(),)).review == 1
    (asked,) = store.reviews.list()
    assert store.events.get(asked.candidate_ids[0]).vanished_at is None


def test_a_row_that_was_broken_for_a_while_asks_nothing_when_it_is_whole_again(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    for price in ("", "500円"):
        collect.run(source, [draft(uid="x")])
        collect.run(source, [], (bad(f"日時未定{price}", uid="x"),))
        assert len(store.reviews.list()) == 1
        collect.run(source, [draft(uid="x", price=price)])
        assert store.reviews.list() == ()


def test_a_great_drop_closes_no_question(store: CalendarStore, collect: Collector) -> None:
    source = collect.source()
    collect.run(source, many(10), (bad(),))
    run = collect.start(source)
    store.results.apply(run, [], (), collect.matcher)
    assert store.results.mark_missing(run).is_drop
    assert len(store.reviews.list()) == 1


class Clash(NamedTuple):
    field: str
    kept: str
    other: str
    number: int

    @property
    def why(self) -> str:
        return f"They disagree about {self.field}."


class Strict(PlainMatcher):
    """Also says where the sides contradict the first."""

    def merge(self, said: list[Sighting]) -> MergedDraft:  # type: ignore[override]
        merged = super().merge(said)
        clashes = [
            Clash("price", merged.draft.price, one.draft.price, one.id)
            for one in said
            if one.draft is not None and one.draft.price and one.draft.price != merged.draft.price
        ]
        return replace(merged, conflicts=tuple(clashes))


def clash(collect: Collector) -> int:
    collect.matcher = Strict()
    collect.run(collect.source("A"), [draft(uid="a", price="500円")])
    assert collect.run(collect.source("B"), [draft(uid="b", price="800円")]).review == 1
    (asked,) = collect.store.reviews.list()
    return asked.id


def test_sources_that_contradict_each_other_are_a_question(store: CalendarStore, collect: Collector) -> None:
    review = store.reviews.get(clash(collect))
    assert (review.reason, review.candidate_ids, review.source_id) == (ReviewReason.DEDUPE_CONFLICT, (1,), 2)
    assert review.detail["reasons"] == ["They disagree about price."]
    assert store.events.get(1).price == "500円"
    assert collect.run(store.sources.get(2), [draft(uid="b", price="800円", organizer="星の会")]).review == 0


def test_it_is_closed_when_the_sources_agree(store: CalendarStore, collect: Collector) -> None:
    number = clash(collect)
    collect.run(store.sources.get(2), [draft(uid="b", price="500円")])
    assert store.reviews.get(number).resolution == "the sources say something else now"


def test_a_persons_word_leaves_nothing_to_contradict(store: CalendarStore, collect: Collector) -> None:
    number = clash(collect)
    store.edits.edit(1, {"price": "600円"}, collect.matcher, by="mika")
    assert (store.reviews.list(), store.events.get(1).price) == ((), "600円")
    assert store.reviews.get(number).resolved_at is not None


def test_the_row_that_contradicts_can_be_given_an_event_of_its_own(store: CalendarStore, collect: Collector) -> None:
    ids = store.reviews.keep_apart(clash(collect), collect.matcher, by="mika")
    assert [store.events.get(one).price for one in ids] == ["500円", "800円"]
    assert collect.run(store.sources.get(2), [draft(uid="b", price="800円")]).unchanged == 1
    with pytest.raises(UsageError, match="are already separate"):
        store.merges.undo(store.merges.list()[0].id, collect.matcher, by="mika")


def test_a_person_who_merges_has_seen_both_sides(store: CalendarStore, collect: Collector) -> None:
    collect.matcher = Strict()
    collect.run(collect.source("A"), [draft("星まつり2023", uid="a", price="500円")])
    collect.run(collect.source("B"), [draft("星まつり前夜祭", uid="b", price="800円")])
    store.reviews.merge(store.reviews.list()[0].id, collect.matcher, by="mika")
    assert store.reviews.list() == ()
    assert collect.run(store.sources.get(2), [draft("星まつり前夜祭", uid="b", price="800円", category="祭")]).review == 0


RAWS = [
    pytest.param(RawEvent(position="row 1"), id="nothing"),
    pytest.param(RawEvent(position="row 1", start=date(2023, 12, 1), end="12月2日", extra={"NO": "1"}), id="a day"),
    pytest.param(RawEvent(position="row 1", start=FIRST, end=FIRST.replace(tzinfo=None), latitude=39.7), id="times"),
    pytest.param(
        RawEvent(position="row 1", timezone="Asia/Tokyo", occurrences=(draft().occurrence,), is_cancelled=True), id="a series"
    ),
]


@pytest.mark.parametrize("raw", RAWS)
def test_what_a_source_said_is_kept_as_it_said_it(raw: RawEvent) -> None:
    assert raw_from_json(raw_to_json(raw)) == raw
    assert FIRST.tzinfo is TOKYO


def test_an_incomplete_item_is_neither_merged_nor_kept_apart(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source(), [], (bad(),))
    asked = store.reviews.list()[0].id
    with pytest.raises(UsageError, match="is about one incomplete item"):
        store.reviews.merge(asked, collect.matcher, "ann")
    with pytest.raises(UsageError, match="is about one incomplete item"):
        store.reviews.keep_apart(asked, collect.matcher, "ann")
    assert [one.id for one in store.reviews.list()] == [asked]
