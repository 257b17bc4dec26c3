//! A PostgreSQL database of its own for a test, with a role that owns it and one that may only read.

use sources::{Postgres, PostgresConfig, Source};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_postgres::{Client, NoTls};

static NEXT: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Server {
    pub(crate) admin: Client,
    base: String,
    database: String,
    pub(crate) owner: String,
    pub(crate) reader: String,
}

pub(crate) use crate::skipping::postgres_url as url;

pub(crate) async fn connect(url: &str) -> Client {
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

impl Server {
    pub(crate) async fn start() -> Option<Server> {
        Server::start_with("").await
    }

    /// `options`: those of CREATE DATABASE.
    pub(crate) async fn start_with(options: &str) -> Option<Server> {
        let url = url()?;
        let root = connect(&url).await;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sources_{}_{number}", std::process::id());
        let (owner, reader) = (format!("{name}_owner"), format!("{name}_reader"));
        for sql in [
            format!("CREATE ROLE {owner} LOGIN PASSWORD 'secret'"),
            format!("CREATE DATABASE {name} OWNER {owner} {options}"),
        ] {
            root.batch_execute(&sql).await.unwrap();
        }
        let parsed = url.rsplit_once('/').unwrap().0.to_owned();
        let admin = connect(&format!("{parsed}/{name}")).await;
        let server = Server {
            admin,
            base: parsed,
            database: name.clone(),
            owner,
            reader,
        };
        server.as_owner(SETUP).await;
        let script = sources::role_script(&server.reader, &name, &["public".to_owned()]);
        server.admin.batch_execute(&script).await.unwrap();
        let grant = format!("ALTER ROLE {} PASSWORD 'secret'", server.reader);
        server.admin.batch_execute(&grant).await.unwrap();
        Some(server)
    }

    pub(crate) async fn as_owner(&self, sql: &str) {
        let owner = &self.owner;
        let sql = format!("SET ROLE {owner}; {sql}; RESET ROLE");
        self.admin.batch_execute(&sql).await.unwrap();
    }

    pub(crate) fn config(&self, role: &str) -> PostgresConfig {
        let place = self.base.rsplit_once('@').unwrap().1;
        PostgresConfig::new(format!(
            "postgres://{role}:secret@{place}/{}",
            self.database
        ))
    }

    pub(crate) fn source(&self, role: &str) -> Source {
        Source::Postgres(Postgres::open(self.config(role)).unwrap())
    }

    pub(crate) fn one_connection(&self, role: &str) -> Source {
        self.connections_of(role, 1)
    }

    /// A connection for tools and one for callers: what a caller's text ran on serves no tool.
    pub(crate) fn two_connections(&self, role: &str) -> Source {
        self.connections_of(role, 2)
    }

    fn connections_of(&self, role: &str, connections_max: usize) -> Source {
        let config = PostgresConfig {
            connections_min: 1,
            connections_max,
            // Only the lists of attacks have such a function.
            functions: vec!["public.session_left".to_owned()],
            ..self.config(role)
        };
        Source::Postgres(Postgres::open(config).unwrap())
    }

    /// How many locks the sessions in the database hold that outlive a transaction.
    pub(crate) async fn locks(&self) -> i64 {
        let sql = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND d.datname = current_database()";
        self.admin.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// How many statements of the role run right now that hold the text.
    pub(crate) async fn running(&self, role: &str, text: &str) -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state <> 'idle' AND query LIKE $2";
        let pattern = format!("%{text}%");
        let row = self.admin.query_one(sql, &[&role, &pattern]).await.unwrap();
        row.get(0)
    }

    pub(crate) async fn connections(&self, role: &str) -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1";
        self.admin.query_one(sql, &[&role]).await.unwrap().get(0)
    }

    /// Waits until something holds; the database tells nobody when a backend has ended.
    pub(crate) async fn until(&self, role: &str, text: &str, count: i64) {
        // Long: on a machine that has more to do, a backend that is told to stop takes its time to notice.
        for _ in 0..2_400 {
            if self.running(role, text).await == count {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!(
            "expected {count} running `{text}`, found {}",
            self.running(role, text).await
        );
    }

    /// Everything in the database that an attack could have changed, as one text.
    pub(crate) async fn state(&self) -> String {
        let rows = self.admin.simple_query(STATE).await.unwrap();
        let mut state = String::new();
        for message in rows {
            if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                for index in 0..row.len() {
                    state.push_str(row.get(index).unwrap_or("NULL"));
                    state.push('|');
                }
            }
        }
        state
    }

    pub(crate) async fn end(self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.database);
        let root = connect(&format!("{}/postgres", self.base)).await;
        root.batch_execute(&sql).await.unwrap();
        for role in [&self.owner, &self.reader] {
            root.batch_execute(&format!("DROP ROLE {role}"))
                .await
                .unwrap();
        }
    }
}

const SETUP: &str = "
CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL, dept int);
INSERT INTO people VALUES (1, 'ann', 1), (2, 'bob', 1), (3, 'kim', 2);
COMMENT ON TABLE people IS 'who works here'; COMMENT ON COLUMN people.dept IS 'department number';
CREATE TABLE badges (id int PRIMARY KEY, person int REFERENCES people (id), label varchar(20) DEFAULT 'x');
CREATE TABLE vault (secret text); INSERT INTO vault VALUES ('hunter2');
CREATE VIEW totals AS SELECT dept, count(*) AS total FROM people GROUP BY dept;
CREATE SEQUENCE counter;
CREATE FUNCTION wipe(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_person(people) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_two(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_one(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION lower(people) RETURNS text LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION wipe_pair(people, people) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN true; END';
CREATE FUNCTION wipe_next(int, people) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION is_fine(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN true; END';
CREATE FUNCTION leak_secret() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT secret FROM vault';
CREATE FUNCTION wipe_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN NULL; END';
CREATE PROCEDURE wipe_procedure() LANGUAGE sql AS 'DELETE FROM people';
CREATE OPERATOR <#> (LEFTARG = int, RIGHTARG = int, FUNCTION = wipe_two);
CREATE VIEW people_wiped AS SELECT wipe(1) AS a;
CREATE VIEW people_wiped_again AS SELECT a FROM people_wiped;
CREATE DOMAIN wiping AS text CHECK (is_fine(VALUE));
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE FUNCTION mood_number(mood) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE TYPE pair AS (a int, b text)";

/// What somebody could have built into a database so that an innocent query has an effect.
pub(crate) const TRAPS: &str = "
CREATE DOMAIN wiping_again AS wiping;
CREATE DOMAIN locking AS int8 CHECK (pg_try_advisory_lock(VALUE));
CREATE TYPE holder AS (a wiping_again);
CREATE TABLE holders (a wiping); GRANT SELECT ON holders TO PUBLIC;
CREATE VIEW locked AS SELECT pg_try_advisory_lock(7) AS a, random() AS b;
CREATE VIEW told_secret AS SELECT leak_secret() AS a; GRANT SELECT ON told_secret TO PUBLIC;
CREATE VIEW locked_again AS SELECT a FROM locked; GRANT SELECT ON locked, locked_again TO PUBLIC;
CREATE OPERATOR !@ (RIGHTARG = int8, FUNCTION = pg_catalog.pg_try_advisory_lock);
CREATE OPERATOR ~~ (LEFTARG = people, RIGHTARG = people, FUNCTION = wipe_pair);
CREATE AGGREGATE wipe_all (int) (SFUNC = wipe_two, STYPE = int, INITCOND = '0');
CREATE VIEW all_wiped AS SELECT wipe_all(id) AS a FROM people; GRANT SELECT ON all_wiped TO PUBLIC;
CREATE AGGREGATE max (people) (SFUNC = wipe_next, STYPE = int, INITCOND = '0');
CREATE DOMAIN pair_too AS pair;
CREATE FUNCTION wipe_pair_too(pair_too) RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM people; RETURN 1; END';
CREATE FUNCTION upper(vault) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT secret FROM vault';
CREATE CAST (mood AS int) WITH FUNCTION mood_number(mood);
CREATE FUNCTION lock_sworn(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM pg_advisory_lock(1); RETURN 1; END';
CREATE OPERATOR #@# (LEFTARG = int, RIGHTARG = int, FUNCTION = lock_sworn);
CREATE TYPE boxed AS (a int);
CREATE FUNCTION box_it(int) RETURNS boxed LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM pg_advisory_lock(2); RETURN ROW(1); END';
CREATE CAST (int AS boxed) WITH FUNCTION box_it(int);
CREATE FUNCTION is_sworn(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT pg_advisory_lock($1) IS NOT NULL';
CREATE DOMAIN sworn AS int CHECK (is_sworn(VALUE));
CREATE TABLE guarded (name text); INSERT INTO guarded VALUES ('x'); GRANT SELECT ON guarded TO PUBLIC;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON guarded USING (is_fine(name));
CREATE INDEX by_length ON people (length(name));
CREATE RULE r AS ON INSERT TO guarded DO ALSO DELETE FROM people;
CREATE TYPE lock_row AS (a locking);
CREATE VIEW cast_locked AS SELECT id::int8::locking AS a FROM people;
CREATE VIEW list_locked AS SELECT ('{' || id || '}')::locking[] AS a FROM people;
CREATE VIEW filled_locked AS SELECT (jsonb_populate_record(NULL::lock_row, '{\"a\": 7}')).a AS a;
CREATE VIEW record_locked AS SELECT * FROM jsonb_to_record('{\"a\": 7}') AS t(a locking);
CREATE FUNCTION lock_two(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_lock(3); RETURN 1; END';
CREATE AGGREGATE move_all (int) (SFUNC = int4pl, STYPE = int, INITCOND = '0',
  MSFUNC = lock_two, MINVFUNC = lock_two, MSTYPE = int, MINITCOND = '0');
CREATE VIEW moved_locked AS
  SELECT move_all(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM people;
CREATE FUNCTION presumes(a boolean DEFAULT pg_try_advisory_lock(8)) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a';
CREATE FUNCTION presumes_too(a boolean DEFAULT presumes()) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a';
CREATE VIEW presumed_locked AS SELECT presumes() AS a;
CREATE VIEW presumed_locked_too AS SELECT presumes_too() AS a;
GRANT SELECT ON cast_locked, list_locked, filled_locked, record_locked, moved_locked, presumed_locked, presumed_locked_too
  TO PUBLIC";

const STATE: &str = "
SELECT (SELECT md5(string_agg(p::text, ',' ORDER BY p.id)) FROM people p),
  (SELECT md5(string_agg(b::text, ',' ORDER BY b.id)) FROM badges b), (SELECT md5(string_agg(v::text, ',')) FROM vault v),
  (SELECT string_agg(c.relname::text || c.relkind::text || coalesce(c.relacl::text, ''), ',' ORDER BY c.relname) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_toast' AND n.nspname <> 'pg_catalog'),
  (SELECT string_agg(p.proname, ',' ORDER BY p.proname) FROM pg_proc p WHERE p.oid >= 16384),
  (SELECT string_agg(extname, ',') FROM pg_extension), (SELECT count(*) FROM pg_largeobject_metadata),
  (SELECT last_value::text || is_called FROM counter), (SELECT count(*) FROM pg_replication_slots),
  (SELECT count(*) FROM pg_prepared_xacts), (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_attribute),
  (SELECT count(*) FROM pg_description), (SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_'),
  (SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database()), obj_description('people'::regclass)";
