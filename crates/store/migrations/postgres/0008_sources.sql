-- Databases that SQL tools use, kept over the API. `definition` is what the author wrote, with a reference in place of the
-- password: that row of `secrets` has the source's id as `tool_id`. They belong to the installation and not to a user.
CREATE TABLE sources (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
