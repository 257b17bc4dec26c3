-- Named, ordered selections of tools. `definition` is what the author wrote.
CREATE TABLE toolsets (
    id BLOB PRIMARY KEY NOT NULL,
    owner_id BLOB NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
);
CREATE UNIQUE INDEX toolsets_live_name ON toolsets (name) WHERE deleted_at IS NULL;
CREATE INDEX toolsets_owner ON toolsets (owner_id);
