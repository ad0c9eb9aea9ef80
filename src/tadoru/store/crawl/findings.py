"""Findings of an audit, the catalogue of checks that is stored with them, and the inlinks of a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from tadoru.i18n.translation import translator
from tadoru.model.finding import Check, CheckText, Severity, Threshold
from tadoru.model.web import LANDMARKS
from tadoru.store.crawl.connection import CrawlConnection, CrawlPart, listed
from tadoru.store.errors import translated

_URL = "CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END"
_FINDING = f"""SELECT f.check_number, f.page_id, {_URL}, f.subject, f.detail, f.data, p.depth, p.status_code, p.title"""
_INLINK = """SELECT r.source_id, s.depth, s.url, r.position, a.text, rel.text, r.kind, r.landmark
    FROM {links} r {join} pages s ON s.id = r.source_id JOIN texts a ON a.id = r.text_id JOIN texts rel ON rel.id = r.rel_id
    WHERE r.target_id = ? ORDER BY r.source_id, r.position LIMIT ?"""
# A crawl that was killed has no index on the targets of its links. Neither may a report lock the crawl for as long as making one
# takes, nor look through all links for each page.
_COPY = """CREATE TEMP TABLE IF NOT EXISTS report_links(
    target_id BIGINT, source_id BIGINT, position BIGINT, kind TEXT, text_id BIGINT, rel_id BIGINT, landmark BIGINT,
    PRIMARY KEY (target_id, source_id, position))"""
_FILL = """INSERT INTO report_links SELECT target_id, source_id, position, kind, text_id, rel_id, landmark
    FROM link_relations ORDER BY target_id, source_id, position ON CONFLICT DO NOTHING"""
_SORTED = 50
"""Of so many links the first by depth and URL are shown; of more, the first of those that were found first: a start page has a
million, and sorting them each time would take all day."""


class StoredCheck(NamedTuple):
    """A check of the catalogue that is stored with the crawl."""

    number: int
    scope: str
    check: Check


class FindingPlace(NamedTuple):
    """The position of a finding, to choose among millions of them."""

    check_number: int
    page_id: int
    depth: int
    url: str
    subject: str
    template: str | None = None
    segment: str | None = None


class FindingRow(NamedTuple):
    """A finding with its page."""

    check_number: int
    page_id: int
    """0 when it is about no page."""
    url: str
    subject: str
    detail: str
    data: Mapping[str, Any]
    depth: int | None
    status_code: int | None
    title: str | None


class Inlink(NamedTuple):
    """A link that leads to a page."""

    source_url: str
    text: str
    rel: str
    kind: str
    landmark: str
    """The part of its page that it stands in: `content`, `nav`, `header`, `footer` or `aside`; empty if that is not known."""


class FindingReader:
    """Reads findings, checks and inlinks."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
        self._links = ""
        """The table of links with an index of targets."""

    def stored_checks(self) -> list[StoredCheck]:
        """The catalogue in its order."""
        rows = self._db.rows(
            """SELECT number, scope, id, check_group, severity, title, title_ja, why, why_ja, fix, fix_ja, threshold, unit
            FROM checks ORDER BY number"""
        )
        return [_stored_check(row) for row in rows]

    def places(self, checks: Collection[int]) -> Iterator[FindingPlace]:
        """Where the findings of some checks are, those of one page together."""
        rows = self._db.stream(
            f"""SELECT f.check_number, f.page_id, coalesce(p.depth, 0), {_URL}, f.subject, d.template, d.segment
            FROM page_findings f LEFT JOIN pages p ON p.id = f.page_id LEFT JOIN page_details d ON d.page_id = p.id
            WHERE f.check_number IN ({listed(checks)})
            ORDER BY f.page_id, f.check_number, f.subject"""
        )
        return map(FindingPlace._make, rows)

    def found_at(self, place: FindingPlace) -> FindingRow:
        """One finding."""
        (row,) = self._db.rows(
            f"""{_FINDING} FROM page_findings f LEFT JOIN pages p ON p.id = f.page_id
            WHERE f.page_id = ? AND f.check_number = ? AND f.subject = ?""",
            (place.page_id, place.check_number, place.subject),
        )
        return _found_row(row)

    def found(self, checks: Collection[int]) -> Iterator[FindingRow]:
        """Every finding of some checks: first those about no page, then by the depth and the URL of their pages."""
        wanted = f"f.check_number IN ({listed(checks)})"
        of_no_page = f"""{_FINDING} FROM page_findings f LEFT JOIN pages p ON p.id = f.page_id
            WHERE f.page_id = 0 AND {wanted} ORDER BY f.check_number, f.subject"""
        of_pages = f"""{_FINDING} FROM pages p {self._db.dialect.join_in_order} page_findings f ON f.page_id = p.id
            WHERE {wanted} ORDER BY p.depth, p.url, f.check_number, f.subject"""
        return map(_found_row, chain(self._db.stream(of_no_page), self._db.stream(of_pages)))

    def has_finding(self, key: tuple[str, str, str], run: int | None = None) -> bool:
        """Whether a finding (URL, check, subject) is there; or was, in an earlier run."""
        url, check_id, subject = key
        table, of_run = ("page_findings", "true") if run is None else ("finding_history", "run_id = :run")
        is_url = self._db.dialect.is_text("url", ":url")
        found = self._db.rows(
            f"""SELECT 1 FROM {table} WHERE {of_run} AND page_id IN (0, (SELECT id FROM pages WHERE {is_url}))
            AND check_number = (SELECT number FROM checks WHERE id = :check_id)
            AND subject = :subject AND (page_id <> 0 OR subject = :url) LIMIT 1""",
            {"url": url, "check_id": check_id, "subject": subject, "run": run},
        )
        return bool(found)

    def finding_keys(self, run: int | None = None) -> Iterator[tuple[str, str, str]]:
        """Every finding (URL, check, subject); or every one of an earlier run."""
        table, of_run = ("page_findings", "true") if run is None else ("finding_history", "run_id = ?")
        return self._db.stream(
            f"""SELECT {_URL}, c.id, f.subject FROM {table} f JOIN checks c ON c.number = f.check_number
            LEFT JOIN pages p ON p.id = f.page_id WHERE {of_run} ORDER BY f.page_id, f.check_number, f.subject""",
            () if run is None else (run,),
        )

    def inlink_count(self, page_id: int) -> int:
        """How many links lead to a page."""
        rows = self._db.rows("SELECT inlinks FROM page_scores WHERE page_id = ?", (page_id,))
        if not rows:
            rows = self._db.rows(f"SELECT count(*) FROM {self._link_table()} WHERE target_id = ?", (page_id,))
        count: int = rows[0][0]
        return count

    def inlinks(self, page_id: int, most: int) -> list[Inlink]:
        """The first links that lead to a page: one from each page that links to it, then the others, then its own."""
        statement = _INLINK.format(links=self._link_table(), join=self._db.dialect.join_in_order)
        rows = self._db.rows(statement, (page_id, max(most, _SORTED)))
        links: list[tuple[bool, int, Inlink]] = []
        seen: Counter[int] = Counter()
        for source, _, url, _, text, rel, kind, landmark in sorted(rows, key=lambda row: row[1:4]):
            links.append((source == page_id, seen[source], Inlink(url, text, rel, kind, LANDMARKS[landmark])))
            seen[source] += 1
        links.sort(key=lambda link: link[:2])
        return [link for _, _, link in links[:most]]

    def _link_table(self) -> str:
        if not self._links:
            indexed = self._db.rows(self._db.dialect.index_exists("links_by_target"))
            if not indexed:
                with translated(self._db.path):
                    self._db.sql.execute(f"{_COPY} {self._db.dialect.without_rowid}")
                    self._db.sql.execute(_FILL)
            self._links = "link_relations" if indexed else "report_links"
        return self._links


def _found_row(row: tuple[Any, ...]) -> FindingRow:
    number, page, url, subject, detail, data, *rest = row
    return FindingRow(number, page, url, subject, detail, json.loads(data) if data else {}, *rest)


def _stored_check(row: tuple[Any, ...]) -> StoredCheck:
    number, scope, name, group, severity, title, title_ja, why, why_ja, fix, fix_ja, threshold, unit = row
    limit = Threshold(threshold, unit or "") if threshold is not None else None
    japanese = CheckText(title_ja, why_ja, fix_ja)
    return StoredCheck(number, scope, Check(name, group, Severity(severity), title, why, fix, limit, japanese))


_CHECK = """INSERT INTO checks(id, scope, check_group, severity, title, why, fix, title_ja, why_ja, fix_ja, threshold, unit)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET scope = excluded.scope, check_group = excluded.check_group, severity = excluded.severity,
        title = excluded.title, why = excluded.why, fix = excluded.fix, title_ja = excluded.title_ja, why_ja = excluded.why_ja,
        fix_ja = excluded.fix_ja, threshold = excluded.threshold, unit = excluded.unit"""


class CheckCatalogueStore(CrawlPart):
    """Stores the check catalogue of a crawl."""

    async def install(self, checks: Iterable[Check], scope: str, thresholds: dict[str, float] | None = None) -> None:
        """Make checks known, with their words as they are now and the thresholds that hold. Their numbers stay."""
        chosen = thresholds or {}
        rows = [
            (
                check.id, scope, check.group, str(check.severity), check.title, check.why, check.fix,
                *translator("ja").check(check),
                chosen.get(check.id, check.threshold.default) if check.threshold else None,
                check.threshold.unit if check.threshold else None,
            )
            for check in checks
        ]  # fmt: skip
        await self._db.write(lambda sql: sql.executemany(_CHECK, rows))

    def unrendered(self, most: int) -> tuple[list[str], str]:
        """Pages that were read without the browser they needed, the first few of them, and why there was none."""
        failed, is_missing = (self._db.dialect.json_field("d.rendering", name) for name in ("failed", "browser_missing"))
        rows = self._db.rows(  # SQLite reads `true` as 1.
            f"""SELECT p.url, {failed} FROM page_details d JOIN pages p ON p.id = d.page_id
            WHERE d.rendering IS NOT NULL AND CAST({is_missing} AS TEXT) IN ('1', 'true') ORDER BY p.url LIMIT ?""",
            (most,),
        )
        return [url for url, _ in rows], rows[0][1] if rows else ""
