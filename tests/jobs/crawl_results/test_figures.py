"""A crawl in figures, what was found, the picture of the site and comparisons: read from real crawls."""

from __future__ import annotations

import math
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import StoreError
from tadoru.jobs.audit.crawl_results import queries, run_comparison
from tadoru.jobs.audit.crawl_results.queries import read_page, time_figures
from tadoru.jobs.audit.report.summary import summarize_times
from tadoru.store.crawl.browse import LinkFilter
from tadoru.store.crawl.sqlite.store import CrawlNotReadable, ReadOnlyCrawl
from tests.jobs.audit_crawls import HOSTILE, hostile, small


def test_an_overview_counts_what_the_site_answered(audited: Path) -> None:
    found = queries.read_overview(audited)
    assert (found.states, found.codes) == ({"completed": 7, "skipped": 1}, {200: 3, 301: 2, 404: 1, 410: 1})
    assert (found.pages, found.waiting, found.external, found.outcome) == (7, 0, 1, "complete")
    assert (found.indexable, sum(one.pages for one in found.indexability)) == (3, 8)
    assert [one.reason for one in found.skipped] == ["robots.txt line 2: Disallow: /closed"]
    assert found.charts.classes == {"2xx": 3, "3xx": 2, "4xx": 2, "5xx": 0, "no answer": 0, "not requested": 1, "waiting": 0}
    assert found.charts == queries.read_charts(audited)
    assert (found.charts.times.count, sum(found.charts.times.classes)) == (7, 7)
    assert sum(count for _, count in found.charts.depths) == 7
    assert [(run.number, run.kind, run.kept) for run in found.runs] == [(1, "crawl", True), (2, "recrawl", True)]
    assert found.started_at
    assert found.ended_at
    assert found.seconds == (found.ended_at - found.started_at).total_seconds()


def test_severities_are_those_of_the_findings(many: Path) -> None:
    listed = queries.list_findings(many)
    with closing(sqlite3.connect(many)) as sql:
        pages = dict(
            sql.execute("SELECT severity, count(DISTINCT page_id) FROM findings WHERE page_id > 0 GROUP BY severity").fetchall()
        )
    for one in queries.read_overview(many).severities:
        own = [check for check in listed if check.severity == one.severity]
        assert (one.checks, one.findings, one.pages) == (len(own), sum(check.count for check in own), pages[one.severity])


def test_a_crawl_of_links_has_fewer_facts_and_the_same_figures(linked: Path) -> None:
    found = queries.read_overview(linked)
    assert (found.codes, found.score, found.severities) == ({200: 4, 301: 2, 404: 1}, None, ())
    assert queries.list_findings(linked) == []
    assert queries.list_affected(linked, "title-missing") is None
    page = queries.read_page(linked, f"{found.start_url}rich")
    assert page is not None
    assert (page.summary.title, page.summary.indexable) == ("Rich page", None)
    assert page.inlinks.total == len(page.inlinks.items) == 2
    assert queries.read_graph(linked).nodes
    assert queries.draw_site_graph(linked) is not None


def test_a_crawl_that_runs_can_be_read_while_somebody_writes(running: Path, tmp_path: Path) -> None:
    copy = shutil.copy(running, tmp_path / "crawl.db")
    with closing(sqlite3.connect(copy, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE pages SET status = 'queued', status_code = NULL WHERE id > 100")
        before = queries.read_overview(copy)
        writer.execute("COMMIT")
        after = queries.read_overview(copy)
    assert before.states == {"completed": 120}
    assert (after.states, after.waiting) == ({"completed": 100, "queued": 20}, 20)


def test_what_was_read_is_kept_only_while_nothing_is_written(tmp_path: Path) -> None:
    path = small(tmp_path / "crawl.db")
    first = queries.read_overview(path)
    assert queries.read_overview(path) is first
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE pages SET status = 'queued' WHERE id = 2")
        assert queries.read_overview(path).waiting == 1
        writer.execute("UPDATE pages SET status = 'queued' WHERE id = 1")
        assert queries.read_overview(path).waiting == 2


def test_reading_never_writes_and_never_migrates(tmp_path: Path) -> None:
    path = small(tmp_path / "crawl.db")
    before = path.read_bytes()
    queries.read_overview(path)
    queries.read_page(path, 1)
    queries.draw_site_graph(path)
    assert path.read_bytes() == before
    crawl = ReadOnlyCrawl(path)
    with closing(crawl.sql), pytest.raises(sqlite3.OperationalError, match="readonly"):
        crawl.sql.execute("DELETE FROM pages")
    with closing(sqlite3.connect(path)) as sql:
        sql.execute("PRAGMA user_version = 2")
    with pytest.raises(CrawlNotReadable, match="older"):
        queries.read_overview(path)


def test_what_is_not_there_is_told_apart_from_what_is_broken(tmp_path: Path) -> None:
    empty, begun, torn, foreign = (tmp_path / name for name in ("empty.db", "begun.db", "torn.db", "foreign.db"))
    empty.touch()
    with closing(sqlite3.connect(begun)) as sql:
        sql.execute("PRAGMA journal_mode = WAL")
    torn.write_text("This is no database. " * 100)
    with closing(sqlite3.connect(foreign)) as sql:
        sql.execute("CREATE TABLE a(b)")
    for path in (tmp_path / "none.db", tmp_path, empty, begun):
        with pytest.raises(CrawlNotReadable):
            queries.read_overview(path)
    for path in (torn, foreign):
        with pytest.raises(StoreError):
            queries.read_overview(path)


def test_findings_are_told_in_both_languages_the_gravest_first(tmp_path: Path) -> None:
    path = small(tmp_path / "crawl.db")
    listed = [(one.id, one.severity, one.count) for one in queries.list_findings(path)]
    assert listed == [
        ("test-broken", "error", 1),
        ("test-long", "warning", 2),
        ("test-plain", "notice", 1),
        ("test-calm", "info", 1),
    ]
    [one] = queries.list_findings(path, severity="warning", lang="ja")
    assert (one.title, one.why, one.fix, one.threshold) == ("長いタイトル", "途中で切れます。", "短くしてください。", 60)
    assert [one.count for one in queries.list_findings(path, check="test-clean", every=True)] == [0]
    assert queries.list_findings(path, check="test-clean") == []


def test_what_a_check_applies_to_comes_with_its_evidence(tmp_path: Path) -> None:
    path = small(tmp_path / "crawl.db")
    found = queries.list_affected(path, "test-long")
    assert found is not None
    assert [(one.page_id, one.detail, one.data["length"], one.inlinks) for one in found[0]] == [
        (1, "Another long title", 80, 0),
        (2, "A very long title", 72, 1),
    ]
    site = queries.list_affected(path, "test-calm")
    assert site is not None
    assert (site[0][0].page_id, site[0][0].url) == (None, "https://garden.example/sitemap.xml")
    assert queries.list_affected(path, "../../etc/passwd") is None


def test_one_page_has_everything_that_is_known_of_it(audited: Path) -> None:
    start = queries.read_overview(audited).start_url
    found = queries.read_page(audited, f"{start}rich")
    assert found is not None
    assert found == read_page(audited, found.summary.id)
    assert [(one.level, one.text) for one in found.headings] == [(1, "Rich"), (2, "More & more")]
    assert [(one.src, one.alt) for one in found.images] == [("/a.png", "A picture")]
    assert [(one.language, one.url) for one in found.hreflang] == [("ja", f"{start}ja")]
    assert [(one.syntax, one.type, one.properties["name"]) for one in found.structured_data] == [("json-ld", "Event", "Fest")]
    assert ("X-Hostile", "<script>alert(1)</script>") in [(one.name, one.value) for one in found.headers]
    assert (found.facts["server"], found.facts["h1"], found.facts["language"]) == ("garden", "Rich", "en")
    assert {"link-broken", "description-missing"} <= {one.check.id for one in found.findings}
    assert (found.inlinks.items[0].source_url, found.inlinks.items[0].anchor) == (start, "Rich <script>alert(1)</script>")
    assert [(one.target_url, one.fragment, one.target_code) for one in found.outlinks.items] == [
        (start, "", 200),
        (f"{start}gone", "part", 404),
    ]
    moved = queries.read_page(audited, f"{start}old")
    assert moved is not None
    hops = [(one.url.removeprefix(start), one.status_code) for one in moved.redirects]
    assert hops == [("old", 301), ("older", 301), ("rich", 200)]
    assert queries.read_page(audited, 10**9) is None
    assert queries.read_page(audited, "http://elsewhere.example/") is None


def test_the_first_links_of_a_page_say_where_the_list_goes_on(many: Path) -> None:
    found = queries.read_page(many, 1, links=3)
    assert found is not None
    assert len(found.inlinks.items) == 3
    assert found.inlinks.next is not None
    inlinks = LinkFilter(target=1, is_inlink=True)
    more, _ = queries.list_links(many, inlinks, limit=3, cursor=found.inlinks.next)
    every, _ = queries.list_links(many, inlinks, limit=6)
    assert [*found.inlinks.items, *more] == every


def test_the_links_to_a_page_are_the_same_before_the_crawl_has_ended(tmp_path: Path, many: Path, running: Path) -> None:
    chosen = LinkFilter(target=2)
    found, _ = queries.list_links(running, chosen, limit=200)
    with closing(sqlite3.connect(running)) as sql:
        expected = sql.execute("SELECT source_id, position FROM link_relations WHERE target_id = 2 ORDER BY 1, 2").fetchall()
    assert [(one.source_id, one.position) for one in found] == expected != []
    page = queries.read_page(running, 2)
    assert page is not None
    assert page.inlinks.items == tuple(found[:25])


def test_a_picture_stands_alone_and_is_well_formed_whatever_strangers_wrote(tmp_path: Path) -> None:
    drawing = queries.draw_site_graph(hostile(tmp_path / "crawl.db"), lang="ja")
    assert drawing is not None
    svg = queries.standalone_svg(drawing.svg)
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names <= {"svg", "g", "path", "circle", "ellipse", "text", "title"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith(("on", "href", "style"))]
    assert 'fill="#c0392b"' in svg  # What is broken is seen.
    assert re.search(r"alert\(1\)", "".join(root.itertext()))


def test_a_graph_is_as_large_as_is_asked_for(many: Path) -> None:
    found = queries.read_graph(many, most=20)
    ids = {node.id for node in found.nodes}
    assert len(ids) == len(found.nodes) <= 20
    assert found.edges
    assert all(source in ids and target in ids for source, target in found.edges)
    assert all(node.parent_id in ids or node.depth == 0 for node in found.nodes)


def test_a_run_is_compared_with_the_one_before(audited: Path) -> None:
    found = run_comparison.compare_with_previous(audited)
    start = queries.read_overview(audited).start_url
    assert (found.before.run, found.after.run, found.compared) == (1, 2, 8)
    assert [(one.url, one.before, one.after) for one in found.changes["broken"]] == [(f"{start}frail", "200", "410")]
    assert [(one.before, one.after) for one in found.changes["title"]] == [("Rich page", "Richer page")]
    assert found.totals["broken"] == 1
    assert found.regressions >= 1
    assert "response-client-error" in {one.check for one in found.checks}


def test_a_comparison_is_kept_only_while_nothing_is_written_on_either_side(tmp_path: Path) -> None:
    one, other = small(tmp_path / "one.db"), small(tmp_path / "other.db")
    first = run_comparison.compare_crawls(one, other)
    assert first.totals == {}
    assert run_comparison.compare_crawls(one, other) is first
    for path, wanted in ((other, {"title": 1}), (one, {"title": 2})):
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("UPDATE pages SET title = 'Other' WHERE id = ?", (1 if path is other else 2,))
            assert run_comparison.compare_crawls(one, other).totals == wanted


def test_what_can_not_be_compared_is_said(audited: Path, linked: Path, tmp_path: Path) -> None:
    with pytest.raises(run_comparison.NothingToCompare, match="no earlier run"):
        run_comparison.compare_with_previous(linked)
    with pytest.raises(run_comparison.NothingToCompare, match="same crawl"):
        run_comparison.compare_crawls(audited, audited)
    with pytest.raises(CrawlNotReadable):
        run_comparison.compare_crawls(audited, tmp_path / "none.db")
    other = small(tmp_path / "crawl.db")
    found = run_comparison.compare_crawls(other, audited, lang="ja")
    assert (found.before.pages, found.compared, found.totals["added"]) == (4, 0, 7)


@given(st.lists(st.floats(0.0, 20_000.0, exclude_min=True), max_size=60))
def test_times_counted_by_milliseconds_are_as_good_as_all_of_them(found: list[float]) -> None:
    counted = time_figures(sorted(Counter(math.ceil(one) for one in found).items()))
    exact = summarize_times(sorted(found), len(found))
    assert (counted.count, counted.classes) == (exact.count, exact.classes)
    if found:
        assert (counted.p50, counted.p90, counted.p99) == tuple(math.ceil(one) for one in (exact.p50, exact.p90, exact.p99))


def test_hostile_text_is_read_as_it_is(tmp_path: Path) -> None:
    path = hostile(tmp_path / "crawl.db")
    found, _ = queries.list_pages(path)
    assert found[0].title == HOSTILE
    assert queries.list_links(path)[0][0].anchor == HOSTILE


def test_what_json_does_not_know_is_nothing(tmp_path: Path) -> None:
    path = small(tmp_path / "crawl.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        sql.execute("INSERT INTO page_items VALUES (1, 0, 'json-ld', 'Event', '{\"a\": [1e999, NaN, -Infinity, 1.5]}')")
        sql.execute("INSERT INTO page_items VALUES (1, 1, 'json-ld', 'Event', '{torn')")
        sql.execute("INSERT INTO page_findings VALUES (1, 999, '', '', NULL)")
    home = ReadOnlyCrawl(path)
    with closing(home.sql):
        assert [item[2] for item in home.page_list.page_items(1)] == [{"a": [None, None, None, 1.5]}, {}]
    assert sum(one.findings for one in queries.read_overview(path).severities) == 5
    page = queries.read_page(path, 1)
    assert page is not None
    assert [one.check.id for one in page.findings] == ["test-long"]
