-- One day's executions, kept in the order of their ids: one tree less to write. Small columns first: counting must not walk through long outputs.
CREATE TABLE executions (
    id           BLOB NOT NULL,
    started_at   INTEGER NOT NULL,
    status       TEXT NOT NULL,
    tool_name    TEXT NOT NULL,
    tool_version INTEGER NOT NULL,
    tool_hash    TEXT NOT NULL,
    -- The tool that this one is only another name for: limits count it, too.
    behind       TEXT,
    caller       TEXT NOT NULL,
    key          TEXT,
    agent        BLOB,
    run          BLOB,
    toolset      TEXT,
    transport    TEXT NOT NULL,
    error_code   TEXT,
    elapsed_us   INTEGER NOT NULL,
    node         TEXT NOT NULL,
    arguments    TEXT NOT NULL,
    output       TEXT,
    error        TEXT,
    log_text     TEXT,
    PRIMARY KEY (started_at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_by_tool ON executions (tool_name, started_at, id);
-- Successes are most of the rows and are found without it.
CREATE INDEX executions_by_status ON executions (status, started_at, id) WHERE status <> 'success';
-- Few tools are another name for one.
CREATE INDEX executions_by_behind ON executions (behind, started_at, id) WHERE behind IS NOT NULL;
PRAGMA user_version = 3;
