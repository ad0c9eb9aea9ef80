"""Writes a job's records of a page in the transaction that writes the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from tadoru.model.finding import Finding
from tadoru.store.crawl import documents
from tadoru.store.crawl.connection import json_text
from tadoru.store.crawl.records import PageRecords, ResourceUse
from tadoru.store.crawl.sqlite.database import Database, stamp

_PLAIN = (
    "indexable", "indexability", "http_version", "address", "transferred_bytes", "body_hash", "etag", "last_modified_field",
    "charset", "language", "title_length", "title_pixels", "description_length", "description_pixels", "h1", "word_count",
    "text_ratio", "canonical_http", "x_robots_tag", "next_url", "prev_url", "sketch",
)  # fmt: skip
_JSON = ("headers", "headings", "images", "directives", "rendering", "extracted")
_plain, _json = attrgetter(*_PLAIN), attrgetter(*_JSON)
_COLUMNS = ("page_id", *_PLAIN, *_JSON)
DETAIL_COLUMNS = ", ".join(_COLUMNS)
_DETAILS = f"INSERT OR REPLACE INTO page_details({DETAIL_COLUMNS}) VALUES ({', '.join('?' * len(_COLUMNS))})"


class PageDetailWriter:
    """The rows of one transaction, collected and written together."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._details: list[tuple[object, ...]] = []
        self._findings: list[tuple[int, int, str, str | None]] = []
        self._hreflang: list[tuple[int, int, str, str, str]] = []
        self._items: list[tuple[int, int, str, str, str]] = []
        self._uses: list[tuple[int, int, int]] = []
        self._bodies: list[tuple[int, bytes]] = []

    def add(self, page: int, records: PageRecords, resources: Sequence[ResourceUse] = ()) -> None:
        """One page's."""
        self._details.append(detail_row(page, records))
        self._findings += [finding_row(page, finding, self._db.check_number) for finding in records.findings]
        self._hreflang += [(page, at, *alternate) for at, alternate in enumerate(records.hreflang)]
        self._items += item_rows(page, records)
        ids = self._db.resource_ids
        self._uses += [(page, at, ids.get(use.url) or self._resource(use)) for at, use in enumerate(resources)]
        if records.body is not None:
            self._bodies.append((page, records.body))
        if records.document or records.drops_document or records.specification or records.offered:
            for statement, values in documents.statements(page, records, stamp(self._db.clock.now())):
                self._db.sql.execute(statement, values)

    def flush(self) -> None:
        if not self._details:
            return
        sql = self._db.sql
        sql.executemany(_DETAILS, self._details)
        sql.executemany("INSERT OR REPLACE INTO page_findings VALUES (?, ?, '', ?, ?)", self._findings)
        sql.executemany("INSERT OR REPLACE INTO page_hreflang VALUES (?, ?, ?, ?, ?)", self._hreflang)
        sql.executemany("INSERT OR REPLACE INTO page_items VALUES (?, ?, ?, ?, ?)", self._items)
        sql.executemany("INSERT OR REPLACE INTO resource_uses VALUES (?, ?, ?)", self._uses)
        sql.executemany("INSERT OR REPLACE INTO bodies VALUES (?, ?)", self._bodies)
        for rows in (self._details, self._findings, self._hreflang, self._items, self._uses, self._bodies):
            rows.clear()

    def _resource(self, use: ResourceUse) -> int:
        sql = self._db.sql
        row = sql.execute("SELECT id FROM resources WHERE url = ?", (use.url,)).fetchone()
        if row is None:
            row = sql.execute(
                "INSERT INTO resources(url, host, kind, internal, status) VALUES (?, ?, ?, ?, ?) RETURNING id",
                (use.url, use.host, str(use.kind), use.internal, "queued" if use.wanted else "discovered"),
            ).fetchone()
        number: int = row[0]
        self._db.resource_ids[use.url] = number
        return number


def detail_row(page: int, records: PageRecords) -> tuple[object, ...]:
    """The row of `page_details`, by `DETAIL_COLUMNS`."""
    return (page, *_plain(records), *[json_text(value) if value else None for value in _json(records)])


def finding_row(page: int, finding: Finding, check_number: Callable[[str], int]) -> tuple[int, int, str, str | None]:
    """The row of `page_findings`, but for its subject: a finding of a page has none."""
    return page, check_number(finding.check_id), finding.detail, json_text(finding.data) if finding.data else None


def item_rows(page: int, records: PageRecords) -> list[tuple[int, int, str, str, str]]:
    """The rows of `page_items`."""
    return [(page, at, item.syntax, item.type, json_text(item.properties)) for at, item in enumerate(records.items)]
