-- The registry: users, keys, the database shelf, every tool's history, idempotency keys.
-- Times are milliseconds since 1970 in UTC. Definitions are kept as the text that was written, because
-- JSONB would lose the order of a schema's properties; a generated JSONB column serves queries.
CREATE TABLE users (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE keys (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    user_id UUID NOT NULL REFERENCES users (id),
    secret_hash BYTEA NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);

CREATE TABLE tools (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    owner_id UUID NOT NULL REFERENCES users (id),
    definition TEXT NOT NULL,
    definition_json JSONB GENERATED ALWAYS AS (definition::jsonb) STORED,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE UNIQUE INDEX tools_live_name ON tools (name) WHERE deleted_at IS NULL;
CREATE INDEX tools_owner ON tools (owner_id);
CREATE INDEX tools_definition ON tools USING GIN (definition_json jsonb_path_ops);

CREATE TABLE tool_versions (
    tool_id UUID NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    shelf TEXT NOT NULL,
    action TEXT NOT NULL,
    definition TEXT NOT NULL,
    hash TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (tool_id, version)
);
CREATE INDEX tool_versions_name ON tool_versions (name, changed_at);

CREATE TABLE idempotency (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    arguments_hash TEXT NOT NULL,
    node TEXT NOT NULL,
    response TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);
