CREATE TABLE users (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL CONSTRAINT user_role CHECK (role IN ('viewer','editor','admin')),
    password TEXT DEFAULT '' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_sign_in TIMESTAMP WITH TIME ZONE,
    link_hash TEXT,
    link_until TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    UNIQUE (name),
    UNIQUE (link_hash)
);

CREATE TABLE api_keys (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    scopes JSONB NOT NULL,
    user_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_by TEXT DEFAULT '' NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    UNIQUE (prefix),
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_api_keys_user_id ON api_keys (user_id);

CREATE TABLE sessions (
    id BIGSERIAL NOT NULL,
    token_hash TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    address TEXT DEFAULT '' NOT NULL,
    agent TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (token_hash),
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE TABLE audit_log (
    id BIGSERIAL NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    who TEXT DEFAULT '' NOT NULL,
    user_id BIGINT,
    key_id BIGINT,
    address TEXT DEFAULT '' NOT NULL,
    what TEXT DEFAULT '' NOT NULL,
    subject TEXT DEFAULT '' NOT NULL,
    detail JSONB NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX audit_log_in_order ON audit_log (at, id);
