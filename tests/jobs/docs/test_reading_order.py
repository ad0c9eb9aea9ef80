"""In which order pages are put when each page tells a part of it."""

from __future__ import annotations

from tadoru.jobs.docs.reading_order import reading_order

PAGES = ["start", "a", "b", "c", "d"]


def test_a_menu_of_the_start_and_the_page_itself_orders_nothing() -> None:
    assert reading_order(PAGES, {}, [["start", page] for page in PAGES]) == PAGES


def test_a_menu_of_more_pages_is_the_order() -> None:
    assert reading_order(PAGES, {}, [["start", "c", "a", "elsewhere"]]) == ["start", "c", "a", "b", "d"]


def test_a_menu_counts_by_the_pages_that_were_read() -> None:
    assert reading_order(PAGES, {}, [["start", "d", "elsewhere", "away"]]) == PAGES


def test_links_to_the_next_page_come_before_menus() -> None:
    assert reading_order(PAGES, {"start": "d", "d": "b"}, [["start", "a", "b"]]) == ["start", "a", "d", "b", "c"]
