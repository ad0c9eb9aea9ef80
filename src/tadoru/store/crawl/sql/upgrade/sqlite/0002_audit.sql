-- Format 2: the data of an audit. Everything that people query has a table or a view of its own; what is only ever
-- read together with its page is one JSON value of the page, with a view over it.

ALTER TABLE pages ADD COLUMN crawls INTEGER NOT NULL DEFAULT 0; -- How often something came of it: more than once after a re-crawl.

-- Page details: one row for each URL that was checked, in addition to its row in `pages`.
CREATE TABLE page_details (
    page_id INTEGER PRIMARY KEY,
    indexable INTEGER NOT NULL DEFAULT 0,
    indexability TEXT NOT NULL, -- 'indexable', or why not: 'noindex', 'canonicalised', 'redirected', 'client error', ...
    http_version TEXT, address TEXT, transferred_bytes INTEGER,
    body_hash TEXT, etag TEXT, last_modified_field TEXT, -- The validators as they were sent, for the next crawl.
    headers TEXT, -- [[name, value], ...] in the order of the answer
    charset TEXT, language TEXT,
    title_length INTEGER, title_pixels INTEGER, description_length INTEGER, description_pixels INTEGER,
    h1 TEXT, word_count INTEGER, text_ratio REAL,
    canonical_http TEXT, x_robots_tag TEXT, next_url TEXT, prev_url TEXT,
    sketch BLOB, -- For near duplicates.
    headings TEXT, -- [[level, text], ...]
    images TEXT, -- [[src, alt, width, height, loading], ...]
    directives TEXT, -- [[source, agent, name, value], ...]
    rendering TEXT, -- What a browser changed, when one was used.
    extracted TEXT -- {name: [value, ...]} of --extract
);

-- Languages: each alternate of a page, in HTML or in its Link header.
CREATE TABLE page_hreflang (
    page_id INTEGER NOT NULL, position INTEGER NOT NULL, language TEXT NOT NULL, url TEXT NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (page_id, position)
) WITHOUT ROWID;

-- Structured data: each top-level item.
CREATE TABLE page_items (
    page_id INTEGER NOT NULL, position INTEGER NOT NULL, syntax TEXT NOT NULL, type TEXT NOT NULL, properties TEXT NOT NULL,
    PRIMARY KEY (page_id, position)
) WITHOUT ROWID;

-- Resources of pages (images, scripts, styles, frames, media). Requested after the pages, to check whether they work.
CREATE TABLE resources (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    kind TEXT NOT NULL,
    internal INTEGER NOT NULL,
    status TEXT NOT NULL, -- 'discovered' (not to be requested), 'queued', 'processing', 'completed', 'error', 'skipped'
    owner INTEGER, not_before REAL NOT NULL DEFAULT 0, retry_count INTEGER NOT NULL DEFAULT 0,
    status_code INTEGER, content_type TEXT, content_length INTEGER, final_url TEXT, skip_reason TEXT,
    last_error_type TEXT, last_error_message TEXT, checked_at TEXT
);
CREATE INDEX resources_waiting ON resources(id) WHERE status = 'queued';
CREATE INDEX resources_owner ON resources(owner) WHERE owner IS NOT NULL;
-- The resources that each page uses.
CREATE TABLE resource_uses (
    page_id INTEGER NOT NULL, position INTEGER NOT NULL, resource_id INTEGER NOT NULL, PRIMARY KEY (page_id, position)
) WITHOUT ROWID;

-- Sitemaps, with their status.
CREATE TABLE sitemaps (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    level INTEGER NOT NULL, -- 0: named by robots.txt or guessed; else how many indexes lead to it
    named_by TEXT NOT NULL, -- 'robots.txt', 'guess', 'option', or the URL of an index
    status TEXT NOT NULL DEFAULT 'queued', -- 'queued', 'read', 'failed', 'absent' (guessed, and not there)
    kind TEXT, status_code INTEGER, bytes INTEGER, urls INTEGER, problems TEXT, read_at TEXT
);
-- The pages in each sitemap.
CREATE TABLE sitemap_entries (
    sitemap_id INTEGER NOT NULL, page_id INTEGER NOT NULL, lastmod TEXT, PRIMARY KEY (sitemap_id, page_id)
) WITHOUT ROWID;

-- Checks: the catalogue of this crawl, including plugins, so that a report needs nothing else.
CREATE TABLE checks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, scope TEXT NOT NULL, -- 'page': judged while crawling; 'site': at the end
    check_group TEXT NOT NULL, severity TEXT NOT NULL,
    title TEXT NOT NULL, why TEXT NOT NULL, fix TEXT NOT NULL, title_ja TEXT NOT NULL, why_ja TEXT NOT NULL, fix_ja TEXT NOT NULL,
    threshold REAL, unit TEXT
);
-- Findings: a check applies to a page. Read them in the view `findings`.
CREATE TABLE page_findings (
    page_id INTEGER NOT NULL, -- 0: about something that is no page, named by `subject`
    check_number INTEGER NOT NULL, subject TEXT NOT NULL DEFAULT '', detail TEXT NOT NULL DEFAULT '', data TEXT,
    PRIMARY KEY (page_id, check_number, subject)
) WITHOUT ROWID;

-- Figures that are computed on the whole link graph when the crawl has ended.
CREATE TABLE page_scores (
    page_id INTEGER PRIMARY KEY,
    inlinks INTEGER NOT NULL, unique_inlinks INTEGER NOT NULL, outlinks INTEGER NOT NULL, external_outlinks INTEGER NOT NULL,
    link_score REAL, -- PageRank over followed links between pages, 0 to 100
    cluster_id INTEGER -- The smallest page id of its cluster of near duplicates
);

-- Runs: the first crawl and each re-crawl.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT, outcome TEXT,
    config TEXT NOT NULL, version TEXT NOT NULL, score REAL
);
-- The state of a page in an earlier run.
CREATE TABLE page_history (
    run_id INTEGER NOT NULL, page_id INTEGER NOT NULL, status TEXT NOT NULL, status_code INTEGER, title TEXT, meta_description TEXT,
    canonical_url TEXT, meta_robots TEXT, h1 TEXT, content_hash TEXT, indexability TEXT, word_count INTEGER, depth INTEGER,
    response_ms REAL, response_size_bytes INTEGER, inlinks INTEGER, redirect_id INTEGER,
    PRIMARY KEY (run_id, page_id)
) WITHOUT ROWID;
-- The findings of a page in an earlier run.
CREATE TABLE finding_history (
    run_id INTEGER NOT NULL, page_id INTEGER NOT NULL, check_number INTEGER NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (run_id, page_id, check_number, subject)
) WITHOUT ROWID;

-- Bodies, compressed with zlib, if `--store-bodies` was given.
CREATE TABLE bodies (page_id INTEGER PRIMARY KEY, body BLOB NOT NULL);

-- Singleton tasks: work that is done once for the whole crawl, by one worker.
CREATE TABLE chores (name TEXT PRIMARY KEY, owner INTEGER, done_at TEXT) WITHOUT ROWID;
