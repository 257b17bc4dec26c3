-- Requests of which somebody confirmed that a tool was right for them. No reference to `tools`: builtins and tools of files and
-- servers have them, too, and those of a removed tool wait for its restore. `hash` is that of the request, which may be longer
-- than an index takes.
CREATE TABLE confirmed_requests (
    tool_id UUID NOT NULL,
    hash TEXT NOT NULL,
    request TEXT NOT NULL,
    user_id UUID NOT NULL REFERENCES users (id),
    at BIGINT NOT NULL,
    PRIMARY KEY (tool_id, hash)
);
