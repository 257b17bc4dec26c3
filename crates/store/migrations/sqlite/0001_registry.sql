-- The registry: users, keys, the database shelf, every tool's history, idempotency keys.
-- Times are milliseconds since 1970 in UTC; ids are UUIDs.
CREATE TABLE users (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
);

CREATE TABLE keys (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    secret_hash BLOB NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
);

CREATE TABLE tools (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    owner_id BLOB NOT NULL REFERENCES users (id),
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX tools_live_name ON tools (name) WHERE deleted_at IS NULL;
CREATE INDEX tools_owner ON tools (owner_id);

CREATE TABLE tool_versions (
    tool_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    shelf TEXT NOT NULL,
    action TEXT NOT NULL,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    hash TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (tool_id, version)
) WITHOUT ROWID;
CREATE INDEX tool_versions_name ON tool_versions (name, changed_at);

CREATE TABLE idempotency (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    arguments_hash TEXT NOT NULL,
    node TEXT NOT NULL,
    response TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);
