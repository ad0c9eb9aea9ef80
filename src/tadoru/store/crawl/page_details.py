"""Writes a job's records of a page in the transaction that writes the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from tadoru.store.crawl import documents
from tadoru.store.crawl.connection import json_text
from tadoru.store.crawl.records import PageRecords, ResourceUse
from tadoru.store.crawl.sqlite.database import Database, stamp

_PLAIN = (
    "indexable", "indexability", "http_version", "address", "transferred_bytes", "body_hash", "etag", "last_modified_field",
    "charset", "language", "title_length", "title_pixels", "description_length", "description_pixels", "h1", "word_count",
    "text_ratio", "canonical_http", "x_robots_tag", "next_url", "prev_url", "sketch",
    "template", "segment",
)  # fmt: skip
_JSON = ("headers", "headings", "images", "directives", "rendering", "extracted", "site_facts")
_plain, _json = attrgetter(*_PLAIN), attrgetter(*_JSON)
_COLUMNS = ("page_id", *_PLAIN, *_JSON)
DETAIL_TABLES = {
    "page_details": _COLUMNS,
    "page_findings": ("page_id", "check_number", "subject", "detail", "data"),
    "page_hreflang": ("page_id", "position", "language", "url", "source"),
    "page_items": ("page_id", "position", "syntax", "type", "properties"),
    "resource_uses": ("page_id", "position", "resource_id"),
    "bodies": ("page_id", "body"),
}
"""What is written of a page, with its columns."""
_INSERT = {
    table: f"INSERT OR REPLACE INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for table, columns in DETAIL_TABLES.items()
}


class DetailRows:
    """The rows of some pages, by table."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in DETAIL_TABLES}

    def add(self, page: int, records: PageRecords, resources: Iterable[int], check_number: Callable[[str], int]) -> None:
        """The rows of one page that uses resources of these numbers."""
        rows = self.rows
        rows["page_details"].append((page, *_plain(records), *[json_text(value) if value else None for value in _json(records)]))
        if records.findings:  # Of one check, a page has one that is about the page itself.
            numbered = {check_number(finding.check_id): finding for finding in records.findings}
            rows["page_findings"] += [
                (page, number, "", finding.detail, json_text(finding.data) if finding.data else None)
                for number, finding in numbered.items()
            ]
        rows["page_hreflang"] += [(page, at, *alternate) for at, alternate in enumerate(records.hreflang)]
        rows["page_items"] += [
            (page, at, item.syntax, item.type, json_text(item.properties)) for at, item in enumerate(records.items)
        ]
        rows["resource_uses"] += [(page, at, number) for at, number in enumerate(resources)]
        if records.body is not None:
            rows["bodies"].append((page, records.body))


class PageDetailWriter:
    """The rows of one transaction on SQLite, collected and written together."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._details = DetailRows()

    def add(self, page: int, records: PageRecords, resources: Sequence[ResourceUse] = ()) -> None:
        """One page's."""
        ids = self._db.resource_ids
        used = [ids.get(use.url) or self._resource(use) for use in resources]
        self._details.add(page, records, used, self._db.check_number)
        if records.document or records.drops_document or records.specification or records.offered:
            for statement, values in documents.statements(page, records, stamp(self._db.clock.now())):
                self._db.sql.execute(statement, values)

    def flush(self) -> None:
        for table, rows in self._details.rows.items():
            if rows:
                self._db.sql.executemany(_INSERT[table], rows)
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
