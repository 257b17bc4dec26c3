-- Limits that hold for all servers on one registry (ADR 24). Everything is decided in `lease`, one round trip for whatever a
-- server has to ask and to give back at that moment. Times are milliseconds by the clock of the database, so that clocks of
-- machines do not matter; a test that sets the clock says what time it is.

-- Calls of a day. `key` names a limit, here `day/USER/…` or `day/TOOL/…`.
CREATE TABLE lease_days (
    key TEXT NOT NULL,
    day BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (key, day)
);

-- When calls began that a sliding window counts: `minute/…`, `hour/…`.
CREATE TABLE lease_times (
    key TEXT NOT NULL,
    at BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (key, at)
);

-- Shares that a server may use up by itself until a moment. They count as used at that moment until it says how many were
-- used and when; of one that never does, all of them stay used.
CREATE TABLE lease_blocks (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key TEXT NOT NULL,
    -- Of a day's calls, which day's.
    day BIGINT,
    instance TEXT NOT NULL,
    count BIGINT NOT NULL,
    until BIGINT NOT NULL
);
CREATE INDEX lease_blocks_key ON lease_blocks (key);

-- Calls at a time: how many each server may run (`held`) and how many it ran when it was last heard of.
CREATE TABLE lease_places (
    key TEXT NOT NULL,
    instance TEXT NOT NULL,
    held BIGINT NOT NULL,
    running BIGINT NOT NULL,
    -- For how long one of them can run.
    call_ms BIGINT NOT NULL,
    PRIMARY KEY (key, instance)
);

-- Who asked, and the number of their last question: one that comes late is not answered.
CREATE TABLE lease_servers (
    instance TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    number BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

CREATE FUNCTION lease_now(request JSONB) RETURNS BIGINT LANGUAGE sql AS $$
    SELECT coalesce((request->>'now')::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- How much of a limit is taken, for a call that began at `began`. Later calls count, too: no span may hold more than is allowed.
-- What lies further ahead than a span is from before the clock was set back. `open` asks for blocks that are still in use, too.
CREATE FUNCTION lease_taken(wanted JSONB, me TEXT, began BIGINT, now_ms BIGINT, open BOOLEAN) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
    name TEXT := wanted->>'key';
    span BIGINT := (wanted->>'span')::bigint;
    today BIGINT := began / 86400000;
    taken BIGINT;
BEGIN
    CASE wanted->>'sort'
    WHEN 'window' THEN
        SELECT coalesce((SELECT sum(t.count) FROM lease_times t
                WHERE t.key = name AND t.at > began - span AND t.at <= now_ms + span), 0)
            + coalesce((SELECT sum(b.count) FROM lease_blocks b
                WHERE b.key = name AND b.until > began - span AND b.until <= now_ms + span
                AND (open OR b.until <= now_ms)), 0)
            INTO taken;
    WHEN 'day' THEN
        SELECT coalesce((SELECT d.used FROM lease_days d WHERE d.key = name AND d.day = today), 0)
            + coalesce((SELECT sum(b.count) FROM lease_blocks b
                WHERE b.key = name AND b.day = today AND (open OR b.until <= now_ms)), 0)
            INTO taken;
    WHEN 'places' THEN
        -- A server is gone after GONE_AFTER_MS of silence (store/src/replicas.rs). It may only be cut off, and then its calls
        -- run on until their time is over.
        SELECT coalesce(sum(p.held), 0) INTO taken FROM lease_places p JOIN lease_servers s USING (instance)
            WHERE p.key = name AND (p.instance = me OR s.seen_at + 10000 + p.call_ms > now_ms);
    END CASE;
    RETURN taken;
END $$;

-- How long whoever is refused has to wait.
CREATE FUNCTION lease_wait(wanted JSONB, me TEXT, began BIGINT, now_ms BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
    name TEXT := wanted->>'key';
    span BIGINT := (wanted->>'span')::bigint;
    max BIGINT := (wanted->>'max')::bigint;
    free_at BIGINT;
BEGIN
    IF wanted->>'sort' = 'places' THEN
        RETURN NULL;
    END IF;
    -- What is left is with a server that has not used it yet: it is given back in a moment, or used.
    IF lease_taken(wanted, me, began, now_ms, FALSE) < max THEN
        RETURN 1000;
    END IF;
    IF wanted->>'sort' = 'day' THEN
        RETURN (began / 86400000 + 1) * 86400000 - began;
    END IF;
    SELECT r.at + span INTO free_at FROM (
        SELECT c.at, sum(c.count) OVER (ORDER BY c.at DESC) AS newer FROM (
            SELECT t.at, t.count FROM lease_times t
                WHERE t.key = name AND t.at > began - span AND t.at <= now_ms + span
            UNION ALL
            SELECT b.until, b.count FROM lease_blocks b
                WHERE b.key = name AND b.until > began - span AND b.until <= now_ms + span
        ) c
    ) r WHERE r.newer >= max ORDER BY r.at DESC LIMIT 1;
    RETURN coalesce(free_at - began, span);
END $$;

-- Writes down that `n` calls used up a share: at a moment, or on a day.
CREATE FUNCTION lease_use(name TEXT, sort TEXT, moment BIGINT, n BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF sort = 'day' THEN
        INSERT INTO lease_days AS d (key, day, used) VALUES (name, moment, n)
            ON CONFLICT (key, day) DO UPDATE SET used = d.used + excluded.used;
    ELSE
        INSERT INTO lease_times AS t (key, at, count) VALUES (name, moment, n)
            ON CONFLICT (key, at) DO UPDATE SET count = t.count + excluded.count;
    END IF;
END $$;

-- Takes over what the log says of earlier calls, where more of them are in the log than were counted here.
CREATE FUNCTION lease_seed(seed JSONB, me TEXT, now_ms BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    name TEXT := seed->>'key';
    span BIGINT := (seed->>'span')::bigint;
    logged BIGINT;
    leased BIGINT;
BEGIN
    IF seed->>'sort' = 'day' THEN
        SELECT coalesce(sum(b.count), 0) INTO leased FROM lease_blocks b
            WHERE b.key = name AND b.day = (seed->>'day')::bigint;
        INSERT INTO lease_days AS d (key, day, used)
            VALUES (name, (seed->>'day')::bigint, greatest((seed->>'count')::bigint - leased, 0))
            ON CONFLICT (key, day) DO UPDATE SET used = greatest(d.used, excluded.used);
        RETURN;
    END IF;
    SELECT coalesce(sum((c->>1)::bigint), 0) INTO logged FROM jsonb_array_elements(seed->'calls') c
        WHERE (c->>0)::bigint < span;
    IF logged > lease_taken(seed, me, now_ms, now_ms, TRUE) THEN
        DELETE FROM lease_times WHERE key = name;
        INSERT INTO lease_times (key, at, count)
            SELECT name, now_ms - (c->>0)::bigint, sum((c->>1)::bigint)
            FROM jsonb_array_elements(seed->'calls') c GROUP BY 1, 2;
    END IF;
END $$;

-- What a server gives back: blocks with what was used of them, calls that did not run after all, places.
CREATE FUNCTION lease_return(request JSONB, me TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    item JSONB;
    block lease_blocks;
BEGIN
    FOR item IN SELECT * FROM jsonb_array_elements(request->'settled') LOOP
        -- Said twice it counts once.
        DELETE FROM lease_blocks b WHERE b.id = (item->>'id')::bigint AND b.instance = me RETURNING * INTO block;
        IF FOUND THEN
            PERFORM lease_use(block.key, CASE WHEN block.day IS NULL THEN 'window' ELSE 'day' END,
                    coalesce(block.day, (used->>0)::bigint), (used->>1)::bigint)
                FROM jsonb_array_elements(item->'used') used;
        END IF;
    END LOOP;
    FOR item IN SELECT * FROM jsonb_array_elements(request->'unused') LOOP
        IF item->>'sort' = 'day' THEN
            UPDATE lease_days SET used = greatest(used - 1, 0)
                WHERE key = item->>'key' AND day = (item->>'at')::bigint;
        ELSE
            UPDATE lease_times SET count = count - 1
                WHERE key = item->>'key' AND at = (item->>'at')::bigint AND count > 0;
        END IF;
    END LOOP;
    FOR item IN SELECT * FROM jsonb_array_elements(request->'places') LOOP
        IF (item->>'held')::bigint = 0 THEN
            DELETE FROM lease_places WHERE key = item->>'key' AND instance = me;
        ELSE
            INSERT INTO lease_places (key, instance, held, running, call_ms)
                VALUES (item->>'key', me, (item->>'held')::bigint, (item->>'running')::bigint,
                    (item->>'call_ms')::bigint)
                ON CONFLICT (key, instance) DO UPDATE
                SET held = excluded.held, running = excluded.running, call_ms = excluded.call_ms;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION lease_place(wanted JSONB, me TEXT, n BIGINT, ran BIGINT) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO lease_places AS p (key, instance, held, running, call_ms)
        VALUES (wanted->>'key', me, n, ran, (wanted->>'call_ms')::bigint)
        ON CONFLICT (key, instance) DO UPDATE SET held = p.held + n, running = p.running + ran,
        call_ms = greatest(p.call_ms, excluded.call_ms)
$$;

-- One call's share of every limit it names, or of none.
CREATE FUNCTION lease_ask(ask JSONB, me TEXT, now_ms BIGINT, eldest BIGINT, INOUT counted JSONB, OUT answer JSONB)
LANGUAGE plpgsql AS $$
DECLARE
    -- Who waited for longer is judged as if it had begun later: older calls are forgotten by then.
    began BIGINT := now_ms - least(greatest((ask->>'age')::bigint, 0), 5000);
    wanted JSONB;
    number BIGINT;
    taken BIGINT;
    quantum BIGINT;
    moments BIGINT[] := '{}';
    refused JSONB := '[]';
BEGIN
    FOR wanted, number IN SELECT w, i FROM jsonb_array_elements(ask->'shares') WITH ORDINALITY AS e (w, i) LOOP
        quantum := (wanted->>'quantum')::bigint;
        -- Large windows are added up once for all calls that ask together, as for the one that began first.
        IF quantum > 1 THEN
            taken := coalesce((counted->>(wanted->>'key'))::bigint, lease_taken(wanted, me, eldest, now_ms, TRUE));
            counted := jsonb_set(counted, ARRAY[wanted->>'key'], to_jsonb(taken));
        ELSE
            taken := lease_taken(wanted, me, began, now_ms, TRUE);
        END IF;
        IF taken >= (wanted->>'max')::bigint THEN
            refused := refused || jsonb_build_object('share', number - 1,
                'wait', lease_wait(wanted, me, began, now_ms));
        END IF;
    END LOOP;
    IF refused <> '[]' THEN
        answer := jsonb_build_object('refused', refused);
        RETURN;
    END IF;
    FOR wanted IN SELECT * FROM jsonb_array_elements(ask->'shares') LOOP
        quantum := (wanted->>'quantum')::bigint;
        IF wanted->>'sort' = 'places' THEN
            PERFORM lease_place(wanted, me, 1, 1);
            moments := moments || 0::bigint;
            CONTINUE;
        END IF;
        IF wanted->>'sort' = 'day' THEN
            moments := moments || began / 86400000;
        ELSE
            moments := moments || (began + quantum - 1) / quantum * quantum;
        END IF;
        PERFORM lease_use(wanted->>'key', wanted->>'sort', moments[cardinality(moments)], 1);
        IF quantum > 1 THEN
            counted := jsonb_set(counted, ARRAY[wanted->>'key'],
                to_jsonb((counted->>(wanted->>'key'))::bigint + 1));
        END IF;
    END LOOP;
    answer := jsonb_build_object('granted', to_jsonb(moments));
END $$;

-- A block for a server that has much to do: never more than a small part of what is left, so that none waits for another.
CREATE FUNCTION lease_block(wanted JSONB, me TEXT, now_ms BIGINT, live BIGINT) RETURNS JSONB LANGUAGE plpgsql AS $$
DECLARE
    free BIGINT := (wanted->>'max')::bigint - lease_taken(wanted, me, now_ms, now_ms, TRUE);
    n BIGINT := least((wanted->>'want')::bigint, free / (4 * live));
    today BIGINT := now_ms / 86400000;
    ends BIGINT := now_ms + (wanted->>'ttl')::bigint;
    block BIGINT;
BEGIN
    IF n < 1 THEN
        RETURN NULL;
    END IF;
    IF wanted->>'sort' = 'places' THEN
        PERFORM lease_place(wanted, me, n, 0);
        RETURN jsonb_build_object('id', 0, 'count', n, 'day', 0, 'until', ends);
    END IF;
    IF wanted->>'sort' = 'day' THEN
        ends := least(ends, (today + 1) * 86400000);
    END IF;
    INSERT INTO lease_blocks (key, day, instance, count, until)
        VALUES (wanted->>'key', CASE WHEN wanted->>'sort' = 'day' THEN today END, me, n, ends)
        RETURNING id INTO block;
    RETURN jsonb_build_object('id', block, 'count', n, 'day', today, 'until', ends);
END $$;

CREATE FUNCTION lease(request JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
DECLARE
    me TEXT := request->>'instance';
    now_ms BIGINT := lease_now(request);
    lock BIGINT;
    item JSONB;
    eldest BIGINT;
    counted JSONB := '{}';
    answer JSONB;
    answers JSONB := '[]';
    blocks JSONB := '[]';
BEGIN
    -- Otherwise what others did while this waited for the locks would not be seen.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'leases need the isolation level read committed';
    END IF;
    INSERT INTO lease_servers AS s (instance, node, number, seen_at)
        VALUES (me, request->>'node', (request->>'number')::bigint, now_ms)
        ON CONFLICT (instance) DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at
        WHERE s.number < excluded.number;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this server has asked again since';
    END IF;
    -- Everybody locks in this order, so nobody waits for each other in a circle.
    FOR lock IN SELECT DISTINCT hashtextextended(current_schema() || '/' || k, 0) AS h
        FROM jsonb_array_elements_text(request->'keys') k ORDER BY h LOOP
        PERFORM pg_advisory_xact_lock(lock);
    END LOOP;
    PERFORM lease_return(request, me);
    FOR item IN SELECT * FROM jsonb_array_elements(request->'seeds') LOOP
        PERFORM lease_seed(item, me, now_ms);
    END LOOP;
    SELECT now_ms - least(greatest(coalesce(max((a->>'age')::bigint), 0), 0), 5000) INTO eldest
        FROM jsonb_array_elements(request->'asks') a;
    FOR item IN SELECT * FROM jsonb_array_elements(request->'asks') LOOP
        SELECT l.counted, l.answer INTO counted, answer FROM lease_ask(item, me, now_ms, eldest, counted) l;
        answers := answers || jsonb_build_array(answer);
    END LOOP;
    FOR item IN SELECT * FROM jsonb_array_elements(request->'blocks') LOOP
        blocks := blocks || jsonb_build_array(lease_block(item, me, now_ms, (request->>'live')::bigint));
    END LOOP;
    DELETE FROM lease_times t USING (SELECT DISTINCT w->>'key' AS key, (w->>'span')::bigint AS span
        FROM jsonb_array_elements(request->'asks') a, jsonb_array_elements(a->'shares') w
        WHERE w->>'sort' = 'window') k WHERE t.key = k.key AND t.at <= now_ms - k.span - 5000;
    IF (request->>'leaving')::boolean THEN
        DELETE FROM lease_places WHERE instance = me;
        DELETE FROM lease_servers WHERE instance = me;
    END IF;
    RETURN jsonb_build_object('now', now_ms, 'asks', answers, 'blocks', blocks);
END $$;

-- How much of each limit is used up by other servers and by what this one has told; see `lease_taken`.
CREATE FUNCTION lease_used(request JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
DECLARE
    me TEXT := request->>'instance';
    now_ms BIGINT := lease_now(request);
    wanted JSONB;
    ran BIGINT;
    used JSONB := '[]';
BEGIN
    FOR wanted IN SELECT * FROM jsonb_array_elements(request->'shares') LOOP
        IF wanted->>'sort' = 'places' THEN
            SELECT coalesce(sum(p.running), 0) INTO ran FROM lease_places p JOIN lease_servers s USING (instance)
                WHERE p.key = wanted->>'key' AND p.instance <> me
                AND s.seen_at + 10000 + p.call_ms > now_ms;
            used := used || to_jsonb(ran);
        ELSE
            used := used || to_jsonb(lease_taken(wanted, me, now_ms, now_ms, FALSE));
        END IF;
    END LOOP;
    RETURN used;
END $$;

-- Removes what counts no more, a bounded number of rows of each table.
CREATE FUNCTION lease_forget(request JSONB) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    now_ms BIGINT := lease_now(request);
    at_once CONSTANT BIGINT := 5000;
BEGIN
    DELETE FROM lease_times WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM lease_times WHERE at < now_ms - 7200000 LIMIT at_once FOR UPDATE SKIP LOCKED));
    DELETE FROM lease_days WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM lease_days WHERE day < now_ms / 86400000 - 1 LIMIT at_once FOR UPDATE SKIP LOCKED));
    DELETE FROM lease_blocks WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM lease_blocks WHERE until < now_ms - 7200000
        AND coalesce(day < now_ms / 86400000 - 1, TRUE) LIMIT at_once FOR UPDATE SKIP LOCKED));
    DELETE FROM lease_servers WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM lease_servers s WHERE s.seen_at < now_ms - 86400000 AND NOT EXISTS (
            SELECT FROM lease_places p WHERE p.instance = s.instance AND s.seen_at + p.call_ms > now_ms - 86400000)
        LIMIT at_once FOR UPDATE SKIP LOCKED));
    DELETE FROM lease_places WHERE ctid = ANY (ARRAY(
        SELECT p.ctid FROM lease_places p WHERE NOT EXISTS (
            SELECT FROM lease_servers s WHERE s.instance = p.instance) LIMIT at_once FOR UPDATE SKIP LOCKED));
END $$;
