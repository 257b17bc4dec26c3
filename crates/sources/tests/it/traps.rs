//! More of what somebody could have built into a database, for the lists of attacks.

/// Names that are hard to see, functions that run by themselves, and views that hide where one stands.
pub(crate) const MORE_TRAPS: &str = r#"
CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO PUBLIC;
CREATE FUNCTION other.wipe(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION "Wipe Person"(people) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION "select"(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION "treat"(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION 지우다(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_with_a_name_that_is_exactly_as_long_as_postgresql_lets_it(int) RETURNS int LANGUAGE plpgsql AS
  'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_any(anyelement) RETURNS anyelement LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN $1; END';
CREATE FUNCTION wipe_many(VARIADIC text[]) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_more(people, int DEFAULT 1) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_rows() RETURNS SETOF people LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN QUERY SELECT *
  FROM people; END';
CREATE FUNCTION wipe_out(OUT a int, OUT b int) LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; a := 1; b := 2; END';
CREATE FUNCTION lock_stable(int) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN PERFORM pg_advisory_lock(51); RETURN 1; END';
CREATE FUNCTION lock_fixed(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM pg_advisory_lock(52);
  RETURN true; END';
CREATE FUNCTION initcap(people) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM pg_advisory_lock(53); RETURN
  1; END';
CREATE OPERATOR `#` (LEFTARG = int, RIGHTARG = int, FUNCTION = wipe_two);
CREATE OPERATOR ?- (RIGHTARG = int, FUNCTION = wipe_one);
CREATE OPERATOR other.+ (LEFTARG = people, RIGHTARG = people, FUNCTION = wipe_pair);
CREATE TYPE lock_range AS RANGE (subtype = locking);
CREATE TABLE typed OF lock_row; GRANT SELECT ON typed TO PUBLIC;
CREATE VIEW holders_seen AS SELECT a FROM holders; GRANT SELECT ON holders_seen TO PUBLIC;
CREATE DOMAIN locks AS locking[]; CREATE DOMAIN lock_pair AS lock_row;
CREATE VIEW json_locked AS SELECT JSON_VALUE('{"a": 9}', '$.a' RETURNING locking) AS a;
CREATE VIEW table_locked AS SELECT * FROM JSON_TABLE('[9]', '$[*]' COLUMNS (a locking PATH '$')) t;
CREATE VIEW xml_locked AS SELECT * FROM XMLTABLE('/a' PASSING '<a>9</a>' COLUMNS a locking PATH '.');
CREATE VIEW ticket AS SELECT nextval('counter') AS a;
CREATE VIEW sorted_locked AS SELECT id FROM people ORDER BY pg_try_advisory_lock(id);
CREATE VIEW limited_locked AS SELECT id FROM people LIMIT (SELECT pg_advisory_lock(9) IS NOT NULL)::int;
CREATE VIEW joined_locked AS SELECT p.id FROM people p JOIN people q ON pg_try_advisory_lock(p.id);
CREATE VIEW with_locked AS WITH x AS MATERIALIZED (SELECT pg_try_advisory_lock(9) AS a) SELECT a FROM x;
CREATE VIEW dotted_locked AS SELECT (9::int8).pg_try_advisory_lock AS a;
CREATE VIEW window_locked AS SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN (pg_try_advisory_lock(9))::int PRECEDING
  AND CURRENT ROW) AS a FROM people;
CREATE VIEW sampled_locked AS SELECT id FROM people TABLESAMPLE SYSTEM ((pg_try_advisory_lock(9))::int * 100);
CREATE VIEW union_locked AS SELECT 1 AS a UNION ALL SELECT (pg_try_advisory_lock(9))::int;
CREATE VIEW sub_locked AS SELECT id FROM people WHERE EXISTS (SELECT 1 WHERE pg_try_advisory_lock(9));
CREATE VIEW ranged_locked AS SELECT ('[' || id || ',9)')::lock_range AS a FROM people;
CREATE VIEW ranged AS SELECT '[1,2)'::lock_range AS a; GRANT SELECT ON ranged TO PUBLIC;
CREATE VIEW operator_locked AS SELECT !@ 9::int8 AS a;
CREATE VIEW barrier_locked WITH (security_barrier, security_invoker) AS SELECT pg_try_advisory_lock(9) AS a;
CREATE VIEW grouped_locked AS SELECT count(*) AS a FROM people GROUP BY pg_try_advisory_lock(id);
CREATE VIEW filter_locked AS SELECT count(*) FILTER (WHERE pg_try_advisory_lock(id)) AS a FROM people;
CREATE VIEW case_locked AS SELECT CASE WHEN pg_try_advisory_lock(9) THEN 1 END AS a;
CREATE VIEW ruled AS SELECT 1 AS id; CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO ruled DO INSTEAD SELECT
  (pg_try_advisory_lock(9))::int AS id;
GRANT SELECT ON json_locked, table_locked, xml_locked, ticket, sorted_locked, limited_locked, joined_locked,
  with_locked, dotted_locked, window_locked, sampled_locked, union_locked, sub_locked, ranged_locked, operator_locked,
  barrier_locked, grouped_locked, filter_locked, case_locked, ruled TO PUBLIC;
CREATE TABLE moods (m mood); INSERT INTO moods VALUES ('ok'); GRANT SELECT ON moods TO PUBLIC;
CREATE TABLE partial_sworn (a int); CREATE INDEX ON partial_sworn (a) WHERE lock_fixed(1); INSERT INTO partial_sworn
  VALUES (1); GRANT SELECT ON partial_sworn TO PUBLIC;
CREATE TABLE parent_sworn (a int); CREATE TABLE child_sworn (CHECK (lock_fixed(2))) INHERITS (parent_sworn); GRANT
  SELECT ON parent_sworn, child_sworn TO PUBLIC;
CREATE FUNCTION session_left() RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' ',
  (SELECT count(*) FROM pg_prepared_statements WHERE name !~ '^s[0-9]+$'),
  (SELECT count(*) FROM pg_cursors WHERE name NOT IN ('', '_toolcrib')), (SELECT count(*) FROM pg_listening_channels()),
  (SELECT count(*) FROM pg_class WHERE relpersistence = 't'), current_user = session_user,
  current_setting('default_transaction_read_only'), current_setting('search_path'),
  coalesce(current_setting('a.b', true), ''), current_setting('standard_conforming_strings')) $$;
GRANT EXECUTE ON FUNCTION session_left() TO PUBLIC;
SELECT pg_advisory_unlock_all()"#;

/// What a superuser put among the server's own functions: extensions that run text lie there at some, and say that they are
/// stable.
pub(crate) const CORE_TRAPS: &str = "
CREATE FUNCTION pg_catalog.lock_core(int) RETURNS int LANGUAGE plpgsql STABLE
  AS 'BEGIN PERFORM pg_advisory_lock(54); RETURN 1; END';
CREATE FUNCTION pg_catalog.run_text(text) RETURNS text LANGUAGE plpgsql STABLE
  AS 'DECLARE a text; BEGIN EXECUTE $1 INTO a; RETURN a; END';
CREATE FUNCTION pg_catalog.reverse(public.people) RETURNS text LANGUAGE plpgsql STABLE
  AS 'BEGIN PERFORM pg_advisory_lock(55); RETURN 1; END'";
