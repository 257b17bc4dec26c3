-- People whose data is erased. `name` stands here until every server has erased what it keeps, because logs know people by it.
CREATE TABLE erasures (
    user_id UUID PRIMARY KEY REFERENCES users (id),
    name TEXT,
    pseudonym TEXT NOT NULL,
    at BIGINT NOT NULL
);

-- Which of the servers (by the installation's name) are done with it. Forgotten with the name.
CREATE TABLE erasure_servers (
    user_id UUID NOT NULL,
    node TEXT NOT NULL,
    PRIMARY KEY (user_id, node)
);
