CREATE TABLE robots (
    origin TEXT NOT NULL,
    status BIGINT,
    failure TEXT,
    message TEXT DEFAULT '' NOT NULL,
    body BYTEA,
    fetched_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (origin)
);

CREATE TABLE source_history (
    id BIGSERIAL NOT NULL,
    source_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    by TEXT DEFAULT '' NOT NULL,
    field TEXT DEFAULT '' NOT NULL,
    "old" JSONB,
    "new" JSONB,
    PRIMARY KEY (id)
);

CREATE INDEX ix_source_history_source_id ON source_history (source_id);

CREATE TABLE sources (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL CONSTRAINT source_type CHECK (type IN ('rss','ics','api','html','csv')),
    url TEXT NOT NULL,
    city TEXT DEFAULT '' NOT NULL,
    frequency TEXT DEFAULT 'normal' NOT NULL,
    enabled BOOLEAN NOT NULL,
    notes TEXT DEFAULT '' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    settings JSONB NOT NULL,
    timezone TEXT DEFAULT '' NOT NULL,
    priority BIGINT DEFAULT 0 NOT NULL,
    depends_on BIGINT,
    licence TEXT DEFAULT '' NOT NULL,
    terms_url TEXT DEFAULT '' NOT NULL,
    allow_private BOOLEAN NOT NULL,
    named_host TEXT DEFAULT '' NOT NULL,
    low_hours BIGINT DEFAULT 24 NOT NULL,
    secret TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (name),
    FOREIGN KEY(depends_on) REFERENCES sources (id) ON DELETE SET NULL
);

CREATE TABLE workers (
    id BIGSERIAL NOT NULL,
    machine TEXT DEFAULT '' NOT NULL,
    pid BIGINT DEFAULT 0 NOT NULL,
    started TEXT DEFAULT '' NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE events (
    id BIGSERIAL NOT NULL,
    uid TEXT NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    title_clean TEXT DEFAULT '' NOT NULL,
    starts_at TIMESTAMP WITH TIME ZONE,
    ends_at TIMESTAMP WITH TIME ZONE,
    all_day BOOLEAN NOT NULL,
    has_time BOOLEAN NOT NULL,
    local_date DATE,
    timezone TEXT DEFAULT '' NOT NULL,
    venue TEXT DEFAULT '' NOT NULL,
    venue_clean TEXT DEFAULT '' NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    city TEXT DEFAULT '' NOT NULL,
    lat DOUBLE PRECISION,
    lon DOUBLE PRECISION,
    category TEXT DEFAULT '' NOT NULL,
    price TEXT DEFAULT '' NOT NULL,
    organizer TEXT DEFAULT '' NOT NULL,
    url TEXT DEFAULT '' NOT NULL,
    image TEXT DEFAULT '' NOT NULL,
    recurrence TEXT DEFAULT '' NOT NULL,
    when_note TEXT DEFAULT '' NOT NULL,
    source_url TEXT DEFAULT '' NOT NULL,
    source_id BIGINT,
    licence TEXT DEFAULT '' NOT NULL,
    terms_url TEXT DEFAULT '' NOT NULL,
    dedupe_key TEXT DEFAULT '' NOT NULL,
    status TEXT NOT NULL CONSTRAINT event_status CHECK (status IN ('active','hidden','quarantine')),
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    last_day_over TIMESTAMP WITH TIME ZONE,
    cancelled_at TIMESTAMP WITH TIME ZONE,
    vanished_at TIMESTAMP WITH TIME ZONE,
    archived_at TIMESTAMP WITH TIME ZONE,
    merged_into BIGINT,
    sequence BIGINT DEFAULT 0 NOT NULL,
    times BIGINT DEFAULT 1 NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    extra JSONB NOT NULL,
    search_text TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT event_required CHECK (status <> 'active' OR (starts_at IS NOT NULL AND title <> '')),
    UNIQUE (uid),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL,
    FOREIGN KEY(merged_into) REFERENCES events (id) ON DELETE SET NULL
);

CREATE INDEX events_by_place ON events (lat, lon) WHERE lat IS NOT NULL;

CREATE INDEX events_by_source ON events (source_id);

CREATE INDEX events_merged ON events (merged_into) WHERE merged_into IS NOT NULL;

CREATE INDEX events_to_archive ON events (last_day_over) WHERE archived_at IS NULL AND last_day_over IS NOT NULL;

CREATE INDEX events_updated ON events (updated_at, id);

CREATE TABLE hosts (
    name TEXT NOT NULL,
    next_at TIMESTAMP WITH TIME ZONE,
    gap DOUBLE PRECISION DEFAULT 0 NOT NULL,
    slot_worker BIGINT,
    slot_until TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (name),
    FOREIGN KEY(slot_worker) REFERENCES workers (id) ON DELETE SET NULL
);

CREATE TABLE incidents (
    id BIGSERIAL NOT NULL,
    source_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    detail JSONB NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    notified_at TIMESTAMP WITH TIME ZONE,
    closed_at TIMESTAMP WITH TIME ZONE,
    recovered_notified_at TIMESTAMP WITH TIME ZONE,
    claimed_until TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX incidents_open ON incidents (source_id, kind) WHERE closed_at IS NULL;

CREATE TABLE reviews (
    id BIGSERIAL NOT NULL,
    subject TEXT NOT NULL,
    candidate_ids JSONB NOT NULL,
    reason TEXT NOT NULL CONSTRAINT review_reason CHECK (reason IN ('dedupe_conflict','missing_required','parse_error')),
    source_id BIGINT,
    detail JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    resolved_at TIMESTAMP WITH TIME ZONE,
    resolution TEXT DEFAULT '' NOT NULL,
    by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (subject),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL
);

CREATE INDEX reviews_open ON reviews (id) WHERE resolved_at IS NULL;

CREATE TABLE run_logs (
    id BIGSERIAL NOT NULL,
    source_id BIGINT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    status TEXT CONSTRAINT run_status CHECK (status IN ('success','fail','partial')),
    fetched_count BIGINT DEFAULT 0 NOT NULL,
    parsed_count BIGINT DEFAULT 0 NOT NULL,
    upserted_count BIGINT DEFAULT 0 NOT NULL,
    error_summary TEXT DEFAULT '' NOT NULL,
    counts JSONB NOT NULL,
    snapshot_paths JSONB NOT NULL,
    worker_id BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    FOREIGN KEY(worker_id) REFERENCES workers (id) ON DELETE SET NULL
);

CREATE INDEX run_logs_by_source ON run_logs (source_id, started_at);

CREATE INDEX run_logs_open ON run_logs (id) WHERE finished_at IS NULL;

CREATE TABLE source_state (
    source_id BIGINT NOT NULL,
    etag BYTEA,
    last_modified BYTEA,
    body_hash TEXT DEFAULT '' NOT NULL,
    last_attempt TIMESTAMP WITH TIME ZONE,
    last_success TIMESTAMP WITH TIME ZONE,
    failures BIGINT DEFAULT 0 NOT NULL,
    last_error TEXT DEFAULT '' NOT NULL,
    last_count BIGINT,
    next_run_at TIMESTAMP WITH TIME ZONE NOT NULL,
    backoff DOUBLE PRECISION DEFAULT 0 NOT NULL,
    lease_worker BIGINT,
    kept JSONB,
    PRIMARY KEY (source_id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    FOREIGN KEY(lease_worker) REFERENCES workers (id) ON DELETE SET NULL
);

CREATE TABLE apart (
    low_id BIGINT NOT NULL,
    high_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (low_id, high_id),
    FOREIGN KEY(low_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(high_id) REFERENCES events (id) ON DELETE CASCADE
);

CREATE TABLE blocks (
    block TEXT NOT NULL,
    event_id BIGINT NOT NULL,
    PRIMARY KEY (block, event_id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE
);

CREATE INDEX blocks_of_event ON blocks (event_id);

CREATE TABLE event_history (
    id BIGSERIAL NOT NULL,
    event_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    by TEXT DEFAULT '' NOT NULL,
    changes JSONB NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE
);

CREATE INDEX event_history_of_event ON event_history (event_id);

CREATE TABLE field_owners (
    event_id BIGINT NOT NULL,
    field TEXT NOT NULL,
    owner TEXT NOT NULL CONSTRAINT field_owner CHECK (owner IN ('source','person')),
    source_id BIGINT,
    who TEXT DEFAULT '' NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    value JSONB,
    PRIMARY KEY (event_id, field),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL
);

CREATE TABLE merges (
    id BIGSERIAL NOT NULL,
    kept_id BIGINT NOT NULL,
    absorbed_id BIGINT,
    sighting_ids JSONB NOT NULL,
    score DOUBLE PRECISION,
    reasons JSONB NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    by TEXT DEFAULT '' NOT NULL,
    before JSONB NOT NULL,
    undone_at TIMESTAMP WITH TIME ZONE,
    undone_by TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(kept_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(absorbed_id) REFERENCES events (id) ON DELETE CASCADE
);

CREATE INDEX merges_by_absorbed ON merges (absorbed_id);

CREATE INDEX merges_by_kept ON merges (kept_id);

CREATE TABLE occurrences (
    event_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    starts_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ends_at TIMESTAMP WITH TIME ZONE,
    has_time BOOLEAN NOT NULL,
    local_date DATE NOT NULL,
    last_date DATE NOT NULL,
    city TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (event_id, number),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE
);

CREATE INDEX occurrences_by_city ON occurrences (city, starts_at, event_id);

CREATE INDEX occurrences_in_order ON occurrences (starts_at, event_id);

CREATE INDEX occurrences_under_way ON occurrences (last_date, local_date) WHERE last_date > local_date;

CREATE TABLE review_candidates (
    event_id BIGINT NOT NULL,
    review_id BIGINT NOT NULL,
    PRIMARY KEY (event_id, review_id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(review_id) REFERENCES reviews (id) ON DELETE CASCADE
);

CREATE INDEX review_candidates_by_review ON review_candidates (review_id);

CREATE TABLE sightings (
    id BIGSERIAL NOT NULL,
    event_id BIGINT NOT NULL,
    source_id BIGINT,
    row_key TEXT NOT NULL,
    raw JSONB,
    draft JSONB,
    draft_hash TEXT DEFAULT '' NOT NULL,
    first_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    last_run BIGINT,
    gone_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    FOREIGN KEY(event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE SET NULL
);

CREATE INDEX sightings_by_event ON sightings (event_id);

CREATE UNIQUE INDEX sightings_by_row ON sightings (source_id, row_key);

CREATE TABLE snapshots (
    id BIGSERIAL NOT NULL,
    source_id BIGINT NOT NULL,
    event_candidate_id BIGINT,
    url TEXT DEFAULT '' NOT NULL,
    content_path TEXT DEFAULT '' NOT NULL,
    fetched_at TIMESTAMP WITH TIME ZONE NOT NULL,
    etag BYTEA,
    last_modified BYTEA,
    run_id BIGINT,
    PRIMARY KEY (id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
    FOREIGN KEY(event_candidate_id) REFERENCES events (id) ON DELETE SET NULL,
    FOREIGN KEY(run_id) REFERENCES run_logs (id) ON DELETE SET NULL
);

CREATE INDEX snapshots_by_source ON snapshots (source_id, fetched_at);
