-- Who has signed in to which upstream server. The token itself lies sealed in `secrets`; the system's row is the one
-- that a server is shown for everybody.
CREATE TABLE server_tokens (
    server TEXT NOT NULL,
    user_id UUID NOT NULL REFERENCES users (id),
    secret_id UUID NOT NULL REFERENCES secrets (id),
    -- The address of the server that it is for, without its query, which may hold a key.
    url TEXT NOT NULL,
    issuer TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires_at BIGINT,
    can_refresh BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (server, user_id)
);
CREATE INDEX server_tokens_user ON server_tokens (user_id);

-- How authorization servers know us where we registered with them; sealed in `secrets` too.
CREATE TABLE server_clients (
    server TEXT NOT NULL,
    issuer TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    secret_id UUID NOT NULL REFERENCES secrets (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (server, issuer, redirect_uri)
);
