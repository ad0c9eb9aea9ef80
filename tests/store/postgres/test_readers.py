"""A crawl on PostgreSQL reads as the same crawl in a file: lists, reports, exports, comparisons, and the analysis."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.run import analyse
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.store.copy_crawl import move_crawl
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.browse import ORDERS, LinkFilter, PageFilter
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES, ColumnKind
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.records import UNLINKED, CompletedOutcome, PageFacts, PageRecords, StructuredItem
from tadoru.store.crawl.tables import BROWSED_TABLES, CrawlTable, SiteSegment, TableFilter
from tests.contract.crawls import lease_one, started, url
from tests.export.crawls import GONE, STRAY, audited
from tests.support.clock import FakeClock
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import server

Reading = Callable[[CrawlDatabase], Any]
NUMBERS = (ColumnKind.INTEGER, ColumnKind.REAL)
SITE = url("").rstrip("/")
PARTS = [SiteSegment((SITE,), one) for one in (("/",), ("/*",), ("/a", "*d*"), ())]
PAGE_FILTERS = {
    "all": PageFilter(internal=None),
    "external": PageFilter(internal=False),
    "text in any case": PageFilter(q="HIDden"),
    "signs of patterns": PageFilter(q="100%_\\"),
    "codes": PageFilter(codes=((300, 499),), statuses=("error",)),
    "depth": PageFilter(depth=1),
    "unlinked": PageFilter(depth=UNLINKED),
    "indexable": PageFilter(indexable=True),
    "type": PageFilter(content_type="TEXT/html"),
    "check": PageFilter(check=GONE.id),
}
LINK_FILTERS = {
    "all": LinkFilter(),
    "source": LinkFilter(source=1),
    "target": LinkFilter(target=2),
    "external": LinkFilter(internal=False),
    "broken": LinkFilter(broken=True),
    "nofollow": LinkFilter(nofollow=True),
    "not nofollow": LinkFilter(nofollow=False),
    "text in any case": LinkFilter(q="/HIDDEN"),
}
SELECTIONS = {
    "all": ExportSelection(),
    "codes": ExportSelection(codes=((400, 499),), statuses=("error",)),
    "internal": ExportSelection(internal=True),
    "url": ExportSelection(url=url("*a*")),
    "check": ExportSelection(checks=(GONE.id,)),
    "severity": ExportSelection(severities=("warning",)),
}


def lists() -> dict[str, Reading]:
    """What the pages of the service show."""
    found: dict[str, Reading] = {
        "facts": lambda crawl: [crawl.page_list.page_facts(page) for page in range(1, 11)],
        "numbers": lambda crawl: [crawl.page_list.page_id(url(name)) for name in ("", "a", "nothing")],
        "redirects": lambda crawl: [crawl.page_list.redirect_steps(page) for page in range(1, 11)],
        "alternates": lambda crawl: crawl.page_list.page_alternates(2),
        "items": lambda crawl: crawl.page_list.page_items(2),
        "findings": lambda crawl: crawl.page_list.page_found(2),
        "affected": lambda crawl: [crawl.page_list.affected(check, limit=1) for check in (1, 2, 3)],
        "standing": lambda crawl: (sorted(map(repr, crawl.totals.standing()[0])), crawl.totals.standing()[1]),
        "finding counts": lambda crawl: crawl.totals.finding_counts(),
        "links to a page": lambda crawl: [crawl.link_list.link_total(to=page) for page in range(1, 11)],
        "links of a page": lambda crawl: [crawl.link_list.link_total(of=page) for page in range(1, 11)],
    }
    for name, pages in PAGE_FILTERS.items():
        found[f"pages, {name}"] = lambda crawl, chosen=pages: crawl.page_list.page_lines(chosen)  # type: ignore[misc]
        found[f"number of pages, {name}"] = lambda crawl, chosen=pages: crawl.page_list.page_count(chosen)  # type: ignore[misc]
    for sort in ORDERS:
        found[f"pages by {sort}"] = lambda crawl, sort=sort: _all_pages(crawl, sort)  # type: ignore[misc]
    for name, links in LINK_FILTERS.items():
        found[f"links, {name}"] = lambda crawl, chosen=links: crawl.link_list.link_lines(chosen)  # type: ignore[misc]
    found |= _table_readings()
    found["causes"] = lambda crawl: crawl.tables.causes(internal=None, broken=True, limit=9, places=9)
    found["redirect causes"] = lambda crawl: crawl.tables.causes(internal=True, broken=False, limit=9, places=9)
    found["folders"] = lambda crawl: crawl.tables.folders([SITE])
    found["counts of a folder"] = lambda crawl: [crawl.tables.check_counts(one) for one in PARTS]
    found["pages of segments"] = lambda crawl: crawl.tables.segment_counts(PARTS)
    found["templates"] = lambda crawl: crawl.tables.templates(30)
    return found


def _table_readings() -> dict[str, Reading]:
    """Every table by every column, in both directions, with every kind of filter."""
    found: dict[str, Reading] = {}
    for table in BROWSED_TABLES.values():
        for column in table.columns:
            orders = [TableFilter(sort=column.name, falls=falls, filters={}) for falls in (False, True)]
            given = column.choices or (["1..300", ">0", "<=3"] if column.kind in NUMBERS else ["e", "!e", "=", "=x"])
            filters = [TableFilter(filters={column.name: one}) for one in given]
            asked = [*orders, *filters, TableFilter(q="a"), *(TableFilter(segment=one) for one in PARTS)]
            found[f"{table.name} by {column.name}"] = lambda crawl, table=table, asked=asked: [  # type: ignore[misc]
                _all_rows(crawl, table, one) for one in asked
            ]
    return found


def _all_rows(crawl: CrawlDatabase, table: CrawlTable, chosen: TableFilter) -> list[tuple[object, ...]]:
    """A table page by page, which is as long as it says and the same as its export."""
    part = crawl.tables.page(table, chosen, limit=3)
    rows = list(part.rows)
    while part.next:
        part = crawl.tables.page(table, chosen, limit=3, cursor=part.next)
        rows += part.rows
    assert len(rows) == part.total
    assert [tuple(row) for row in crawl.tables.grid(table, chosen, [one.name for one in table.columns]).rows] == rows
    return rows


def _all_pages(crawl: CrawlDatabase, sort: str) -> list[str]:
    found, cursor = crawl.page_list.page_lines(PageFilter(internal=None), sort=sort, limit=4)
    while cursor:
        more, cursor = crawl.page_list.page_lines(PageFilter(internal=None), sort=sort, limit=4, cursor=cursor)
        found += more
    return [row.url for row in found]


def reports() -> dict[str, Reading]:
    """What a report is made of."""
    return {
        "span": lambda crawl: crawl.summary.span(),
        "states": lambda crawl: sorted(map(repr, crawl.summary.states())),
        "skip reasons": lambda crawl: crawl.summary.skip_reasons(9),
        "links": lambda crawl: crawl.summary.link_count(),
        "indexabilities": lambda crawl: crawl.summary.indexabilities(),
        "depths": lambda crawl: crawl.summary.depth_counts(),
        "times": lambda crawl: (crawl.summary.response_count(), list(crawl.summary.response_times())),
        "slowest": lambda crawl: crawl.summary.slowest(3),
        "largest": lambda crawl: crawl.summary.largest(3),
        "redirects": lambda crawl: (crawl.summary.redirect_count(), crawl.summary.redirect_chains(9)),
        "sitemaps": lambda crawl: (crawl.summary.sitemap_rows(9), crawl.summary.sitemap_figures()),
        "clusters": lambda crawl: (crawl.summary.cluster_count(), crawl.summary.clusters(9, 9)),
        "graph": lambda crawl: (crawl.summary.nodes(9, 9), crawl.summary.links_between([1, 2, 3])),
        "checks": lambda crawl: crawl.findings.stored_checks(),
        "places": lambda crawl: [crawl.findings.found_at(place) for place in crawl.findings.places([1, 2, 3])],
        "found": lambda crawl: list(crawl.findings.found([1, 2, 3])),
        "keys": lambda crawl: list(crawl.findings.finding_keys()),
        "has": lambda crawl: [crawl.findings.has_finding((url(name), GONE.id, "")) for name in ("gone", "a")],
        "has of the site": lambda crawl: crawl.findings.has_finding((url("stray"), STRAY.id, url("stray"))),
        "inlinks": lambda crawl: [crawl.findings.inlinks(page, 9) for page in range(1, 11)],
        "inlink counts": lambda crawl: [crawl.findings.inlink_count(page) for page in range(1, 11)],
        "unrendered": lambda crawl: crawl.checks.unrendered(9),
        "health": lambda crawl: crawl.analysis.health(crawl.analysis.site_view(likeness=0.9)),
        "documents": lambda crawl: list(crawl.documents.read([place.page_id for place in crawl.documents.places()])),
    }


def exports() -> dict[str, Reading]:
    """Every table with every filter that it has, and what else is exported."""
    found: dict[str, Reading] = {
        "checks": lambda crawl: crawl.export.check_ids(),
        "start": lambda crawl: crawl.export.start_url(),
        "sitemap": lambda crawl: list(crawl.export.sitemap_pages()),
        "graph": lambda crawl: crawl.export.graph_nodes(9),
        "edges": lambda crawl: [sorted(crawl.export.graph_edges(page)) for page in range(1, 11)],
        "bodies": lambda crawl: (crawl.export.has_bodies(), list(crawl.export.stored_pages())),
    }
    for table, columns in TABLES.items():
        for name, chosen in SELECTIONS.items():
            is_known = {
                "codes": columns.asked, "internal": columns.asked, "url": columns.url,
                "check": columns.judged or columns.check, "severity": columns.judged or columns.check,
            }.get(name, "all")  # fmt: skip
            if is_known:
                found[f"{table}, {name}"] = lambda crawl, table=table, chosen=chosen: list(  # type: ignore[misc]
                    crawl.export.dump(table, chosen).rows
                )
    return found


def comparisons() -> dict[str, Reading]:
    """What two runs are compared by."""
    found: dict[str, Reading] = {
        "words": lambda crawl: crawl.run_pages.check_words(),
        "response time": lambda crawl: crawl.run_pages.response_time(0.9),
    }
    for run in (None, 1):
        found[f"pages of run {run}"] = lambda crawl, run=run: _states(crawl, run)  # type: ignore[misc]
        found[f"strays of run {run}"] = lambda crawl, run=run: _strays(crawl, run)  # type: ignore[misc]
        found[f"totals of run {run}"] = lambda crawl, run=run: crawl.run_pages.check_totals(run)  # type: ignore[misc]
    return found


async def _states(crawl: CrawlDatabase, run: int | None) -> list[Any]:
    rows = [state async for state in crawl.run_pages.page_states(run)]
    return [(*row[:-1], sorted(json.loads(row.findings))) for row in rows]


async def _strays(crawl: CrawlDatabase, run: int | None) -> list[Any]:
    return [stray async for stray in crawl.run_pages.stray_findings(run)]


READINGS = {f"{kind.__name__}: {name}": read for kind in (lists, reports, exports, comparisons) for name, read in kind().items()}


class Pair(NamedTuple):
    """One crawl twice."""

    file: CrawlDatabase
    database: CrawlDatabase


_HISTORY = "INSERT INTO finding_history(run_id, page_id, check_number, subject, detail)"


def _complete(crawl: CrawlDatabase) -> None:
    """More of what a crawl may have: a page without a score, one without the browser it needed, documents, an earlier run."""
    for statement, *values in (
        ("UPDATE page_scores SET link_score = NULL WHERE page_id = 3",),
        ("UPDATE page_details SET rendering = ? WHERE page_id = 2", '{"failed": "No browser.", "browser_missing": true}'),
        ("INSERT INTO documents(page_id, title, markdown, hash, changed_at, source, confidence, metadata, headings, breadcrumbs)"
         " VALUES (1, 'A', ?, 'h', '2024-01-01 00:00:00.000', 'html', 1.0, '{}', '[]', '[]')", zlib.compress(b"# A")),
        ("INSERT INTO document_numbers(number, url) SELECT 7, url FROM pages WHERE id = 1",),
        ("UPDATE pages SET status = 'completed', status_code = 200 WHERE status = 'queued'",),
        ("INSERT INTO page_history(run_id, page_id, status) SELECT 1, id, 'completed' FROM pages WHERE id < 5",),
        (f"{_HISTORY} SELECT 1, page_id, check_number, subject, '' FROM page_findings",),
        (f"{_HISTORY} VALUES (1, 8, 1, 'x', '')",),
    ):  # fmt: skip
        crawl.sql.execute(statement, values)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    in_file = asyncio.run(audited(tmp_path_factory.mktemp("crawl") / "crawl.db"))
    _complete(in_file)
    with crawl_on(server()) as address, closing(in_file.sql):
        asyncio.run(_copied(in_file, address))
        in_database = open_store(address, FakeClock())
        with closing(in_database.sql):
            yield Pair(in_file, in_database)


async def _copied(crawl: CrawlDatabase, address: str) -> None:
    copy = open_store(address, FakeClock())
    await move_crawl(crawl, copy)
    index = "CREATE INDEX IF NOT EXISTS links_by_target ON link_relations(target_id)"
    await copy.db.write(lambda sql: sql.execute(index))  # Links are found by their targets, as in the file.
    await copy.close()


async def _read(reading: Reading, crawl: CrawlDatabase) -> Any:
    found: Any | Awaitable[Any] = reading(crawl)
    return await found if isawaitable(found) else found


@pytest.mark.parametrize("name", READINGS)
async def test_postgresql_reads_as_a_file(name: str, pair: Pair) -> None:
    expected = await _read(READINGS[name], pair.file)
    assert await _read(READINGS[name], pair.database) == expected


async def test_the_analysis_of_a_crawl_on_postgresql_is_that_of_a_file(tmp_path: Path) -> None:
    clock = FakeClock()
    in_file = await audited(tmp_path / "crawl.db")
    with crawl_on(server(), clock) as address:
        in_database = open_store(address, clock)
        await move_crawl(in_file, in_database)
        found = []
        for crawl in (in_file, in_database):
            view = crawl.analysis.site_view(likeness=0.9)
            arrays = [view.pages.redirect, view.pages.canonical, view.pages.nofollow, view.links.targets, view.links.kinds]
            await crawl.checks.install(SITE_CHECKS.values(), "site")
            score = await analyse(crawl, Limits(SITE_CHECKS.values(), {}))
            keys = sorted(crawl.findings.finding_keys())
            found.append((np.concatenate(arrays).tolist(), score, keys, crawl.summary.clusters(9, 9)))
        assert found[1] == found[0]
        await in_database.close()
    await in_file.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_what_a_site_check_finds_twice_is_stored_once_as_it_was_found_last(kind: str, tmp_path: Path) -> None:
    in_file = await audited(tmp_path / "crawl.db")
    with crawl_on(server()) as address:
        await _copied(in_file, address)
        crawl = open_store(address, FakeClock()) if kind == "postgresql" else in_file
        crawl.analysis.begin_site_findings()
        for page, detail in ((1, "first"), (0, "of the site"), (1, "last")):
            crawl.analysis.put_site_findings([SiteFinding(STRAY.id, page, detail, {"pages": 2}, "" if page else url("s.xml"))])
        await crawl.analysis.keep_analysis(crawl.analysis.site_view(likeness=0.9))
        found = [(row.page_id, row.subject, row.detail, row.data) for row in crawl.findings.found([3])]
        assert found == [(0, url("s.xml"), "of the site", {"pages": 2}), (1, "", "last", {"pages": 2})]
        if crawl is not in_file:
            await crawl.close()
    await in_file.close()


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_characters_that_no_database_holds_do_not_hide_the_details_of_a_page(kind: str, tmp_path: Path) -> None:
    with crawl_on(server(), clock := FakeClock()) as address:
        crawl = open_store(str(tmp_path / "crawl.db") if kind == "file" else address, clock)
        worker = await started(crawl, "x")
        records = PageRecords(
            indexable=True,
            indexability="indexable",
            headings=((1, "a\x00b"),),
            extracted={"na\x00me": ["c\x00d", "\\u0000"]},
            items=(StructuredItem("json-ld", "Thing", {"name": "e\ud800f"}),),
        )
        answer = CompletedOutcome(lease=await lease_one(crawl, worker), facts=PageFacts(status_code=200), records=records)
        await crawl.frontier.finish(worker, [answer], max_depth=None)
        assert [row[1:3] for row in crawl.export.dump("headings", ExportSelection()).rows] == [(1, "a\ufffdb")]
        found = [row[1:4] for row in crawl.export.dump("extractions", ExportSelection()).rows]
        assert [value for row in found for value in row if value in ("c\ufffdd", "\\u0000")] == ["c\ufffdd", "\\u0000"]
        assert "e?f" in repr(crawl.page_list.page_items(1))
        await crawl.close()
