//! Behind a pooler such as PgBouncer a session is somebody else's after each transaction: nothing of ours may stay in it.

use crate::cluster::{Cluster, open};
use crate::server::connect;
use crate::{call, read, write};
use serde_json::{Value, json as value};
use sources::{PostgresConfig, Shape, Source};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::SimpleQueryMessage;

const SETUP: &str = "
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, m mood); CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE TABLE feelings (id int PRIMARY KEY, m mood); GRANT ALL ON feelings TO reader";
const LEFT: &str = "
SELECT (SELECT coalesce(string_agg(name || ': ' || statement, ', '), '') FROM pg_prepared_statements),
  (SELECT count(*) FROM pg_cursors), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
  (SELECT count(*) FROM pg_settings WHERE source = 'session' AND name <> 'client_encoding')";

/// Gives everybody who connects the same session of the server, one after another.
async fn pooler(to: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
        let (mut from_server, mut to_server) = server.into_split();
        let mut greeting = Vec::new();
        while let Ok((client, _)) = listener.accept().await {
            let (mut from_client, mut to_client) = client.into_split();
            let hello = message(&mut from_client, false).await.unwrap();
            if greeting.is_empty() {
                to_server.write_all(&hello).await.unwrap();
                while greeting.is_empty() || !greeting.ends_with(&[b'Z', 0, 0, 0, 5, b'I']) {
                    greeting.extend(message(&mut from_server, true).await.unwrap());
                }
            }
            to_client.write_all(&greeting).await.unwrap();
            loop {
                let (mut answer, mut letter) = ([0; 4096], [0; 1]);
                tokio::select! {
                    _ = from_client.peek(&mut letter) => match message(&mut from_client, true).await {
                        Some(said) if said[0] != b'X' => to_server.write_all(&said).await.unwrap(),
                        _ => break,
                    },
                    read = from_server.read(&mut answer) => {
                        // Whoever has gone needs no answer.
                        drop(to_client.write_all(&answer[..read.unwrap()]).await);
                    }
                }
            }
        }
    });
    port
}

/// One message of the protocol; the first one of a client has no letter in front.
async fn message(from: &mut OwnedReadHalf, letter: bool) -> Option<Vec<u8>> {
    let head = if letter { 5 } else { 4 };
    let mut bytes = vec![0; head];
    from.read_exact(&mut bytes).await.ok()?;
    let length = u32::from_be_bytes(bytes[head - 4..].try_into().unwrap());
    bytes.resize(head + usize::try_from(length).unwrap() - 4, 0);
    from.read_exact(&mut bytes[head..]).await.ok()?;
    Some(bytes)
}

async fn left(port: u16) -> Vec<String> {
    let client = connect(&format!("postgres://reader@127.0.0.1:{port}/postgres")).await;
    let messages = client.simple_query(LEFT).await.unwrap();
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.unwrap();
    (0..row.len())
        .map(|index| row.get(index).unwrap().to_owned())
        .collect()
}

async fn reads_and_writes(source: &Source) {
    let queries = [
        ("SELECT :a::int AS a", value!({"a": 1}), r#"{"a":1}"#),
        (
            "SELECT 'ok'::mood AS m, 5::small AS s",
            Value::Null,
            r#"{"m":"ok","s":5}"#,
        ),
        (
            "SELECT ROW(1, 'ok')::pair AS p, ARRAY['sad']::mood[] AS l",
            Value::Null,
            r#"{"p":"(1,ok)","l":["sad"]}"#,
        ),
    ];
    let row = call(Shape::Row);
    for (sql, arguments, expected) in queries {
        let answer = read(source, sql, arguments, &row).await.unwrap();
        assert_eq!(answer.json, expected);
    }
    for sql in [
        "SELECT 1 AS a",
        "SELEC 1",
        "SELECT 1/0",
        "SELECT 1/(x - 1) FROM generate_series(1, 9) x",
    ] {
        drop(source.ask(sql, &row).await);
    }
    let insert = "INSERT INTO feelings VALUES (:id, :m) ON CONFLICT (id) DO UPDATE SET m = excluded.m RETURNING id, m";
    let answer = write(source, insert, value!({"id": 1, "m": "ok"}), &row)
        .await
        .unwrap();
    assert_eq!(answer.json, r#"{"id":1,"m":"ok"}"#);
    // Refused before it runs, refused while it runs.
    let strange = "INSERT INTO feelings VALUES (2, 'ok') RETURNING ROW(1, 'ok')::pair AS p";
    assert!(write(source, strange, Value::Null, &row).await.is_err());
    let wrong = "INSERT INTO feelings VALUES (3, :m::mood) RETURNING 1 / (id - 3)";
    assert!(
        write(source, wrong, value!({"m": "ok"}), &row)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_next_one_in_a_session_finds_it_as_new() {
    let settings = [("log_statement", "all"), ("log_line_prefix", "")];
    let Some(cluster) = Cluster::start(&settings, |_| {}).await else {
        return;
    };
    cluster.admin().await.batch_execute(SETUP).await.unwrap();
    let port = pooler(cluster.port).await;
    let new = left(port).await;
    assert_eq!(new[0], "");
    for _ in 0..2 {
        let config = PostgresConfig {
            pgbouncer: true,
            connections_max: 1,
            ..cluster.config_at(port)
        };
        let source = open(config);
        reads_and_writes(&source).await;
        drop(source);
        assert_eq!(left(port).await, new);
    }
    let log = cluster.log();
    assert!(log.contains("SET LOCAL statement_timeout"), "{log}");
    let parts = log.lines().flat_map(|line| line.split(['=', ';', ':']));
    let outside = parts
        .map(str::trim_start)
        .filter(|part| part.starts_with("SET ") && !part.starts_with("SET LOCAL "));
    assert_eq!(outside.collect::<Vec<_>>(), Vec::<&str>::new());
}
