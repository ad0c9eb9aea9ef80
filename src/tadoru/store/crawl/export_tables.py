"""The tables of an export: their columns, the kind of each value, and the SQL that reads them.

Statements are composed and run in `export_reader`: `{d.…}` are words of its dialect, `{item[0]}` is the first value of an item of
a JSON array. Each goes through the pages by URL, so that two exports of one site can be compared line by line; most need no
sorting, because an index or a primary key has the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from tadoru.store.crawl.records import UNLINKED


class ColumnKind(Enum):
    """The kind of a value, and its form in the database."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    TRUTH = "truth"
    """0 or 1."""
    TIME = "time"
    """UTC, `2024-01-31 12:00:00.000`."""
    JSON = "json"
    """JSON text."""
    VALUES = "values"
    """A list of texts: what `--extract` found. No column of the database is one, `dump` makes it."""


class ExportColumn(NamedTuple):
    """A column of an export."""

    name: str
    kind: ColumnKind
    sql: str = ""


class TableQuery(NamedTuple):
    """One statement without its columns and filters."""

    source: str
    order: str
    where: str = "true"
    within: str = ""
    """The rest of the order, where it has to be said: SQLite goes through the lists of a page in theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTable:
    """A table of an export; a filter that is None for it is refused."""

    columns: tuple[ExportColumn, ...]
    reads: tuple[TableQuery, ...]
    asked: str | None = None
    """The alias whose `status`, `status_code` and `internal` are filtered by."""
    url: str | None = None
    judged: str | None = None
    """The id of the page whose findings are filtered by."""
    check: str | None = None
    """The number of the row's own check, which is filtered by instead."""


def _texts(**columns: str) -> tuple[ExportColumn, ...]:
    return tuple(ExportColumn(name, ColumnKind.TEXT, sql) for name, sql in columns.items())


def _same(alias: str, kind: ColumnKind, names: str) -> tuple[ExportColumn, ...]:
    """Columns that are called as in the database."""
    return tuple(ExportColumn(name, kind, f"{alias}.{name}") for name in names.split())


def _of_pages(source: str, *columns: ExportColumn, order: str = "", within: str = "") -> ExportTable:
    """A table of which each row belongs to a page `p`."""
    reads = (TableQuery(f"{_BY_URL} {source}", f"p.url{order}", within=within),)
    return ExportTable(columns=(_URL, *columns), reads=reads, asked="p", url="p.url", judged="p.id")


def _of_lists(column: str, *columns: ExportColumn) -> ExportTable:
    """A table over a list that is kept with the details of a page."""
    source = f"{_DETAILS} CROSS JOIN {{d.json_list}}(d.{column}) i"
    return _of_pages(source, *columns, ExportColumn("position", _INTEGER, "i.key"), within=", i.key")


_TEXT, _INTEGER, _REAL, _TRUTH, _TIME, _JSON, _VALUES = ColumnKind
MOST_ITEMS = 5
"""Values in a list that is an item of a JSON array."""
_URL = ExportColumn("url", _TEXT, "p.url")
_BY_URL = "pages p {d.by_url}"
_DETAILS = "{d.join_in_order} page_details d ON d.page_id = p.id"

PAGES = _of_pages(
    """LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
    LEFT JOIN pages cluster ON cluster.id = s.cluster_id LEFT JOIN pages parent ON parent.id = p.parent_id
    LEFT JOIN pages onward ON onward.id = p.redirect_id""",
    *_same("p", _TRUTH, "internal"), *_same("p", _TEXT, "purpose status"), *_same("p", _INTEGER, "status_code"),
    *_same("d", _TRUTH, "indexable"), *_same("d", _TEXT, "indexability"),
    *_same("p", _TEXT, "title"), *_same("d", _INTEGER, "title_length title_pixels"),
    *_same("p", _TEXT, "meta_description"), *_same("d", _INTEGER, "description_length description_pixels"),
    *_same("d", _TEXT, "h1"), *_same("p", _TEXT, "meta_robots"), *_same("d", _TEXT, "x_robots_tag"),
    *_same("p", _TEXT, "canonical_url"), *_same("d", _TEXT, "canonical_http next_url prev_url language charset"),
    *_same("d", _INTEGER, "word_count"), *_same("d", _REAL, "text_ratio"),
    *_same("p", _TEXT, "content_hash"), *_same("d", _TEXT, "body_hash"), *_texts(cluster_url="cluster.url"),
    ExportColumn("depth", _INTEGER, f"CASE WHEN p.depth < {UNLINKED} THEN p.depth END"),
    *_same("s", _INTEGER, "inlinks unique_inlinks outlinks external_outlinks"), *_same("s", _REAL, "link_score"),
    *_texts(parent_url="parent.url", redirect_url="onward.url"),
    *_same("p", _TEXT, "content_type"), *_same("p", _INTEGER, "content_length response_size_bytes"),
    *_same("d", _INTEGER, "transferred_bytes"), *_same("p", _TEXT, "content_encoding server"),
    *_same("d", _TEXT, "http_version address"), *_same("p", _REAL, "dns_ms connect_ms tls_ms ttfb_ms download_time_ms"),
    *_same("p", _TIME, "last_modified"), *_same("d", _TEXT, "etag"), *_same("p", _TEXT, "skip_reason"),
    *_same("p", _INTEGER, "retry_count crawls"), *_texts(error_type="p.last_error_type", error_message="p.last_error_message"),
    *_same("p", _TIME, "added_at crawled_at"), *_same("d", _JSON, "rendering"),
    *_same("d", _TEXT, "template segment"),
)  # fmt: skip

_LANDMARK = (
    "CASE r.landmark WHEN 1 THEN 'content' WHEN 2 THEN 'nav' WHEN 3 THEN 'header' WHEN 4 THEN 'footer' WHEN 5 THEN 'aside' END"
)
_LINKS = ExportTable(
    columns=(
        *_texts(
            source_url="s.url", target_url="t.url", fragment="f.text", anchor_text="a.text",
            link_type="CASE WHEN t.internal THEN 'internal' ELSE 'external' END", rel_attribute="rel.text", kind="r.kind",
        ),
        ExportColumn("position", _INTEGER, "r.position"),
        *_texts(target_status="t.status"), ExportColumn("target_status_code", _INTEGER, "t.status_code"),
        *_texts(target_error="t.last_error_type"), *_same("s", _TIME, "crawled_at"), *_texts(landmark=_LANDMARK),
    ),
    reads=(
        TableQuery(
            """pages s {d.by_url} {d.join_in_order} link_relations r ON r.source_id = s.id
            JOIN pages t ON t.id = r.target_id JOIN texts a ON a.id = r.text_id JOIN texts rel ON rel.id = r.rel_id
            JOIN texts f ON f.id = r.fragment_id""",
            "s.url, r.position",
        ),
    ),
    asked="t", url="s.url", judged="s.id",
)  # fmt: skip

_FINDINGS = ExportTable(
    columns=(
        *_texts(
            url="CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END", check_id="c.id", check_group="c.check_group",
            severity="c.severity", scope="c.scope", title="c.title", title_ja="c.title_ja",
        ),
        *_same("f", _TEXT, "subject detail"), *_same("f", _JSON, "data"), *_same("p", _INTEGER, "status_code"),
        *_same("d", _TEXT, "template segment"),
    ),
    reads=(
        # What is about no page first: a walk through the pages would not meet it.
        TableQuery(
            """page_findings f JOIN checks c ON c.number = f.check_number LEFT JOIN pages p ON p.id = f.page_id
            LEFT JOIN page_details d ON d.page_id = p.id""",
            "f.check_number, f.subject", "f.page_id = 0",
        ),
        TableQuery(
            f"{_BY_URL} {{d.join_in_order}} page_findings f ON f.page_id = p.id JOIN checks c ON c.number = f.check_number"
            " LEFT JOIN page_details d ON d.page_id = p.id",
            "p.url, f.check_number, f.subject",
        ),
    ),
    asked="p", url="CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END", check="f.check_number",
)  # fmt: skip

TABLES: dict[str, ExportTable] = {
    "pages": PAGES,
    "links": _LINKS,
    "findings": _FINDINGS,
    "checks": ExportTable(
        columns=(
            *_texts(id="c.id"), *_same("c", _TEXT, "scope check_group severity title why fix title_ja why_ja fix_ja"),
            *_same("c", _REAL, "threshold"), *_same("c", _TEXT, "unit"),
        ),
        reads=(TableQuery("checks c", "c.number"),), check="c.number",
    ),
    "headings": _of_lists("headings", ExportColumn("level", _INTEGER, "CAST({item[0]} AS INTEGER)"), *_texts(text="{item[1]}")),
    "images": _of_lists(
        "images", *_texts(src="{item[0]}", alt="{item[1]}", width="{item[2]}", height="{item[3]}", loading="{item[4]}")
    ),
    "directives": _of_lists("directives", *_texts(source="{item[0]}", agent="{item[1]}", name="{item[2]}", value="{item[3]}")),
    "response_headers": _of_lists("headers", *_texts(name="lower({item[0]})", value="{item[1]}")),
    "extractions": _of_pages(
        f"{_DETAILS} CROSS JOIN {{d.json_fields}}(d.extracted) e CROSS JOIN {{d.json_list}}(e.value) i",
        *_texts(name="e.key", value="i.value"), ExportColumn("position", _INTEGER, "i.key"),
        within=", e.place, i.key",
    ),
    "hreflang": _of_pages(
        "{d.join_in_order} page_hreflang h ON h.page_id = p.id",
        *_texts(language="h.language", alternate_url="h.url", source="h.source"), *_same("h", _INTEGER, "position"),
        order=", h.position",
    ),
    "structured_data": _of_pages(
        "{d.join_in_order} page_items i ON i.page_id = p.id",
        *_same("i", _TEXT, "syntax type"), *_same("i", _JSON, "properties"), *_same("i", _INTEGER, "position"),
        order=", i.position",
    ),
    "redirects": _of_pages(
        "{d.join_in_order} pages t ON t.id = p.redirect_id",
        *_same("p", _INTEGER, "status_code"), *_texts(target_url="t.url", target_status="t.status"),
        ExportColumn("target_status_code", _INTEGER, "t.status_code"),
    ),
    # The only one that is sorted: chains have no order of their own, and no site has many.
    "redirect_hops": ExportTable(
        columns=(
            *_same("h", _TEXT, "start_url"), *_same("h", _INTEGER, "hop"), *_same("h", _TEXT, "url"),
            *_same("h", _INTEGER, "status_code"), *_same("h", _TEXT, "target_url"),
        ),
        reads=(TableQuery("redirect_hops h", "h.start_url, h.hop"),), url="h.start_url",
    ),
    "page_resources": _of_pages(
        "{d.join_in_order} resource_uses u ON u.page_id = p.id JOIN resources r ON r.id = u.resource_id",
        *_texts(resource_url="r.url"), *_same("r", _TEXT, "kind status"), *_same("r", _INTEGER, "status_code content_length"),
        *_same("u", _INTEGER, "position"),
        order=", u.position",
    ),
    "resources": ExportTable(
        columns=(
            *_same("r", _TEXT, "url kind"), *_same("r", _TRUTH, "internal"), *_same("r", _TEXT, "status"),
            *_same("r", _INTEGER, "status_code"), *_same("r", _TEXT, "content_type"), *_same("r", _INTEGER, "content_length"),
            *_same("r", _TEXT, "final_url skip_reason"),
            *_texts(error_type="r.last_error_type", error_message="r.last_error_message"), *_same("r", _TIME, "checked_at"),
        ),
        reads=(TableQuery("resources r {resources_by_url}", "r.url"),), asked="r", url="r.url",
    ),
    "sitemaps": ExportTable(
        columns=(
            *_same("m", _TEXT, "url"), *_same("m", _INTEGER, "level"), *_same("m", _TEXT, "named_by status kind"),
            *_same("m", _INTEGER, "status_code bytes urls"), *_same("m", _JSON, "problems"), *_same("m", _TIME, "read_at"),
        ),
        reads=(TableQuery("sitemaps m", "m.id"),), url="m.url",
    ),
    "sitemap_urls": ExportTable(
        columns=(
            *_texts(sitemap_url="m.url", url="p.url", lastmod="e.lastmod", status="p.status"),
            *_same("p", _INTEGER, "status_code"),
        ),
        reads=(TableQuery("sitemap_entries e JOIN sitemaps m ON m.id = e.sitemap_id JOIN pages p ON p.id = e.page_id",
                    "e.sitemap_id, e.page_id"),),
        asked="p", url="p.url", judged="p.id",
    ),
    "errors": ExportTable(
        columns=(*_same("e", _TEXT, "url error_type error_message"), *_same("e", _TIME, "occurred_at")),
        reads=(TableQuery("crawl_errors e", "e.id"),), url="e.url",
    ),
    "runs": ExportTable(
        columns=(
            *_same("n", _INTEGER, "id"), *_same("n", _TEXT, "kind"), *_same("n", _TIME, "started_at ended_at"),
            *_same("n", _TEXT, "outcome version"), *_same("n", _REAL, "score"), *_same("n", _JSON, "config"),
        ),
        reads=(TableQuery("runs n", "n.id"),),
    ),
}  # fmt: skip
"""What an export can name, in the order in which `all` writes them."""
