-- Format 3: what `tadoru docs` keeps of a documentation site: each page as Markdown, and the number of its file for ever.

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

-- Menus that pages show, each kept once.
CREATE TABLE menus (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, urls BLOB NOT NULL);

-- Document numbers: of a page's file, given once, never to another page, kept when the page is gone.
CREATE TABLE document_numbers (number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);

-- Specifications found on the way: OpenAPI, JSON Schema, GraphQL, AsyncAPI.
CREATE TABLE specifications (page_id INTEGER PRIMARY KEY, content_type TEXT NOT NULL, body BLOB NOT NULL);

-- Pages as Markdown that another file of the site holds, such as llms-full.txt.
CREATE TABLE offered_documents (url TEXT PRIMARY KEY, page_id INTEGER NOT NULL, markdown BLOB NOT NULL);
CREATE INDEX offered_by ON offered_documents(page_id);
