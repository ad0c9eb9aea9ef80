"""The product's own matcher on the database: rows of several sources, as they would come."""

from __future__ import annotations

from datetime import timedelta

from tadoru.jobs.events.dedupe import EventMatcher
from tadoru.jobs.events.dedupe.reasons import EventComparison
from tadoru.model.event import EventDraft
from tadoru.store.calendar.merge_candidates import MAX_COMPARISONS
from tadoru.store.calendar.records import Matcher
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, draft


def test_it_finds_the_same_event_in_other_words_and_asks_where_the_sources_disagree(
    store: CalendarStore, collect: Collector
) -> None:
    matcher: Matcher = EventMatcher()
    collect.matcher = matcher  # type: ignore[assignment]
    collect.run(
        collect.source("A"),
        [draft("第3回 星空コンサート", price="500円"), draft("第4回 星空コンサート", FIRST + timedelta(days=7))],
    )
    applied = collect.run(collect.source("B"), [draft("【参加者募集】第３回星空コンサート", price="800円")])
    assert (applied.merged, applied.inserted, applied.review) == (1, 0, 1)
    (asked,) = store.reviews.list()
    assert [one["field"] for one in asked.detail["conflicts"]] == ["price"]
    assert store.events.count() == 2


def test_rows_that_a_source_numbers_anew_keep_their_events(store: CalendarStore, collect: Collector) -> None:
    collect.matcher = EventMatcher()  # type: ignore[assignment]
    source = collect.source()
    names = ["星空コンサート", "親子料理教室", "古文書を読む会", "朝のヨガ", "将棋大会", "写真展", "防災訓練", "落語の夕べ"]

    def rows(first: int) -> list[object]:
        return [draft(name, FIRST + timedelta(days=n), uid=str(n - first)) for n, name in enumerate(names) if n >= first]

    collect.run(source, rows(0), chunk=3)  # type: ignore[arg-type]
    before = {one.event.title: one.event.uid for one in store.events.list().items}
    applied = collect.run(source, rows(1), sweep=True, chunk=3)  # type: ignore[arg-type]
    after = {one.event.title: one.event for one in store.events.list().items}
    assert (applied.inserted, applied.updated) == (0, 7)
    assert {title: event.uid for title, event in after.items()} == before
    assert [title for title, event in after.items() if event.vanished_at] == ["星空コンサート"]
    assert store.statistics.totals().rows == 8


class CountingJudge(EventMatcher):
    """The matcher, and how often it is asked."""

    compared = 0

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> EventComparison:
        self.compared += 1
        return super().compare(new, known, same_source=same_source)


def test_a_source_that_names_hundreds_of_events_of_one_day_does_not_have_each_compared_with_all_others(
    store: CalendarStore, collect: Collector
) -> None:
    matcher = CountingJudge()
    collect.matcher = matcher  # type: ignore[assignment]
    count = MAX_COMPARISONS + 50
    rows = [draft(f"{number * 7919:x} {number * 104729:x}", uid=str(number), city="盛岡市") for number in range(count)]
    collect.run(collect.source("A"), rows)
    before = matcher.compared
    applied = collect.run(collect.source("B"), [rows[-1]])
    assert matcher.compared - before <= MAX_COMPARISONS
    assert applied.merged == 1, "its title leads to it, however many the day has"
