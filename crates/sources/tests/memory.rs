//! What a million rows cost in memory, in a process of its own so that nothing else is counted.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

#[path = "../../store/tests/it/skipping.rs"]
mod skipping;

use serde_json::Map;
use sources::{
    Bindings, Call, Error, Postgres, PostgresConfig, Shape, Source, Sqlite, SqliteConfig, Statement,
};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const GROWTH_MAX: u64 = 64 * 1024 * 1024;

fn bytes_of(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse::<u64>().unwrap() * 1024
}

/// How much memory a part took at most beyond what there was before it: what the allocator keeps of one part is not the
/// next one's.
struct Part {
    before: u64,
    most: u64,
}

impl Part {
    fn begin() -> Self {
        // The peak is counted from here.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        Part {
            before: bytes_of("VmRSS:"),
            most: 0,
        }
    }

    fn end(&mut self, name: &str) {
        let growth = bytes_of("VmHWM:").saturating_sub(self.before);
        assert!(growth < GROWTH_MAX, "{name}: {growth}");
        let most = self.most.max(growth);
        *self = Part {
            most,
            ..Part::begin()
        };
    }
}

fn call(rows_max: u64) -> Call {
    Call {
        tool: "memory".into(),
        deadline: Instant::now() + Duration::from_secs(60),
        cancel: CancellationToken::new(),
        shape: Shape::Records,
        rows_max,
        bytes_max: 4 * 1024 * 1024,
    }
}

async fn ask(source: &Source, sql: &str, rows_max: u64) -> (u64, bool) {
    let statement = Statement::read(sql, source.engine()).unwrap();
    let (arguments, caller) = (Map::new(), BTreeMap::new());
    let bindings = Bindings {
        arguments: &arguments,
        caller: &caller,
    };
    let answer = source
        .read(&statement, &bindings, &call(rows_max))
        .await
        .unwrap();
    (answer.rows, answer.truncated)
}

fn postgres() -> Option<Source> {
    let url = skipping::postgres_url()?;
    let config = PostgresConfig {
        allow_superuser: true,
        ..PostgresConfig::new(url)
    };
    Some(Source::Postgres(Postgres::open(config).unwrap()))
}

#[tokio::test]
async fn a_million_rows_stay_small() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    std::fs::write(&path, b"").unwrap();
    let sqlite = Source::Sqlite(Sqlite::open(SqliteConfig::new(path)).unwrap());
    let rows = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 1000000) \
                SELECT i, printf('%01000d', i) AS t FROM r";
    let mut part = Part::begin();
    assert!(ask(&sqlite, rows, 2_000_000).await.1);
    assert_eq!(ask(&sqlite, rows, 500).await, (500, true));
    part.end("a million rows of SQLite");
    // What gathers without an end is stopped, even if the deadline is far away.
    for gathering in [
        "json_group_array(hex(zeroblob(30000)))",
        "json_group_object(i, hex(zeroblob(30000)))",
        "json_group_array(i)",
        "json_array(hex(zeroblob(120000)), hex(zeroblob(120000)), hex(zeroblob(120000)), hex(zeroblob(120000)))",
        "json_pretty('[[[[1]]]]', hex(zeroblob(400000)))",
    ] {
        let endless = format!(
            "SELECT {gathering} FROM (WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i FROM r)"
        );
        let answer = sqlite.ask(&endless, &call(100)).await;
        assert!(answer.is_err() || answer.unwrap().truncated, "{gathering}");
        part.end(gathering);
    }
    // Many long values in one row.
    let long = "upper(printf('%.*c', 990000, 'a') || i)";
    for columns in [60, 300] {
        let wide = vec![long; columns].join(", ");
        let wide = format!("SELECT {wide} FROM (SELECT 1 AS i)");
        let lengths = wide.replace("upper", "length");
        for sql in [wide, lengths] {
            let answer = sqlite.ask(&sql, &call(100)).await;
            assert!(answer.is_err() || answer.is_ok_and(|it| it.json.len() < 5_000_000));
        }
    }
    part.end("many long values");
    // Many without a comma between them: SQLite keeps what is the same for all rows, and what an operator waits for.
    for bytes in [3_900_000, 120_000] {
        let terms: Vec<String> = (0..60)
            .map(|term| format!("(i || hex(zeroblob({bytes} - {term})) IS NULL)"))
            .collect();
        let summed = format!("SELECT {} FROM (SELECT 1 AS i)", terms.join(" + "));
        let (open, close) = ("x = (".repeat(90), ")".repeat(90));
        let nested = format!(
            "SELECT {open}x{close} FROM (SELECT hex(zeroblob({bytes} - i)) AS x FROM (SELECT 1 AS i UNION ALL SELECT 2))"
        );
        for sql in [summed, nested] {
            let answer = sqlite.ask(&sql, &call(100)).await;
            assert!(bytes < 1_000_000 || matches!(answer, Err(Error::TooLarge { .. })));
        }
    }
    part.end("many long terms");
    if let Some(postgres) = postgres() {
        let rows = "SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 1000000) g(i)";
        for _ in 0..3 {
            assert!(ask(&postgres, rows, 2_000_000).await.1);
        }
        assert_eq!(ask(&postgres, rows, 500).await, (500, true));
        part.end("a million rows of PostgreSQL");
        let wide = "SELECT repeat('x', 1000000) AS t FROM generate_series(1, 1000) g(i)";
        assert_eq!(ask(&postgres, wide, 2_000_000).await, (4, true));
        // Each of its letters takes six in JSON.
        let control = "SELECT repeat(chr(1), 15000000)";
        let answer = postgres.ask(control, &call(10)).await;
        assert!(matches!(answer, Err(Error::TooLarge { .. })), "{answer:?}");
        part.end("long values of PostgreSQL");
    }
    println!("grew by {} bytes at most", part.most);
}
