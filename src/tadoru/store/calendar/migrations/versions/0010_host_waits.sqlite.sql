CREATE TABLE old_hosts AS SELECT name, next_at, gap, slot_worker, slot_until FROM hosts;

DROP TABLE hosts;

CREATE TABLE hosts (
    name TEXT NOT NULL,
    next_at TEXT,
    wait_from TEXT,
    gap REAL DEFAULT 0 NOT NULL,
    slot_worker INTEGER,
    slot_until TEXT,
    PRIMARY KEY (name),
    FOREIGN KEY(slot_worker) REFERENCES workers (id) ON DELETE SET NULL
)
 STRICT;

INSERT INTO hosts (name, next_at, gap, slot_worker, slot_until) SELECT name, next_at, gap, slot_worker, slot_until FROM old_hosts;

DROP TABLE old_hosts;
