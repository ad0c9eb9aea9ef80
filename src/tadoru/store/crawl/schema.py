"""Every table of a crawl, for SQLite and PostgreSQL.

The names `pages`, `links`, `crawl_errors`, `crawl_meta`, `completed_pages` and `queue_status` are a contract with everyone who
queries a crawl. Everything that people query has a table or a view (`sql/views.sql`) of its own; what is only ever read
together with its page is one JSON value of the page, with a view over it.

`scripts/schema.py` writes `sql/sqlite.sql` and `sql/postgresql.sql` from these tables: a crawl runs these and does not import
SQLAlchemy. A change needs a step in `sql/upgrade` for each database and another format number (`scripts.py`).

Where the databases differ: PostgreSQL compares texts by their bytes, as SQLite does (collation C), and finds long texts by their
hash, because its indexes hold no text of any length. Its workers have counters of their own, so that none waits for another.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

Int64 = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Float64: TypeEngine[float] = sa.Double().with_variant(sa.REAL(), "sqlite")
ByteText = sa.Text(collation="C").with_variant(sa.Text(), "sqlite")
Flag: TypeEngine[bool] = sa.Boolean().with_variant(sa.Integer(), "sqlite")
Blob = sa.LargeBinary()

metadata = sa.MetaData()
"""The tables that both databases have."""
sqlite_metadata = sa.MetaData()
"""Tables of SQLite only."""
postgresql_metadata = sa.MetaData()
"""Tables of PostgreSQL only."""


def tables(database: str) -> list[sa.Table]:
    """The tables of a crawl on `sqlite` or `postgresql`, in the order of their definition."""
    own = sqlite_metadata if database == "sqlite" else postgresql_metadata
    return [*metadata.tables.values(), *own.tables.values()]


def _table(name: str, comment: str, *parts: SchemaItem, of: sa.MetaData = metadata, **options: Any) -> sa.Table:
    return sa.Table(name, of, *parts, comment=comment, **options)


def _column(kind: TypeEngine[Any], name: str, default: Any = None, comment: str | None = None) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, server_default=default, comment=comment)


def _id(name: str = "id", comment: str | None = None) -> sa.Column[Any]:
    """A number that the database assigns."""
    return sa.Column(name, Int64, sa.Identity(), primary_key=True, comment=comment)


def _key(name: str) -> sa.Column[Any]:
    """A number that the program assigns, alone or with others the key of its table."""
    return sa.Column(name, Int64, primary_key=True, autoincrement=False)


def _text_key(name: str) -> sa.Column[Any]:
    return sa.Column(name, ByteText, primary_key=True, quote=False)


def _number(name: str, default: int | None = None, comment: str | None = None) -> sa.Column[Any]:
    return _column(Int64, name, None if default is None else sa.text(str(default)), comment)


def _real(name: str, default: int | None = None, comment: str | None = None) -> sa.Column[Any]:
    return _column(Float64, name, None if default is None else sa.text(str(default)), comment)


def _text(name: str, default: str | None = None, comment: str | None = None) -> sa.Column[Any]:
    return _column(ByteText, name, None if default is None else sa.text(f"'{default}'"), comment)


def _flag(name: str, default: bool | None = None) -> sa.Column[Any]:
    return _column(Flag, name, None if default is None else sa.true() if default else sa.false())


def _blob(name: str, comment: str | None = None) -> sa.Column[Any]:
    return _column(Blob, name, comment=comment)


def _numbers(*names: str) -> list[sa.Column[Any]]:
    """Numbers that may be missing."""
    return [sa.Column(name, Int64) for name in names]


def _reals(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, Float64) for name in names]


def _texts(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, ByteText) for name in names]


def _optional(kind: TypeEngine[Any], name: str, comment: str) -> sa.Column[Any]:
    return sa.Column(name, kind, comment=comment)


def _where(condition: str) -> dict[str, Any]:
    """The options of a partial index, for both databases."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def _unique(index: str, *columns: str, key: bool = False) -> list[SchemaItem]:
    """A key whose last column is a text of any length."""
    *others, long = columns
    constraint = sa.PrimaryKeyConstraint(*columns) if key else sa.UniqueConstraint(*columns)
    by_hash = sa.Index(index, *others, sa.text(f"(md5({long})::uuid)"), unique=True)
    return [constraint.ddl_if(dialect="sqlite"), by_hash.ddl_if(dialect="postgresql")]


hosts = _table(
    "hosts",
    "Hosts: queued URLs, and the pace shared by every worker. No worker sends before next_at, or while another worker has the"
    " slot.",
    _id(),
    sa.Column("name", ByteText, nullable=False, unique=True),
    _number("queued", 0),
    *_reals("gap", "base", "latency", "baseline"),
    _number("strikes", 0),
    _real("next_at", 0),
    *_numbers("slot_owner"),
    _real("slot_until", 0),
    _number("asked", 0, "Requests for its pages in this run."),
    _number("leased", 0, "Its pages that a worker holds now."),
    _real("turn_at", 0, "When it became known, and later: when it last gave URLs away."),
    _optional(Int64, "standing", "1: one of the hosts of its domain that are crawled; 0: one too many."),
    # Hosts take turns: the one that has been ready for the longest time comes first.
    sa.Index("hosts_waiting", sa.text("max(next_at, turn_at)"), **_where("queued > 0")).ddl_if(dialect="sqlite"),
    sa.Index("hosts_waiting", sa.text("GREATEST(next_at, turn_at)"), **_where("queued > 0")).ddl_if(dialect="postgresql"),
)

# Not `IN (...)`: SQLite would build a table for it at every insert, a third of the insert's cost.
_IS_STATUS = " OR ".join(
    f"status = '{status}'" for status in ("queued", "processing", "completed", "discovered", "skipped", "error")
)

pages = _table(
    "pages",
    "Pages: queue and results in one table, one row per URL.",
    _id(),
    _text("url"),
    _text("status", "queued"),
    _number("host_id"),
    _number("depth"),
    _text("purpose", "page"),
    _flag("internal", True),
    _flag("is_seed", False),
    _number("hops", 0),
    *_numbers("parent_id", "redirect_id"),
    *_texts("skip_reason"),
    *_numbers("owner"),
    _real("not_before", 0),
    _text("added_at"),
    *_texts("processing_started_at"),
    *_numbers("status_code"),
    *_texts("title", "meta_description", "meta_robots", "canonical_url", "content_hash"),
    *_reals("dns_ms", "connect_ms", "tls_ms", "ttfb_ms", "download_time_ms"),
    *_numbers("response_size_bytes"),
    *_texts("content_type"),
    *_numbers("content_length"),
    *_texts("last_modified", "server", "content_encoding", "crawled_at"),
    _number("retry_count", 0),
    *_texts("last_error_type", "last_error_message"),
    _number("crawls", 0, "How often it was crawled: more than once after a re-crawl."),
    sa.CheckConstraint(_IS_STATUS, name="pages_status_check"),
    *_unique("pages_by_url", "url"),
    sa.Index("pages_frontier", "host_id", "depth", "id", **_where("status = 'queued'")),
    sa.Index("pages_owner", "owner", **_where("owner IS NOT NULL")),
)

texts = _table(
    "texts",
    "Texts: anchor texts, rel values and fragments, each stored once.",
    _id(),
    _text("text"),
    *_unique("texts_by_text", "text"),
    info={"rows": "INSERT INTO texts(id, text) VALUES (0, '');"},
)

link_relations = _table(
    "link_relations",
    "Link relations: one narrow row per link.",
    _key("source_id"),
    _key("position"),
    _number("target_id"),
    _text("kind"),
    _number("text_id", 0),
    _number("rel_id", 0),
    _number("fragment_id", 0),
    _number("landmark", 0, "1 content, 2 nav, 3 header, 4 footer, 5 aside; 0: not known"),
    sqlite_with_rowid=False,
)

page_anchors = _table(
    "page_anchors",
    "Anchors: the fragment targets of a page, one per line, if the job needs them.",
    _key("page_id"),
    _text("anchors"),
)

crawl_errors = _table(
    "crawl_errors",
    "Every failed attempt, also those that succeeded on retry.",
    _id(),
    _text("url"),
    _text("error_type"),
    *_texts("error_message"),
    _text("occurred_at"),
)

crawl_meta = _table(
    "crawl_meta",
    "The crawl itself: its configuration, start, end and version.",
    _text_key("key"),
    _text("value"),
)

COUNTERS = "Counters that are updated while crawling."

_table("counters", COUNTERS, _text_key("name"), _number("value"), of=sqlite_metadata, sqlite_with_rowid=False)

_table(
    "counters",
    f"{COUNTERS} Each worker adds to its own; the value of a counter is the sum over all workers.",
    _text("name"),
    _number("value"),
    _number("worker", 0),
    sa.PrimaryKeyConstraint("worker", "name"),
    of=postgresql_metadata,
)

workers = _table(
    "workers",
    "Workers: which may hold leases, and until when.",
    _id(),
    _text("machine"),
    _number("pid"),
    _text("started"),
    _real("expires_at"),
    sqlite_autoincrement=True,
)

robots = _table(
    "robots",
    "Robots: the robots.txt of each origin, or the worker that fetches it now.",
    _text_key("origin"),
    *_numbers("status"),
    *_texts("failure"),
    _text("message", ""),
    sa.Column("body", Blob),
    *_reals("fetched_at"),
    *_numbers("owner"),
    *_reals("claimed_until"),
)

traps = _table(
    "traps",
    "Traps: classes of URLs that may be endless, with the number of known URLs.",
    _text_key("key"),
    _text("why"),
    _number("known"),
    _number("refused", 0),
    _text("example"),
    sqlite_with_rowid=False,
)

page_details = _table(
    "page_details",
    "Page details: one row for each URL that was checked, in addition to its row in `pages`.",
    _key("page_id"),
    _flag("indexable", False),
    _text("indexability", comment="'indexable', or why not: 'noindex', 'canonicalised', 'redirected', 'client error', ..."),
    *_texts("http_version", "address"),
    *_numbers("transferred_bytes"),
    *_texts("body_hash"),
    _optional(ByteText, "etag", "As it was sent, for the next crawl; last_modified_field too."),
    *_texts("last_modified_field"),
    _optional(ByteText, "headers", "[[name, value], ...] in the order of the response"),
    *_texts("charset", "language"),
    *_numbers("title_length", "title_pixels", "description_length", "description_pixels"),
    *_texts("h1"),
    *_numbers("word_count"),
    *_reals("text_ratio"),
    *_texts("canonical_http", "x_robots_tag", "next_url", "prev_url"),
    _optional(Blob, "sketch", "For near duplicates."),
    _optional(ByteText, "headings", "[[level, text], ...]"),
    _optional(ByteText, "images", "[[src, alt, width, height, loading], ...]"),
    _optional(ByteText, "directives", "[[source, agent, name, value], ...]"),
    _optional(ByteText, "rendering", "What a browser changed, when one was used."),
    _optional(ByteText, "extracted", "{name: [value, ...]} of --extract"),
    _optional(
        ByteText, "site_facts", "{check: evidence} of checks that are usually about the whole site, such as missing headers"
    ),
    _optional(ByteText, "template", "Pages with the same layout share it."),
    _optional(ByteText, "segment", "The first folders of the URL, such as /blog/*"),
)

page_hreflang = _table(
    "page_hreflang",
    "Languages: each alternate of a page, in HTML or in its Link header.",
    _key("page_id"),
    _key("position"),
    _text("language"),
    _text("url"),
    _text("source"),
    sqlite_with_rowid=False,
)

page_items = _table(
    "page_items",
    "Structured data: each top-level item.",
    _key("page_id"),
    _key("position"),
    _text("syntax"),
    _text("type"),
    _text("properties"),
    sqlite_with_rowid=False,
)

resources = _table(
    "resources",
    "Resources of pages (images, scripts, styles, frames, media). Requested after the pages, to check whether they work.",
    _id(),
    _text("url"),
    _text("host"),
    _text("kind"),
    _flag("internal"),
    _text("status", comment="'discovered' (not to be requested), 'queued', 'processing', 'completed', 'error', 'skipped'"),
    *_numbers("owner"),
    _real("not_before", 0),
    _number("retry_count", 0),
    *_numbers("status_code"),
    *_texts("content_type"),
    *_numbers("content_length"),
    *_texts("final_url", "skip_reason", "last_error_type", "last_error_message", "checked_at"),
    *_unique("resources_by_url", "url"),
    sa.Index("resources_waiting", "id", **_where("status = 'queued'")),
    sa.Index("resources_owner", "owner", **_where("owner IS NOT NULL")),
)

resource_uses = _table(
    "resource_uses",
    "The resources that each page uses.",
    _key("page_id"),
    _key("position"),
    _number("resource_id"),
    sqlite_with_rowid=False,
)

sitemaps = _table(
    "sitemaps",
    "Sitemaps, with their status.",
    _id(),
    _text("url"),
    _number("level", comment="0: named by robots.txt or guessed; else how many indexes lead to it"),
    _text("named_by", comment="'robots.txt', 'guess', 'option', or the URL of an index"),
    _text("status", "queued", "'queued', 'read', 'failed', 'absent' (guessed, and not there)"),
    *_texts("kind"),
    *_numbers("status_code", "bytes", "urls"),
    *_texts("problems", "read_at"),
    *_unique("sitemaps_by_url", "url"),
)

sitemap_entries = _table(
    "sitemap_entries",
    "The pages in each sitemap.",
    _key("sitemap_id"),
    _key("page_id"),
    *_texts("lastmod"),
    sqlite_with_rowid=False,
)

checks = _table(
    "checks",
    "Checks: the catalogue of this crawl, including plugins, so that a report needs nothing else.",
    _id("number"),
    sa.Column("id", ByteText, nullable=False, unique=True),
    _text("scope", comment="'page': checked while crawling; 'site': at the end"),
    _text("check_group"),
    _text("severity"),
    _text("title"),
    _text("why"),
    _text("fix"),
    _text("title_ja"),
    _text("why_ja"),
    _text("fix_ja"),
    *_reals("threshold"),
    *_texts("unit"),
)

page_findings = _table(
    "page_findings",
    "Findings: a check applies to a page. Read them in the view `findings`.",
    _number("page_id", comment="0: about something that is no page, named by `subject`"),
    _number("check_number"),
    _text("subject", ""),
    _text("detail", ""),
    *_texts("data"),
    *_unique("page_findings_once", "page_id", "check_number", "subject", key=True),
    sqlite_with_rowid=False,
)

page_scores = _table(
    "page_scores",
    "Figures that are computed on the whole link graph when the crawl has ended.",
    _key("page_id"),
    _number("inlinks"),
    _number("unique_inlinks"),
    _number("outlinks"),
    _number("external_outlinks"),
    _optional(Float64, "link_score", "PageRank over followed links between pages, 0 to 100"),
    _optional(Int64, "cluster_id", "The smallest page id of its cluster of near duplicates"),
)

runs = _table(
    "runs",
    "Runs: the first crawl and each re-crawl.",
    _key("id"),
    _text("kind"),
    _text("started_at"),
    *_texts("ended_at", "outcome"),
    _text("config"),
    _text("version"),
    *_reals("score"),
    *_numbers("score_version"),
)

page_history = _table(
    "page_history",
    "The state of a page in an earlier run.",
    _key("run_id"),
    _key("page_id"),
    _text("status"),
    *_numbers("status_code"),
    *_texts("title", "meta_description", "canonical_url", "meta_robots", "h1", "content_hash", "indexability"),
    *_numbers("word_count", "depth"),
    *_reals("response_ms"),
    *_numbers("response_size_bytes", "inlinks", "redirect_id"),
    sqlite_with_rowid=False,
)

finding_history = _table(
    "finding_history",
    "The findings of a page in an earlier run.",
    _number("run_id"),
    _number("page_id"),
    _number("check_number"),
    _text("subject"),
    _text("detail"),
    *_unique("finding_history_once", "run_id", "page_id", "check_number", "subject", key=True),
    sqlite_with_rowid=False,
)

bodies = _table(
    "bodies",
    "Bodies, compressed with zlib, if `--store-bodies` was given.",
    _key("page_id"),
    _blob("body"),
)

singleton_tasks = _table(
    "chores",
    "Singleton tasks: work that is done once for the whole crawl, by one worker.",
    _text_key("name"),
    *_numbers("owner"),
    *_texts("done_at"),
    sqlite_with_rowid=False,
)

documents = _table(
    "documents",
    "Documents: a page as Markdown.",
    _key("page_id"),
    _text("title"),
    _blob("markdown", "Compressed with zlib."),
    _text("hash"),
    _text("changed_at"),
    _text("source", comment="'html', 'rendered' or 'markdown' (the site's own)"),
    *_texts("generator", "language", "version"),
    _real("confidence"),
    _text("metadata"),
    _text("headings", comment="[[level, text, anchor], ...]"),
    _text("breadcrumbs"),
    *_numbers("menu_id"),
    *_texts("next_url", "prev_url"),
)

menus = _table(
    "menus",
    "Menus of pages, each stored once.",
    _id(),
    sa.Column("hash", ByteText, nullable=False, unique=True),
    _blob("urls"),
)

document_numbers = _table(
    "document_numbers",
    "Document numbers: the number of a page's file, assigned once, never reused, kept when the page is gone.",
    _key("number"),
    _text("url"),
    *_unique("document_numbers_by_url", "url"),
)

specifications = _table(
    "specifications",
    "Specifications found during the crawl: OpenAPI, JSON Schema, GraphQL, AsyncAPI.",
    _key("page_id"),
    _text("content_type"),
    _blob("body"),
)

offered_documents = _table(
    "offered_documents",
    "Pages as Markdown that are contained in another file of the site, such as llms-full.txt.",
    _text("url"),
    _number("page_id"),
    _blob("markdown"),
    *_unique("offered_by_url", "url", key=True),
    sa.Index("offered_by", "page_id"),
)

document_versions = _table(
    "document_versions",
    "Document versions: earlier versions of a page, before it changed or was removed; the newest few of each page.",
    _id(comment="Of two versions of a page the newer has the larger one."),
    _number("page_id"),
    _text("title"),
    _blob("markdown", "Compressed with zlib."),
    _text("hash"),
    _text("changed_at", comment="Since when the page had this text."),
    _text("replaced_at", comment="Until when."),
    sa.Index("document_versions_of", "page_id", "id"),
)

document_changes = _table(
    "document_changes",
    "Document changes: the differences of a run from the previous run.",
    _number("run_id"),
    _text("url"),
    _text("kind", comment="'added', 'changed' or 'removed'"),
    _text("title"),
    _text("at"),
    *_unique("document_changes_once", "run_id", "url", key=True),
    sqlite_with_rowid=False,
)

_table(
    "depth_changes",
    "Depth changes: shorter paths to known pages that are not applied yet.",
    _number("page_id"),
    _number("depth"),
    *_numbers("parent_id", "max_depth"),
    of=postgresql_metadata,
)

_table(
    "crawl_format",
    "The format of the crawl, and the oldest one whose programs can work on it.",
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("readable_by", sa.Integer, nullable=False),
    of=postgresql_metadata,
)
