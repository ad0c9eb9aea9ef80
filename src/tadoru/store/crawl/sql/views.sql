-- Each link with its source and target.
CREATE VIEW links AS
SELECT (r.source_id << 20) + r.position AS id, source.url AS source_url, target.url AS target_url, anchor.text AS anchor_text,
       CASE WHEN target.internal THEN 'internal' ELSE 'external' END AS link_type,
       rel.text AS rel_attribute, source.crawled_at AS crawled_at, r.kind AS kind, r.position AS position,
       fragment.text AS fragment,
       CASE r.landmark WHEN 1 THEN 'content' WHEN 2 THEN 'nav' WHEN 3 THEN 'header' WHEN 4 THEN 'footer' WHEN 5 THEN 'aside' END
           AS landmark
FROM link_relations r
JOIN pages source ON source.id = r.source_id JOIN pages target ON target.id = r.target_id
JOIN texts anchor ON anchor.id = r.text_id JOIN texts rel ON rel.id = r.rel_id
LEFT JOIN texts fragment ON fragment.id = r.fragment_id;

-- The pages of the site with a response. External links that were only checked are not pages of the site.
CREATE VIEW completed_pages AS
SELECT id, url, status_code, title, meta_description, meta_robots, canonical_url, content_hash, ttfb_ms, download_time_ms,
       response_size_bytes, content_type, content_length, last_modified, server, content_encoding, crawled_at
FROM pages WHERE status = 'completed' AND purpose = 'page';

-- The number of URLs by status.
CREATE VIEW queue_status AS
SELECT status, COUNT(*) AS count, MIN(added_at) AS oldest_item, MAX(added_at) AS newest_item FROM pages GROUP BY status;

-- Each finding with the texts of its check.
CREATE VIEW findings AS
SELECT CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END AS url, c.id AS check_id, c.check_group AS check_group,
       c.severity AS severity, c.title AS title, f.subject AS subject, f.detail AS detail, f.data AS data, c.scope AS scope,
       f.page_id AS page_id, d.template AS template, d.segment AS segment
FROM page_findings f JOIN checks c ON c.number = f.check_number LEFT JOIN pages p ON p.id = f.page_id
LEFT JOIN page_details d ON d.page_id = f.page_id AND f.page_id <> 0;

-- The header fields of each response.
CREATE VIEW response_headers AS
SELECT p.url AS url, lower({json_item}(h.value, 0)) AS name, {json_item}(h.value, 1) AS value, h.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, {json_list}(d.headers) h;

-- The headings of each page, in order.
CREATE VIEW headings AS
SELECT p.url AS url, {json_item}(h.value, 0) AS level, {json_item}(h.value, 1) AS text, h.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, {json_list}(d.headings) h;

-- The images of each page, in order.
CREATE VIEW images AS
SELECT p.url AS url, {json_item}(i.value, 0) AS src, {json_item}(i.value, 1) AS alt,
       {json_item}(i.value, 2) AS width, {json_item}(i.value, 3) AS height, {json_item}(i.value, 4) AS loading,
       i.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, {json_list}(d.images) i;

-- The directives of each page for search engines, in its HTML and in X-Robots-Tag.
CREATE VIEW directives AS
SELECT p.url AS url, {json_item}(v.value, 0) AS source, {json_item}(v.value, 1) AS agent,
       {json_item}(v.value, 2) AS name, {json_item}(v.value, 3) AS value
FROM page_details d JOIN pages p ON p.id = d.page_id, {json_list}(d.directives) v;

-- The values of `--extract`, one row per value.
CREATE VIEW extractions AS
SELECT p.url AS url, e.key AS name, v.value AS value, v.key AS position
FROM page_details d JOIN pages p ON p.id = d.page_id, {json_fields}(d.extracted) e, {json_list}(e.value) v;

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
SELECT p.url AS url, p.status_code AS status_code, t.url AS target_url, t.status AS target_status,
       t.status_code AS target_status_code
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
       p.last_error_type AS error_type, p.last_error_message AS error_message, d.template AS template, d.segment AS segment
FROM pages p LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
LEFT JOIN pages t ON t.id = p.redirect_id
WHERE p.internal AND p.purpose = 'page';
