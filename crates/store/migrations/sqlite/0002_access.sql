-- Who may do what: roles and passwords, sessions, agents, the policy, limits, sealed secrets, the audit log.
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
ALTER TABLE users ADD COLUMN password_hash TEXT;
ALTER TABLE users ADD COLUMN oidc_subject TEXT;
ALTER TABLE users ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN deleted_at INTEGER;
CREATE UNIQUE INDEX users_oidc_subject ON users (oidc_subject) WHERE oidc_subject IS NOT NULL;

ALTER TABLE keys ADD COLUMN last_used_at INTEGER;

-- Of a session and of a login link only the hash of the secret is kept.
CREATE TABLE sessions (
    hash BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE login_links (
    hash BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE agents (
    id BLOB PRIMARY KEY NOT NULL,
    owner_id BLOB NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    description TEXT,
    model_provider TEXT NOT NULL CHECK (model_provider IN ('anthropic', 'openai', 'zhipuai')),
    model_name TEXT NOT NULL,
    base_url TEXT,
    system_prompt TEXT,
    config TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(config)),
    tools TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tools)),
    memory_config TEXT CHECK (memory_config IS NULL OR json_valid(memory_config)),
    is_active INTEGER NOT NULL DEFAULT TRUE,
    is_public INTEGER NOT NULL DEFAULT FALSE,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX agents_live_name ON agents (name) WHERE deleted_at IS NULL;
CREATE INDEX agents_owner ON agents (owner_id);

-- Every policy there ever was; the newest is in force.
CREATE TABLE policies (
    version INTEGER PRIMARY KEY NOT NULL,
    document TEXT NOT NULL CHECK (json_valid(document)),
    created_at INTEGER NOT NULL
);

CREATE TABLE limits (
    target_type TEXT NOT NULL CHECK (target_type IN ('USER', 'TOOL')),
    target_id BLOB NOT NULL,
    max_count INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (target_type, target_id)
) WITHOUT ROWID;

-- A secret has a name of its own, or belongs to one place in a tool's auth_config.
CREATE TABLE secrets (
    id BLOB PRIMARY KEY NOT NULL,
    owner_id BLOB NOT NULL REFERENCES users (id),
    name TEXT UNIQUE,
    tool_id BLOB,
    sealed TEXT NOT NULL,
    -- The key that seals it; also inside `sealed`, here to be found.
    key_id TEXT NOT NULL,
    last4 TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX secrets_tool ON secrets (tool_id);
CREATE INDEX secrets_key ON secrets (key_id);

-- Each row's hash covers the row and the hash before it.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL,
    actor_id BLOB NOT NULL,
    actor TEXT NOT NULL,
    key TEXT,
    transport TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    before TEXT,
    after TEXT,
    hash BLOB NOT NULL
);
CREATE INDEX audit_target ON audit (target, seq);
CREATE INDEX audit_actor ON audit (actor, seq);
