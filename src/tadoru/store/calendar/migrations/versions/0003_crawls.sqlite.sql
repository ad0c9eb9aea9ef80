CREATE TABLE crawls (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    job TEXT NOT NULL CONSTRAINT crawl_job CHECK (job IN ('audit','links','docs')),
    starts TEXT NOT NULL,
    options TEXT NOT NULL,
    place TEXT NOT NULL,
    state TEXT NOT NULL CONSTRAINT crawl_state CHECK (state IN ('queued','running','paused','stopped','finished','failed')),
    wanted TEXT DEFAULT '' NOT NULL CONSTRAINT crawl_wanted CHECK (wanted IN ('','pause','stop')),
    again INTEGER DEFAULT 0 NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    webhook TEXT DEFAULT '' NOT NULL,
    every INTEGER,
    next_at TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    started_at TEXT,
    ended_at TEXT,
    machine TEXT DEFAULT '' NOT NULL,
    pid INTEGER,
    process_start TEXT DEFAULT '' NOT NULL,
    beat_at TEXT,
    deaths INTEGER DEFAULT 0 NOT NULL,
    progress TEXT NOT NULL
)
 STRICT;

CREATE INDEX crawls_by_state ON crawls (state);

CREATE TABLE crawl_runs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    crawl_id INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    outcome TEXT DEFAULT '' NOT NULL,
    figures TEXT NOT NULL,
    changes TEXT NOT NULL,
    told_at TEXT,
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX ix_crawl_runs_crawl_id ON crawl_runs (crawl_id);

CREATE TABLE live_messages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL
)
 STRICT;

CREATE INDEX ix_live_messages_at ON live_messages (at);
