-- Runs of agents, and what happened in each, in order. `node` is the server that drives it; whoever takes it over raises
-- `epoch`, and nothing that the one before it writes counts any more. `last_seq` is that of its newest entry.
CREATE TABLE runs (
    id BLOB PRIMARY KEY,
    owner_id BLOB NOT NULL REFERENCES users (id),
    -- What the run may do and what it was begun with, as JSON.
    warrant TEXT NOT NULL,
    agent_id BLOB,
    request TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT,
    error TEXT,
    epoch INTEGER NOT NULL,
    node TEXT,
    last_seq INTEGER NOT NULL,
    -- When what somebody was asked for expires.
    wake_at INTEGER,
    idempotency_key TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER
);
CREATE UNIQUE INDEX runs_idempotency ON runs (owner_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_owner ON runs (owner_id, created_at, id);
CREATE INDEX runs_by_time ON runs (created_at, id);
CREATE INDEX runs_under_way ON runs (status, wake_at) WHERE status IN ('running', 'needs_input');
CREATE TABLE run_entries (
    run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;
