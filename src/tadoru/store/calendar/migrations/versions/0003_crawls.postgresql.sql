CREATE TABLE crawls (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    job TEXT NOT NULL CONSTRAINT crawl_job CHECK (job IN ('audit','links','docs')),
    starts JSONB NOT NULL,
    options JSONB NOT NULL,
    place TEXT NOT NULL,
    state TEXT NOT NULL CONSTRAINT crawl_state CHECK (state IN ('queued','running','paused','stopped','finished','failed')),
    wanted TEXT DEFAULT '' NOT NULL CONSTRAINT crawl_wanted CHECK (wanted IN ('','pause','stop')),
    again BIGINT DEFAULT 0 NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    webhook TEXT DEFAULT '' NOT NULL,
    every BIGINT,
    next_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    machine TEXT DEFAULT '' NOT NULL,
    pid BIGINT,
    process_start TEXT DEFAULT '' NOT NULL,
    beat_at TIMESTAMP WITH TIME ZONE,
    deaths BIGINT DEFAULT 0 NOT NULL,
    progress JSONB NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX crawls_by_state ON crawls (state);

CREATE TABLE crawl_runs (
    id BIGSERIAL NOT NULL,
    crawl_id BIGINT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    outcome TEXT DEFAULT '' NOT NULL,
    figures JSONB NOT NULL,
    changes JSONB NOT NULL,
    told_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    FOREIGN KEY(crawl_id) REFERENCES crawls (id) ON DELETE CASCADE
);

CREATE INDEX ix_crawl_runs_crawl_id ON crawl_runs (crawl_id);

CREATE TABLE live_messages (
    id BIGSERIAL NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    body JSONB NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX ix_live_messages_at ON live_messages (at);
