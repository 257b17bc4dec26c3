-- Several servers on one registry: who they are, what each of them changed, and their shares of the limits. A registry in a
-- SQLite file has one process and needs none of it.

-- A row is one process. `node` is the installation's name, which outlives the process.
CREATE TABLE replicas (
    instance TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    -- Where the others reach it; none where they cannot.
    address TEXT,
    version TEXT NOT NULL,
    -- Of tools.json and mcp.json, as the process reads them.
    shelf_hash TEXT NOT NULL,
    -- By the clock of the database, so that clocks of machines do not matter.
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

-- How many transactions have changed something. Each of them holds this row until it commits, so the numbers come in the order
-- of the commits and without gaps.
CREATE TABLE revision (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    number BIGINT NOT NULL
);
INSERT INTO revision (number) VALUES (0);

-- What those transactions changed. Rows are forgotten after a while; who has missed some reads everything anew.
CREATE TABLE changes (
    revision BIGINT NOT NULL,
    subject TEXT NOT NULL,
    -- The ids, with commas; empty where all of the subject is read anew.
    ids TEXT NOT NULL,
    instance TEXT NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (revision, subject)
);
CREATE INDEX changes_at ON changes (at);
