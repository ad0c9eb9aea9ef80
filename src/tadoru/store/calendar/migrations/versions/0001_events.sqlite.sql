CREATE TABLE robots (
    origin TEXT NOT NULL,
    status INTEGER,
    failure TEXT,
    message TEXT DEFAULT '' NOT NULL,
    body BLOB,
    fetched_at TEXT NOT NULL,
    PRIMARY KEY (origin)
)
 STRICT;

CREATE TABLE source_history (
    id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    at TEXT NOT NULL,
    "by" TEXT DEFAULT '' NOT NULL,
    field TEXT DEFAULT '' NOT NULL,
    old TEXT,
    new TEXT,
    PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX ix_source_history_source_id ON source_history (source_id);

CREATE TABLE sources (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    type TEXT NOT NULL CONSTRAINT source_type CHECK (type IN ('rss','ics','api','html','csv')),
    url TEXT NOT NULL,
    city TEXT DEFAULT '' NOT NULL,
    frequency TEXT DEFAULT 'normal' NOT NULL,
    enabled INTEGER NOT NULL,
    notes TEXT DEFAULT '' NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    settings TEXT NOT NULL,
    timezone TEXT DEFAULT '' NOT NULL,
    priority INTEGER DEFAULT 0 NOT NULL,
    depends_on INTEGER,
    licence TEXT DEFAULT '' NOT NULL,
    terms_url TEXT DEFAULT '' NOT NULL,
    allow_private INTEGER NOT NULL,
    named_host TEXT DEFAULT '' NOT NULL,
    low_hours INTEGER DEFAULT 24 NOT NULL,
    secret TEXT DEFAULT '' NOT NULL,
    UNIQUE (name),
    FOREIGN KEY(depends_on) REFERENCES sources (id) ON DELETE SET NULL
)
 STRICT;

CREATE TABLE workers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    machine TEXT DEFAULT '' NOT NULL,
    pid INTEGER DEFAULT 0 NOT NULL,
    started TEXT DEFAULT '' NOT NULL,
    expires_at TEXT NOT NULL
)
 STRICT;

CREATE TABLE events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    title_clean TEXT DEFAULT '' NOT NULL,
    starts_at TEXT,
    ends_at TEXT,
    all_day INTEGER NOT NULL,
    has_time INTEGER NOT NULL,
    local_date TEXT,
    timezone TEXT DEFAULT '' NOT NULL,
    venue TEXT DEFAULT '' NOT NULL,
    venue_clean TEXT DEFAULT '' NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    city TEXT DEFAULT '' NOT NULL,
    lat REAL,
    lon REAL,
    category TEXT DEFAULT '' NOT NULL,
    price TEXT DEFAULT '' NOT NULL,
    organizer TEXT DEFAULT '' NOT NULL,
    url TEXT DEFAULT '' NOT NULL,
    image TEXT DEFAULT '' NOT NULL,
    recurrence TEXT DEFAULT '' NOT NULL,
    when_note TEXT DEFAULT '' NOT NULL,
    source_url TEXT DEFAULT '' NOT NULL,
    source_id INTEGER,
    licence TEXT DEFAULT '' NOT NULL,
    terms_url TEXT DEFAULT '' NOT NULL,
    dedupe_key TEXT DEFAULT '' NOT NULL,
    status TEXT NOT NULL CONSTRAINT event_status CHECK (status IN ('active','hidden','quarantine')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    last_day_over TEXT,
    cancelled_at TEXT,
    vanished_at TEXT,
    archived_at TEXT,
    merged_into INTEGER,
    sequence INTEGER DEFAULT 0 NOT NULL,
    times INTEGER DEFAULT 1 NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    extra TEXT NOT NULL,
    search_text TEXT DEFAULT '' NOT NULL,
    CONSTRAINT event_required CHECK (status <> 'active' OR (starts_at IS NOT NULL AND title <> '')),
    UNIQUE (uid),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL,
    FOREIGN KEY(merged_into) REFERENCES events (id) ON DELETE SET NULL
)
 STRICT;

CREATE INDEX events_by_place ON events (lat, lon) WHERE lat IS NOT NULL;

CREATE INDEX events_by_source ON events (source_id);

CREATE INDEX events_merged ON events (merged_into) WHERE merged_into IS NOT NULL;

CREATE INDEX events_to_archive ON events (last_day_over) WHERE archived_at IS NULL AND last_day_over IS NOT NULL;

CREATE INDEX events_updated ON events (updated_at, id);

CREATE TABLE hosts (
    name TEXT NOT NULL,
    next_at TEXT,
    gap REAL DEFAULT 0 NOT NULL,
    slot_worker INTEGER,
    slot_until TEXT,
    PRIMARY KEY (name),
    FOREIGN KEY(slot_worker) REFERENCES workers (id) ON DELETE SET NULL
)
 STRICT;

CREATE TABLE incidents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    opened_at TEXT NOT NULL,
    notified_at TEXT,
    closed_at TEXT,
    recovered_notified_at TEXT,
    claimed_until TEXT,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
)
 STRICT;

CREATE UNIQUE INDEX incidents_open ON incidents (source_id, kind) WHERE closed_at IS NULL;

CREATE TABLE reviews (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subject TEXT NOT NULL,
    candidate_ids TEXT NOT NULL,
    reason TEXT NOT NULL CONSTRAINT review_reason CHECK (reason IN ('dedupe_conflict','missing_required','parse_error')),
    source_id INTEGER,
    detail TEXT NOT NULL,
    created_at TEXT NOT NULL,
    resolved_at TEXT,
    resolution TEXT DEFAULT '' NOT NULL,
    "by" TEXT DEFAULT '' NOT NULL,
    UNIQUE (subject),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL
)
 STRICT;

CREATE INDEX reviews_open ON reviews (id) WHERE resolved_at IS NULL;

CREATE TABLE run_logs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    status TEXT CONSTRAINT run_status CHECK (status IN ('success','fail','partial')),
    fetched_count INTEGER DEFAULT 0 NOT NULL,
    parsed_count INTEGER DEFAULT 0 NOT NULL,
    upserted_count INTEGER DEFAULT 0 NOT NULL,
    error_summary TEXT DEFAULT '' NOT NULL,
    counts TEXT NOT NULL,
    snapshot_paths TEXT NOT NULL,
    worker_id INTEGER,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    FOREIGN KEY(worker_id) REFERENCES workers (id) ON DELETE SET NULL
)
 STRICT;

CREATE INDEX run_logs_by_source ON run_logs (source_id, started_at);

CREATE INDEX run_logs_open ON run_logs (id) WHERE finished_at IS NULL;

CREATE TABLE source_state (
    source_id INTEGER NOT NULL,
    etag BLOB,
    last_modified BLOB,
    body_hash TEXT DEFAULT '' NOT NULL,
    last_attempt TEXT,
    last_success TEXT,
    failures INTEGER DEFAULT 0 NOT NULL,
    last_error TEXT DEFAULT '' NOT NULL,
    last_count INTEGER,
    next_run_at TEXT NOT NULL,
    backoff REAL DEFAULT 0 NOT NULL,
    lease_worker INTEGER,
    kept TEXT,
    PRIMARY KEY (source_id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    FOREIGN KEY(lease_worker) REFERENCES workers (id) ON DELETE SET NULL
)
 STRICT;

CREATE TABLE apart (
    low_id INTEGER NOT NULL,
    high_id INTEGER NOT NULL,
    at TEXT NOT NULL,
    "by" TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (low_id, high_id),
    FOREIGN KEY(low_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(high_id) REFERENCES events (id) ON DELETE CASCADE
)
 STRICT;

CREATE TABLE blocks (
    block TEXT NOT NULL,
    event_id INTEGER NOT NULL,
    PRIMARY KEY (block, event_id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX blocks_of_event ON blocks (event_id);

CREATE TABLE event_history (
    id INTEGER NOT NULL,
    event_id INTEGER NOT NULL,
    at TEXT NOT NULL,
    "by" TEXT DEFAULT '' NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX event_history_of_event ON event_history (event_id);

CREATE TABLE field_owners (
    event_id INTEGER NOT NULL,
    field TEXT NOT NULL,
    owner TEXT NOT NULL CONSTRAINT field_owner CHECK (owner IN ('source','person')),
    source_id INTEGER,
    who TEXT DEFAULT '' NOT NULL,
    at TEXT NOT NULL,
    value TEXT,
    PRIMARY KEY (event_id, field),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL
)
 STRICT;

CREATE TABLE merges (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kept_id INTEGER NOT NULL,
    absorbed_id INTEGER,
    sighting_ids TEXT NOT NULL,
    score REAL,
    reasons TEXT NOT NULL,
    at TEXT NOT NULL,
    "by" TEXT DEFAULT '' NOT NULL,
    "before" TEXT NOT NULL,
    undone_at TEXT,
    undone_by TEXT DEFAULT '' NOT NULL,
    FOREIGN KEY(kept_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(absorbed_id) REFERENCES events (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX merges_by_absorbed ON merges (absorbed_id);

CREATE INDEX merges_by_kept ON merges (kept_id);

CREATE TABLE occurrences (
    event_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    starts_at TEXT NOT NULL,
    ends_at TEXT,
    has_time INTEGER NOT NULL,
    local_date TEXT NOT NULL,
    last_date TEXT NOT NULL,
    city TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (event_id, number),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX occurrences_by_city ON occurrences (city, starts_at, event_id);

CREATE INDEX occurrences_in_order ON occurrences (starts_at, event_id);

CREATE INDEX occurrences_under_way ON occurrences (last_date, local_date) WHERE last_date > local_date;

CREATE TABLE review_candidates (
    event_id INTEGER NOT NULL,
    review_id INTEGER NOT NULL,
    PRIMARY KEY (event_id, review_id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(review_id) REFERENCES reviews (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX review_candidates_by_review ON review_candidates (review_id);

CREATE TABLE sightings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    event_id INTEGER NOT NULL,
    source_id INTEGER,
    row_key TEXT NOT NULL,
    raw TEXT,
    draft TEXT,
    draft_hash TEXT DEFAULT '' NOT NULL,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    last_run INTEGER,
    gone_at TEXT,
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL
)
 STRICT;

CREATE INDEX sightings_by_event ON sightings (event_id);

CREATE UNIQUE INDEX sightings_by_row ON sightings (source_id, row_key);

CREATE TABLE snapshots (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL,
    event_candidate_id INTEGER,
    url TEXT DEFAULT '' NOT NULL,
    content_path TEXT DEFAULT '' NOT NULL,
    fetched_at TEXT NOT NULL,
    etag BLOB,
    last_modified BLOB,
    run_id INTEGER,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    FOREIGN KEY(event_candidate_id) REFERENCES events (id) ON DELETE SET NULL,
    FOREIGN KEY(run_id) REFERENCES run_logs (id) ON DELETE SET NULL
)
 STRICT;

CREATE INDEX snapshots_by_source ON snapshots (source_id, fetched_at);
