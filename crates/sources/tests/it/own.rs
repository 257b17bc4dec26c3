//! What the owner of a database made in it: functions, operators, domains. Harmless ones close nothing, others do not run.

use crate::server::Server;
use crate::{call, json};
use sources::{Error, Postgres, PostgresConfig, SchemaFilter, Shape, Source};

/// As they are found in many databases.
const HARMLESS: &str = "
CREATE FUNCTION is_email(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 ~ ''@''';
CREATE DOMAIN email AS text CHECK (is_email(VALUE));
CREATE TYPE amount AS (value int);
CREATE FUNCTION times(amount, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT ($1).value * $2';
CREATE OPERATOR * (LEFTARG = amount, RIGHTARG = int, FUNCTION = times);
CREATE FUNCTION same(int, text) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1::text = $2';
CREATE OPERATOR = (LEFTARG = int, RIGHTARG = text, FUNCTION = same);
CREATE FUNCTION round(float8, int) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT round($1::numeric, $2)';
CREATE FUNCTION same(email, email) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT upper($1::text) = upper($2::text)';
CREATE OPERATOR = (LEFTARG = email, RIGHTARG = email, FUNCTION = same);
CREATE TABLE users (user_id int, username text, email email, price amount, length int);
INSERT INTO users VALUES (1, 'ann', 'a@b', ROW(2), 7);
GRANT SELECT ON users TO PUBLIC";

/// Sworn to be immutable, and written in a language that cannot be read.
const SWORN: &str = "
CREATE FUNCTION is_phone(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
  AS 'BEGIN PERFORM pg_advisory_lock(31); RETURN true; END';
CREATE DOMAIN phone AS text CHECK (is_phone(VALUE));
CREATE TABLE phones (user_id int, phone phone); INSERT INTO phones VALUES (1, '1'); GRANT SELECT ON phones TO PUBLIC;
CREATE FUNCTION share(amount, int) RETURNS int LANGUAGE plpgsql IMMUTABLE
  AS 'BEGIN PERFORM pg_advisory_lock(32); RETURN 1; END';
CREATE FUNCTION dial(phone, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $2';
CREATE OPERATOR % (LEFTARG = phone, RIGHTARG = int, FUNCTION = dial);
CREATE FUNCTION as_phone(text, int) RETURNS phone LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE OPERATOR <%> (LEFTARG = text, RIGHTARG = int, FUNCTION = as_phone);
CREATE OPERATOR / (LEFTARG = amount, RIGHTARG = int, FUNCTION = share);
CREATE FUNCTION length(users) RETURNS int LANGUAGE plpgsql IMMUTABLE
  AS 'BEGIN PERFORM pg_advisory_lock(33); RETURN 42; END';
CREATE FUNCTION hidden(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1 FROM pg_advisory_lock(34)';
CREATE FUNCTION scale(amount) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT hidden(1)';
SELECT pg_advisory_unlock_all()";

async fn refused(source: &Source, sql: &str) -> String {
    match source.ask(sql, &call(Shape::Records)).await {
        Err(Error::Refused { message }) => message,
        other => panic!("{sql}: {other:?}"),
    }
}

async fn answered(source: &Source, sql: &str) -> String {
    let answer = source.ask(sql, &call(Shape::Records)).await;
    answer.unwrap_or_else(|error| panic!("{sql}: {error}")).json
}

#[tokio::test]
async fn harmless_objects_close_nothing() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.as_owner(HARMLESS).await;
    for role in [&server.reader, &server.owner] {
        let source = server.source(role);
        for sql in [
            "SELECT user_id, username, email FROM users LIMIT 3",
            "SELECT u.email, 1 AS email FROM users u WHERE u.email = 'a@b' AND user_id IN (1, 2)",
            "SELECT * FROM users",
            "SELECT count(*), count(DISTINCT email) FROM users WHERE user_id >= 1",
            "SELECT u.* FROM users u JOIN users v USING (user_id) WHERE u.user_id * 2 = 2",
            "SELECT 'a@b'::email, CAST('c@d' AS email)",
            "SELECT user_id FROM users WHERE email = 'A@B'::email",
            "SELECT user_id FROM users WHERE user_id = username",
            "SELECT price * 3 AS total FROM users",
            "SELECT round(1.25, 1), round(1.25::float8, 1), length(username), u.length FROM users u",
        ] {
            answered(&source, sql).await;
        }
    }
    server.end().await;
}

#[tokio::test]
async fn what_is_only_sworn_to_be_harmless_does_not_run() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.as_owner(HARMLESS).await;
    server.as_owner(SWORN).await;
    let source = server.source(&server.owner);
    for sql in [
        "SELECT 'x'::phone",
        "SELECT ('x').phone",
        "SELECT g.phone FROM unnest(ARRAY['x']) g",
        "SELECT btrim.phone FROM TRIM('x')",
        "SELECT text.phone FROM users u, CAST('x' AS text)",
        "SELECT price / 2 FROM users",
        "SELECT price OPERATOR(public./) 2 FROM users",
        // What is read is harmless, but not what is made for it or of it.
        "SELECT '1' % 2",
        "SELECT 'x'::text <%> 2",
        "SELECT length(u) FROM users u",
        "SELECT public.length(u) FROM users u",
        "SELECT length(ROW(1, 'a', 'a@b', ROW(1), 1))",
        "SELECT (u).length FROM users u",
        "SELECT scale(price) FROM users",
    ] {
        refused(&source, sql).await;
    }
    // Columns of such types are read as any other, and the operator of the same name that is the server's own is told apart
    // from a `*`.
    for sql in [
        "SELECT phone, p.phone FROM phones p",
        "SELECT * FROM phones JOIN users USING (user_id)",
        "SELECT u.length, price * 2 FROM users u",
        "SELECT pg_catalog.length('x')",
    ] {
        answered(&source, sql).await;
    }
    let told = refused(&source, "SELECT 4 / 2").await;
    assert!(told.contains("public.share"), "{told}");
    let config = PostgresConfig {
        functions: ["public.share", "length", "phone"]
            .map(str::to_owned)
            .into(),
        ..server.config(&server.owner)
    };
    let listing = Source::Postgres(Postgres::open(config).unwrap());
    for sql in [
        "SELECT 4 / 2, price / 2 FROM users",
        "SELECT length('x'), length(u) FROM users u",
        "SELECT 'x'::phone",
    ] {
        answered(&listing, sql).await;
    }
    server.end().await;
}

/// Two names next to each other are nobody's operator yet, so whoever makes it is asked wherever one is written.
#[tokio::test]
async fn what_somebody_made_for_names_does_not_run_while_the_catalog_is_read() {
    let Some(server) = Server::start().await else {
        return;
    };
    server
        .as_owner(
            "CREATE FUNCTION joined(name, name) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS 'BEGIN RAISE EXCEPTION ''somebody ran''; END';
             CREATE OPERATOR || (LEFTARG = name, RIGHTARG = name, FUNCTION = joined);
             CREATE FUNCTION joined(name, text) RETURNS text LANGUAGE plpgsql IMMUTABLE
               AS 'BEGIN RAISE EXCEPTION ''somebody ran''; END';
             CREATE OPERATOR || (LEFTARG = name, RIGHTARG = text, FUNCTION = joined);
             CREATE TABLE parent (id int PRIMARY KEY);
             CREATE TYPE temper AS ENUM ('calm');
             CREATE TABLE child (id int REFERENCES parent (id), temper temper)",
        )
        .await;
    let source = server.source(&server.owner);
    assert_eq!(answered(&source, "SELECT 1 AS one").await, r#"[{"one":1}]"#);
    let filter = SchemaFilter {
        table: Some("public.child".to_owned()),
        limit: 10,
        ..SchemaFilter::default()
    };
    let page = source.schema(&filter, &call(Shape::Records)).await.unwrap();
    assert_eq!(page.tables[0].foreign_keys[0].references, "public.parent");
    // As a query may name it.
    assert_eq!(page.tables[0].columns[1].data_type, "temper");
    server.end().await;
}

#[tokio::test]
async fn what_the_role_may_not_execute_closes_nothing() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.as_owner(HARMLESS).await;
    server.as_owner(SWORN).await;
    let revoke = "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC";
    server.as_owner(revoke).await;
    let source = server.source(&server.reader);
    assert_eq!(answered(&source, "SELECT 4 / 2 AS a").await, r#"[{"a":2}]"#);
    assert_eq!(
        answered(&source, "SELECT length('abc') AS a").await,
        r#"[{"a":3}]"#
    );
    // The database itself says no.
    for sql in [
        "SELECT price / 2 FROM users",
        "SELECT length(u) FROM users u",
        "SELECT 'x'::phone",
    ] {
        let answer = source.ask(sql, &call(Shape::Records)).await;
        let told = answer.unwrap_err().to_string();
        assert!(told.contains("permission denied"), "{sql}: {told}");
    }
    assert_eq!(json(&source, "SELECT 1", Shape::Scalar).await, 1);
    server.end().await;
}
