"""Runs: the first crawl of a site and each re-crawl, and the results of earlier ones.

Pages and findings of the last run are in `pages` and `page_findings`. When a re-crawl starts, what `compare` needs of them is
copied into `page_history` and `finding_history`, and the last few of those are kept. `run_pages` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from tadoru.store.crawl.browse import PublishedRecord
from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.metrics import read_counters
from tadoru.store.crawl.queue_changes import PUT_OFF
from tadoru.store.crawl.records import QUEUE_FULL, parse_utc
from tadoru.store.crawl.sqlite.database import stamp

KEPT = 10
"""How many earlier runs can be compared with."""
_REFUSED = "status = 'skipped' AND substr(skip_reason, 1, 10) = 'robots.txt'"

# What a run has to say about a page that it asked for, or would have if robots.txt had let it.
_PAGES = f"""INSERT INTO page_history(run_id, page_id, status, status_code, title, meta_description, canonical_url,
        meta_robots, h1, content_hash, indexability, word_count, depth, response_ms, response_size_bytes, inlinks, redirect_id)
    SELECT ?, p.id, p.status, p.status_code, p.title, p.meta_description, p.canonical_url, p.meta_robots, d.h1, p.content_hash,
        d.indexability, d.word_count, p.depth, p.ttfb_ms + coalesce(p.download_time_ms, 0), p.response_size_bytes, s.inlinks,
        p.redirect_id
    FROM pages p LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
    WHERE p.internal AND p.purpose = 'page' AND (status = 'completed' OR status = 'error' OR ({_REFUSED}))"""
# A redirect of the last run would look like half a loop to one that goes the other way today.
_AGAIN = f"""UPDATE pages SET status = 'queued', owner = NULL, not_before = 0, retry_count = 0, skip_reason = NULL,
        last_error_type = NULL, last_error_message = NULL, redirect_id = NULL,
        purpose = CASE WHEN purpose = 'gone' THEN 'page' ELSE purpose END
    WHERE (status = 'completed' OR status = 'error' OR ({_REFUSED}))
        AND ((internal AND purpose <> 'check') OR (? AND purpose = 'check'))"""
_RESOURCES = """UPDATE resources SET status = 'queued', owner = NULL, not_before = 0, retry_count = 0
    WHERE status <> 'discovered' AND status <> 'queued'"""
_BEGIN = "INSERT INTO runs(id, kind, started_at, config, version) VALUES (?, ?, ?, ?, ?)"
_CONTINUE = "UPDATE runs SET ended_at = NULL, outcome = NULL, config = ?, version = ? WHERE id = ?"
_END = "UPDATE runs SET ended_at = ?, outcome = ?, score = ? WHERE id = ?"
_LAST_PAGE = "SELECT max(crawled_at) FROM pages"
_RUNS = """SELECT id, kind, started_at, ended_at, outcome, config, version, score, score_version,
    id = (SELECT max(id) FROM runs) OR EXISTS (SELECT 1 FROM page_history h WHERE h.run_id = runs.id) FROM runs ORDER BY id"""
# A crawl that was made before there were runs is the first of them.
_BEFORE_RUNS = """SELECT 1, 'crawl', began, ended, CASE WHEN waits = 0 THEN 'complete' END, '{}', '', NULL, NULL, 1
    FROM (SELECT min(added_at) AS began, max(crawled_at) AS ended,
        max(CASE WHEN status = 'queued' OR status = 'processing' THEN 1 ELSE 0 END) AS waits FROM pages) AS found
    WHERE began IS NOT NULL"""
_ADOPT = "INSERT INTO runs(id, kind, started_at, ended_at, outcome, config, version) VALUES (?, ?, ?, ?, ?, ?, ?)"


class RunOutcome(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    LIMIT = "limit"
    """As many pages as were asked for; more are known."""
    TIME = "time"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures(PublishedRecord, published="CrawlHistory"):
    """A run in the crawl's database."""

    number: int
    kind: str
    """`crawl` or `recrawl`."""
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    """complete, limit, time or interrupted; null while it runs, or if it was killed."""
    score: float | None
    kept: bool
    """Whether it can still be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun(RunFigures):
    """One crawl or re-crawl, with what is not published of it."""

    config: Mapping[str, Any]
    version: str
    score_version: int = 1
    """The version of the model of the score. Scores that were stored without one are of the first."""

    @property
    def partial(self) -> bool:
        """Whether there may be pages that it did not come to."""
        return self.outcome != RunOutcome.COMPLETE


class CrawlRuns:
    """The runs of a crawl."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
        dialect = db.dialect
        # A page that still waits, behind the limit say, has the findings of an earlier run.
        self._keep_findings = f"""INSERT INTO finding_history(run_id, page_id, check_number, subject, detail)
            SELECT ?, f.page_id, f.check_number, f.subject, f.detail FROM page_findings f
            LEFT JOIN pages p {dialect.by_id} ON p.id = f.page_id WHERE p.status IS NULL OR p.status <> 'queued'"""
        self._recount_hosts = f"""UPDATE hosts SET asked = 0, leased = 0, queued = coalesce((SELECT count(*)
            FROM pages {dialect.indexed_by("pages_frontier")} WHERE host_id = hosts.id AND status = 'queued'), 0)"""

    async def begin(self, kind: str, config: Mapping[str, Any], version: str) -> int:
        """The number of the run that is going on from now: the last one is continued, if there is one."""

        def body(sql: SqlConnection) -> int:
            last = self._last(sql)
            if last is None:
                return self._insert_run(sql, 1, kind, config, version)
            sql.execute(_CONTINUE, (_dump(config), version, last[0]))
            return last[0]

        return await self._db.write(body)

    async def end(self, run: int, outcome: str, score: float | None, *, seconds: float | None = None) -> None:
        """`seconds`: how long it was worked on just now. A run that had nothing left to do then has ended with its last page."""
        now = self._db.clock.now()

        def body(sql: SqlConnection) -> None:
            (last,) = sql.execute(_LAST_PAGE).fetchone()
            is_idle = seconds is not None and last is not None and last < stamp(now - seconds)
            sql.execute(_END, (last if is_idle else stamp(now), str(outcome), score, run))

        await self._db.write(body)

    async def begin_recrawl(
        self, config: Mapping[str, Any], version: str, *, limit: int = 0, externals: bool = False, keep: int = KEPT
    ) -> int | None:
        """Put every page of the site back into the queue, as a new run; its number.

        None when there is a run to be finished first, by whoever runs it now or by resuming it, and when nothing was crawled yet.
        `limit`: a run that has come to so many pages is finished, whatever waits behind them. `externals`: links to other sites
        that were tried are tried again. `keep`: how many of the earlier runs can be read afterwards.
        """

        def body(sql: SqlConnection) -> int | None:
            last = self._last(sql)
            if not _is_over(last, read_counters(sql), limit):
                return None
            number = last[0] if last is not None else _adopt(sql)
            for table, statement in (("page_history", _PAGES), ("finding_history", self._keep_findings)):
                sql.execute(f"DELETE FROM {table} WHERE run_id = ?", (number,))
                sql.execute(statement, (number,))
                sql.execute(f"DELETE FROM {table} WHERE run_id <= ?", (number - keep,))
            self._reopen(sql, externals)
            return self._insert_run(sql, number + 1, "recrawl", config, version)

        return await self._db.write(body)

    async def all(self) -> list[StoredRun]:
        """Every run, the first one first."""
        rows = await self._db.read(lambda sql: sql.execute(_RUNS).fetchall() or sql.execute(_BEFORE_RUNS).fetchall())
        return [
            StoredRun(
                number=number, kind=kind, started_at=parse_utc(began), ended_at=parse_utc(ended), outcome=outcome,
                config=json.loads(config), version=version, score=score, kept=bool(kept), score_version=score_version or 1,
            )
            for number, kind, began, ended, outcome, config, version, score, score_version, kept in rows
        ]  # fmt: skip

    def _last(self, sql: SqlConnection) -> tuple[int, str | None] | None:
        """The number of the last run, and when it ended; nobody else begins one until this transaction ends."""
        sql.execute(self._db.dialect.take_turn("runs")).fetchone()
        row: tuple[int, str | None] | None = sql.execute("SELECT id, ended_at FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        return row

    def _insert_run(self, sql: SqlConnection, number: int, kind: str, config: Mapping[str, Any], version: str) -> int:
        sql.execute(_BEGIN, (number, kind, stamp(self._db.clock.now()), _dump(config), version))
        return number

    def _reopen(self, sql: SqlConnection, externals: bool) -> None:
        """Everything is to be asked for once more, and is counted from nothing."""
        sql.execute(_AGAIN, (externals,))
        sql.execute(self._recount_hosts)
        sql.execute("DELETE FROM counters")
        counts = dict(sql.execute("SELECT status, count(*) FROM pages GROUP BY status").fetchall())
        (put_off,) = sql.execute("SELECT count(*) FROM pages WHERE skip_reason = ?", (QUEUE_FULL,)).fetchone()
        self._db.count(sql, {**counts, PUT_OFF: put_off})
        sql.execute(_RESOURCES)
        # A sitemap is found again by those who name it, or is gone.
        for table in ("sitemaps", "sitemap_entries", "chores", "robots"):
            sql.execute(f"DELETE FROM {table}")


def _adopt(sql: SqlConnection) -> int:
    sql.execute(_ADOPT, sql.execute(_BEFORE_RUNS).fetchone()[:7])
    return 1


def _is_over(last: tuple[int, str | None] | None, counts: Mapping[str, int], limit: int) -> bool:
    if counts.get("processing", 0) or (last is not None and last[1] is None):
        return False
    if counts.get("queued", 0):
        return 0 < limit <= counts.get("counted", 0)
    return last is not None or counts.get("completed", 0) + counts.get("error", 0) > 0


def _dump(config: Mapping[str, Any]) -> str:
    return json.dumps(config, ensure_ascii=False, default=str)
