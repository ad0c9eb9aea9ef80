-- Format 7: facts about the whole site are stored with the details of pages, the version of its model with a score, and links show
-- their fragments.

ALTER TABLE page_details ADD COLUMN site_facts TEXT COLLATE "C"; -- {check: evidence} of checks that are usually about the whole site.
ALTER TABLE runs ADD COLUMN score_version BIGINT;

-- Pages that are not requested again keep what was found on them: the next analysis reads it from there.
UPDATE page_details SET site_facts = found.facts FROM (
    SELECT f.page_id AS page_id, CAST(json_object_agg(c.id, json_build_array(f.detail, CAST(coalesce(f.data, '{}') AS json))) AS TEXT) AS facts
    FROM page_findings f JOIN checks c ON c.number = f.check_number
    WHERE f.page_id > 0 AND c.id IN (
        'caching-headers-missing', 'html-charset-missing', 'html-doctype-missing', 'html-lang-missing',
        'html-viewport-missing', 'html-viewport-no-zoom', 'security-content-type-options-missing', 'security-csp-missing',
        'security-frame-options-missing', 'security-hsts-missing', 'security-hsts-short', 'security-referrer-policy-missing',
        'server-version-leaked', 'text-uncompressed', 'url-http')
    GROUP BY f.page_id) AS found
WHERE found.page_id = page_details.page_id;
