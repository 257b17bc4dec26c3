-- How the saved tests of a tool ended when they were last run; `hash` says of which definition. No reference to `tools`:
-- tools of the file shelf and builtins have tests, too.
CREATE TABLE tool_tests (
    tool_id UUID PRIMARY KEY,
    hash TEXT NOT NULL,
    passed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    ran_at BIGINT NOT NULL
);
