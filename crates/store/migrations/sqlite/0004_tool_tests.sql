-- How the saved tests of a tool ended when they were last run; `hash` says of which definition. No reference to `tools`:
-- tools of the file shelf and builtins have tests, too.
CREATE TABLE tool_tests (
    tool_id BLOB PRIMARY KEY NOT NULL,
    hash TEXT NOT NULL,
    passed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    ran_at INTEGER NOT NULL
) WITHOUT ROWID;
