-- Databases that SQL tools use, kept over the API. `definition` is what the author wrote, with a reference in place of the
-- password: that row of `secrets` has the source's id as `tool_id`. They belong to the installation and not to a user.
CREATE TABLE sources (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
