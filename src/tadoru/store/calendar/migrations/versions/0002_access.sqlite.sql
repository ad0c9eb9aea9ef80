CREATE TABLE users (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    role TEXT NOT NULL CONSTRAINT user_role CHECK (role IN ('viewer','editor','admin')),
    password TEXT DEFAULT '' NOT NULL,
    created_at TEXT NOT NULL,
    last_sign_in TEXT,
    link_hash TEXT,
    link_until TEXT,
    revoked_at TEXT,
    UNIQUE (name),
    UNIQUE (link_hash)
)
 STRICT;

CREATE TABLE api_keys (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    scopes TEXT NOT NULL,
    user_id INTEGER,
    created_at TEXT NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    revoked_at TEXT,
    UNIQUE (prefix),
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX ix_api_keys_user_id ON api_keys (user_id);

CREATE TABLE sessions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    token_hash TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    agent TEXT DEFAULT '' NOT NULL,
    UNIQUE (token_hash),
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE TABLE audit_log (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT DEFAULT '' NOT NULL,
    user_id INTEGER,
    key_id INTEGER,
    address TEXT DEFAULT '' NOT NULL,
    what TEXT DEFAULT '' NOT NULL,
    subject TEXT DEFAULT '' NOT NULL,
    detail TEXT NOT NULL
)
 STRICT;

CREATE INDEX audit_log_in_order ON audit_log (at, id);
