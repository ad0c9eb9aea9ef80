-- Format 1: one crawl. The names `pages`, `links`, `crawl_errors`, `crawl_meta`, `completed_pages` and `queue_status` are a
-- contract with everyone who queries a crawl; the rest is internal.

-- Hosts: queued URLs, and the pace shared by every worker. No worker sends before next_at, or while another worker has the slot.
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    queued INTEGER NOT NULL DEFAULT 0,
    gap REAL, base REAL, latency REAL, baseline REAL, strikes INTEGER NOT NULL DEFAULT 0,
    next_at REAL NOT NULL DEFAULT 0,
    slot_owner INTEGER, slot_until REAL NOT NULL DEFAULT 0
);
CREATE INDEX hosts_waiting ON hosts(next_at) WHERE queued > 0;

-- Pages: queue and results in one table, one row per URL.
CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    -- Not `IN (...)`: SQLite would build a table for it at every insert, a third of the insert's cost.
    status TEXT NOT NULL DEFAULT 'queued' CHECK (status = 'queued' OR status = 'processing' OR status = 'completed'
        OR status = 'discovered' OR status = 'skipped' OR status = 'error'),
    host_id INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    purpose TEXT NOT NULL DEFAULT 'page',
    internal INTEGER NOT NULL DEFAULT 1,
    is_seed INTEGER NOT NULL DEFAULT 0,
    hops INTEGER NOT NULL DEFAULT 0,
    parent_id INTEGER,
    redirect_id INTEGER,
    skip_reason TEXT,
    owner INTEGER,
    not_before REAL NOT NULL DEFAULT 0,
    added_at TEXT NOT NULL,
    processing_started_at TEXT,
    status_code INTEGER,
    title TEXT, meta_description TEXT, meta_robots TEXT, canonical_url TEXT, content_hash TEXT,
    dns_ms REAL, connect_ms REAL, tls_ms REAL, ttfb_ms REAL, download_time_ms REAL,
    response_size_bytes INTEGER, content_type TEXT, content_length INTEGER, last_modified TEXT, server TEXT, content_encoding TEXT,
    crawled_at TEXT,
    retry_count INTEGER NOT NULL DEFAULT 0,
    last_error_type TEXT, last_error_message TEXT
);
CREATE INDEX pages_frontier ON pages(host_id, depth, id) WHERE status = 'queued';
CREATE INDEX pages_owner ON pages(owner) WHERE owner IS NOT NULL;

-- Texts: anchor texts, rel values and fragments, each stored once.
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
INSERT INTO texts(id, text) VALUES (0, '');

-- Link relations: one narrow row per link.
CREATE TABLE link_relations (
    source_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text_id INTEGER NOT NULL DEFAULT 0,
    rel_id INTEGER NOT NULL DEFAULT 0,
    fragment_id INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (source_id, position)
) WITHOUT ROWID;

-- Anchors: the fragment targets of a page, one per line, if the job needs them.
CREATE TABLE page_anchors (page_id INTEGER PRIMARY KEY, anchors TEXT NOT NULL);

-- Every failed attempt, also those that succeeded on retry.
CREATE TABLE crawl_errors (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, error_type TEXT NOT NULL, error_message TEXT, occurred_at TEXT NOT NULL
);
-- The crawl itself: its configuration, start, end and version.
CREATE TABLE crawl_meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);
-- Counters that are updated while crawling.
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- Workers: which may hold leases, and until when.
CREATE TABLE workers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, machine TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL, expires_at REAL NOT NULL
);

-- Robots: the robots.txt of each origin, or the worker that fetches it now.
CREATE TABLE robots (
    origin TEXT PRIMARY KEY, status INTEGER, failure TEXT, message TEXT NOT NULL DEFAULT '', body BLOB, fetched_at REAL,
    owner INTEGER, claimed_until REAL
);

-- Traps: classes of URLs that may be endless, with the number of known URLs.
CREATE TABLE traps (
    key TEXT PRIMARY KEY, why TEXT NOT NULL, known INTEGER NOT NULL, refused INTEGER NOT NULL DEFAULT 0, example TEXT NOT NULL
) WITHOUT ROWID;
