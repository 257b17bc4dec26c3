-- Upstream MCP servers that are kept over the API. `definition` is what the author wrote, with references in place of what
-- is sealed: those rows of `secrets` have the server's id as `tool_id`.
CREATE TABLE servers (
    id BLOB PRIMARY KEY NOT NULL,
    owner_id BLOB NOT NULL REFERENCES users (id),
    name TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    -- Whether an admin chose where it leads.
    is_trusted INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX servers_owner ON servers (owner_id);

-- What was last found out about a server of either origin, for the time when it is down. It belongs to one address.
CREATE TABLE server_lists (
    server TEXT PRIMARY KEY NOT NULL,
    address TEXT NOT NULL,
    known TEXT NOT NULL CHECK (json_valid(known)),
    updated_at INTEGER NOT NULL
);

-- The definition of each tool that was seen first, or approved last. A large one is held by its hash alone.
CREATE TABLE server_pins (
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    hash TEXT NOT NULL,
    definition TEXT CHECK (definition IS NULL OR json_valid(definition)),
    pinned_at INTEGER NOT NULL,
    PRIMARY KEY (server, tool)
);
