-- Format 8: links have the landmark that they stand in, pages their template and the segment of their URL.

ALTER TABLE link_relations ADD COLUMN landmark BIGINT DEFAULT 0 NOT NULL; -- 1 content, 2 nav, 3 header, 4 footer, 5 aside; 0: not known
ALTER TABLE page_details ADD COLUMN template TEXT COLLATE "C"; -- Pages with the same layout share it.
ALTER TABLE page_details ADD COLUMN segment TEXT COLLATE "C"; -- The first folders of the URL, such as /blog/*
