-- Format 3: the data of `tadoru docs`: each page as Markdown, and the permanent number of its file.

-- Documents: a page as Markdown.
CREATE TABLE documents (
    page_id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    markdown BLOB NOT NULL, -- Compressed by zlib.
    hash TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    source TEXT NOT NULL, -- 'html', 'rendered' or 'markdown' (the site's own)
    generator TEXT,
    language TEXT,
    version TEXT,
    confidence REAL NOT NULL,
    metadata TEXT NOT NULL,
    headings TEXT NOT NULL, -- [[level, text, anchor], ...]
    breadcrumbs TEXT NOT NULL,
    menu_id INTEGER,
    next_url TEXT,
    prev_url TEXT
);

-- Menus of pages, each stored once.
CREATE TABLE menus (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, urls BLOB NOT NULL);

-- Document numbers: the number of a page's file, assigned once, never reused, kept when the page is gone.
CREATE TABLE document_numbers (number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);

-- Specifications found during the crawl: OpenAPI, JSON Schema, GraphQL, AsyncAPI.
CREATE TABLE specifications (page_id INTEGER PRIMARY KEY, content_type TEXT NOT NULL, body BLOB NOT NULL);

-- Pages as Markdown that are contained in another file of the site, such as llms-full.txt.
CREATE TABLE offered_documents (url TEXT PRIMARY KEY, page_id INTEGER NOT NULL, markdown BLOB NOT NULL);
CREATE INDEX offered_by ON offered_documents(page_id);
