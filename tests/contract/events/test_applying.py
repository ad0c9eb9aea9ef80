"""What a run found is stored: known rows are updated, new ones compared, none lost and none doubled."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event as hook

from tadoru.model.event import EventDraft, EventStatus, ReviewReason, RunStatus
from tadoru.store.calendar.apply_chunk import MAX_ROWS_OF_EVENT
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.merge_candidates import LARGE_BLOCK, LIMITED_COMPARISONS
from tadoru.store.calendar.runs import RunClosed
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector, OpenEvents
from tests.contract.events.matching import FIRST, PlainMatcher, Result, bad, draft, many, series, whole_days
from tests.support.clock import FakeClock


def test_new_rows_become_events(collect: Collector) -> None:
    applied = collect.run(collect.source(), [draft(), draft("朝市")])
    assert (applied.inserted, applied.upserted, applied.merged, applied.review) == (2, 2, 0, 0)
    first, second = collect.store.events.list().items
    assert {first.event.title, second.event.title} == {"星まつり", "朝市"}
    assert first.event.starts_at == FIRST
    assert (first.event.city, first.event.timezone, first.event.sequence) == ("盛岡", "Asia/Tokyo", 0)
    assert first.event.source_url == "https://example.org/City"


def test_the_same_rows_again_change_nothing(collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    collect.run(source, many(5))
    before = [one.event for one in collect.store.events.list().items]
    clock.advance(60)
    applied = collect.run(source, many(5))
    after = [one.event for one in collect.store.events.list().items]
    assert (applied.unchanged, applied.inserted, applied.updated) == (5, 0, 0)
    assert [replace(one, last_seen=before[0].last_seen) for one in after] == before
    assert {one.last_seen for one in after} == {before[0].last_seen + timedelta(seconds=60)}


def test_a_row_with_the_name_of_a_known_one_updates_its_event(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft(uid="1")])
    applied = collect.run(source, [draft(uid="1", at=FIRST + timedelta(days=2), price="500円")])
    (only,) = collect.store.events.list().items
    assert (applied.updated, applied.inserted) == (1, 0)
    assert (only.event.price, only.event.sequence) == ("500円", 1)
    assert only.event.starts_at == FIRST + timedelta(days=2)
    assert only.time is not None
    assert only.time.local_date == (FIRST + timedelta(days=2)).date()
    (change,) = collect.store.events.provenance(only.event.id).history
    assert change["changes"]["price"] == ["", "500円"]


def test_rows_without_a_name_are_known_by_what_they_say(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft()])
    applied = collect.run(source, [draft(description="入場無料")])
    assert (applied.updated, applied.inserted) == (1, 0)
    assert [one.event.description for one in collect.store.events.list().items] == ["入場無料"]


@pytest.mark.parametrize(
    "before, after",
    [
        (draft(), draft(at=FIRST + timedelta(hours=2))),
        (draft(), draft(venue="公民館")),
        (draft(), draft(at=FIRST + timedelta(hours=2), venue="公民館")),
        (draft(url="https://city.test/e/1"), draft(at=FIRST + timedelta(days=3), url="https://city.test/e/1")),
        (
            draft(url="https://city.test/e/1"),
            draft("星まつり 時間変更", at=FIRST + timedelta(days=3), url="https://city.test/e/1"),
        ),
    ],
    ids=["time", "venue", "time and venue", "date", "date and title"],
)
def test_a_row_without_a_name_that_the_source_corrected_is_an_update(
    collect: Collector, matcher: PlainMatcher, before: EventDraft, after: EventDraft
) -> None:
    source, other = collect.source(), draft("朝市", at=FIRST + timedelta(days=1))
    collect.run(source, [before, other])
    known = next(one.event for one in collect.store.events.list().items if one.event.title == "星まつり")
    applied = collect.run(source, [after, other])
    events = [one.event for one in collect.store.events.list().items if one.event.title.startswith("星まつり")]
    assert (applied.updated, applied.inserted) == (1, 0)
    assert [(one.id, one.uid, one.starts_at, one.venue, one.vanished_at) for one in events] == [
        (known.id, known.uid, after.occurrence.starts_at, after.venue, None)
    ]


def test_sessions_that_are_all_moved_are_updated_in_their_order(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft(), draft(at=FIRST + timedelta(hours=4))])
    before = {one.event.id: one.event.starts_at for one in collect.store.events.list().items}
    collect.run(source, [draft(at=FIRST + timedelta(hours=1)), draft(at=FIRST + timedelta(hours=5))])
    after = {one.event.id: one.event.starts_at for one in collect.store.events.list().items}
    assert after == {key: start + timedelta(hours=1) for key, start in before.items() if start is not None}


def test_rows_of_two_halls_whose_times_change_stay_in_their_halls(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft(venue="北館"), draft(venue="南館", at=FIRST + timedelta(hours=3))])
    before = {one.event.id: one.event.venue for one in collect.store.events.list().items}
    collect.run(source, [draft(venue="北館", at=FIRST + timedelta(hours=4)), draft(venue="南館", at=FIRST + timedelta(hours=1))])
    assert {one.event.id: one.event.venue for one in collect.store.events.list().items} == before


@pytest.mark.parametrize(
    "before, after",
    [
        ([draft()], [draft(at=FIRST + timedelta(days=3))]),
        ([draft()], [draft(), draft(at=FIRST + timedelta(hours=2))]),
        ([draft(url="https://city.test/e/")], [draft("朝市", at=FIRST + timedelta(days=9), url="https://city.test/e/")]),
        ([draft(at=FIRST - timedelta(days=400))], [draft(at=FIRST - timedelta(days=400, hours=2))]),
        ([draft(), draft(venue="北館")], [draft(), draft(venue="南館", at=FIRST + timedelta(hours=2))]),
    ],
    ids=["another day", "one more", "a page about another event", "an event that is over", "another hall beside one that stays"],
)
def test_a_row_that_is_not_certainly_a_correction_is_another_event(
    collect: Collector, before: list[EventDraft], after: list[EventDraft]
) -> None:
    source = collect.source()
    collect.run(source, before)
    assert collect.run(source, after).inserted == 1


def test_one_source_with_another_start_time_has_two_events(collect: Collector) -> None:
    applied = collect.run(collect.source(), [draft(), draft(at=FIRST + timedelta(hours=3))])
    assert (applied.inserted, applied.review) == (2, 0)


def test_two_sources_of_one_event_make_one(collect: Collector) -> None:
    collect.run(collect.source("A"), [draft(price="500円")])
    applied = collect.run(collect.source("B"), [draft(organizer="星の会")])
    (only,) = collect.store.events.list().items
    assert (applied.merged, applied.inserted, applied.upserted) == (1, 0, 1)
    assert (only.event.price, only.event.organizer) == ("500円", "星の会")
    story = collect.store.events.provenance(only.event.id)
    assert {one.source_id for one in story.sightings} == {1, 2}
    assert (story.owners["price"].source_id, story.owners["organizer"].source_id) == (1, 2)
    assert [(one.score, one.absorbed_id) for one in story.merges] == [(1.0, None)]


def test_two_sources_with_other_times_are_a_question(collect: Collector) -> None:
    collect.run(collect.source("A"), [draft()])
    applied = collect.run(collect.source("B"), [draft(at=FIRST + timedelta(hours=1))])
    assert (applied.inserted, applied.review) == (1, 1)
    (asked,) = collect.store.reviews.list()
    assert (asked.reason, len(asked.candidate_ids)) == (ReviewReason.DEDUPE_CONFLICT, 2)
    assert asked.detail["reasons"] == ["times differ"]
    assert collect.run(collect.store.sources.get(2), [draft(at=FIRST + timedelta(hours=1))]).review == 0


def test_rows_that_say_the_same_are_one_row(collect: Collector) -> None:
    source = collect.source()
    applied = collect.run(source, [draft(), draft(), draft(description="詳しく")])
    assert (applied.inserted, applied.merged, applied.upserted) == (1, 2, 3)
    (only,) = collect.store.events.list().items
    assert len(collect.store.events.provenance(only.event.id).sightings) == 2
    assert collect.run(source, [draft(), draft(), draft(description="詳しく")]).inserted == 0
    assert len(collect.store.events.provenance(only.event.id).sightings) == 2


def test_names_that_change_with_every_export_make_no_new_events(collect: Collector) -> None:
    source = collect.source()
    for turn in range(3):
        drafts = [replace(one, uid=f"{turn}-{one.uid}") for one in many(10)]
        collect.run(source, drafts, sweep=True)
    found = collect.store.events.list(limit=100).items
    assert len(found) == 10
    assert all(one.event.vanished_at is None for one in found)
    assert collect.store.statistics.totals().rows == 10
    assert collect.store.merges.list() == ()


def test_a_name_used_for_two_rows_names_neither(collect: Collector) -> None:
    source = collect.source()
    rows = [draft(uid="0"), draft("朝市", uid="0")]
    collect.run(source, rows)
    applied = collect.run(source, rows[::-1])
    assert applied.unchanged == 2
    assert sorted(collect.titles()) == sorted(["星まつり", "朝市"])


def test_a_row_that_became_like_another_event_is_merged_with_it(collect: Collector) -> None:
    collect.run(collect.source("A"), [draft(uid="a")])
    second = collect.source("B")
    collect.run(second, [draft(uid="b", at=FIRST + timedelta(days=1))])
    collect.run(second, [draft(uid="b")])
    (only,) = collect.store.events.list().items
    assert [one.absorbed_id for one in collect.store.merges.list(event_id=only.event.id)] == [2]
    assert collect.store.events.get(2).merged_into == only.event.id == 1


def test_a_row_that_no_longer_fits_its_event_is_a_question(collect: Collector, matcher: PlainMatcher) -> None:
    collect.run(collect.source("A"), [draft(uid="a")])
    second = collect.source("B")
    collect.run(second, [draft(uid="b")])
    applied = collect.run(second, [draft(uid="b", at=FIRST + timedelta(hours=2))])
    assert applied.review == 1
    (asked,) = collect.store.reviews.list()
    ids = collect.store.reviews.keep_apart(asked.id, matcher, by="mika")
    assert [collect.store.events.get(one).starts_at for one in ids] == [FIRST, FIRST + timedelta(hours=2)]
    assert collect.run(second, [draft(uid="b", at=FIRST + timedelta(hours=2))]).unchanged == 1


def test_a_series_is_one_event_with_its_times(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [series(weeks=4)])
    (only,) = collect.store.events.list().items
    assert only.event.times == 4
    assert [one.starts_at for one in collect.store.events.times(only.event.id)] == [FIRST + timedelta(weeks=n) for n in range(4)]


def test_a_series_that_moves_on_is_no_change_and_one_that_skips_a_date_is(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [series(weeks=4, uid="s")])
    later = series(since=FIRST + timedelta(weeks=1), weeks=4, uid="s")
    collect.run(source, [later])
    (only,) = collect.store.events.list().items
    assert (only.event.sequence, only.event.starts_at) == (0, FIRST + timedelta(weeks=1))
    collect.run(source, [replace(later, occurrences=(later.occurrences[0], *later.occurrences[2:]))])
    (only,) = collect.store.events.list().items
    assert (only.event.sequence, only.event.times) == (1, 3)


def test_rows_that_lack_something_are_kept_and_asked_about(collect: Collector) -> None:
    source = collect.source()
    applied = collect.run(source, [draft()], (bad(), bad("場所も未定", uid="x")))
    assert (applied.quarantined, applied.review, applied.upserted) == (2, 2, 1)
    assert collect.titles() == ["星まつり"]
    assert collect.store.statistics.totals().events == {"active": 1, "hidden": 0, "quarantine": 2}
    first, _ = collect.store.reviews.list(reason=ReviewReason.MISSING_REQUIRED)
    assert first.detail["why"] == "It has no date."
    assert collect.store.events.get(first.candidate_ids[0]).status is EventStatus.QUARANTINE
    assert collect.run(source, [draft()], (bad(), bad("場所も未定", uid="x"))).review == 0


def test_a_row_that_the_source_put_right_leaves_quarantine(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [], (bad(uid="x"),))
    collect.run(source, [draft("日時未定の会", uid="x")])
    assert collect.titles() == ["日時未定の会"]
    assert collect.store.reviews.list() == ()
    assert collect.store.statistics.totals().events["quarantine"] == 0


def test_an_event_whose_row_is_broken_now_stays_and_is_asked_about(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft(uid="x")])
    collect.run(source, [], (bad(uid="x"),), sweep=True)
    (only,) = collect.store.events.list().items
    assert (only.event.title, only.event.vanished_at) == ("星まつり", None)
    (asked,) = collect.store.reviews.list()
    assert asked.candidate_ids == (only.event.id,)


def test_rows_in_quarantine_that_are_gone_ask_nothing(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, [draft()], (bad(),))
    collect.run(source, [draft()], sweep=True)
    assert collect.store.reviews.list() == ()


def test_what_a_source_no_longer_says_vanishes_but_stays(collect: Collector) -> None:
    source = collect.source()
    collect.run(source, many(10))
    collect.run(source, many(10)[:-1], sweep=True)
    gone = collect.store.events.list(EventFilter(vanished=True)).items
    assert [one.event.title for one in gone] == ["催し 9"]
    collect.run(source, many(10), sweep=True)
    assert collect.store.events.list(EventFilter(vanished=True)).items == ()
    assert collect.store.events.get(gone[0].event.id).sequence == 2


def test_what_another_source_still_says_does_not_vanish(collect: Collector) -> None:
    first = collect.source("A")
    collect.run(first, [draft(), draft("朝市")])
    collect.run(collect.source("B"), [draft()])
    collect.run(first, [draft("朝市")], sweep=True)
    assert collect.store.events.list(EventFilter(vanished=True)).items == ()


def test_events_that_are_over_do_not_vanish(collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    collect.run(source, many(3))
    clock.advance(60 * 86400)
    collect.run(source, [draft("朝市", FIRST + timedelta(days=90))], sweep=True)
    assert collect.store.events.list(EventFilter(vanished=True)).items == ()


@pytest.mark.parametrize(
    "known, missing, is_drop",
    [
        pytest.param(10, 5, False, id="five are not many"),
        pytest.param(10, 6, True, id="six of ten are"),
        pytest.param(40, 8, False, id="a fifth is not"),
        pytest.param(40, 9, True, id="more than a fifth is"),
    ],
)
def test_a_great_drop_marks_nothing(collect: Collector, known: int, missing: int, is_drop: bool) -> None:
    source = collect.source()
    collect.run(source, many(known))
    run = collect.start(source)
    collect.store.results.apply(run, many(known)[missing:], (), collect.matcher)
    swept = collect.store.results.mark_missing(run)
    assert (swept.known, swept.missing, swept.is_drop) == (known, missing, is_drop)
    assert (
        len(collect.store.events.list(EventFilter(vanished=True), limit=100).items)
        == swept.vanished
        == (0 if is_drop else missing)
    )
    assert collect.store.results.mark_missing(run, force=True).is_drop is False


def test_a_source_that_says_nothing_changed_is_seen(collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    collect.run(source, many(3))
    clock.advance(100)
    run = collect.start(source)
    assert collect.store.results.mark_all_seen(run) == 3
    assert {one.event.last_seen for one in collect.store.events.list().items} == {collect.store.db.now()}
    assert collect.store.results.mark_missing(run).missing == 0


def test_a_run_that_was_given_up_may_not_write(collect: Collector) -> None:
    source = collect.source()
    run = collect.start(source)
    collect.store.runs.finish(run, RunStatus.FAIL, counts={}, error="gone")
    with pytest.raises(RunClosed):
        collect.store.results.apply(run, many(1), (), collect.matcher)
    assert collect.titles() == []


def test_texts_that_no_database_takes_are_stored_without_the_bad_part(collect: Collector) -> None:
    source = collect.source()
    odd = draft("星\x00まつ\ud800り", description="a\x00b", extra={"k\x00": "v\ud800"}, uid="u\x00\ud800")
    collect.run(source, [odd])
    assert collect.run(source, [odd]).unchanged == 1
    (only,) = collect.store.events.list().items
    assert (only.event.title, only.event.description, only.event.extra) == ("星まつり", "ab", {"k": "v"})


def test_a_kill_at_any_statement_and_a_second_run_give_the_same(handles: OpenEvents, collect: Collector) -> None:
    """Breaks off at each of the statements of a run in turn, each time in the state the last attempt left behind."""
    collect.run(collect.source("A"), [draft(), draft("朝市", FIRST + timedelta(hours=1)), *many(3)])
    second = collect.source("B")
    drafts = [draft(price="1円"), draft("朝市", FIRST + timedelta(hours=2)), *many(6, city="花巻"), *many(2)]
    attempts = 0
    for at in range(1, 400):
        other = handles()
        left = [at]

        def stop(*_: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

        run = other.runs.start(second.id)
        hook.listen(other.db.engine, "before_cursor_execute", stop)
        try:
            other.results.apply(run, drafts, (bad(),), collect.matcher, chunk=3)
        except KeyboardInterrupt:
            attempts += 1
            continue
        break
    assert attempts > 20
    assert sorted(collect.titles()) == sorted([one.title for one in many(3) + many(6)] + ["星まつり", "朝市", "朝市"])
    assert collect.store.statistics.totals().rows == 5 + len(drafts) + 1
    assert len(collect.store.merges.list()) == 3
    assert len(collect.store.reviews.list()) == 2


def test_two_workers_that_find_one_event_at_once_store_it_once(
    handles: OpenEvents, store: CalendarStore, collect: Collector
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    sources = [collect.source(name) for name in "ABCD"]
    runs = [collect.start(one) for one in sources]
    stores = [handles() for _ in sources]
    with ThreadPoolExecutor(4) as pool:
        work = [
            pool.submit(one.results.apply, run, many(30), (), collect.matcher, chunk=7)
            for one, run in zip(stores, runs, strict=True)
        ]
    done = [each.result() for each in work]
    assert sum(one.inserted for one in done) == 30
    assert sum(one.merged for one in done) == 90
    assert store.events.count() == 30


def test_a_large_run_holds_the_stored_form_of_only_a_few_rows(collect: Collector) -> None:
    text = "誰でも参加できます。" * 400
    rows = [replace(one, description=f"{text}{number}") for number, one in enumerate(many(600))]
    run = collect.start(collect.source())
    tracemalloc.start()
    try:
        collect.store.results.apply(run, rows, (), collect.matcher, chunk=20)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < len(rows) * len(text.encode("utf-16")), "the texts of all rows were copied at once"


def test_an_event_that_is_merged_while_a_run_stores_its_rows_gets_no_further_row(
    store: CalendarStore, collect: Collector
) -> None:
    collect.run(collect.source("A"), [draft(), draft(at=FIRST + timedelta(hours=2))])
    absorbed, kept = sorted(one.event.id for one in store.events.list().items)

    def merge(done: int) -> None:
        if done == 1:
            store.merges.merge(kept, absorbed, collect.matcher, "ada")

    rows = [draft("朝市"), draft(occurrence=whole_days(FIRST, 1))]
    applied = store.results.apply(collect.start(collect.source("B")), rows, (), collect.matcher, chunk=1, progress=merge)
    assert (applied.inserted, applied.merged) == (1, 1)
    assert len(store.events.provenance(kept).sightings) == 3


def test_an_event_that_is_edited_while_a_run_stores_its_rows_is_compared_as_it_is_now(
    store: CalendarStore, collect: Collector
) -> None:
    collect.run(collect.source("A"), [draft("夏まつり")])
    (known,) = store.events.list().items

    def edit(done: int) -> None:
        if done == 1:
            store.edits.edit(known.event.id, {"title": "星まつり"}, collect.matcher, "ada")

    rows = [draft("朝市"), draft("星まつり")]
    applied = store.results.apply(collect.start(collect.source("B")), rows, (), collect.matcher, chunk=1, progress=edit)
    assert (applied.inserted, applied.merged) == (1, 1)


@pytest.mark.parametrize("chunk", [1, 500])
def test_no_row_of_a_run_is_replaced_by_another_row_of_it(store: CalendarStore, collect: Collector, chunk: int) -> None:
    source = collect.source()
    collect.run(source, [draft("朝市", uid="1")])
    later = draft(at=FIRST + timedelta(days=1), uid="1")
    applied = collect.run(source, [later, replace(later, uid="2", description="雨天中止")], chunk=chunk)
    assert (applied.inserted, applied.merged, applied.updated) == (1, 1, 0)
    assert store.statistics.totals().rows == 3


class TwoBlockMatcher(PlainMatcher):
    """Past its limit, with a block of the day and a smaller one of the title's first letter."""

    has_reached_limit = True

    def blocks(self, draft: EventDraft) -> tuple[str, ...]:
        return (*super().blocks(draft), f"{draft.local_date}|{draft.title[0]}")


def test_events_of_the_smallest_block_are_compared_first_even_if_every_block_is_too_large(
    store: CalendarStore, collect: Collector
) -> None:
    collect.matcher = matcher = TwoBlockMatcher()
    rows = [draft(f"朝市 {number}") for number in range(5)] + [draft(f"星 {number}") for number in range(LIMITED_COMPARISONS + 1)]
    collect.run(collect.source("A"), rows)
    before = matcher.compared
    applied = collect.run(collect.source("B"), [draft(f"星 {LIMITED_COMPARISONS - 1}")])
    assert (applied.merged, applied.inserted) == (1, 0)
    assert matcher.compared - before == 1


def test_the_oldest_events_of_a_very_large_block_are_compared(store: CalendarStore, collect: Collector) -> None:
    collect.matcher = TwoBlockMatcher()
    collect.run(collect.source("A"), [draft(f"星 {number}") for number in range(LARGE_BLOCK + 1)])
    rows = [draft("星 0"), draft(f"星 {LIMITED_COMPARISONS - 1}"), draft(f"星 {LARGE_BLOCK}")]
    applied = collect.run(collect.source("B"), rows)
    assert (applied.merged, applied.inserted) == (2, 1)


def test_a_row_that_became_like_several_events_does_not_merge_more_rows_than_an_event_may_have(
    store: CalendarStore, collect: Collector
) -> None:
    source, count = collect.source(), MAX_ROWS_OF_EVENT * 2 // 5
    all_day = draft("朝市", occurrence=whole_days(FIRST, 1))
    known = (all_day, draft(), draft(at=FIRST + timedelta(hours=2)))
    collect.run(source, [replace(one, uid=f"{kind} {number}") for kind, one in enumerate(known) for number in range(count)])
    collect.run(source, [replace(draft(occurrence=all_day.occurrence), uid="0 0")])
    assert sorted(len(store.events.provenance(one.event.id).sightings) for one in store.events.list().items) == [count, 2 * count]


def test_rows_of_a_source_stay_rows_of_one_source_when_their_event_is_merged(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source("A"), [draft()])
    source, noon = collect.source("B"), FIRST + timedelta(hours=2)
    collect.run(source, [draft("朝市", uid="1"), draft("夕市", noon, uid="2")])
    applied = collect.run(source, [draft(uid="1"), draft(at=noon, uid="2")])
    assert (applied.absorbed, applied.review) == (1, 0)


class AskingMatcher(PlainMatcher):
    """Asks about similar titles of one source too."""

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> Result:
        return super().compare(new, known, same_source=False)


def test_an_event_that_has_as_many_rows_as_it_may_is_still_asked_about(store: CalendarStore, collect: Collector) -> None:
    collect.matcher = AskingMatcher()
    source = collect.source()
    collect.run(source, [draft("朝市", uid="market"), *(draft(uid=str(number)) for number in range(MAX_ROWS_OF_EVENT))])
    applied = collect.run(source, [draft("星まつり大会", uid="market")])
    assert (applied.updated, applied.review) == (1, 1)


def test_a_source_that_repeats_an_event_endlessly_does_not_make_it_one_of_endless_rows(
    store: CalendarStore, collect: Collector
) -> None:
    rows = [draft(description=f"row {number}") for number in range(2 * MAX_ROWS_OF_EVENT + 10)]
    source = collect.source()
    applied = collect.run(source, rows, chunk=30)
    assert (applied.inserted, applied.merged, applied.review) == (3, len(rows) - 3, 0)
    counts = [len(store.events.provenance(one.event.id).sightings) for one in store.events.list().items]
    assert counts == [MAX_ROWS_OF_EVENT, MAX_ROWS_OF_EVENT, 10]
    moved = [replace(one, venue="公園", venue_clean="公園") for one in rows]
    collect.run(source, moved, chunk=30, sweep=True)
    assert max(len(store.events.provenance(one.event.id).sightings) for one in store.events.list().items) <= MAX_ROWS_OF_EVENT
