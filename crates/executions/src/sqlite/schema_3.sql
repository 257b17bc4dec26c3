-- A day file of version 2, made into one of version 3: what is behind a tool may be more than a builtin.
ALTER TABLE executions RENAME COLUMN builtin TO behind;
DROP INDEX executions_by_builtin;
CREATE INDEX executions_by_behind ON executions (behind, started_at, id) WHERE behind IS NOT NULL;
PRAGMA user_version = 3;
