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

DROP VIEW links;
-- Each link with its source and target.
CREATE VIEW links AS
SELECT (r.source_id << 20) + r.position AS id, source.url AS source_url, target.url AS target_url, anchor.text AS anchor_text,
       CASE WHEN target.internal THEN 'internal' ELSE 'external' END AS link_type,
       rel.text AS rel_attribute, source.crawled_at AS crawled_at, r.kind AS kind, r.position AS position
FROM link_relations r
JOIN pages source ON source.id = r.source_id JOIN pages target ON target.id = r.target_id
JOIN texts anchor ON anchor.id = r.text_id JOIN texts rel ON rel.id = r.rel_id;

DROP VIEW completed_pages;
-- The pages of the site with a response. External links that were only checked are not pages of the site.
CREATE VIEW completed_pages AS
SELECT id, url, status_code, title, meta_description, meta_robots, canonical_url, content_hash, ttfb_ms, download_time_ms,
       response_size_bytes, content_type, content_length, last_modified, server, content_encoding, crawled_at
FROM pages WHERE status = 'completed' AND purpose = 'page';

-- Each finding with the texts of its check.
CREATE VIEW findings AS
SELECT CASE WHEN f.page_id THEN p.url ELSE f.subject END AS url, c.id AS check_id, c.check_group AS check_group,
       c.severity AS severity, c.title AS title, f.subject AS subject, f.detail AS detail, f.data AS data, c.scope AS scope,
       f.page_id AS page_id
FROM page_findings f JOIN checks c ON c.number = f.check_number LEFT JOIN pages p ON p.id = f.page_id;

-- The header fields of each response.
CREATE VIEW response_headers AS
SELECT p.url AS url, lower(json_extract(h.value, '$[0]')) AS name, json_extract(h.value, '$[1]') AS value, h.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, json_each(d.headers) h;

-- The headings of each page, in order.
CREATE VIEW headings AS
SELECT p.url AS url, json_extract(h.value, '$[0]') AS level, json_extract(h.value, '$[1]') AS text, h.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, json_each(d.headings) h;

-- The images of each page, in order.
CREATE VIEW images AS
SELECT p.url AS url, json_extract(i.value, '$[0]') AS src, json_extract(i.value, '$[1]') AS alt,
       json_extract(i.value, '$[2]') AS width, json_extract(i.value, '$[3]') AS height, json_extract(i.value, '$[4]') AS loading,
       i.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, json_each(d.images) i;

-- The directives of each page for search engines, in its HTML and in X-Robots-Tag.
CREATE VIEW directives AS
SELECT p.url AS url, json_extract(v.value, '$[0]') AS source, json_extract(v.value, '$[1]') AS agent,
       json_extract(v.value, '$[2]') AS name, json_extract(v.value, '$[3]') AS value
FROM page_details d JOIN pages p ON p.id = d.page_id, json_each(d.directives) v;

-- The values of `--extract`, one row per value.
CREATE VIEW extractions AS
SELECT p.url AS url, e.key AS name, v.value AS value, v.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, json_each(d.extracted) e, json_each(e.value) v;

-- The alternates of each page in other languages.
CREATE VIEW hreflang AS
SELECT p.url AS url, h.language AS language, h.url AS alternate_url, h.source AS source
FROM page_hreflang h JOIN pages p ON p.id = h.page_id;

-- The structured data of each page, one row per item.
CREATE VIEW structured_data AS
SELECT p.url AS url, i.syntax AS syntax, i.type AS type, i.properties AS properties, i.position AS position
FROM page_items i JOIN pages p ON p.id = i.page_id;

-- The canonical URLs of a page, in its HTML and in its header.
CREATE VIEW canonicals AS
SELECT p.url AS url, p.canonical_url AS canonical_html, d.canonical_http AS canonical_http
FROM page_details d JOIN pages p ON p.id = d.page_id WHERE p.canonical_url IS NOT NULL OR d.canonical_http IS NOT NULL;

-- The amount of text of a page, and the lengths of its title and description.
CREATE VIEW text_statistics AS
SELECT p.url AS url, d.word_count AS word_count, d.text_ratio AS text_ratio, d.language AS language, d.charset AS charset,
       d.title_length AS title_length, d.title_pixels AS title_pixels, d.description_length AS description_length,
       d.description_pixels AS description_pixels
FROM page_details d JOIN pages p ON p.id = d.page_id WHERE d.word_count IS NOT NULL;

-- The resources of each page, with their status.
CREATE VIEW page_resources AS
SELECT p.url AS url, r.url AS resource_url, r.kind AS kind, r.status AS status, r.status_code AS status_code,
       r.content_length AS content_length, u.position AS position
FROM resource_uses u JOIN pages p ON p.id = u.page_id JOIN resources r ON r.id = u.resource_id;

-- Each single redirect.
CREATE VIEW redirects AS
SELECT p.url AS url, p.status_code AS status_code, t.url AS target_url, t.status AS target_status, t.status_code AS target_status_code
FROM pages p JOIN pages t ON t.id = p.redirect_id;

-- Each redirect chain with all its hops, by its first URL.
CREATE VIEW redirect_hops AS
WITH RECURSIVE chain(start_id, hop, page_id, next_id) AS (
    SELECT p.id, 1, p.id, p.redirect_id FROM pages p WHERE p.redirect_id IS NOT NULL
    UNION ALL
    SELECT c.start_id, c.hop + 1, p.id, p.redirect_id FROM chain c JOIN pages p ON p.id = c.next_id
    WHERE p.redirect_id IS NOT NULL AND c.hop < 20 AND p.id <> c.start_id)
SELECT s.url AS start_url, c.hop AS hop, p.url AS url, p.status_code AS status_code, t.url AS target_url
FROM chain c JOIN pages s ON s.id = c.start_id JOIN pages p ON p.id = c.page_id JOIN pages t ON t.id = c.next_id;

-- The pages in sitemaps, with their status.
CREATE VIEW sitemap_urls AS
SELECT s.url AS sitemap_url, p.url AS url, e.lastmod AS lastmod, p.status AS status, p.status_code AS status_code
FROM sitemap_entries e JOIN sitemaps s ON s.id = e.sitemap_id JOIN pages p ON p.id = e.page_id;

-- A page with all its single values: the start of most queries.
CREATE VIEW audited_pages AS
SELECT p.id AS id, p.url AS url, p.status AS status, p.status_code AS status_code, d.indexable AS indexable,
       d.indexability AS indexability, p.title AS title, d.title_length AS title_length, d.title_pixels AS title_pixels,
       p.meta_description AS meta_description, d.description_length AS description_length,
       d.description_pixels AS description_pixels, d.h1 AS h1, p.meta_robots AS meta_robots, d.x_robots_tag AS x_robots_tag,
       p.canonical_url AS canonical_url, d.canonical_http AS canonical_http, d.language AS language, d.charset AS charset,
       d.word_count AS word_count, d.text_ratio AS text_ratio, p.content_hash AS content_hash, d.body_hash AS body_hash,
       s.cluster_id AS cluster_id, CASE WHEN p.depth < 1000 THEN p.depth END AS depth, s.inlinks AS inlinks,
       s.unique_inlinks AS unique_inlinks, s.outlinks AS outlinks, s.external_outlinks AS external_outlinks,
       s.link_score AS link_score, t.url AS redirect_url, p.content_type AS content_type,
       p.response_size_bytes AS response_size_bytes, d.transferred_bytes AS transferred_bytes, d.http_version AS http_version,
       p.dns_ms AS dns_ms, p.connect_ms AS connect_ms, p.tls_ms AS tls_ms, p.ttfb_ms AS ttfb_ms,
       p.download_time_ms AS download_time_ms, p.last_modified AS last_modified, p.crawled_at AS crawled_at,
       p.last_error_type AS error_type, p.last_error_message AS error_message
FROM pages p LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
LEFT JOIN pages t ON t.id = p.redirect_id
WHERE p.internal AND p.purpose = 'page';
