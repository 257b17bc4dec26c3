-- A day file of version 1, made into one of version 2.
ALTER TABLE executions ADD COLUMN builtin TEXT;
CREATE INDEX executions_by_builtin ON executions (builtin, started_at, id) WHERE builtin IS NOT NULL;
