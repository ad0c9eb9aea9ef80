"""What reports read of a crawl, and that reading it never costs more than a pass over a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.store.crawl.sqlite.store import SqliteStore
from tadoru.store.crawl.summary import RedirectHop
from tests.jobs.audit_crawls import BROKEN, HOME, LONG, Crawl, large, small
from tests.support.clock import FakeClock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with_rows = SqliteStore(str(small(tmp_path / "small.db")), FakeClock())
    yield with_rows
    with_rows.sql.close()


def opened(crawl: Crawl) -> SqliteStore:
    return SqliteStore(str(crawl.save()), FakeClock())


def test_urls_are_counted_by_where_they_stand(store: SqliteStore) -> None:
    assert {tuple(row) for row in store.summary.states()} == {
        (True, "completed", 200, 2),
        (True, "completed", 301, 1),
        (True, "completed", 404, 1),
        (True, "skipped", None, 1),
        (False, "discovered", None, 1),
    }


def test_reasons_are_counted(store: SqliteStore) -> None:
    assert store.summary.skip_reasons(9) == [("robots.txt: Disallow: /late", 1)]
    assert store.summary.indexabilities() == [("indexable", True, 2), ("client error", False, 1), ("redirected", False, 1)]


def test_depths_and_times_are_those_of_pages_that_answered(store: SqliteStore) -> None:
    assert store.summary.depth_counts() == [(0, 1), (1, 2), (2, 1)]
    assert list(store.summary.response_times()) == [40.0, 50.0, 130.0, 910.0]
    assert store.summary.response_count() == 4
    assert [page.url for page in store.summary.slowest(2)] == [HOME + "about/team", HOME + "about"]
    assert [page.size for page in store.summary.largest(2)] == [4096, 2048]


def test_a_redirect_is_followed_to_its_end(store: SqliteStore) -> None:
    (row,) = store.summary.redirect_chains(9)
    assert row.hops == (RedirectHop(HOME + "old", 301), RedirectHop(HOME + "about", 200))
    assert (store.summary.redirect_count(), row.inlinks) == (1, 1)


def test_a_loop_of_redirects_ends(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "loop.db")
    crawl.page("", 0)
    crawl.page("a", 1, 301, redirect=3)
    crawl.page("b", 1, 301, redirect=2)
    rows = opened(crawl).summary.redirect_chains(9)
    assert [[hop.url.removeprefix(HOME) for hop in row.hops] for row in rows] == [["a", "b", "a"], ["b", "a", "b"]]


def test_redirects_that_most_links_lead_to_come_first(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "redirects.db")
    home = crawl.page("", 0)
    for name, inlinks in (("a", 1), ("b", 9), ("c", 4)):
        crawl.score(crawl.page(name, 1, 301, redirect=home), 1.0, inlinks)
    store = opened(crawl)
    assert [row.hops[0].url.removeprefix(HOME) for row in store.summary.redirect_chains(2)] == ["b", "c"]
    assert store.summary.redirect_count() == 3


def test_sitemaps_are_held_against_the_crawl(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "sitemaps.db")
    home = crawl.page("", 0)
    closed = crawl.page("closed", 1, indexability="noindex")
    orphan = crawl.page("orphan", 1000)
    crawl.page("missing", 1)
    crawl.sitemap(HOME + "b.xml", [home, closed])
    crawl.sitemap(HOME + "a.xml", [home, orphan], problems=["odd"])
    crawl.sitemap(HOME + "guess.xml", status="absent")
    store = opened(crawl)
    assert store.summary.sitemap_figures() == (2, 3, 1, 1, 1)
    assert [(row.url.removeprefix(HOME), row.problems) for row in store.summary.sitemap_rows(9)] == [
        ("a.xml", ("odd",)),
        ("b.xml", ()),
    ]


def test_the_largest_clusters_come_first_with_their_first_pages(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "clusters.db")
    for number, cluster in enumerate((None, 2, 2, 4, 4, 4), 1):
        crawl.page(f"{9 - number}", 1)
        crawl.score(number, 1.0, cluster=cluster)
    store = opened(crawl)
    assert store.summary.cluster_count() == 2
    assert store.summary.clusters(9, 2) == [(3, (HOME + "3", HOME + "4")), (2, (HOME + "6", HOME + "7"))]
    assert [row.pages for row in store.summary.clusters(1, 1)] == [3]


def test_a_crawl_with_nothing_in_it_has_empty_lists(tmp_path: Path) -> None:
    store = opened(Crawl(tmp_path / "empty.db"))
    assert store.summary.sitemap_figures() == (0, 0, 0, 0, 0)
    assert (store.summary.states(), store.summary.clusters(9, 9), store.summary.nodes(9, 9), store.summary.links_between([])) == (
        [],
        [],
        [],
        [],
    )
    assert store.summary.span() == (None, None)


class TestNodes:
    """The pages of the picture."""

    def test_the_way_to_each_page_is_there(self, tmp_path: Path) -> None:
        store = SqliteStore(str(large(tmp_path / "large.db", 300)), FakeClock())
        nodes = store.summary.nodes(60, 12)
        assert len(nodes) <= 60
        ids = {node.id for node in nodes}
        assert all(node.parent_id in ids for node in nodes if node.depth)
        assert sum(node.status_code == 404 for node in nodes) >= 3
        assert [(node.depth, node.url) for node in nodes] == sorted((node.depth, node.url) for node in nodes)

    def test_pages_that_only_a_sitemap_names_are_not_drawn(self, tmp_path: Path) -> None:
        crawl = Crawl(tmp_path / "orphan.db")
        crawl.page("", 0)
        crawl.page("orphan", 1000)
        assert [node.url for node in opened(crawl).summary.nodes(9, 9)] == [HOME]

    def test_two_pages_that_are_each_others_parent_do_not_stop_it(self, tmp_path: Path) -> None:
        crawl = Crawl(tmp_path / "odd.db")
        crawl.page("", 0)
        crawl.page("a", 1, parent=3)
        crawl.page("b", 1, parent=2)
        crawl.save(settled=False)
        store = SqliteStore(str(tmp_path / "odd.db"), FakeClock())
        assert {node.url for node in store.summary.nodes(9, 9)} == {HOME, HOME + "a", HOME + "b"}

    def test_links_between_them_are_told_once(self, store: SqliteStore) -> None:
        assert store.summary.links_between([1, 2, 3]) == [(1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "killed"])
def test_nothing_is_looked_for_again_and_again_in_a_whole_table(tmp_path: Path, settled: bool) -> None:
    """A scan is one pass; a scan inside a loop over pages would be as many passes as there are pages."""
    path = large(tmp_path / "large.db", 40, settled=settled)
    store = SqliteStore(str(path), FakeClock())
    store.sql.execute("ANALYZE")
    numbers = [each.number for each in store.findings.stored_checks()]
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    for read in (
        store.summary.states,
        store.summary.indexabilities,
        store.summary.depth_counts,
        store.summary.response_count,
        store.summary.redirect_count,
    ):
        read()
    _ = (
        list(store.summary.response_times()),
        store.summary.slowest(5),
        store.summary.largest(5),
        store.summary.redirect_chains(5),
        store.summary.skip_reasons(5),
    )
    _ = (
        store.summary.sitemap_figures(),
        store.summary.sitemap_rows(5),
        store.summary.cluster_count(),
        store.summary.clusters(5, 5),
    )
    store.summary.links_between(node.id for node in store.summary.nodes(20, 5))
    places = list(store.findings.places(numbers))
    _ = (
        store.findings.found_at(places[-1]),
        list(store.findings.found(numbers)),
        store.findings.has_finding((HOME, "x", "")),
        list(store.findings.finding_keys()),
    )
    _ = (store.findings.inlinks(2, 5), store.findings.inlink_count(2))
    store.sql.set_trace_callback(None)
    statements = [text for text in seen if text.lstrip().startswith(("SELECT", "WITH"))]
    assert len(statements) > 25
    for statement in statements:
        steps = [row[3] for row in store.sql.execute(f"EXPLAIN QUERY PLAN {statement}")]
        scans = [step for step in steps if step.startswith("SCAN") and "CONSTANT" not in step]
        assert len(scans) <= 1 + statement.count("page_id FROM sitemap_entries"), (statement, steps)
        assert not any("AUTOMATIC" in step for step in steps), (statement, steps)


def test_findings_of_a_page_and_of_no_page_are_told_apart(store: SqliteStore) -> None:
    numbers = {each.check.id: each.number for each in store.findings.stored_checks()}
    rows = list(store.findings.found([numbers[BROKEN.id], numbers[LONG.id]]))
    assert [(row.url.removeprefix(HOME), row.detail) for row in rows] == [
        ("", "Another long title"),
        ("about", "A very long title"),
        ("about/team", "404"),
    ]
    (only,) = store.findings.found([numbers["test-calm"]])
    assert (only.page_id, only.url, only.subject, only.depth) == (0, HOME + "sitemap.xml", HOME + "sitemap.xml", None)
