"""What an audit keeps of a page: written with the page, found by its names, and gone without a trace when it is replaced."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import pytest

from tadoru.model.finding import Finding, Severity, define
from tadoru.model.web import Link
from tadoru.store.crawl.connection import json_text
from tadoru.store.crawl.records import (
    AlternateUrl,
    CompletedOutcome,
    FailedOutcome,
    NamedPage,
    Outcome,
    PageFacts,
    PageRecords,
    RefusedOutcome,
    ResourceResult,
    ResourceUse,
    SitemapRecord,
    StructuredItem,
    UnchangedOutcome,
    Validators,
)
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import decided, done, lease, lease_one, started, target, to, url
from tests.support.clock import FakeClock

_define = partial(define, en=("Words",) * 3, ja=("言葉",) * 3, group="titles")
CHECK = _define("title-missing", Severity.ERROR)
OTHER = _define("title-too-long", Severity.NOTICE)
SITE = _define("title-duplicate", Severity.WARNING)
PICTURE = ResourceUse(url("loaf.png"), "a.example", "img", internal=True, wanted=True)
SCRIPT = ResourceUse("https://b.example/a.js", "b.example", "script", internal=False, wanted=False)
FACTS = PageFacts(status_code=200, title="T", content_hash="ff", canonical_url=url("c"), ttfb_ms=1.0)
RECORDS = PageRecords(
    indexable=True,
    indexability="indexable",
    findings=(Finding(CHECK.id, url("x"), "☃", {"count": 2, "examples": ("a", "b")}),),
    http_version="1.1",
    address="192.0.2.1",
    transferred_bytes=500,
    body_hash="aa",
    etag='"1"',
    last_modified_field="Wed, 21 Oct 2015 07:28:00 GMT",
    headers=(("Content-Type", "text/html"), ("X-Note", "ü"), ("x-note", "again")),
    charset="utf-8",
    language="en",
    title_length=1,
    title_pixels=12,
    description_length=3,
    description_pixels=30,
    h1="Bread",
    word_count=120,
    text_ratio=0.25,
    canonical_http=url("h"),
    x_robots_tag="noarchive",
    next_url=url("n"),
    prev_url=url("p"),
    sketch=b"\x00\xff",
    headings=((1, "Bread"), (2, "Crust")),
    images=(("/loaf.png", "A loaf", "640", "480", "lazy"), ("/no-alt.png", None, "", "", "")),
    directives=(("meta", "robots", "noarchive", ""), ("header", "googlebot", "max-snippet", "50")),
    rendering={"differences": {"title": ["a", "b"]}},
    extracted={"price": ["4.80", "5.20"]},
    hreflang=(AlternateUrl("de", url("de"), "html"), AlternateUrl("fr", url("fr"), "http")),
    items=(StructuredItem("json-ld", "Product", {"name": "Bread"}),),
    body=zlib.compress(b"<html>"),
)
PLAIN = PageRecords(indexable=True, indexability="indexable")


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:", FakeClock())
    await store.checks.install([CHECK, OTHER], "page")
    await store.checks.install([SITE], "site")
    yield store
    await store.close()


async def answered(
    store: SqliteStore,
    worker: int,
    records: PageRecords,
    *,
    facts: PageFacts = FACTS,
    links: Sequence[Link] = (),
    resources: tuple[ResourceUse, ...] = (),
) -> None:
    outcome = CompletedOutcome(
        lease=await lease_one(store, worker),
        facts=facts,
        records=records,
        links=links,
        targets=decided(*links),
        resources=resources,
        anchors=["top"],
    )
    assert await store.frontier.finish(worker, [outcome], max_depth=None) == 1


def select(store: SqliteStore, what: str) -> list[tuple[Any, ...]]:
    return store.sql.execute(f"SELECT {what}").fetchall()


VIEWS = {
    "findings": (
        "url, check_id, check_group, severity, title, subject, detail, scope FROM findings",
        [(url("x"), "title-missing", "titles", "error", "Words", "", "☃", "page")],
    ),
    "response_headers": (
        "name, value FROM response_headers ORDER BY position",
        [("content-type", "text/html"), ("x-note", "ü"), ("x-note", "again")],
    ),
    "headings": ("level, text FROM headings ORDER BY position", [(1, "Bread"), (2, "Crust")]),
    "images": (
        "src, alt, width, height, loading FROM images ORDER BY position",
        [("/loaf.png", "A loaf", "640", "480", "lazy"), ("/no-alt.png", None, "", "", "")],
    ),
    "directives": (
        "source, agent, name, value FROM directives",
        [("meta", "robots", "noarchive", ""), ("header", "googlebot", "max-snippet", "50")],
    ),
    "extractions": ("name, value FROM extractions ORDER BY position", [("price", "4.80"), ("price", "5.20")]),
    "hreflang": (
        "language, alternate_url, source FROM hreflang ORDER BY language",
        [("de", url("de"), "html"), ("fr", url("fr"), "http")],
    ),
    "structured_data": ("syntax, type, properties FROM structured_data", [("json-ld", "Product", '{"name":"Bread"}')]),
    "canonicals": ("canonical_html, canonical_http FROM canonicals", [(url("c"), url("h"))]),
    "text_statistics": (
        "word_count, text_ratio, language, charset, title_length, title_pixels, description_length, description_pixels "
        "FROM text_statistics",
        [(120, 0.25, "en", "utf-8", 1, 12, 3, 30)],
    ),
    "page_resources": (
        "resource_url, kind, status FROM page_resources ORDER BY position",
        [(PICTURE.url, "img", "queued"), (SCRIPT.url, "script", "discovered")],
    ),
    "audited_pages": (
        "url, indexable, indexability, h1, x_robots_tag, body_hash, content_hash, transferred_bytes, http_version, depth "
        "FROM audited_pages",
        [(url("x"), 1, "indexable", "Bread", "noarchive", "aa", "ff", 500, "1.1", 0)],
    ),
}


@pytest.mark.parametrize("view", VIEWS)
async def test_what_is_kept_of_a_page_is_found_by_its_name(store: SqliteStore, view: str) -> None:
    await answered(store, await started(store, "x"), RECORDS, resources=(PICTURE, SCRIPT))
    what, expected = VIEWS[view]
    assert select(store, what) == expected


async def test_evidence_and_bodies_are_kept_as_they_were_given(store: SqliteStore) -> None:
    await answered(store, await started(store, "x"), RECORDS)
    [(data,)] = select(store, "data FROM findings")
    assert json.loads(data) == {"count": 2, "examples": ["a", "b"]}
    [(body,)] = select(store, "body FROM bodies")
    assert zlib.decompress(body) == b"<html>"
    assert select(store, "sketch FROM page_details") == [(b"\x00\xff",)]


async def test_what_is_empty_takes_no_room(store: SqliteStore) -> None:
    await answered(store, await started(store, "x"), PLAIN)
    columns = "headers, headings, images, directives, rendering, extracted, sketch, etag"
    assert select(store, f"{columns} FROM page_details") == [(None,) * 8]
    assert select(store, "count(*) FROM bodies") == [(0,)]


async def test_the_next_crawl_is_told_what_a_page_was_sent_with(store: SqliteStore) -> None:
    await answered(store, await started(store, "x"), RECORDS)
    assert await store.graph.validators(1) == Validators('"1"', "Wed, 21 Oct 2015 07:28:00 GMT")
    assert await store.graph.validators(99) == Validators(None, None)


async def test_only_a_page_that_was_sent_can_be_unchanged(store: SqliteStore) -> None:
    """A redirect that answers 304 would have lost where it leads."""
    worker = await started(store, "x")
    moved = CompletedOutcome(
        lease=await lease_one(store, worker),
        facts=PageFacts(status_code=301),
        redirect=target("y"),
        records=RECORDS,
    )
    await store.frontier.finish(worker, [moved], max_depth=None)
    assert await store.graph.validators(1) == Validators(None, None)


async def test_a_resource_of_many_pages_is_one_and_each_use_of_it_is_known(store: SqliteStore) -> None:
    worker = await started(store, "x", "y")
    for _ in range(2):
        await answered(store, worker, PLAIN, resources=(PICTURE,))
    assert select(store, "url, status FROM resources") == [(PICTURE.url, "queued")]
    assert select(store, "url FROM page_resources ORDER BY url") == [(url("x"),), (url("y"),)]


async def test_what_came_of_a_resource_is_kept(store: SqliteStore) -> None:
    worker = await started(store, "x")
    await answered(store, worker, PLAIN, resources=(PICTURE,))
    [got] = await store.resources.lease(worker, 1, budget=9)
    result = ResourceResult(
        resource_id=got.resource_id,
        status="completed",
        status_code=404,
        content_type="image/png",
        content_length=12,
        final_url=url("moved.png"),
    )
    await store.resources.finish(worker, [result])
    columns = "status, status_code, content_type, content_length, final_url, owner, checked_at IS NOT NULL"
    assert select(store, f"{columns} FROM resources") == [("completed", 404, "image/png", 12, url("moved.png"), None, 1)]


async def test_nothing_is_kept_of_a_page_whose_lease_was_lost(store: SqliteStore) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    stranger = await store.frontier.join(60)
    outcome = CompletedOutcome(lease=got, facts=FACTS, records=RECORDS, resources=(PICTURE,))
    assert await store.frontier.finish(stranger, [outcome], max_depth=None) == 0
    for table in ("page_details", "page_findings", "page_hreflang", "page_items", "resource_uses", "resources", "bodies"):
        assert select(store, f"count(*) FROM {table}") == [(0,)], table


# -- judged without a page ----------------------------------------------------------------------------------------------


async def test_a_page_that_failed_or_was_refused_is_judged_too(store: SqliteStore) -> None:
    worker = await started(store, "x", "y")
    x, y = await lease(store, worker, 2)
    silent = PageRecords(indexable=False, indexability="no response", findings=(Finding(CHECK.id, x.url),))
    blocked = PageRecords(indexable=False, indexability="blocked by robots.txt", findings=(Finding(OTHER.id, y.url),))
    outcomes: list[Outcome] = [
        FailedOutcome(lease=x, kind="dns_failure", message="m", records=silent),
        RefusedOutcome(lease=y, reason="robots.txt line 2", records=blocked),
    ]
    await store.frontier.finish(worker, outcomes, max_depth=None)
    assert select(store, "url, indexability FROM audited_pages ORDER BY url") == [
        (x.url, "no response"),
        (y.url, "blocked by robots.txt"),
    ]
    assert select(store, "url, check_id FROM findings ORDER BY url") == [(x.url, CHECK.id), (y.url, OTHER.id)]


# -- a second crawl -----------------------------------------------------------------------------------------------------

LEFT_BEHIND = {
    "pages": "status_code, title, content_hash, canonical_url, ttfb_ms, response_size_bytes FROM pages WHERE id = 1",
    "details": "h1, etag, headers, headings, images, word_count FROM page_details WHERE page_id = 1",
    "findings": "check_id FROM findings WHERE page_id = 1 AND scope = 'page'",
    "languages": "language FROM page_hreflang WHERE page_id = 1",
    "items": "type FROM page_items WHERE page_id = 1",
    "uses": "resource_id FROM resource_uses WHERE page_id = 1",
    "links": "target_id FROM link_relations WHERE source_id = 1",
    "anchors": "anchors FROM page_anchors WHERE page_id = 1",
    "bodies": "body FROM bodies WHERE page_id = 1",
}


def everything(store: SqliteStore) -> dict[str, list[tuple[Any, ...]]]:
    return {name: select(store, what) for name, what in LEFT_BEHIND.items()}


async def crawled_once(store: SqliteStore) -> int:
    """A page with everything, and the crawl about to ask for it again."""
    worker = await started(store, "x")
    await answered(store, worker, RECORDS, links=to("x"), resources=(PICTURE, SCRIPT))
    await store.runs.begin_recrawl({}, "1")
    return worker


NOTHING_LEFT: dict[str, list[tuple[Any, ...]]] = {
    "pages": [(None,) * 6],
    "details": [(None,) * 6],
    "findings": [(OTHER.id,)],
    "languages": [],
    "items": [],
    "uses": [],
    "links": [],
    "anchors": [],
    "bodies": [],
}
"""Of a page that no longer has what it was: only the finding that it has now."""


async def test_a_changed_page_leaves_nothing_of_what_it_was(store: SqliteStore) -> None:
    worker = await crawled_once(store)
    changed = PageRecords(indexable=False, indexability="noindex", findings=(Finding(OTHER.id, url("x")),))
    facts = PageFacts(status_code=404)
    await store.frontier.finish(
        worker, [CompletedOutcome(lease=await lease_one(store, worker), facts=facts, records=changed)], max_depth=None
    )
    assert everything(store) == NOTHING_LEFT | {"pages": [(404, *[None] * 5)]}


@pytest.mark.parametrize("kind", ["failed", "refused"])
async def test_a_page_that_is_gone_leaves_nothing_of_what_it_was(store: SqliteStore, kind: str) -> None:
    worker = await crawled_once(store)
    got = await lease_one(store, worker)
    records = PageRecords(indexable=False, indexability="gone", findings=(Finding(OTHER.id, got.url),))
    outcomes: dict[str, Outcome] = {
        "failed": FailedOutcome(lease=got, kind="dns_failure", message="m", records=records),
        "refused": RefusedOutcome(lease=got, reason="robots.txt line 2", records=records),
    }
    await store.frontier.finish(worker, [outcomes[kind]], max_depth=None)
    assert everything(store) == NOTHING_LEFT


@pytest.mark.parametrize("kind", ["failed", "refused"])
async def test_a_page_that_answers_after_all_leaves_nothing_of_its_silence(store: SqliteStore, kind: str) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    records = PageRecords(indexable=False, indexability="no response", findings=(Finding(CHECK.id, got.url),))
    outcomes: dict[str, Outcome] = {
        "failed": FailedOutcome(lease=got, kind="dns_failure", message="m", records=records),
        "refused": RefusedOutcome(lease=got, reason="robots.txt line 2", records=records),
    }
    run = await store.runs.begin("crawl", {}, "1")
    await store.frontier.finish(worker, [outcomes[kind]], max_depth=None)
    await store.runs.end(run, "complete", None)
    assert await store.runs.begin_recrawl({}, "1") == 2
    await answered(store, worker, PLAIN)
    assert select(store, "check_id FROM findings") == []
    assert select(store, "status, skip_reason, last_error_type FROM pages") == [("completed", None, None)]


async def test_an_unchanged_page_keeps_everything(store: SqliteStore) -> None:
    worker = await crawled_once(store)
    before = everything(store)
    await store.frontier.finish(worker, [UnchangedOutcome(lease=await lease_one(store, worker))], max_depth=None)
    assert everything(store) == before
    assert before["links"] == [(1,)]


async def test_findings_about_the_whole_site_stay_until_they_are_looked_for_again(store: SqliteStore) -> None:
    worker = await started(store, "x")
    await answered(store, worker, RECORDS)
    store.sql.execute(f"INSERT INTO page_findings VALUES (1, {store.db.check_number(SITE.id)}, '', '', NULL)")
    await store.runs.begin_recrawl({}, "1")
    await answered(store, worker, PLAIN)
    assert select(store, "check_id FROM findings") == [(SITE.id,)]


async def test_a_page_that_redirects_today_has_no_links_of_yesterday(store: SqliteStore) -> None:
    worker = await crawled_once(store)
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="y")], max_depth=None)
    assert select(store, LEFT_BEHIND["links"]) == []


# -- the catalogue ------------------------------------------------------------------------------------------------------


async def test_the_words_of_a_check_are_renewed_and_its_number_stays(store: SqliteStore) -> None:
    number = store.db.check_number(CHECK.id)
    await store.checks.install([_define(CHECK.id, Severity.WARNING, en=("New",) * 3, ja=("新",) * 3)], "page")
    assert select(store, f"number, severity, title, title_ja FROM checks WHERE id = '{CHECK.id}'") == [
        (number, "warning", "New", "新")
    ]


async def test_a_sitemap_that_is_read_again_names_only_what_it_names_now(store: SqliteStore) -> None:
    record = SitemapRecord(url("s.xml"), 0, "guess", "read", "urlset", 200, 1, 2, ())
    for paths in (("a", "b"), ("b", "c")):
        number = await store.sitemaps.put(record)
        await store.frontier.add_named(number, [NamedPage(target(path), None) for path in paths])
    assert sorted(select(store, "url FROM sitemap_urls")) == [(url("b"),), (url("c"),)]
    assert select(store, "count(*) FROM sitemaps") == [(1,)]


@pytest.mark.parametrize("texts", [{"a\x00"}, frozenset({"a\x00"}), {"a\x00": 1}.keys(), ["a\x00"], ("a\x00",)])
def test_json_of_any_collection_holds_only_what_postgresql_can_store(texts: object) -> None:
    assert json_text({"texts": texts}) == '{"texts":["a\ufffd"]}'
