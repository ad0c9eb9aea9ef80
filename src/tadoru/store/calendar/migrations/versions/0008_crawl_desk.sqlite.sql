ALTER TABLE crawls ADD COLUMN schedule TEXT DEFAULT '' NOT NULL;

ALTER TABLE crawls ADD COLUMN report_to TEXT DEFAULT '' NOT NULL;

CREATE TABLE crawl_views (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    crawl_id INTEGER NOT NULL,
    tab TEXT NOT NULL,
    name TEXT NOT NULL,
    "query" TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX ix_crawl_views_crawl_id ON crawl_views (crawl_id);

CREATE TABLE crawl_ignored (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    crawl_id INTEGER NOT NULL,
    check_id TEXT NOT NULL,
    subject TEXT DEFAULT '' NOT NULL,
    reason TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX ix_crawl_ignored_crawl_id ON crawl_ignored (crawl_id);

CREATE TABLE crawl_shares (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    crawl_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    label TEXT DEFAULT '' NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    expires_at TEXT NOT NULL,
    revoked_at TEXT,
    used_at TEXT,
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE,
    UNIQUE (token_hash)
)
 STRICT;

CREATE INDEX ix_crawl_shares_crawl_id ON crawl_shares (crawl_id);
