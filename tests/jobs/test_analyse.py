"""The analysis as a whole: it replaces what it said before, all at once, and says the same whatever way a crawl took."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import StoreError
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.coverage import META_KEY, decode, describe_skipped_checks
from tadoru.jobs.audit.run import analyse
from tadoru.jobs.audit.score import SCORE_VERSION, compute_score, score_change
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.model.finding import Severity
from tadoru.store.crawl.analysis import FindingCount, SiteFinding, SiteHealth
from tadoru.store.crawl.records import UNLINKED, Lease
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.jobs.sample_sites import (
    ORIGIN,
    Link,
    Page,
    Resource,
    SampleSite,
    SampleWriter,
    analysed,
    crawled,
    found,
    judge,
    site,
    sitemap,
    words,
)
from tests.jobs.site_triggers import MENU, SITE, TRIGGERS
from tests.support.clock import FakeClock

PROBLEMS = SampleSite(
    pages={
        "/": Page(links=["/a", "/b", "/c", "/gone", "/old"]),
        "/a": Page(title="x", text=words("same"), links=["/", "/b", "/gone", "/lost"]),
        "/b": Page(title="x", text=words("same"), links=["/", "/a", Link(to="/c", rel="nofollow")]),
        "/c": Page(title="x", canonical="/b", hreflang={"en": "/c", "de": "/a"}),
        "/old": Page(redirect="/older"),
        "/older": Page(redirect="/gone"),
    }
)  # fmt: skip


def contents(store: SqliteStore) -> dict[str, list[tuple[object, ...]]]:
    """What the analysis keeps, without ids."""
    return {
        "findings": store.sql.execute("SELECT url, check_id, detail, data, subject FROM findings ORDER BY 1, 2, 5").fetchall(),
        "scores": store.sql.execute(
            """SELECT p.url, s.inlinks, s.unique_inlinks, s.outlinks, s.external_outlinks, s.link_score, c.url
            FROM page_scores s JOIN pages p ON p.id = s.page_id LEFT JOIN pages c ON c.id = s.cluster_id ORDER BY 1"""
        ).fetchall(),
        "depths": store.sql.execute("SELECT url, depth FROM pages ORDER BY url").fetchall(),
        "meta": store.sql.execute("SELECT value FROM crawl_meta WHERE key = 'score'").fetchall(),
    }


async def test_analysing_twice_changes_nothing() -> None:
    store = await analysed(PROBLEMS)
    first = contents(store)
    assert len(first["findings"]) >= 10
    await judge(store)
    assert contents(store) == first


class Shuffled(SampleWriter):
    """Finishes pages one by one, in an order of its own."""

    def __init__(self, store: SqliteStore, sample: SampleSite, seed: int) -> None:
        super().__init__(store, sample)
        self._random = random.Random(seed)

    async def crawl(self) -> None:
        await self.begin()
        worker = await self._store.frontier.join(60.0)
        held: list[Lease] = []
        while held or await self._more(worker, held):
            lease = held.pop(self._random.randrange(len(held)))
            await self._store.frontier.finish(worker, [self.outcome(lease)], max_depth=None)
            await self._more(worker, held)
        await self._store.frontier.leave(worker)

    async def _more(self, worker: int, held: list[Lease]) -> bool:
        held += (await self._store.frontier.lease(worker, {}, new_hosts=9, per_host=50, limit=0)).leases
        return bool(held)


async def test_the_order_of_a_crawl_does_not_show_in_its_analysis() -> None:
    result = []
    for seed in range(4):
        store = SqliteStore(":memory:", FakeClock())
        await Shuffled(store, PROBLEMS, seed).crawl()
        await judge(store)
        order = [url for (url,) in store.sql.execute("SELECT url FROM pages ORDER BY id")]
        result.append((contents(store), tuple(order)))
    assert len({order for _, order in result}) > 1
    assert all(one == result[0][0] for one, _ in result)


async def test_findings_of_pages_stay_and_those_of_the_site_go() -> None:
    store = await analysed(PROBLEMS)
    store.sql.execute("UPDATE checks SET scope = 'page' WHERE id = 'title-duplicate'")
    kept = store.sql.execute("SELECT count(*) FROM findings WHERE check_id = 'title-duplicate'").fetchone()[0]
    store.sql.execute("DELETE FROM link_relations")
    await judge(store)
    assert kept == 2
    assert {check for check, _ in found(store)} >= {"content-duplicate"}
    assert store.sql.execute("SELECT count(*) FROM findings WHERE check_id = 'title-duplicate'").fetchone()[0] == kept
    assert "link-broken" not in {check for check, _ in found(store)}


async def test_others_see_the_new_analysis_at_once_or_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = str(tmp_path / "crawl.db")
    store = await crawled(PROBLEMS, name)
    await judge(store)
    before = contents(store)
    store.sql.execute("UPDATE pages SET title = 'another' WHERE url LIKE '%/a'")
    monkeypatch.setattr("tadoru.store.crawl.analysis._scores", _broken)
    with pytest.raises(RuntimeError):
        await judge(store)
    other = SqliteStore(name, FakeClock())
    assert contents(other) == before
    monkeypatch.undo()
    await judge(store)
    assert contents(other)["findings"] != before["findings"]
    await other.close()
    await store.close()


def _broken(view: object) -> None:
    raise RuntimeError("interrupted")


async def test_a_crawl_of_nothing_can_be_analysed() -> None:
    store = SqliteStore(":memory:", FakeClock())
    assert await judge(store) is None
    assert await store.meta.get("score") is None


async def test_a_crawl_that_was_stopped_tells_what_is_broken_but_not_what_is_missing() -> None:
    sample = site({"/a": Page(links=["/gone", "/z"]), "/z": Page(linked=False), "/lost": Page(linked=False)}, unfinished=True)
    result = found(await analysed(sample))
    assert ("link-broken", "/a") in result
    assert not {check for check, _ in result} & {"page-orphan", "inlinks-single", "inlinks-nofollow-only"}


NOT_JUDGED: dict[str, tuple[SampleSite, dict[str, int]]] = {
    "a page that waits": (site(unfinished=True), {"pages missing": 1}),
    "one skipped page of many": (
        site({f"/{number}": Page() for number in range(60)}, skipped="/2020/01/01"),
        {"few pages missing": 1},
    ),
    "a sitemap that was not read": (
        site(sitemaps=[sitemap(), sitemap("/more.xml", status="failed")], entries={"/sitemap.xml": ["/"]}),
        {"sitemaps missing": 1},
    ),
    "external links": (site({"/a": Page(links=["https://other.example/", "/"])}), {"external URLs missing": 1}),
}


@pytest.mark.parametrize("case", NOT_JUDGED)
async def test_what_could_not_be_judged_is_said(case: str) -> None:
    sample, expected = NOT_JUDGED[case]
    store = await analysed(sample)
    skipped = decode(await store.meta.get(META_KEY))
    assert {one.reason: one.count for one in skipped if one.reason != "fragments missing"} == expected
    assert all(one.checks and set(one.checks) <= set(SITE_CHECKS) for one in skipped)
    assert len(list(describe_skipped_checks(skipped, translator("ja")))) == len(skipped)


async def test_one_skipped_page_of_many_does_not_hide_an_orphan() -> None:
    pages = {f"/{number}": Page() for number in range(60)} | {"/lost": Page(linked=False)}
    assert ("page-orphan", "/lost") in found(await analysed(site(pages, skipped="/2020/01/01")))


async def recrawl(store: SqliteStore, path: str, page: Page, sample: SampleSite) -> None:
    """The page is asked for once more and answers otherwise."""
    store.sql.execute("UPDATE pages SET status = 'queued' WHERE url = ?", (ORIGIN + path,))
    store.sql.execute("UPDATE hosts SET queued = queued + 1")
    store.db.count(store.sql, {"queued": 1, "completed": -1})
    worker = await store.frontier.join(60.0)
    (lease,) = (await store.frontier.lease(worker, {}, new_hosts=9, per_host=9, limit=0)).leases
    changed = SampleSite(pages={**sample.pages, path: page})
    await store.frontier.finish(worker, [SampleWriter(store, changed).outcome(lease)], max_depth=None)
    await store.frontier.leave(worker)


async def test_depths_are_put_right_when_a_link_has_gone() -> None:
    links = {"/": ["/a", "/b"], "/a": ["/c"], "/b": ["/d"], "/c": [], "/d": ["/c"]}
    sample = SampleSite(pages={path: Page(links=targets) for path, targets in links.items()})
    store = await analysed(sample)
    depth = dict(store.sql.execute("SELECT url, depth FROM pages"))
    assert depth[f"{ORIGIN}/c"] == 2
    await recrawl(store, "/a", Page(links=[]), sample)
    await judge(store)
    assert dict(store.sql.execute("SELECT url, depth FROM pages"))[f"{ORIGIN}/c"] == 3
    await recrawl(store, "/d", Page(links=[]), sample)
    await judge(store)
    assert dict(store.sql.execute("SELECT url, depth FROM pages"))[f"{ORIGIN}/c"] == UNLINKED
    assert ("page-orphan", "/c") in found(store)


async def test_the_crawl_that_goes_on_knows_the_new_depths() -> None:
    links = {"/": ["/a", "/b"], "/a": ["/c"], "/b": [], "/c": []}
    sample = SampleSite(pages={path: Page(links=targets) for path, targets in links.items()})
    store = await analysed(sample)
    await recrawl(store, "/", Page(links=["/a"]), sample)
    await judge(store)
    assert dict(store.sql.execute("SELECT url, depth FROM pages"))[f"{ORIGIN}/b"] == UNLINKED
    await recrawl(store, "/c", Page(links=["/b"]), sample)
    assert dict(store.sql.execute("SELECT url, depth FROM pages"))[f"{ORIGIN}/b"] == 3


async def test_where_a_start_no_longer_redirects_is_no_start() -> None:
    sample = SampleSite(pages={"/": Page(redirect="/home"), "/home": Page(links=["/a"]), "/a": Page(links=["/home"])})
    store = await crawled(sample)
    store.sql.execute("UPDATE pages SET is_seed = 1, hops = 1 WHERE url = ?", (f"{ORIGIN}/home",))
    await judge(store)
    assert dict(store.sql.execute("SELECT url, depth FROM pages"))[f"{ORIGIN}/a"] == 1
    await recrawl(store, "/", Page(links=["/a"]), sample)
    await judge(store)
    assert dict(store.sql.execute("SELECT url, depth FROM pages"))[f"{ORIGIN}/home"] == 2
    assert store.sql.execute("SELECT url FROM pages WHERE is_seed").fetchall() == [(f"{ORIGIN}/",)]


async def test_what_a_page_said_before_it_broke_no_longer_counts() -> None:
    sample = SampleSite(pages={"/": Page(links=["/a"]), "/a": Page(links=["/b"]), "/b": Page(links=[])})
    store = await analysed(sample)
    store.sql.execute("UPDATE pages SET status = 'error', last_error_type = 'network_error' WHERE url LIKE '%/a'")
    await judge(store)
    rows = store.sql.execute("SELECT url, inlinks FROM audited_pages WHERE url LIKE '%/b'").fetchall()
    assert rows == [(f"{ORIGIN}/b", 0)]


async def test_pages_have_their_counts_and_scores() -> None:
    pages = {
        "/": Page(links=["/a", "/a", "/b", "https://other.example/", "/"]),
        "/a": Page(links=["/"]),
        "/b": Page(links=["/a"]),
    }
    store = await analysed(SampleSite(pages=pages))
    rows = store.sql.execute(
        "SELECT url, inlinks, unique_inlinks, outlinks, external_outlinks, link_score FROM audited_pages ORDER BY url"
    )
    result = {url.removeprefix(ORIGIN): numbers for url, *numbers in rows}
    assert {path: numbers[:4] for path, numbers in result.items()} == {"/": [1, 1, 3, 1], "/a": [3, 2, 1, 0], "/b": [1, 1, 1, 0]}
    assert max(numbers[4] for numbers in result.values()) == 100
    assert all(0 <= numbers[4] <= 100 for numbers in result.values())


async def test_near_duplicates_share_the_smallest_id_of_their_cluster() -> None:
    text = words("near")
    store = await analysed(site({"/a": Page(text=text), "/b": Page(text=f"{text} and a little more"), "/c": Page(text=text)}))
    rows = dict(store.sql.execute("SELECT url, cluster_id FROM audited_pages"))
    ids = dict(store.sql.execute("SELECT url, id FROM pages"))
    alike = [f"{ORIGIN}/{name}" for name in "abc"]
    assert {rows[url] for url in alike} == {min(ids[url] for url in alike)}
    assert rows[f"{ORIGIN}/d"] is None
    near = {path for check, path in found(store) if check == "content-near-duplicate"}
    assert near == {"/a", "/b", "/c"}
    assert {path for check, path in found(store) if check == "content-duplicate"} == {"/a", "/c"}


async def test_the_score_is_kept_with_the_crawl_and_its_last_run() -> None:
    store = await crawled(TRIGGERS["title-duplicate"].sample)
    await store.runs.begin("crawl", {}, "1")
    assert await judge(store) == 96.8
    assert await store.meta.get("score") == "96.8"
    assert [(run.score, run.score_version) for run in await store.runs.all()] == [(96.8, SCORE_VERSION)]


def counted(severity: Severity, *, check: str = "check", **counts: Any) -> FindingCount:
    return FindingCount(check, severity, **counts)


ERROR, WARNING, NOTICE, INFO = Severity
SCORES: dict[str, tuple[SiteHealth, float | None]] = {
    "no page": (SiteHealth(0), None),
    "all is well": (SiteHealth(4), 100.0),
    "an error on every page": (SiteHealth(4, findings=(counted(ERROR, pages=4),)), 85.0),
    "an error on a quarter of the pages": (SiteHealth(4, findings=(counted(ERROR, pages=1),)), 92.5),
    "a warning on every page": (SiteHealth(4, findings=(counted(WARNING, pages=4),)), 95.0),
    "a notice on every page": (SiteHealth(4, findings=(counted(NOTICE, pages=4),)), 98.5),
    "information costs nothing": (SiteHealth(4, findings=(counted(INFO, pages=4),)), 100.0),
    "checks multiply": (SiteHealth(4, findings=(counted(ERROR, pages=4), counted(ERROR, pages=4))), 72.2),
    "a resource counts as a page": (SiteHealth(100, findings=(counted(WARNING, others=1),)), 99.5),
    "more broken URLs than pages": (SiteHealth(4, findings=(counted(ERROR, others=9),)), 85.0),
    "a finding about the site": (SiteHealth(4, findings=(counted(ERROR, is_site=True),)), 85.0),
    "a fact of the site with its share": (SiteHealth(9, findings=(counted(WARNING, is_site=True, percent=64),)), 96.0),
    "links to four redirects on every page": (
        SiteHealth(100, causes={"link-to-redirect": 4}, findings=(counted(NOTICE, check="link-to-redirect", pages=100),)),
        99.7,
    ),
    "a broken link counts by its target": (SiteHealth(4, findings=(counted(ERROR, check="link-broken", pages=4),)), 100.0),
    "half of the pages hidden": (SiteHealth(4, hidden=2), 100.0),
    "three quarters hidden": (SiteHealth(4, hidden=3), 55.0),
    "all hidden": (SiteHealth(4, hidden=4), 10.0),
    "blocked by robots.txt": (SiteHealth(4, findings=(counted(ERROR, check="robots-txt-blocks-all", is_site=True),)), 8.5),
}


@pytest.mark.parametrize("case", SCORES)
def test_the_score_is(case: str) -> None:
    health, expected = SCORES[case]
    assert compute_score(health) == expected


async def test_errors_and_redirects_are_no_pages_and_a_broken_url_counts_once() -> None:
    redirects = {"/old": Page(redirect="/older"), "/older": Page(redirect="/b", linked=False)}
    store = await analysed(site({"/a": Page(title="x", links=["/gone"]), "/b": Page(title="x", links=["/gone"]), **redirects}))
    health = await store.analysis.health(store.analysis.site_view(likeness=0.9))
    assert health.documents == 5
    counts = {count.check_id: (count.pages, count.others) for count in health.findings}
    assert counts == {
        "title-duplicate": (2, 0), "link-broken": (2, 0), "redirect-chain": (0, 1), "link-to-redirect": (3, 0),
    }  # fmt: skip
    assert health.causes["link-to-redirect"] == 1


async def test_the_files_of_a_site_are_no_pages() -> None:
    store = await analysed(site({"/notes": Page(type="text/plain"), "/paper": Page(type="application/pdf")}))
    assert (await store.analysis.health(store.analysis.site_view(likeness=0.9))).documents == 5


HIDDEN = {
    "a site that is noindex throughout": {path: Page(noindex=True) for path in MENU},
    "a site that is canonicalised to another host": {path: Page(canonical=f"{SITE}{path}") for path in MENU},
}


@pytest.mark.parametrize("case", HIDDEN)
async def test_search_engines_do_not_show(case: str) -> None:
    store = await crawled(site(HIDDEN[case]))
    assert (await judge(store) or 0) < 12


async def test_a_script_that_every_page_lacks_costs_little() -> None:
    pages = {f"/{number}": Page(resources=["/jquery.js"]) for number in range(100)}
    store = await crawled(site(pages, resources={"/jquery.js": Resource(kind="script", status=404)}))
    assert (await judge(store) or 0) > 95


async def test_scores_of_different_models_are_not_compared() -> None:
    store = await crawled(site())
    await store.runs.begin("crawl", {}, "1")
    await judge(store)
    [now] = await store.runs.all()
    assert score_change(replace(now, score=90.0), now) == 10.0
    assert score_change(replace(now, score=90.0, score_version=1), now) is None
    store.sql.execute("UPDATE runs SET score_version = NULL")
    assert [(run.score, run.score_version) for run in await store.runs.all()] == [(100.0, 1)]


async def test_a_finding_of_a_check_that_is_not_installed_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    store = await crawled(site())
    store.analysis.begin_site_findings()
    with pytest.raises(KeyError):
        store.analysis.put_site_findings([SiteFinding("no-such-check", 1)])


async def test_of_several_findings_about_one_subject_the_last_one_counts() -> None:
    store = await crawled(site())
    check = min(store.analysis.begin_site_findings())
    store.analysis.put_site_findings([SiteFinding(check, 0, detail, subject="x\x00") for detail in ("first", "last")])
    await store.analysis.keep_analysis(store.analysis.site_view(likeness=0.9))
    assert store.sql.execute("SELECT subject, detail FROM page_findings WHERE page_id = 0").fetchall() == [("x\ufffd", "last")]


async def test_a_locked_database_is_one_sentence(tmp_path: Path) -> None:
    name = str(tmp_path / "crawl.db")
    store = await crawled(site(), name)
    store = SqliteStore(name, FakeClock(), patience=0.0)
    other = SqliteStore(name, FakeClock())
    other.sql.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked by another process"):
        await judge(store)
    other.sql.execute("ROLLBACK")
    assert await judge(store) == 100.0
    await other.close()
    await store.close()


async def test_each_step_is_reported() -> None:
    from tadoru.jobs.audit.context import Limits
    from tadoru.jobs.audit.run import analyse
    from tadoru.jobs.audit.site_checks import GROUPS, SITE_CHECKS

    result: list[str] = []
    note: Callable[[str], None] = result.append
    await analyse(await crawled(site()), Limits(SITE_CHECKS.values()), notify=note)
    assert result == [*[group.name for group in GROUPS], "written", "scored"]


async def test_pages_that_another_worker_adds_meanwhile_are_left_to_the_next_analysis(tmp_path: Path) -> None:
    name = str(tmp_path / "crawl.db")
    store = await crawled(PROBLEMS, name)
    await judge(store)
    before = contents(store)

    def add(_: str) -> None:
        with closing(sqlite3.connect(name)) as other, other:
            number = other.execute("SELECT max(id) + 1 FROM pages").fetchone()[0]
            columns = "id, url, status, host_id, depth, added_at, status_code"
            page = f"INSERT INTO pages({columns}) VALUES (?, ?, 'completed', 1, 1, '', 200)"
            other.execute(page, (number, f"{ORIGIN}/added/{number}"))
            other.execute("INSERT INTO link_relations(source_id, position, target_id, kind) VALUES (1, ?1, ?1, 'a')", (number,))
            other.execute("INSERT INTO page_details(page_id, indexable, indexability) VALUES (?, 1, 'indexable')", (number,))
            other.execute("INSERT INTO page_findings(page_id, check_number, subject, detail) VALUES (?, 1, '', '')", (number,))

    await analyse(store, Limits(SITE_CHECKS.values()), notify=lambda step: add(step) if step in ("duplicates", "links") else None)
    after = contents(store)
    assert [row for row in after["findings"] if "/added/" not in str(row[0])] == before["findings"]
    assert after["meta"] == before["meta"]
