"""Lists of pages, links and findings: filters, orders, and cursors that meet each row exactly once."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.crawl_results import queries
from tadoru.store.crawl.browse import ORDERS, LinkFilter, PageFilter
from tadoru.store.crawl.sqlite.store import ReadOnlyCrawl
from tadoru.store.cursors import UnknownCursor, decode_cursor, encode_cursor
from tests.jobs.audit_crawls import Crawl
from tests.support.properties import examples

Part = tuple[list[Any], str | None]


def walked(read: Callable[[int, str | None], Part], limits: list[int]) -> list[Any]:
    """A whole list, in parts of these sizes, over and over."""
    found: list[Any] = []
    cursor, at = None, 0
    while True:
        part, cursor = read(limits[at % len(limits)], cursor)
        assert len(part) <= limits[at % len(limits)]
        found += part
        at += 1
        if cursor is None:
            return found
        assert part, "A list that goes on says something."


def asked(path: Path, statement: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(path)) as sql:
        return [row[0] for row in sql.execute(statement, values)]


LIMITS = st.lists(st.integers(1, 90), min_size=2, max_size=4).filter(lambda limits: sum(limits) > 40)


@examples(20)
@given(sort=st.sampled_from(sorted(ORDERS)), falls=st.sampled_from([None, True, False]), limits=LIMITS)
def test_a_walk_through_all_pages_meets_each_once_and_in_order(
    many: Path, sort: str, falls: bool | None, limits: list[int]
) -> None:
    found = walked(lambda limit, cursor: queries.list_pages(many, sort=sort, falls=falls, limit=limit, cursor=cursor), limits)
    whole, more = queries.list_pages(many, sort=sort, falls=falls, limit=1000)
    assert more is None
    assert found == whole
    assert sorted(page.id for page in found) == asked(many, "SELECT id FROM pages WHERE internal ORDER BY id")
    name = {"found": "id"}.get(sort, sort)
    nothing = "" if name in ("url", "title") else -1
    keys = [nothing if (key := getattr(page, name)) is None else key for page in found]
    down = falls if falls is not None else sort in ("response_ms", "size", "inlinks", "link_score")
    assert keys == sorted(keys, reverse=down)


@examples(12)
@given(limits=LIMITS, broken=st.booleans(), settled=st.booleans())
def test_a_walk_through_the_links_meets_each_once(
    many: Path, running: Path, limits: list[int], broken: bool, settled: bool
) -> None:
    path = many if settled else running
    found = walked(
        lambda limit, cursor: queries.list_links(path, LinkFilter(broken=broken), limit=limit, cursor=cursor),
        [9 * limit for limit in limits],
    )
    keys = [(link.source_id, link.position) for link in found]
    where = "WHERE t.status = 'error' OR t.status_code >= 400" if broken else ""
    with closing(sqlite3.connect(path)) as sql:
        expected = sql.execute(
            f"SELECT source_id, position FROM link_relations r JOIN pages t ON t.id = r.target_id {where} ORDER BY 1, 2"
        ).fetchall()
    assert sorted(keys) == expected != []


@examples(10)
@given(limits=LIMITS, rank=st.integers(0, 40))
def test_a_walk_through_what_a_check_applies_to_meets_each_once(many: Path, limits: list[int], rank: int) -> None:
    listed = queries.list_findings(many)
    check = listed[rank % len(listed)]

    def read(limit: int, cursor: str | None) -> Part:
        found = queries.list_affected(many, check.id, limit=limit, cursor=cursor)
        assert found is not None
        return found

    found = walked(read, limits)
    assert len(found) == check.count
    assert [one.page_id for one in found] == asked(
        many, "SELECT page_id FROM findings WHERE check_id = ? ORDER BY page_id", check.id
    )


@pytest.mark.parametrize(
    "chosen, where",
    [
        (PageFilter(codes=((404, 404),)), "status_code = 404"),
        (PageFilter(codes=((500, 599),), statuses=("queued",)), "status_code >= 500"),
        (PageFilter(statuses=("queued",)), "false"),
        (PageFilter(q="ENTRY-1"), "url LIKE '%entry-1%' OR title LIKE '%entry-1%'"),
        (PageFilter(q="of the shop"), "title LIKE '%of the shop%'"),
        (PageFilter(q="100%"), "false"),
        (PageFilter(q="_ntry"), "false"),
        (PageFilter(q="' OR 1=1 --"), "false"),
        (PageFilter(depth=2), "depth = 2"),
        (PageFilter(indexable=False), "id IN (SELECT page_id FROM page_details WHERE NOT indexable)"),
        (PageFilter(indexable=True, depth=1), "depth = 1 AND id IN (SELECT page_id FROM page_details WHERE indexable)"),
        (PageFilter(content_type="text/"), "false"),
        (PageFilter(internal=False), "false"),
        (PageFilter(internal=None, depth=1), "depth = 1"),
        (PageFilter(check="title-missing"), "id IN (SELECT page_id FROM findings WHERE check_id = 'title-missing')"),
        (PageFilter(check="no such check"), "false"),
    ],
)
def test_pages_are_chosen_by_filters(many: Path, chosen: PageFilter, where: str) -> None:
    expected = asked(many, f"SELECT url FROM pages WHERE {where} ORDER BY url")
    found, _ = queries.list_pages(many, chosen, limit=1000)
    assert [page.url for page in found] == expected
    assert queries.count_pages(many, chosen) == len(expected)


def test_pages_that_no_link_leads_to_are_found(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "crawl.db")
    crawl.page("", 0)
    crawl.page("alone", 1000)
    crawl.page("behind", 1001)
    found, _ = queries.list_pages(crawl.save(), PageFilter(depth=1000))
    assert [(page.url.rpartition("/")[2], page.depth) for page in found] == [("alone", None), ("behind", None)]


def test_links_are_chosen_by_filters(audited: Path) -> None:
    start = queries.read_overview(audited).start_url

    def anchors(**chosen: Any) -> list[str]:
        return [link.anchor for link in queries.list_links(audited, LinkFilter(**chosen))[0]]

    assert anchors(internal=False) == ["Away"]
    assert [anchor[:9] for anchor in anchors(nofollow=True)] == ["=HYPERLIN"]
    assert len(anchors(nofollow=False)) + 1 == len(anchors())
    assert anchors(q="AWAY") == ["Away"]
    assert anchors(q="/frail") == ["Frail"]
    assert anchors(q="%") == []
    assert sorted(anchors(broken=True)) == ["Frail", "Gone", "Gone again"]
    rich = queries.read_page(audited, f"{start}rich")
    assert rich is not None
    assert anchors(source=rich.summary.id) == ["Home", "Gone again"]
    assert anchors(source=rich.summary.id, broken=True) == ["Gone again"]
    assert anchors(target=rich.summary.id, source=rich.summary.id) == []


def test_what_is_asked_most_goes_by_an_index_and_sorts_nothing(many: Path) -> None:
    """What would sort the whole crawl for a page of fifty is noticed here, and not by a person with a million pages."""
    crawl = ReadOnlyCrawl(many)
    said: list[str] = []
    with closing(crawl.sql):
        crawl.sql.set_trace_callback(said.append)
        for sort in ("url", "depth", "found"):
            _, cursor = crawl.page_list.page_lines(PageFilter(), sort=sort)
            crawl.page_list.page_lines(PageFilter(), sort=sort, falls=True)
            crawl.page_list.page_lines(PageFilter(), sort=sort, cursor=cursor)
        for chosen in (LinkFilter(), LinkFilter(source=1), LinkFilter(target=1), LinkFilter(broken=True)):
            _, cursor = crawl.link_list.link_lines(chosen, limit=2)
            crawl.link_list.link_lines(chosen, limit=2, cursor=cursor)
        _, cursor = crawl.page_list.affected(1, limit=1)
        crawl.page_list.affected(1, limit=1, cursor=cursor)
        crawl.sql.set_trace_callback(None)
        lists = [statement for statement in said if "ORDER BY" in statement]
        plans = [" ".join(row[3] for row in crawl.sql.execute(f"EXPLAIN QUERY PLAN {statement}")) for statement in lists]
    assert len(plans) == 19
    # Findings of one page are sorted among themselves; that is no more than a handful.
    assert [plan for plan in plans if "TEMP B-TREE FOR ORDER BY" in plan] == []
    # Where a list goes on, it begins there.
    assert [plan for statement, plan in zip(lists, plans, strict=True) if ") > (" in statement and "SEARCH" not in plan] == []


KEYS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(order=st.text(max_size=20), keys=st.lists(KEYS, max_size=3))
def test_a_cursor_holds_what_it_was_made_of(order: str, keys: list[Any]) -> None:
    cursor = encode_cursor(order, keys)
    assert decode_cursor(cursor, order, [type(key) for key in keys]) == tuple(keys)
    with pytest.raises(UnknownCursor):
        decode_cursor(cursor, order + "x", [type(key) for key in keys])


@given(text=st.one_of(st.text(max_size=60), st.binary(max_size=40).map(lambda data: base64.urlsafe_b64encode(data).decode())))
def test_whatever_a_stranger_sends_is_a_cursor_or_refused(text: str) -> None:
    with suppress(UnknownCursor):
        assert [type(key) for key in decode_cursor(text, "url:up", (str, int))] == [str, int]


@pytest.mark.parametrize(
    "keys",
    [
        [], ["url:up"], ["url:up", 1], ["url:up", None], ["url:up", ["a"]], ["url:up", "\ud800"], ["url:down", "a"],
        ["url:up", "a", 1], {"a": 1}, 7, "[" * 5000,
    ],
)  # fmt: skip
def test_a_cursor_that_was_not_made_here_is_refused(many: Path, keys: Any) -> None:
    text = keys if isinstance(keys, str) else json.dumps(keys)
    cursor = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    with pytest.raises(UnknownCursor):
        queries.list_pages(many, cursor=cursor)


@pytest.mark.parametrize("key", [2**63, -(2**63) - 1, True, 1.5, "1"])
def test_a_number_that_no_database_holds_is_no_place(many: Path, key: Any) -> None:
    with pytest.raises(UnknownCursor):
        queries.list_pages(many, sort="found", cursor=encode_cursor("found:up", [key]))
    with pytest.raises(UnknownCursor):
        queries.list_links(many, cursor=encode_cursor("links by source", [key, 1]))
