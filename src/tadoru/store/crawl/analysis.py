"""Stores what is known once a crawl has ended: site findings, scores, depths, health; replaced as a whole in one transaction.

Findings are collected in a temporary file first, which takes a while and blocks nobody. The checks themselves are in
`jobs.audit.site_checks`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from tadoru.model.finding import MAX_DETAIL, Severity, Value
from tadoru.store.crawl.connection import CrawlConnection, SqlConnection, json_text, plain
from tadoru.store.errors import translated

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

_AT_A_TIME = 2_000
_COLLECTED = "CREATE TABLE findings(page_id INTEGER, check_number INTEGER, subject TEXT, detail TEXT, data TEXT)"
# Of several about one subject, the last one: SQLite takes the other columns from the row that has the maximum.
_IN_ORDER = """SELECT page_id, check_number, subject, detail, data FROM (SELECT *, max(rowid) AS latest FROM findings
    GROUP BY page_id, check_number, subject) ORDER BY page_id, check_number, latest"""
_FINDING = ("page_id", "check_number", "subject", "detail", "data")
_DROP_OLD = "DELETE FROM page_findings WHERE check_number IN (SELECT number FROM checks WHERE scope = 'site')"
_SCORE = ("page_id", "inlinks", "unique_inlinks", "outlinks", "external_outlinks", "link_score", "cluster_id")
# A start that is no longer one: the start that redirected to it does so no more.
_NO_SEED = "UPDATE pages SET is_seed = false WHERE is_seed AND hops > 0 AND depth > 0"
_OF_THE_SITE = """SELECT c.id, c.severity, c.check_group, f.data FROM page_findings f JOIN checks c ON c.number = f.check_number
    WHERE f.page_id = 0 AND c.severity <> 'info' ORDER BY f.check_number, f.subject"""
_CHECKS = "SELECT number, id, severity FROM checks WHERE severity <> 'info' ORDER BY number"
_RESOURCE_GROUPS = frozenset({"resources", "images"})


class SiteFinding(NamedTuple):
    """A finding about a page that needs the whole site, or about something that is not a page."""

    check_id: str
    page: int
    """0: it is about no page, but about `subject`."""
    detail: str = ""
    data: Mapping[str, Value] = {}
    subject: str = ""


class FindingCount(NamedTuple):
    """How often one check found something."""

    check_id: str
    severity: Severity
    pages: int = 0
    """HTML pages of the site that responded."""
    others: int = 0
    """Other URLs and resources."""
    is_site: bool = False
    """Whether it is about the whole site."""
    percent: float | None = None
    """The share of pages, if a finding about the whole site names it."""


class SiteHealth(NamedTuple):
    """The values that the health score is computed from."""

    documents: int
    """HTML pages of the site that responded."""
    hidden: int = 0
    """Those that search engines may not show, or are asked to replace by a page of another host."""
    causes: Mapping[str, int] = {}
    """For checks about links: to how many URLs these lead."""
    findings: tuple[FindingCount, ...] = ()


class AnalysisWriter:
    """Writes the results of the site checks."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
        self._numbers: dict[str, int] = {}
        self._collected: sqlite3.Connection | None = None

    def site_view(self, *, likeness: float) -> SiteView:
        """The crawl as arrays. `likeness`: from which similarity on, 0 to 1, two pages are near duplicates."""
        from tadoru.store.crawl.site.view import SiteView

        return SiteView(self._db.sql, self._db.dialect, self._db.clock.now(), likeness)

    def begin_site_findings(self) -> frozenset[str]:
        """Collect findings anew; the ids of the site checks of this crawl."""
        self._numbers = dict(self._db.rows("SELECT id, number FROM checks WHERE scope = 'site'"))
        if self._collected is not None:
            self._collected.close()
        # An empty name is a file that SQLite deletes. It may be filled in one thread and read in another.
        self._collected = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._collected.execute(_COLLECTED)
        return frozenset(self._numbers)

    def put_site_findings(self, findings: Iterable[SiteFinding]) -> None:
        """Collect findings."""
        assert self._collected is not None, "begin_site_findings comes first."
        rest = iter(findings)
        with translated(self._db.path):
            while some := list(islice(rest, _AT_A_TIME)):
                self._collected.execute("BEGIN")
                self._collected.executemany("INSERT INTO findings VALUES (?, ?, ?, ?, ?)", map(self._row, some))
                self._collected.execute("COMMIT")

    def _row(self, finding: SiteFinding) -> tuple[int, int, str, str, str | None]:
        check_id, page, detail, data, subject = finding
        text = json_text(data) if data else None
        return page, self._numbers[check_id], str(plain(subject)), detail[:MAX_DETAIL], text

    async def keep_analysis(self, view: SiteView) -> None:
        """Make the findings that were collected, and what the view computed, those of the crawl."""
        collected = self._collected
        assert collected is not None, "begin_site_findings comes first."
        view.compute_figures()  # Before others have to wait.

        def kept(sql: SqlConnection) -> None:
            sql.execute(_DROP_OLD)
            self._db.put_rows("page_findings", _FINDING, collected.execute(_IN_ORDER))
            sql.execute("DELETE FROM page_scores")
            self._db.put_rows("page_scores", _SCORE, _scores(view))
            sql.executemany("UPDATE pages SET depth = ? WHERE id = ?", _changed_depths(view))
            sql.execute(_NO_SEED)

        await self._db.write(kept)
        collected.close()
        self._collected = None
        self._db.forget_cached()  # Depths are among it.

    async def health(self, view: SiteView) -> SiteHealth:
        """What the score is made of, counted over all findings."""
        counts = view.finding_counts()

        def found(sql: SqlConnection) -> list[FindingCount]:
            of_pages = [
                FindingCount(check, Severity(severity), *counts[number])
                for number, check, severity in sql.execute(_CHECKS).fetchall()
                if number in counts
            ]
            rows = sql.execute(_OF_THE_SITE).fetchall()
            return of_pages + [_count_site_rows(list(those)) for _, those in groupby(rows, key=itemgetter(0))]

        from tadoru.store.crawl.site.arrays import UrlVerdict

        hidden = view.pages.documents & ((view.pages.why == UrlVerdict.NOINDEX) | view.pages.canonical_away)
        documents = int(view.pages.documents.sum())
        return SiteHealth(documents, int(hidden.sum()), view.link_causes(), tuple(await self._db.read(found)))

    async def keep_score(self, score: float | None, version: int) -> None:
        """Where reports and comparisons look for it: with the crawl, and with its last run. `version`: of the model."""

        def kept(sql: SqlConnection) -> None:
            sql.execute("DELETE FROM crawl_meta WHERE key = 'score'")
            if score is not None:
                sql.execute("INSERT INTO crawl_meta(key, value) VALUES ('score', ?)", (str(score),))
            sql.execute("UPDATE runs SET score = ?, score_version = ? WHERE id = (SELECT max(id) FROM runs)", (score, version))

        await self._db.write(kept)


def _count_site_rows(rows: list[tuple[str, str, str, str | None]]) -> FindingCount:
    """The findings of one check that are about no page: about resources, or about the site."""
    check, severity, group, data = rows[0]
    if group in _RESOURCE_GROUPS:
        return FindingCount(check, Severity(severity), others=len(rows))
    percent = json.loads(data).get("percent") if data else None
    return FindingCount(check, Severity(severity), is_site=True, percent=percent)


def _scores(view: SiteView) -> Iterator[tuple[int | float | None, ...]]:
    links = view.links
    columns = (links.inlinks, view.inlinks.unique, links.outlinks, links.external_outlinks, view.scores, view.clusters)
    ids = view.ids(view.pages.internal)
    for at in range(0, len(ids), _AT_A_TIME):
        some = ids[at : at + _AT_A_TIME]
        for page, *numbers, score, cluster in zip(some, *[column[some].tolist() for column in columns], strict=True):
            yield (page, *numbers, score if score == score else None, cluster or None)  # noqa: PLR0124 - NaN is no score


def _changed_depths(view: SiteView) -> Iterator[tuple[int, int]]:
    """(depth, page) where it is not what the crawl thought: a re-crawl may have found links gone."""
    if view.pages.root.any():
        ids = view.ids(view.depth != view.pages.depth)
        yield from ((int(view.depth[page]), page) for page in ids)
