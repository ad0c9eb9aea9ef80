"""Small audited crawls, made with the store alone: pages with an answer, a title, findings, and where they redirect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tadoru.model.finding import Check, Finding, Severity, define
from tadoru.store.crawl.connection import SqlConnection
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.records import CompletedOutcome, FailedOutcome, Lease, Outcome, PageFacts, PageRecords, RefusedOutcome
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import HOST, TTL, decided, lease, target, to, url
from tests.support.clock import FakeClock


def check(name: str, severity: Severity, group: str = "titles") -> Check:
    return define(name, severity, en=(f"{name} in English", "why", "fix"), ja=(f"{name}の日本語", "理由", "対処"), group=group)


CHECKS = (
    check("title-missing", Severity.ERROR),
    check("title-too-long", Severity.NOTICE),
    check("description-missing", Severity.WARNING, "descriptions"),
    check("canonicalised", Severity.INFO, "canonicals"),
)
SITE_CHECKS = (check("duplicate-title", Severity.WARNING), check("sitemap-missing", Severity.ERROR, "sitemaps"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page answers."""

    code: int | None = 200
    """None: it does not."""
    links: Sequence[str] = ()
    redirect: str | None = None
    title: str | None = "A title"
    description: str | None = "A description"
    h1: str | None = "A heading"
    canonical: str | None = None
    robots: str | None = None
    indexability: str = "indexable"
    text: str | None = "some text"
    words: int = 100
    ms: float = 50.0
    size: int = 5000
    found: Sequence[str] = ()
    refused: str | None = None
    """Why robots.txt forbids it."""


OK = Page()
Site = Mapping[str, Page]


def changed(site: Site, **pages: Page) -> dict[str, Page]:
    """The site with other pages, by path; the start is `home`."""
    return {**site, **{("" if name == "home" else name): page for name, page in pages.items()}}


def outcome(held: Lease, page: Page) -> Outcome:
    findings = [Finding(name, held.url) for name in page.found]
    if page.refused is not None:
        records = PageRecords(indexable=False, indexability="blocked by robots.txt", findings=findings)
        return RefusedOutcome(lease=held, reason=page.refused, records=records)
    if page.code is None:
        records = PageRecords(indexable=False, indexability="no response", findings=findings)
        return FailedOutcome(lease=held, kind="timeout", message="It took too long.", records=records)
    facts = PageFacts(
        status_code=page.code, title=page.title, meta_description=page.description, meta_robots=page.robots,
        canonical_url=page.canonical, content_hash=page.text, ttfb_ms=page.ms - 1.0, download_time_ms=1.0,
        response_size_bytes=page.size,
    )  # fmt: skip
    records = PageRecords(
        indexable=page.indexability == "indexable", indexability=page.indexability, h1=page.h1, word_count=page.words,
        findings=findings,
    )  # fmt: skip
    onward = target(page.redirect) if page.redirect is not None else None
    return CompletedOutcome(
        lease=held, facts=facts, links=to(*page.links), targets=decided(*page.links), redirect=onward,
        records=records,
    )  # fmt: skip


async def crawl(store: CrawlDatabase, site: Site, *, limit: int = 0, most: int | None = None) -> int:
    """Request what is queued, to the end, to the limit, or only so many; how many were."""
    worker, done = await store.frontier.join(TTL), 0
    while most is None or done < most:
        leases = await lease(store, worker, 3 if most is None else min(3, most - done), limit=limit)
        if not leases:
            break
        done += len(leases)
        outcomes = [outcome(held, site.get(held.url.removeprefix(url("")), Page(code=404))) for held in leases]
        await store.frontier.finish(worker, outcomes, max_depth=None)
    await store.frontier.leave(worker)
    return done


async def audit(
    store: CrawlDatabase,
    site: Site,
    *,
    score: float | None = 80.0,
    limit: int = 0,
    ended: RunOutcome | None = RunOutcome.COMPLETE,
    again: bool = False,
    stray: Mapping[str, str] | None = None,
) -> int:
    """A whole run; its number. `stray`: findings about no page, check by URL."""
    await store.checks.install(CHECKS, "page")
    await store.checks.install(SITE_CHECKS, "site")
    number = await store.runs.begin_recrawl({"again": True}, "9.9", limit=limit) if again else None
    if number is None:
        number = await store.runs.begin("crawl", {"limit": limit}, "9.9")
        await store.frontier.add([target("")], seed=True)
    await crawl(store, site, limit=limit)

    def judged(sql: SqlConnection) -> None:
        sql.execute("DELETE FROM page_scores")
        sql.execute(
            """INSERT INTO page_scores(page_id, inlinks, unique_inlinks, outlinks, external_outlinks)
            SELECT id, (SELECT count(*) FROM link_relations r WHERE r.target_id = pages.id), 0, 0, 0 FROM pages"""
        )
        sql.execute("DELETE FROM page_findings WHERE page_id = 0")
        for where, name in (stray or {}).items():
            sql.execute(
                "INSERT INTO page_findings(page_id, check_number, subject) VALUES (0, ?, ?)", (store.db.check_number(name), where)
            )

    await store.db.write(judged)
    if ended is not None:
        await store.runs.end(number, ended, score)
    return number


async def audited(path: Path, site: Site, clock: FakeClock | None = None, **options: object) -> str:
    """A database with one run of a site; its name."""
    store = SqliteStore(str(path), clock or FakeClock())
    await audit(store, site, **options)  # type: ignore[arg-type]
    await store.close()
    return str(path)


SITE: Site = {
    "": replace(OK, links=("a", "b", "old", "gone")),
    "a": replace(OK, links=("b", "c"), title="Page A", found=("title-too-long",)),
    "b": replace(OK, title=None, found=("title-missing", "description-missing"), description=None),
    "c": replace(OK, title="Page C"),
    "old": Page(code=301, redirect="a", indexability="redirected"),
    "gone": Page(code=404, indexability="client error"),
}
__all__ = ["CHECKS", "HOST", "OK", "SITE", "SITE_CHECKS", "Page", "audit", "audited", "changed", "crawl"]
