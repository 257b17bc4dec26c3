-- Who may do what: roles and passwords, sessions, agents, the policy, limits, sealed secrets, the audit log.
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
ALTER TABLE users ADD COLUMN password_hash TEXT;
ALTER TABLE users ADD COLUMN oidc_subject TEXT;
ALTER TABLE users ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN deleted_at BIGINT;
CREATE UNIQUE INDEX users_oidc_subject ON users (oidc_subject) WHERE oidc_subject IS NOT NULL;

ALTER TABLE keys ADD COLUMN last_used_at BIGINT;

-- Of a session and of a login link only the hash of the secret is kept.
CREATE TABLE sessions (
    hash BYTEA PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE login_links (
    hash BYTEA PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL
);

CREATE TABLE agents (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    description TEXT,
    model_provider TEXT NOT NULL CHECK (model_provider IN ('anthropic', 'openai', 'zhipuai')),
    model_name TEXT NOT NULL,
    base_url TEXT,
    system_prompt TEXT,
    config JSONB NOT NULL DEFAULT '{}',
    tools JSONB NOT NULL DEFAULT '[]',
    memory_config JSONB,
    is_active BOOLEAN NOT NULL DEFAULT TRUE,
    is_public BOOLEAN NOT NULL DEFAULT FALSE,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE UNIQUE INDEX agents_live_name ON agents (name) WHERE deleted_at IS NULL;
CREATE INDEX agents_owner ON agents (owner_id);
CREATE INDEX agents_tools ON agents USING GIN (tools jsonb_path_ops);
CREATE INDEX agents_config ON agents USING GIN (config jsonb_path_ops);
CREATE INDEX agents_memory_config ON agents USING GIN (memory_config jsonb_path_ops);

-- Every policy there ever was; the newest is in force.
CREATE TABLE policies (
    version BIGINT PRIMARY KEY,
    document TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE limits (
    target_type TEXT NOT NULL CHECK (target_type IN ('USER', 'TOOL')),
    target_id UUID NOT NULL,
    max_count BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (target_type, target_id)
);

-- A secret has a name of its own, or belongs to one place in a tool's auth_config.
CREATE TABLE secrets (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES users (id),
    name TEXT UNIQUE,
    tool_id UUID,
    sealed TEXT NOT NULL,
    -- The key that seals it; also inside `sealed`, here to be found.
    key_id TEXT NOT NULL,
    last4 TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX secrets_tool ON secrets (tool_id);
CREATE INDEX secrets_key ON secrets (key_id);

-- Each row's hash covers the row and the hash before it.
CREATE TABLE audit (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor_id UUID NOT NULL,
    actor TEXT NOT NULL,
    key TEXT,
    transport TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    before TEXT,
    after TEXT,
    hash BYTEA NOT NULL
);
CREATE INDEX audit_target ON audit (target, seq);
CREATE INDEX audit_actor ON audit (actor, seq);
