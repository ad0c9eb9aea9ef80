"""An audited crawl to export: small, real (written by the store itself), and full of what makes exports go wrong."""

from __future__ import annotations

import zlib
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from tadoru.jobs.audit.export.exporter import Exporter, ExportRequest, ExportResult
from tadoru.model.finding import Finding, Severity, define
from tadoru.model.web import Link
from tadoru.store.crawl.records import (
    AlternateUrl,
    CompletedOutcome,
    FailedOutcome,
    Lease,
    Outcome,
    PageFacts,
    PageRecords,
    ResourceUse,
    StructuredItem,
    UrlPurpose,
)
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import HOST, TTL, decided, external, target, to, url
from tests.support.clock import FakeClock

NOW = datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)
CRAWLED = "2023-11-14 22:13:20.000"
"""When the clock of the tests stands still."""

LONG = define(
    "title-long", Severity.WARNING, group="titles", en=("Title too long", "why", "fix"), ja=("長い題名", "理由", "直し方")
)
GONE = define("client-error", Severity.ERROR, group="responses", en=("Gone", "why", "fix"), ja=("消えた", "理由", "直し方"))
STRAY = define("sitemap-stray", Severity.NOTICE, group="sitemaps", en=("Stray", "why", "fix"), ja=("迷子", "理由", "直し方"))

NASTY = '=HYPERLINK("http://evil.example","x"), 日本\r\n“two lines”\x1b[31m'
PAGE_BODY = b"<title>A</title>" * 50
HTML = "text/html; charset=utf-8"
_NOBODY = Lease(0, "", "", 0, 0, 0, UrlPurpose.PAGE, False)
"""In the place of the lease that a page will be given."""


async def audited(path: Path | str) -> SqliteStore:
    """The crawl: `/` links to `/a` (nasty), `/b?x=1&y=2`, `/old` → `/a`, `/gone`, `/same` (as `/a`), `/doc.pdf`, elsewhere."""
    store = SqliteStore(str(path), FakeClock())
    await store.checks.install([LONG, GONE], "page")
    await store.checks.install([STRAY], "site")
    await store.frontier.add([target("")], seed=True)
    worker = await store.frontier.join(TTL)
    outcomes = _outcomes()
    while leases := (await store.frontier.lease(worker, {HOST: 9}, new_hosts=0, per_host=0, limit=0)).leases:
        done = [replace(outcomes[lease.url.removeprefix(url(""))], lease=lease) for lease in leases]
        assert await store.frontier.finish(worker, done, max_depth=None) == len(done)
    await store.frontier.leave(worker)
    await store.graph.settle()
    _analyse(store)
    return store


def _outcomes() -> dict[str, Outcome]:
    """What each path answers. The lease is put in when there is one."""
    home = to("a", "b?x=1&y=2", "old", "gone", "same", "doc.pdf", "hidden", external("x"))
    home[1] = home[1]._replace(rel="nofollow", text="+1", fragment="part")
    nasty = _facts(NASTY, last_modified="2024-01-02 03:04:05")
    return {
        "": _done(_facts("Start", last_modified="2023-12-31 23:59:59"), _records(extracted={"price": ["10", "20"]}), home),
        "a": _done(nasty, _records(
            findings=[Finding(LONG.id, url("a"), "-detail", {"length": 70, "examples": ("x", "y")})], body=PAGE_BODY,
            extracted={"price": ["=1+1"], "sku code": []}, language="ja",
            headings=[(1, "見出し"), (3, "=three")], images=[("/i.png", None, "10", "", "lazy"), ("/j.png", "=alt", "", "", "")],
            hreflang=[AlternateUrl("ja", url("a"), "html"), AlternateUrl("en", url("en"), "http")],
            items=[StructuredItem("json-ld", "Article", {"name": ["日本"], "depth": {"n": 1}})],
            directives=[("meta", "", "max-snippet", "-1")],
        ), to("")),
        "b?x=1&y=2": _done(_facts("B"), _records(), []),
        "old": CompletedOutcome(
            lease=_NOBODY, facts=_facts(None, 301), redirect=target("a"),
            records=_records("redirected", headers=[("Location", "/a")]),
        ),
        "gone": _done(_facts("Gone", 404), _records("client error", findings=[Finding(GONE.id, url("gone"), "404")]), []),
        "same": _done(_facts("A again"), _records(body=PAGE_BODY), []),
        "doc.pdf": _done(_facts(None, content_type="application/pdf"), _records(), []),
        "hidden": _done(_facts("Hidden"), _records("noindex"), to("down")),
        "down": FailedOutcome(lease=_NOBODY, kind="timeout", message="no answer", records=_records("no response")),
    }  # fmt: skip


def _facts(title: str | None, status: int = 200, *, last_modified: str | None = None, content_type: str = HTML) -> PageFacts:
    return PageFacts(
        status_code=status,
        title=title,
        content_type=content_type,
        ttfb_ms=12.5,
        response_size_bytes=99,
        last_modified=last_modified,
    )


def _records(why: str = "indexable", *, body: bytes | None = None, **more: object) -> PageRecords:
    kept = zlib.compress(body) if body is not None else None
    values: dict[str, object] = {
        "headers": [
            ("Content-Type", HTML),
            ("Content-Encoding", "br"),
            ("Content-Length", "17"),
            ("Transfer-Encoding", "chunked"),
        ],
        "body_hash": "ff" if body is not None else None,
        "address": "192.0.2.1",
    }
    return PageRecords(indexable=why == "indexable", indexability=why, body=kept, **(values | more))  # type: ignore[arg-type]


def _done(facts: PageFacts, records: PageRecords, links: list[Link]) -> CompletedOutcome:
    uses = [ResourceUse(url("i.png"), HOST, "img", internal=True, wanted=False)]
    targets = decided(*(external("x") if link.url == external("x").url else link for link in links))
    return CompletedOutcome(lease=_NOBODY, facts=facts, records=records, links=links, targets=targets, resources=uses)


def _analyse(store: SqliteStore) -> None:
    """What is written at the end of an audit, and what is about no page."""
    sql = store.sql
    sql.execute(
        "INSERT INTO page_scores SELECT id, 3, 2, 1, 0, CASE url WHEN ? THEN 100.0 WHEN ? THEN 50.5 ELSE 1 END, NULL FROM pages",
        (url(""), url("a")),
    )
    sql.execute("UPDATE page_scores SET cluster_id = (SELECT id FROM pages WHERE url = ?) WHERE page_id = 2", (url("a"),))
    sql.execute(
        "INSERT INTO sitemaps(id, url, level, named_by, status, urls) VALUES (1, ?, 0, 'guess', 'read', 1)", (url("s.xml"),)
    )
    sql.execute("INSERT INTO sitemap_entries SELECT 1, id, '2024-01' FROM pages WHERE url = ?", (url("a"),))
    sql.execute("INSERT INTO page_findings SELECT 0, number, ?, '', NULL FROM checks WHERE id = ?", (url("stray"), STRAY.id))
    sql.execute(
        "INSERT INTO runs(id, kind, started_at, config, version) VALUES (1, 'crawl', ?, '{\"depth\":3}', '0')", (CRAWLED,)
    )


def exported(store: SqliteStore, form: str, output: Path | str | None = None, **order: object) -> tuple[ExportResult, bytes]:
    """Run an export; what was written, and what went to stdout."""
    stdout = BytesIO()
    wanted = ExportRequest(form=form, output=None if output is None else str(output), **order)  # type: ignore[arg-type]
    wrote = Exporter(store, wanted, name="site", stdout=stdout, now=NOW, on_progress=lambda what, number: None).run()
    return wrote, stdout.getvalue()
