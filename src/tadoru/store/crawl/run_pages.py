"""Reads the pages of a run, the last one or an earlier one, with their findings, by URL.

Two runs, of one database or of two, are compared by iterating over both at once, so everything is streamed. Runs start and end
in `runs`.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from tadoru.errors import UsageError
from tadoru.store.crawl.connection import CrawlPart, SqlConnection
from tadoru.store.crawl.records import UNLINKED

Rewrite = Callable[[str], str]

_FINDINGS = """coalesce((SELECT {{d.json_group_array}}({{d.json_array}}(f.check_number, f.subject)) FROM {}
            WHERE f.page_id = p.id), '[]')"""
_IS_PAGE = "p.internal AND p.purpose = 'page' AND (p.status = 'completed' OR p.status = 'error' OR p.status = 'skipped')"
# The order of joins is given and indexes are named, so that SQLite goes through the URLs in their order, sorts
# nothing and never looks through all pages for one, whatever it believes about their number.
_NOW = f"""SELECT {{key}}, p.url,
        p.status, p.status_code, t.url, p.title, p.meta_description, d.h1, p.canonical_url, p.meta_robots,
        d.indexability, p.content_hash, d.word_count, p.depth, p.ttfb_ms + coalesce(p.download_time_ms, 0),
        p.response_size_bytes, s.inlinks, {_FINDINGS.format("page_findings f")}
    FROM pages p {{by}} LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
    LEFT JOIN pages t {{d.by_id}} ON t.id = p.redirect_id WHERE {_IS_PAGE}"""
_THEN = f"""SELECT {{key}}, p.url,
        h.status, h.status_code, t.url, h.title, h.meta_description, h.h1, h.canonical_url, h.meta_robots,
        h.indexability, h.content_hash, h.word_count, h.depth, h.response_ms, h.response_size_bytes, h.inlinks,
        {_FINDINGS.format("finding_history f").replace("WHERE", "WHERE f.run_id = :run AND")}
    FROM pages p {{by}} {{d.join_in_order}} page_history h ON h.run_id = :run AND h.page_id = p.id
    LEFT JOIN pages t {{d.by_id}} ON t.id = h.redirect_id WHERE true"""
_STRAY = """SELECT {key}, url, check_id, subject FROM (
    SELECT CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END AS url, c.id AS check_id,
        CASE WHEN f.page_id <> 0 THEN f.subject ELSE '' END AS subject"""
_STRAYS_NOW = f"""{_STRAY}
    FROM page_findings f LEFT JOIN pages p {{d.by_id}} ON p.id = f.page_id JOIN checks c ON c.number = f.check_number
    WHERE p.id IS NULL OR (p.status <> 'queued' AND p.status <> 'processing' AND NOT ({_IS_PAGE}))) AS strays ORDER BY 1, 3, 4"""
_STRAYS_THEN = f"""{_STRAY}
    FROM finding_history f LEFT JOIN pages p {{d.by_id}} ON p.id = f.page_id JOIN checks c ON c.number = f.check_number
    WHERE f.run_id = :run AND NOT EXISTS (SELECT 1 FROM page_history h WHERE h.run_id = f.run_id AND h.page_id = f.page_id))
    AS strays ORDER BY 1, 3, 4"""
_TIMES = f"""FROM pages p WHERE {_IS_PAGE} AND p.ttfb_ms IS NOT NULL"""


class PageState(NamedTuple):
    """A page as one run found it."""

    key: str
    """What it is known by in a comparison: its URL, rewritten."""
    url: str
    status: str
    status_code: int | None = None
    redirect_url: str | None = None
    title: str | None = None
    description: str | None = None
    h1: str | None = None
    canonical: str | None = None
    robots: str | None = None
    indexability: str | None = None
    content_hash: str | None = None
    word_count: int | None = None
    depth: int | None = None
    """None: no link leads to it."""
    response_ms: float | None = None
    size: int | None = None
    inlinks: int | None = None
    findings: str = "[]"
    """JSON: [[number of the check, subject], ...]."""


class StrayFinding(NamedTuple):
    """A finding about something that is not a page of the site: a resource, a sitemap, an external page, the site itself."""

    key: str
    url: str
    check_id: str
    subject: str


class CheckTexts(NamedTuple):
    """A check as the database stores it."""

    number: int
    id: str
    group: str
    severity: str
    title: str
    title_ja: str


class RunPages(CrawlPart):
    """Reads the pages of runs; a `run` of None is the current one."""

    async def page_states(self, run: int | None, rewrite: Rewrite | None = None) -> AsyncIterator[PageState]:
        """The pages of the site by their key: those that were requested, and those that were not to be."""
        statement = _NOW if run is None else _THEN
        # Rewritten, the URLs have another order, and SQLite sorts them on disk.
        by, order = (self._db.dialect.by_url, "p.url") if rewrite is None else ("", "1, p.url")
        text = statement.format(key=self._key(rewrite, "p.url"), by=by, d=self._db.dialect)
        for row in self._db.stream(f"{text} ORDER BY {order}", {"run": run}):
            yield _page_state(row)

    async def page_state(self, run: int | None, url: str) -> PageState | None:
        """One page of a run by its URL."""
        text = (_NOW if run is None else _THEN).format(key="p.url", by="", d=self._db.dialect)
        text = f"{text} AND {self._db.dialect.is_text('p.url', ':url')}"
        rows = await self._db.read(lambda sql: sql.execute(text, {"run": run, "url": url}).fetchall())
        return _page_state(rows[0]) if rows else None

    async def has_finding(self, run: int | None, check_id: str, url: str, subject: str) -> bool:
        """Whether a run has a finding of a check about a page, or about a subject that is no page (without a URL)."""
        table, of_run = ("page_findings", "true") if run is None else ("finding_history", "f.run_id = :run")
        page = f"(SELECT id FROM pages WHERE {self._db.dialect.is_text('url', ':url')})" if url else "0"
        statement = f"""SELECT 1 FROM {table} f WHERE {of_run} AND f.page_id = {page} AND f.subject = :subject
            AND f.check_number = (SELECT number FROM checks WHERE id = :check) LIMIT 1"""
        values = {"run": run, "check": check_id, "url": url, "subject": subject}
        return bool(await self._db.read(lambda sql: sql.execute(statement, values).fetchall()))

    async def stray_findings(self, run: int | None, rewrite: Rewrite | None = None) -> AsyncIterator[StrayFinding]:
        """The findings that belong to no page of `page_states`, by key, check and subject."""
        statement = _STRAYS_NOW if run is None else _STRAYS_THEN
        text = statement.format(key=self._key(rewrite, "url"), d=self._db.dialect)
        for row in self._db.stream(text, {"run": run}):
            yield StrayFinding(*row)

    async def check_totals(self, run: int | None) -> dict[int, int]:
        """How many findings there are of each check, by its number."""
        table, where = ("page_findings", "true") if run is None else ("finding_history", "run_id = :run")
        statement = f"SELECT check_number, count(*) FROM {table} WHERE {where} GROUP BY 1"
        return await self._db.read(lambda sql: dict(sql.execute(statement, {"run": run}).fetchall()))

    async def check_words(self) -> dict[int, CheckTexts]:
        """The checks that this crawl was judged by, by number."""
        statement = "SELECT number, id, check_group, severity, title, title_ja FROM checks"
        rows = await self._db.read(lambda sql: sql.execute(statement).fetchall())
        return {row[0]: CheckTexts(*row) for row in rows}

    async def response_time(self, share: float) -> float | None:
        """The milliseconds within which so large a share of the site's answers had arrived; None without any."""

        def found(sql: SqlConnection) -> float | None:
            (count,) = sql.execute(f"SELECT count(*) {_TIMES}").fetchone()
            row = sql.execute(
                f"SELECT p.ttfb_ms + coalesce(p.download_time_ms, 0) AS ms {_TIMES} ORDER BY ms LIMIT 1 OFFSET ?",
                (max(0, math.ceil(share * count) - 1),),
            ).fetchone()
            return float(row[0]) if row else None

        return await self._db.read(found)

    def _key(self, rewrite: Rewrite | None, column: str) -> str:
        if rewrite is None:
            return column
        if self._db.dialect.name != "sqlite":
            raise UsageError("Only crawls in files can be compared with rewritten URLs. Copy the crawl to a file first.")
        self._db.sql.create_function("rewritten", 1, rewrite, deterministic=True)
        return f"rewritten({column})"


def _page_state(row: tuple[Any, ...]) -> PageState:
    state = PageState._make(row)
    depth = state.depth if state.depth is not None and state.depth < UNLINKED else None
    if state.status == "completed":
        return state if depth is not None else state._replace(depth=None)
    # What an earlier answer said is no answer of this run.
    return PageState(state.key, state.url, state.status, indexability=state.indexability, depth=depth, findings=state.findings)
