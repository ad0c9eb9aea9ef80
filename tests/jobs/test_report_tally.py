from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.report.summary import TIME_BOUNDS, FindingTally, count_findings, summarize_times
from tadoru.jobs.audit.suppressions import FindingSuppressions
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import FindingPlace, StoredCheck
from tests.jobs.audit_crawls import BROKEN, LONG, PLAIN

CATALOGUE = [StoredCheck(1, "page", BROKEN), StoredCheck(2, "page", LONG), StoredCheck(3, "page", PLAIN)]


def place(check: int, page: int, depth: int = 1, subject: str = "") -> FindingPlace:
    return FindingPlace(check, page, depth, f"https://x.example/{page:03}", subject)


def counted(places: list[FindingPlace], text: str = "", most: int = 0) -> FindingTally:
    return count_findings(CATALOGUE, places, FindingSuppressions.parse(text), most)


def test_findings_are_counted_by_check_and_pages_by_severity() -> None:
    found = counted([place(1, 1), place(2, 1), place(2, 2), place(2, 2, subject="b"), place(3, 0, subject="https://y.example/")])
    assert {number: each.count for number, each in found.checks.items()} == {1: 1, 2: 3, 3: 1}
    assert found.pages == {Severity.ERROR: 1, Severity.WARNING: 2, Severity.NOTICE: 0, Severity.INFO: 0}


def test_the_least_deep_pages_are_kept_then_by_url() -> None:
    places = [place(1, page, depth) for page, depth in ((1, 3), (2, 1), (3, 2), (4, 1), (5, 0), (6, 1))]
    assert [each.page_id for _, _, each in counted(places, most=4).checks[1].first] == [5, 2, 4, 6]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 60)), unique_by=lambda each: each[1]), st.integers(1, 9))
def test_what_is_kept_is_the_beginning_of_what_sorting_gives(pages: list[tuple[int, int]], most: int) -> None:
    places = [place(1, page, depth) for depth, page in pages]
    random.Random(most).shuffle(places)
    kept = [each for _, _, each in counted(places, most=most).checks[1].first]
    assert kept == sorted(places, key=lambda each: (each.depth, each.url))[:most]


def test_what_is_suppressed_is_counted_apart_and_never_shown() -> None:
    text = "test-broken https://x.example/001 # one\ntest-* https://x.example/00* # both\ntest-plain * # none"
    found = counted([place(1, 1), place(1, 2), place(1, 10), place(2, 1)], text, most=9)
    assert {number: each.count for number, each in found.checks.items()} == {1: 1, 2: 0, 3: 0}
    assert [each.page_id for _, _, each in found.checks[1].first] == [10]
    assert {entry.line: count for entry, count in found.checks[1].suppressed.items()} == {1: 1, 2: 1}
    assert [entry.line for entry in found.unused] == [3]
    assert found.pages[Severity.WARNING] == 0


def test_times_are_measured_as_they_pass() -> None:
    times = summarize_times((float(number) for number in range(1, 101)), 100)
    assert (times.count, times.p50, times.p90, times.p99) == (100, 50.0, 90.0, 99.0)
    assert times.classes == (50, 50, 0, 0, 0, 0, 0, 0)


@given(st.lists(st.floats(0, 20_000), max_size=60))
def test_percentiles_are_times_that_were_measured(values: list[float]) -> None:
    times = summarize_times(sorted(values), len(values))
    assert sum(times.classes) == len(values)
    assert times.classes[-1] == sum(value > TIME_BOUNDS[-1] for value in values)
    if values:
        assert {times.p50, times.p90, times.p99} <= set(values)
        assert times.p50 <= times.p90 <= times.p99 <= max(values)
        assert sum(value <= times.p90 for value in values) >= 0.9 * len(values)
