CREATE TABLE search_targets (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    since TEXT NOT NULL,
    synced_at TEXT,
    form TEXT DEFAULT '' NOT NULL,
    worker_id INTEGER,
    UNIQUE (name),
    FOREIGN KEY(worker_id) REFERENCES workers (id) ON DELETE SET NULL
)
 STRICT;

CREATE TABLE search_changes (
    target_id INTEGER NOT NULL,
    event_id INTEGER NOT NULL,
    number INTEGER DEFAULT 1 NOT NULL,
    PRIMARY KEY (target_id, event_id),
    FOREIGN KEY(target_id) REFERENCES search_targets (id) ON DELETE CASCADE
)
 WITHOUT ROWID, STRICT;

CREATE VIRTUAL TABLE events_search USING fts5(search_text, content='events', content_rowid='id', columnsize=0, tokenize='ascii');

INSERT INTO events_search(events_search) VALUES ('rebuild');

CREATE TRIGGER events_search_added AFTER INSERT ON events BEGIN
    INSERT INTO events_search(rowid, search_text) VALUES (new.id, new.search_text); END;

CREATE TRIGGER events_search_changed AFTER UPDATE OF search_text ON events WHEN old.search_text IS NOT new.search_text BEGIN
    INSERT INTO events_search(events_search, rowid, search_text) VALUES ('delete', old.id, old.search_text); INSERT INTO events_search(rowid, search_text) VALUES (new.id, new.search_text); END;

CREATE TRIGGER events_search_removed AFTER DELETE ON events BEGIN
    INSERT INTO events_search(events_search, rowid, search_text) VALUES ('delete', old.id, old.search_text); END;

CREATE TRIGGER events_search_told_added AFTER INSERT ON events BEGIN
    INSERT INTO search_changes(target_id, event_id) SELECT id, new.id FROM search_targets WHERE true ON CONFLICT DO UPDATE SET number = number + 1; END;

CREATE TRIGGER events_search_told_changed AFTER UPDATE OF uid, title, description, starts_at, ends_at, all_day, local_date, timezone, venue, address, city, lat, lon, category, price, organizer, url, source_url, licence, status, updated_at, cancelled_at, vanished_at, archived_at, merged_into, times ON events BEGIN
    INSERT INTO search_changes(target_id, event_id) SELECT id, new.id FROM search_targets WHERE true ON CONFLICT DO UPDATE SET number = number + 1; END;

CREATE TRIGGER events_search_told_removed AFTER DELETE ON events BEGIN
    INSERT INTO search_changes(target_id, event_id) SELECT id, old.id FROM search_targets WHERE true ON CONFLICT DO UPDATE SET number = number + 1; END;
