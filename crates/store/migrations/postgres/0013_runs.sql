-- Runs of agents, and what happened in each, in order. `node` is the server that drives it; whoever takes it over raises
-- `epoch`, and nothing that the one before it writes counts any more. `last_seq` is that of its newest entry.
CREATE TABLE runs (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES users (id),
    -- What the run may do and what it was begun with, as JSON.
    warrant TEXT NOT NULL,
    agent_id UUID,
    request TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT,
    error TEXT,
    epoch BIGINT NOT NULL,
    node TEXT,
    last_seq BIGINT NOT NULL,
    -- When what somebody was asked for expires.
    wake_at BIGINT,
    idempotency_key TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE UNIQUE INDEX runs_idempotency ON runs (owner_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_owner ON runs (owner_id, created_at, id);
CREATE INDEX runs_by_time ON runs (created_at, id);
CREATE INDEX runs_under_way ON runs (status, wake_at) WHERE status IN ('running', 'needs_input');
CREATE TABLE run_entries (
    run_id UUID NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
);
