"""The contents of a site: parts as the site has them, or as its addresses do, and as many pages as anybody has."""

from __future__ import annotations

from tadoru.serve.docs_sites.sites import ContentsEntry, build_contents
from tadoru.serve.web.docs import MAX_CONTENTS, SECTION_SIZE, contents_view
from tadoru.store.docs_search import IndexedPage

BASE = "https://docs.example/en/"


def row(number: int, path: str, title: str = "", *crumbs: str) -> IndexedPage:
    return IndexedPage(f"{BASE}{path}", title or f"Page {number}", "", 1, number=number, crumbs=crumbs, place=number)


def test_pages_are_filed_where_the_site_files_them() -> None:
    pages = [row(1, "", "Start"), row(2, "a", "Install", "Guide", "Install"), row(3, "b", "Lid", "Guide", "Parts"), row(4, "c")]
    assert [(part.name, part.lines) for part in build_contents(pages, BASE)] == [
        ("", [ContentsEntry(1, "Start", 0), ContentsEntry(4, "Page 4", 0)]),
        ("Guide", [ContentsEntry(2, "Install", 0), ContentsEntry(3, "Lid", 1)]),
    ]


def test_where_the_site_says_nothing_the_folders_of_its_addresses_do_under_the_name_of_their_page() -> None:
    pages = [
        row(1, "how-to/"),
        row(2, "how-to/fill/lid.html"),
        row(3, "library/index.html", "The library"),
        row(4, "ref/a_b/c.html"),
    ]
    found = build_contents(pages, f"{BASE}index.html")
    assert [(part.name, [line.depth for line in part.lines]) for part in found] == [
        ("Page 1", [0, 1]),
        ("The library", [0]),
        ("Ref", [1]),
    ]


def test_a_large_site_is_shown_part_by_part_and_a_large_part_page_by_page() -> None:
    pages = [row(number, f"part-{number % 3}/{number}") for number in range(1, 5_001)]
    parts = build_contents(pages, BASE)
    whole = contents_view(parts[:1], None, 0)
    assert (len(whole["part"].lines), whole["next_after"]) == (SECTION_SIZE, SECTION_SIZE)
    names = contents_view(parts, None, 0)
    assert ([count for _, _, count in names["names"]], names["part"], names["parts"]) == ([1_667, 1_667, 1_666], None, [])
    last = contents_view(parts, 3, 1_600)
    assert (len(last["part"].lines), last["next_after"], last["chosen"]) == (66, 0, 3)
    assert contents_view(parts, 99, 0)["part"] is None
    small = contents_view(build_contents(pages[:MAX_CONTENTS], BASE), None, 0)
    assert sum(len(part.lines) for part in small["parts"]) == MAX_CONTENTS
