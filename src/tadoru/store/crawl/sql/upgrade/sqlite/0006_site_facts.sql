-- Format 6: facts about the whole site are stored with the details of pages, the version of its model with a score, and links show
-- their fragments.

ALTER TABLE page_details ADD COLUMN site_facts TEXT; -- {check: evidence} of checks that are usually about the whole site.
ALTER TABLE runs ADD COLUMN score_version INTEGER;
