-- Executions of all nodes, one partition a day. Idempotent; runs under an advisory lock.
CREATE TABLE IF NOT EXISTS executions (
    id           UUID NOT NULL,
    started_at   BIGINT NOT NULL,
    status       TEXT NOT NULL,
    tool_name    TEXT NOT NULL,
    tool_version BIGINT NOT NULL,
    tool_hash    TEXT NOT NULL,
    -- The tool that this one is only another name for: limits count it, too.
    behind       TEXT,
    caller       TEXT NOT NULL,
    key          TEXT,
    agent        UUID,
    run          UUID,
    toolset      TEXT,
    transport    TEXT NOT NULL,
    error_code   TEXT,
    elapsed_us   BIGINT NOT NULL,
    node         TEXT NOT NULL,
    arguments    TEXT NOT NULL,
    output       TEXT,
    error        TEXT,
    log_text     TEXT,
    -- Read backwards, this is the order of every list.
    PRIMARY KEY (started_at, id)
) PARTITION BY RANGE (started_at);
CREATE INDEX IF NOT EXISTS executions_by_tool ON executions (tool_name, started_at, id);
-- Successes are most of the rows and are found without it.
CREATE INDEX IF NOT EXISTS executions_by_status ON executions (status, started_at, id) WHERE status <> 'success';
-- A table of an earlier version has no such column, or an older name for it. Looked for first: to alter a table waits for
-- everybody who reads it.
DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = 'executions'::regclass AND attname = 'builtin') THEN
        ALTER TABLE executions RENAME COLUMN builtin TO behind;
        ALTER INDEX IF EXISTS executions_by_builtin RENAME TO executions_by_behind;
    ELSIF NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = 'executions'::regclass AND attname = 'behind') THEN
        ALTER TABLE executions ADD COLUMN behind TEXT;
    END IF;
END $$;
-- Few tools are another name for one.
CREATE INDEX IF NOT EXISTS executions_by_behind ON executions (behind, started_at, id) WHERE behind IS NOT NULL;
