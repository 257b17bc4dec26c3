-- What the log says of earlier calls is added to what was counted, and replaces none of it: a call that was let through may not
-- be in the log yet (ADR 24).
CREATE OR REPLACE FUNCTION lease_seed(seed JSONB, me TEXT, now_ms BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    name TEXT := seed->>'key';
    span BIGINT := (seed->>'span')::bigint;
    -- A call may have waited before it was counted, and clocks of servers differ: so close to a call that was counted, one of
    -- the log may be the same.
    same_ms CONSTANT BIGINT := 10000;
    leased BIGINT;
    counting_since BIGINT;
BEGIN
    IF seed->>'sort' = 'day' THEN
        SELECT coalesce(sum(b.count), 0) INTO leased FROM lease_blocks b
            WHERE b.key = name AND b.day = (seed->>'day')::bigint;
        INSERT INTO lease_days AS d (key, day, used)
            VALUES (name, (seed->>'day')::bigint, greatest((seed->>'count')::bigint - leased, 0))
            ON CONFLICT (key, day) DO UPDATE SET used = greatest(d.used, excluded.used);
        RETURN;
    END IF;
    SELECT min(c.at) - same_ms INTO counting_since FROM (
        SELECT t.at FROM lease_times t WHERE t.key = name AND t.count > 0
        UNION ALL SELECT b.until FROM lease_blocks b WHERE b.key = name
    ) c WHERE c.at > now_ms - span AND c.at <= now_ms + span;
    WITH logged AS (
        SELECT now_ms - (c->>0)::bigint AS at, sum((c->>1)::bigint)::bigint AS n
            FROM jsonb_array_elements(seed->'calls') c GROUP BY 1
    ), moments AS (
        SELECT m.at, sum(m.logged) AS logged, sum(m.counted) AS counted FROM (
            SELECT l.at, l.n AS logged, 0 AS counted FROM logged l
            UNION ALL SELECT t.at, 0, t.count FROM lease_times t WHERE t.key = name
            UNION ALL SELECT b.until, 0, b.count FROM lease_blocks b WHERE b.key = name
        ) m WHERE m.at > now_ms - span AND m.at <= now_ms + span AND m.at >= counting_since GROUP BY m.at
    ), surplus AS (
        SELECT m.at, sum(m.logged - m.counted) OVER (ORDER BY m.at DESC) AS n FROM moments m
    ), lacking AS (
        -- So many more must have begun since that moment than were counted.
        SELECT s.at, max(greatest(s.n, 0)) OVER (ORDER BY s.at DESC) AS n FROM surplus s
    ), added AS (
        SELECT l.at, l.n - lag(l.n, 1, 0::numeric) OVER (ORDER BY l.at DESC) AS n FROM lacking l
        -- Before counting began nobody counted.
        UNION ALL SELECT l.at, l.n FROM logged l WHERE counting_since IS NULL OR l.at < counting_since
    )
    INSERT INTO lease_times AS t (key, at, count)
        SELECT name, a.at, sum(a.n)::bigint FROM added a WHERE a.n > 0 GROUP BY a.at
        ON CONFLICT (key, at) DO UPDATE SET count = t.count + excluded.count;
END $$;
