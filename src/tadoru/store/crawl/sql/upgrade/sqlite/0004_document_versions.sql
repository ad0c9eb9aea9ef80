-- Format 4: earlier versions of documentation pages, and the changes of each run.

-- Document versions: earlier versions of a page, before it changed or was removed; the newest few of each page.
CREATE TABLE document_versions (
    id INTEGER PRIMARY KEY, -- Grows: of two versions of a page the newer has the larger one.
    page_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    markdown BLOB NOT NULL, -- Compressed by zlib.
    hash TEXT NOT NULL,
    changed_at TEXT NOT NULL, -- Since when the page said this.
    replaced_at TEXT NOT NULL -- Until when.
);
CREATE INDEX document_versions_of ON document_versions(page_id, id);

-- Document changes: the differences of a run from the previous run.
CREATE TABLE document_changes (
    run_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL, -- 'added', 'changed' or 'removed'
    title TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (run_id, url)
) WITHOUT ROWID;
