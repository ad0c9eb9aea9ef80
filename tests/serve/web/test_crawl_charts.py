"""The charts of crawls and what the lists of a crawl are asked for: values in, values out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, cast
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.i18n.stored_texts import regression, regression_changes
from tadoru.i18n.translation import Formatter
from tadoru.jobs.audit.crawl_results.models import CheckSummary
from tadoru.jobs.reporting.charts import MAX_COLUMNS
from tadoru.jobs.service_crawl import docs_changes, links_changes
from tadoru.serve.crawl_runner.crawl_tables import effect_and_effort, parse_view, segment_patterns
from tadoru.serve.web.crawls.pages import depth_bars
from tadoru.serve.web.crawls.view_models import (
    HEIGHT,
    WIDTH,
    bar_chart,
    crawl_run_row,
    daily_columns,
    figure,
    trend_line,
    trend_lines,
)
from tadoru.store.crawl.tables import BROWSED_TABLES, LINKS, PAGES, SiteSegment
from tadoru.store.served_crawls.schema import CrawlRun

FIRST = datetime(2026, 8, 1, tzinfo=UTC)


def run(number: int, outcome: str = "finished", **figures: object) -> CrawlRun:
    at = FIRST + timedelta(days=number)
    return CrawlRun(
        id=number, crawl_id=1, started_at=at, ended_at=at, outcome=outcome, figures=figures, changes={}, told_at=None
    )  # fmt: skip


def test_the_longest_bar_is_the_whole_width_and_the_smallest_is_still_seen() -> None:
    shown = bar_chart([("fine", 10_000, "good", ""), ("broken", 1, "bad", "/x"), ("none", 0, "", "")])
    assert [one.length for one in shown] == [100.0, 1.5, 0.0]


def test_of_very_many_depths_the_last_bar_holds_the_rest() -> None:
    shown = depth_bars([(depth, 2) for depth in range(250)], "/c")
    assert (len(shown), sum(one.count for one in shown)) == (MAX_COLUMNS, 500)
    assert (shown[3].label, shown[3].href) == ("3", "/c/pages?depth=3")
    assert (shown[-1].label, shown[-1].href) == (f"{MAX_COLUMNS - 1}+", "")


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=40))
def test_a_line_stays_within_its_picture_and_goes_from_left_to_right(values: list[float]) -> None:
    line = trend_line("pages", [(FIRST + timedelta(hours=number), value) for number, value in enumerate(values)])
    assert line is not None
    assert all(0 <= one.x <= WIDTH and 0 <= one.y <= HEIGHT for one in line.points)
    assert [one.x for one in line.points] == sorted(one.x for one in line.points)
    assert line.last == values[-1]


def test_one_run_is_no_trend() -> None:
    assert trend_line("pages", [(FIRST, 3.0)]) is None
    assert trend_lines([run(1, pages=3)]) == ()


def test_trends_are_of_finished_runs_in_the_order_of_time() -> None:
    runs = [run(3, score=80.0, pages=12), run(2, "failed", pages=1), run(1, score=90.0, pages=10)]
    lines = {line.name: [one.value for one in line.points] for line in trend_lines(runs)}
    assert lines == {"score": [90.0, 80.0], "pages": [10.0, 12.0]}


def test_what_a_crawl_never_had_is_not_drawn() -> None:
    assert [line.name for line in trend_lines([run(2, pages=3, errors=0), run(1, pages=3, errors=0)])] == ["pages"]


def test_a_figure_is_found_by_its_name_and_in_its_group() -> None:
    assert figure({"findings.error": 2}, "findings.error") == 2.0
    assert figure({"findings": {"error": 3}}, "findings.error") == 3.0
    assert figure({"pages": "many", "is_well": True}, "pages") is None
    assert figure({"is_well": True}, "is_well") is None


def test_every_day_has_its_column() -> None:
    today = date(2026, 8, 31)
    columns = daily_columns([(today, 5), (today, 5), (today - timedelta(days=29), 1), (today - timedelta(days=99), 7)], today)
    assert len(columns) == 30
    assert {one.day: one.count for one in columns if one.count} == {today: 10, today - timedelta(days=29): 1}


def reasons_of(changes: dict[str, object], lang: str) -> tuple[str, ...]:
    run = CrawlRun(
        id=1, crawl_id=1, started_at=FIRST, ended_at=FIRST, outcome="finished", figures={}, changes=changes, told_at=None
    )
    return crawl_run_row(run, Formatter(lang, UTC)).reasons


@pytest.mark.parametrize(
    "changes,japanese",
    [
        (docs_changes({"pages": 10, "removed": 20, "added": 0, "changed": 0}), "30ページのうち20ページがなくなりました。"),
        (links_changes({"broken_links": 3}, {"broken_links": 1}), "リンク切れが3件あります（前回1件）。"),
        (links_changes({"broken_links": 1}, {"broken_links": 0}), "リンク切れが1件あります（前回0件）。"),
        (regression_changes([regression("pages_broke", count=1)]), "1ページが表示できなくなりました。"),
        (regression_changes([regression("pages_vanished", count=1234)]), "1,234ページがなくなりました。"),
        (regression_changes([regression("pages_deindexed", count=2)]), "2ページが検索エンジンに表示されなくなりました。"),
        (regression_changes([regression("new_errors", count=1)]), "新しいエラーが1件あります。"),
        (regression_changes([regression("score_fell", before=90.1, after=80.0)]), "スコアが90.1から80.0に下がりました。"),
    ],
)
def test_why_a_run_is_worse_is_shown_in_the_language_of_the_page(changes: dict[str, Any], japanese: str) -> None:
    assert changes["regression"]
    assert reasons_of(changes, "en") == tuple(changes["reasons"])
    assert reasons_of(changes, "ja") == (japanese,)


@pytest.mark.parametrize("codes", [None, [], [{"code": "of_the_future", "parameters": {}}], [{"code": "pages_broke"}], "?"])
def test_a_reason_without_a_known_code_is_shown_as_it_was_stored(codes: object) -> None:
    changes = {"regression": True, "reasons": ["The moon is full."], "reason_codes": codes}
    assert reasons_of(changes, "ja") == ("The moon is full.",)


ORIGIN = "https://shop.example"
NAMES = [
    "q",
    "answer",
    "depth",
    "indexable",
    "sort",
    "order",
    "which",
    "source",
    "target",
    "segment",
    "col",
    "status_code",
    "url",
]


def _segment(given: str) -> SiteSegment | None:
    try:
        return SiteSegment((ORIGIN,), segment_patterns(given))
    except UsageError:
        return None


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.text()), max_size=8))
def test_whatever_an_address_asks_for_is_a_view_that_makes_sense(given: list[tuple[str, str]]) -> None:
    for table in BROWSED_TABLES.values():
        view = parse_view(table, given, _segment)
        assert view.columns
        assert view.asked.sort == "" or table.column(view.asked.sort) is not None
        again = parse_view(table, parse_qsl(view.query()), _segment)
        assert again.query() == view.query()


def test_an_address_that_was_made_asks_for_the_same_again() -> None:
    given = {"q": "a b&c", "answer": "4xx", "depth": "2", "indexable": "no", "sort": "size", "segment": "shop/"}
    view = parse_view(PAGES, [*given.items(), ("col", "url"), ("col", "title")], _segment)
    assert parse_view(PAGES, parse_qsl(view.query()), _segment) == view
    assert view.asked.segment == SiteSegment((ORIGIN,), ("/shop/",))
    assert [one.name for one in view.columns] == ["url", "title"]
    assert (view.asked.filters["depth"], view.asked.filters["answer"], view.asked.sort) == ("2", "4xx", "size")


def test_of_one_page_all_links_are_shown_and_else_the_broken_ones() -> None:
    assert parse_view(LINKS, [], _segment).asked.filters == {"which": "broken"}
    assert parse_view(LINKS, [("which", "all")], _segment).asked.filters == {}
    one = parse_view(LINKS, [("target", "3")], _segment).asked
    assert (one.target, one.filters) == (3, {})


@pytest.mark.parametrize(
    "severity, count, pages, expected",
    [("error", 50, 100, ("high", "medium")), ("error", 1, 1000, ("medium", "low")), ("info", 100, 100, ("low", "low")),
     ("warning", 95, 100, ("high", "low")), ("warning", 300, 5000, ("medium", "high"))],
)  # fmt: skip
def test_effect_and_effort_go_by_severity_and_share(severity: str, count: int, pages: int, expected: tuple[str, str]) -> None:
    check = CheckSummary(
        id="x", group="links", severity=cast(Any, severity), title="", why="", fix="", threshold=None, unit="",
        count=count,
    )  # fmt: skip
    assert effect_and_effort(check, pages) == expected
