"""Findings and the links that lead to them, as reports read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.i18n.translation import translator
from tadoru.model.finding import Severity, Threshold
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.jobs.audit_crawls import BROKEN, CALM, HOME, LONG, Crawl, small
from tests.support.clock import FakeClock


@pytest.fixture(params=[True, False], ids=["settled", "killed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteStore:
    return SqliteStore(str(small(tmp_path / "small.db", settled=request.param)), FakeClock())


def test_the_catalogue_comes_back_as_it_went_in(store: SqliteStore) -> None:
    found = {each.check.id: each for each in store.findings.stored_checks()}
    assert found[LONG.id].check == LONG
    assert found[LONG.id].scope == "page"
    assert found[BROKEN.id].check.threshold is None


def test_a_threshold_that_a_person_chose_is_told(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "chosen.db", ())
    crawl.save()
    store = SqliteStore(str(tmp_path / "chosen.db"), FakeClock())
    store.sql.execute("INSERT INTO checks VALUES (7, 'x', 'site', 'g', 'info', 'T', 'W', 'F', '', '', '', 65, 'characters')")
    (only,) = store.findings.stored_checks()
    assert only.check.threshold == Threshold(65, "characters")
    assert (only.number, only.scope, only.check.severity, only.check.title) == (7, "site", Severity.INFO, "T")
    assert translator("ja").check(only.check) == ("T", "W", "F"), "a text without a translation is shown in English"


def test_links_that_lead_to_a_page_come_with_their_words(store: SqliteStore) -> None:
    assert [(link.source_url.removeprefix(HOME), link.text) for link in store.findings.inlinks(3, 9)] == [
        ("", "Who we are"),
        ("about", "Our team"),
    ]
    assert [link.text for link in store.findings.inlinks(3, 1)] == ["Who we are"]
    assert store.findings.inlinks(6, 9)[0].rel == "nofollow"


def test_they_come_by_depth_and_url_whatever_the_order_they_were_found_in(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "order.db")
    target = crawl.page("", 0)
    for name, depth in (("z", 2), ("b", 1), ("a", 2), ("c", 1)):
        crawl.link(crawl.page(name, depth), target, name)
    store = SqliteStore(str(crawl.save()), FakeClock())
    assert [link.text for link in store.findings.inlinks(target, 3)] == ["b", "c", "a"]


def test_a_page_that_links_twice_does_not_hide_another_one_and_a_page_s_own_links_come_last(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "twice.db")
    target = crawl.page("", 0)
    for source in (target, crawl.page("a", 1), crawl.page("b", 1)):
        crawl.link(source, target, "first")
        crawl.link(source, target, "second")
    store = SqliteStore(str(crawl.save()), FakeClock())
    found = [(link.source_url.removeprefix(HOME), link.text) for link in store.findings.inlinks(target, 9)]
    assert found == [("a", "first"), ("b", "first"), ("a", "second"), ("b", "second"), ("", "first"), ("", "second")]


def test_links_are_counted_where_they_were_not_yet(store: SqliteStore) -> None:
    assert store.findings.inlink_count(3) == 2
    store.sql.execute("DELETE FROM page_scores")
    assert store.findings.inlink_count(3) == 2


def test_reading_a_killed_crawl_leaves_it_as_it_was(tmp_path: Path) -> None:
    path = small(tmp_path / "killed.db", settled=False)
    before = path.read_bytes()
    store = SqliteStore(str(path), FakeClock())
    with store.snapshot():
        store.findings.inlinks(3, 9)
    store.sql.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "key, there",
    [
        pytest.param((HOME + "about/team", BROKEN.id, ""), True, id="there"),
        pytest.param((HOME + "about", BROKEN.id, ""), False, id="on another page"),
        pytest.param((HOME + "nowhere", BROKEN.id, ""), False, id="on no page"),
        pytest.param((HOME + "about/team", "test-unknown", ""), False, id="of an unknown check"),
        pytest.param((HOME + "about/team", BROKEN.id, "x"), False, id="about another subject"),
        pytest.param((HOME + "sitemap.xml", CALM.id, HOME + "sitemap.xml"), True, id="about no page"),
        pytest.param((HOME + "other.xml", CALM.id, HOME + "sitemap.xml"), False, id="about no page, with another URL"),
    ],
)
def test_a_finding_is_recognised(store: SqliteStore, key: tuple[str, str, str], there: bool) -> None:
    assert store.findings.has_finding(key) is there


def test_every_finding_is_recognised_by_its_key(store: SqliteStore) -> None:
    keys = list(store.findings.finding_keys())
    assert len(keys) == 5
    assert all(store.findings.has_finding(key) for key in keys)


async def test_findings_of_an_earlier_run_are_recognised(store: SqliteStore) -> None:
    run = await store.runs.begin("crawl", {}, "")
    await store.runs.end(run, "complete", None)
    await store.runs.begin_recrawl({}, "")
    store.sql.execute("DELETE FROM page_findings")
    assert store.findings.has_finding((HOME + "about/team", BROKEN.id, ""), run)
    assert not store.findings.has_finding((HOME + "about/team", BROKEN.id, ""))
    assert not store.findings.has_finding((HOME + "about", BROKEN.id, ""), run)
    assert len(list(store.findings.finding_keys(run))) == 5
    assert list(store.findings.finding_keys()) == []
