"""Each site check finds what it is for, and only there; and is silent where it only looks so."""

from __future__ import annotations

import json

import pytest

from tadoru.i18n.translation import translator
from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.run import analyse
from tadoru.jobs.audit.site_checks import GROUPS, MERGED_CHECKS, SITE_CHECKS
from tadoru.model.finding import Check, Severity
from tests.jobs.sample_sites import ORIGIN, Page, Resource, analysed, crawled, found, judge, site
from tests.jobs.site_silences import SILENT
from tests.jobs.site_triggers import MENU, TRIGGERS


def test_every_check_has_a_site_that_triggers_it() -> None:
    assert set(TRIGGERS) == set(SITE_CHECKS) - set(MERGED_CHECKS)


def test_no_two_site_checks_have_one_id() -> None:
    assert [check.id for group in GROUPS for check in group.checks] == list(SITE_CHECKS)


async def test_a_site_without_fault_has_no_findings_and_full_health() -> None:
    store = await analysed(site())
    assert found(store) == set()
    assert await store.meta.get("score") == "100.0"


@pytest.mark.parametrize("check", TRIGGERS)
async def test_the_check_finds_what_it_is_for_and_only_there(check: str) -> None:
    store = await analysed(TRIGGERS[check].sample)
    assert {where for name, where in found(store) if name == check} == TRIGGERS[check].where


@pytest.mark.parametrize("case", SILENT)
async def test_the_check_is_silent_about(case: str) -> None:
    check, sample = SILENT[case]
    assert check in SITE_CHECKS
    store = await analysed(sample)
    assert not {where for name, where in found(store) if name == check}


@pytest.mark.parametrize("check", SITE_CHECKS.values(), ids=lambda check: check.id)
def test_a_check_has_texts_in_both_languages(check: Check) -> None:
    english, japanese = translator("en").check(check), translator("ja").check(check)
    for text in english:
        assert text[0].isupper() or text.startswith(("hreflang", "robots", "rel="))
    for text in japanese:
        assert any(ord(sign) > 0x3000 for sign in text)
    assert all(text.endswith(".") for text in english[1:])
    assert all(text.endswith("。") for text in japanese[1:])


def test_ids_are_those_of_no_page_check() -> None:
    assert set(SITE_CHECKS).isdisjoint(CheckCatalogue().checks)


def test_every_severity_is_used_with_measure() -> None:
    severities = [check.severity for check in SITE_CHECKS.values()]
    assert severities.count(Severity.ERROR) < len(severities) / 3


async def test_chapters_of_a_manual_with_the_same_title_are_duplicates_although_they_name_their_neighbours() -> None:
    same = {"title": "Introduction", "description": "About it", "h1": "Introduction"}
    chapters = {
        "/a": Page(next="/b", **same),
        "/b": Page(prev="/a", next="/c"),
        "/c": Page(prev="/b", next="/d", **same),
        "/d": Page(prev="/c"),
    }
    store = await analysed(site(chapters, entries={"/sitemap.xml": ["/", "/a", "/b", "/c"]}))
    checks = ("title-duplicate", "description-duplicate", "h1-duplicate")
    assert found(store) == {(check, path) for check in checks for path in ("/a", "/c")} | {("sitemap-page-missing", "/d")}


async def test_a_list_that_shares_its_title_with_another_page_is_reported_there() -> None:
    pages = {"/a": Page(title="x", next="/a/2"), "/a/2": Page(title="x", prev="/a"), "/b": Page(title="x")}
    store = await analysed(site(pages))
    rows = store.sql.execute("SELECT url, data ->> 'count' FROM findings WHERE check_id = 'title-duplicate'").fetchall()
    assert dict(rows) == {f"{ORIGIN}/a": 1, f"{ORIGIN}/a/2": 1, f"{ORIGIN}/b": 2}


async def test_a_finding_names_some_of_the_others_and_counts_them_all() -> None:
    titles = {f"/{number}": Page(title="Bread") for number in range(9)}
    store = await analysed(site(titles))
    rows = store.sql.execute("SELECT url, detail, data FROM findings WHERE check_id = 'title-duplicate' ORDER BY url").fetchall()
    assert len(rows) == 9
    url, detail, data = rows[0]
    assert (url, detail) == (f"{ORIGIN}/0", "Bread")
    assert json.loads(data) == {"count": 8, "examples": [f"{ORIGIN}/{number}" for number in (1, 2, 3, 4, 5)]}


async def test_a_broken_link_is_reported_with_its_targets() -> None:
    store = await analysed(site({"/a": Page(links=["/", "/gone", "/gone"]), "/b": Page(links=["/", "/gone", "/lost"])}))
    rows = store.sql.execute("SELECT check_id, url, data FROM findings WHERE check_id GLOB '*broken*' ORDER BY check_id, url")
    reported = {(check, url.removeprefix(ORIGIN)): json.loads(data) for check, url, data in rows}
    assert reported == {
        ("link-broken", "/a"): {"count": 1, "examples": [f"{ORIGIN}/gone"]},
        ("link-broken", "/b"): {"count": 2, "examples": [f"{ORIGIN}/gone", f"{ORIGIN}/lost"]},
    }


async def test_a_link_to_a_redirect_that_ends_in_an_error_is_broken() -> None:
    store = await analysed(site({"/a": Page(links=["/", "/old"]), "/old": Page(redirect="/gone", linked=False)}))
    assert ("link-broken", "/a") in found(store)
    assert ("link-to-redirect", "/a") not in found(store)


async def test_a_page_that_redirects_to_itself_is_a_loop_and_a_link_to_it_broken() -> None:
    store = await analysed(site({"/a": Page(links=["/", "/me"]), "/me": Page(redirect="/me", linked=False)}))
    assert found(store) >= {("redirect-loop", "/me"), ("link-broken", "/a")}


async def test_a_link_into_a_loop_is_broken_wherever_the_loop_was_noticed() -> None:
    store = await analysed(TRIGGERS["redirect-loop"].sample)
    assert found(store) >= {("link-broken", "/a"), ("redirect-loop", "/1")}
    assert ("link-to-redirect", "/a") not in found(store)


async def test_a_missing_script_is_one_finding_with_its_pages() -> None:
    pages = {path: Page(resources=["/jquery.js", "/fine.js"]) for path in MENU}
    script = {"kind": "script", "type": "text/javascript"}
    resources = {"/jquery.js": Resource(status=404, **script), "/fine.js": Resource(**script)}
    store = await analysed(site(pages, resources=resources))
    rows = store.sql.execute("SELECT url, detail, data FROM findings WHERE check_id = 'resource-broken'").fetchall()
    [(url, detail, data)] = rows
    assert (url, detail) == (f"{ORIGIN}/jquery.js", "404")
    assert json.loads(data) == {"pages": 5, "examples": [f"{ORIGIN}{path}" for path in MENU]}


async def test_a_fact_of_most_pages_is_one_finding_with_their_share() -> None:
    facts = {"server-version-leaked": ("Server: nginx/1.2", {"count": 1}), "html-lang-missing": ""}
    pages = {path: Page(facts=facts) for path in MENU[:4]} | {"/d": Page(facts={"html-viewport-missing": ""})}
    store = await analysed(site(pages))
    assert found(store) == {("server-version-leaked", "/"), ("html-lang-missing", "/"), ("html-viewport-missing", "/d")}
    rows = store.sql.execute("SELECT page_id, detail, data FROM findings WHERE check_id = 'server-version-leaked'").fetchall()
    [(page, detail, data)] = rows
    assert (page, detail) == (0, "Server: nginx/1.2")
    examples = [f"{ORIGIN}{path}" for path in MENU[:4]]
    assert json.loads(data) == {"count": 4, "pages": 5, "percent": 80, "examples": examples}


async def test_short_pages_with_the_same_bytes_are_duplicates_unless_a_script_fills_them() -> None:
    sample = site({"/a": Page(text="Soon there is bread."), "/b": Page(text="Soon there is bread."), "/c": Page(text="Soon.")})
    store = await crawled(sample)
    store.sql.execute(
        "UPDATE page_details SET body_hash = 'same' WHERE page_id IN (SELECT id FROM pages WHERE url GLOB '*/[abc]')"
    )
    store.sql.execute("UPDATE page_details SET body_hash = 'other' WHERE page_id = (SELECT id FROM pages WHERE url GLOB '*/c')")
    await judge(store)
    assert {where for check, where in found(store) if check == "content-duplicate"} == {"/a", "/b"}
    await store.checks.install([CheckCatalogue().checks["content-needs-javascript"]], "page")
    store.sql.execute(
        """INSERT INTO page_findings(page_id, check_number) SELECT p.id, c.number FROM pages p, checks c
        WHERE c.id = 'content-needs-javascript' AND p.url GLOB '*/[ab]'"""
    )
    await judge(store)
    assert "content-duplicate" not in {check for check, _ in found(store)}


async def test_a_check_that_is_off_runs_when_it_is_enabled() -> None:
    store = await crawled(TRIGGERS["inlinks-single"].sample)
    await analyse(store, Limits(SITE_CHECKS.values()))
    assert "inlinks-single" not in {check for check, _ in found(store)}
    await analyse(store, Limits(SITE_CHECKS.values()), enabled=["inlinks-single"])
    assert ("inlinks-single", "/z") in found(store)


async def test_a_page_that_asks_not_to_follow_its_links_asks_it_for_each() -> None:
    store = await analysed(site({"/a": Page(links=["/", "/z"], nofollow=True), "/z": Page(linked=False)}))
    assert {("inlinks-nofollow-only", "/z"), ("inlinks-nofollow-mixed", "/")} <= found(store)


async def test_a_threshold_can_be_chosen() -> None:
    sample = TRIGGERS["page-deep"].sample
    assert ("page-deep", "/7") not in found(await analysed(sample, page_deep=8))
    assert ("page-deep", "/3") in found(await analysed(sample, page_deep=3))


async def test_a_check_that_the_crawl_is_not_checked_by_is_left_out() -> None:
    store = await crawled(TRIGGERS["title-duplicate"].sample)
    store.sql.execute("DELETE FROM checks WHERE id = 'title-duplicate'")
    await judge(store)
    assert found(store) == set()
