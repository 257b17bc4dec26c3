-- Named, ordered selections of tools. `definition` is what the author wrote.
CREATE TABLE toolsets (
    id UUID PRIMARY KEY,
    owner_id UUID NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE UNIQUE INDEX toolsets_live_name ON toolsets (name) WHERE deleted_at IS NULL;
CREATE INDEX toolsets_owner ON toolsets (owner_id);
