CREATE VIEW links AS
SELECT source.url AS source_url, target.url AS target_url, anchor.text AS anchor_text,
       CASE WHEN target.internal THEN 'internal' ELSE 'external' END AS link_type,
       rel.text AS rel_attribute, source.crawled_at AS crawled_at, r.kind AS kind, r.position AS position
FROM link_relations r
JOIN pages source ON source.id = r.source_id JOIN pages target ON target.id = r.target_id
JOIN texts anchor ON anchor.id = r.text_id JOIN texts rel ON rel.id = r.rel_id;

CREATE VIEW completed_pages AS
SELECT id, url, status_code, title, meta_description, meta_robots, canonical_url, content_hash, ttfb_ms, download_time_ms,
       response_size_bytes, content_type, content_length, last_modified, server, content_encoding, crawled_at
FROM pages WHERE status = 'completed';

-- The number of URLs by status.
CREATE VIEW queue_status AS
SELECT status, COUNT(*) AS count, MIN(added_at) AS oldest_item, MAX(added_at) AS newest_item FROM pages GROUP BY status;
