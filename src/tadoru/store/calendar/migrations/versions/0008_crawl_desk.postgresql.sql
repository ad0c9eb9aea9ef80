ALTER TABLE crawls ADD COLUMN schedule TEXT DEFAULT '' NOT NULL;

ALTER TABLE crawls ADD COLUMN report_to TEXT DEFAULT '' NOT NULL;

CREATE TABLE crawl_views (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    tab TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE
);

CREATE INDEX ix_crawl_views_crawl_id ON crawl_views (crawl_id);

CREATE TABLE crawl_ignored (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    check_id TEXT NOT NULL,
    subject TEXT DEFAULT '' NOT NULL,
    reason TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE
);

CREATE INDEX ix_crawl_ignored_crawl_id ON crawl_ignored (crawl_id);

CREATE TABLE crawl_shares (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    token_hash TEXT NOT NULL,
    label TEXT DEFAULT '' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    used_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE,
    UNIQUE (token_hash)
);

CREATE INDEX ix_crawl_shares_crawl_id ON crawl_shares (crawl_id);
