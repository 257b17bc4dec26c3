//! Doubling is counted however it is spelled, and honest queries stay open.

use super::*;
use crate::lex::{Placeholders, lex};

fn count(engine: Engine, text: &str) -> u64 {
    parts(engine, &lex(text, engine, Placeholders::Unknown).unwrap())
}

/// Eighteen times the second text around the first; `#` is the level, `@` what was before.
fn nested(first: &str, around: &str) -> String {
    (1..=18).fold(first.to_owned(), |text, level| {
        around.replace('@', &text).replace('#', &level.to_string())
    })
}

/// Eighteen common table expressions; `#` is the level, `@` the one before.
fn chain(defined: &str) -> String {
    let mut text = "WITH a0(x) AS (SELECT 1 AS x)".to_owned();
    for level in 1..=18 {
        let below = level - 1;
        let part = defined.replace('#', &level.to_string());
        text.push_str(&part.replace('@', &format!("a{below}")));
    }
    text + " SELECT x FROM a18"
}

#[test]
fn doubling_is_seen_however_it_is_spelled() {
    for text in [
        nested(
            "SELECT id AS x FROM people",
            "SELECT x + x AS x FROM (@) t#",
        ),
        nested("SELECT id AS x FROM people", "SELECT x + x x FROM (@) t#"),
        nested(
            "SELECT id AS x FROM people",
            "SELECT t#.x || t#.x AS \"x\" FROM (@) AS t#",
        ),
        nested(
            "SELECT id AS x FROM people",
            "SELECT x + x FROM (@) AS t#(x)",
        ),
        nested(
            "SELECT 1 AS a, 2 AS b",
            "SELECT a + b AS a, a - b AS b FROM (@) t#",
        ),
        nested(
            "SELECT id AS abs FROM people",
            "SELECT abs(abs + abs) FROM (@) t#",
        ),
        nested(
            "SELECT id AS int4 FROM people",
            "SELECT (int4 + int4)::int FROM (@) t#",
        ),
        nested(
            "SELECT id AS x FROM people",
            "SELECT CASE WHEN x > 1 THEN x ELSE x END AS x FROM (@) t#",
        ),
        nested(
            "SELECT id AS x FROM people",
            "SELECT * FROM (SELECT *, x + x AS x FROM (@) t#) u#",
        ),
        nested(
            "SELECT id AS x FROM people",
            "(SELECT x + x AS x FROM (@) t# LIMIT 1)",
        ),
        chain(", a# AS (SELECT x + x AS x FROM @)"),
        chain(", a#(x) AS (SELECT x + x FROM @)"),
        chain(", a# AS NOT MATERIALIZED (SELECT x + x AS x FROM @)"),
    ] {
        for engine in [Engine::Postgres, Engine::Sqlite] {
            assert!(count(engine, &text) > PARTS_MAX, "{engine:?} {text}");
        }
    }
}

#[test]
fn doubling_is_seen_behind_values_too() {
    for text in [
        chain(", a# AS (SELECT y || y FROM @ AS t(y))"),
        nested(
            "SELECT id AS x FROM people",
            "SELECT (SELECT x) + (SELECT x) AS x FROM (@) t#",
        ),
        nested(
            "SELECT id AS x FROM people",
            "SELECT 1, coalesce((SELECT x), (SELECT x WHERE x > 0)) AS x FROM (@) t#",
        ),
        nested(
            "SELECT id AS x FROM people",
            "SELECT (SELECT max(y) FROM (SELECT x + x AS y) u) AS x FROM (@) t#",
        ),
        // Computed by itself, and yet twice as long each time.
        nested(
            "SELECT 'x' AS x",
            "SELECT x || x AS x FROM (SELECT DISTINCT x FROM (@) t#) u#",
        ),
        nested(
            "SELECT 'x' AS x",
            "SELECT x || x AS x FROM (@) t# GROUP BY x",
        ),
    ] {
        for engine in [Engine::Postgres, Engine::Sqlite] {
            assert!(count(engine, &text) > PARTS_MAX, "{engine:?} {text}");
        }
    }
}

#[test]
fn doubling_of_rows_and_beside_each_other_is_seen() {
    let beside = |part: &str| {
        (1..=18).fold(
            "SELECT * FROM (SELECT 1 AS x0) t0".to_owned(),
            |text, level: usize| {
                let part = part.replace('@', &(level - 1).to_string());
                format!("{text}, {}", part.replace('#', &level.to_string()))
            },
        )
    };
    for text in [
        beside("LATERAL (SELECT x@ + x@ AS x#) t#"),
        beside("LATERAL (VALUES (x@ || x@)) t#(x#)"),
        beside("LATERAL (VALUES (1, 2), (x@ || x@, 3)) t#(x#, y#)"),
        beside("concat(x@, x@) AS x#"),
        beside("LATERAL unnest(ARRAY[x@ || x@]) WITH ORDINALITY AS t#(x#, n#)"),
        nested(
            "SELECT 1 AS a, 2 AS b",
            "SELECT t# AS a, t# AS b FROM (@) t#",
        ),
        nested(
            "SELECT 1 AS a, 2 AS b",
            "SELECT ROW(t#.*) AS a, t# AS b FROM (@) AS t# GROUP BY t#",
        ),
        chain(", a# AS (SELECT @ AS x, @ AS y FROM @)"),
        chain(", a# AS (SELECT t AS x, t AS y FROM @ AS t)"),
        chain(", a# AS (SELECT t AS x, t AS y FROM (SELECT * FROM @) AS t)"),
    ] {
        assert!(count(Engine::Postgres, &text) > PARTS_MAX, "{text}");
    }
}

#[test]
fn honest_queries_have_few_parts() {
    let union = "SELECT a + a AS a, b FROM t UNION ALL ".repeat(200) + "SELECT 1, 2";
    let unions = "(SELECT a + a AS a, b FROM t) UNION ALL ".repeat(100) + "(SELECT 1, 2)";
    let wide = format!(
        "SELECT {} FROM (SELECT * FROM t) s",
        vec!["s.a"; 300].join(", ")
    );
    let steps = "WITH a AS (SELECT dept, sum(pay) AS total, count(*) n FROM staff GROUP BY dept),
        b AS (SELECT a.*, total / n AS mean, CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS size FROM a),
        c AS (SELECT size, avg(mean) AS mean, max(mean) - min(mean) AS spread, sum(total) AS total FROM b GROUP BY size)
        SELECT c.size, round(c.mean, 2), c.spread / nullif(c.mean, 0) AS rel, c.total,
            rank() OVER (ORDER BY c.total DESC) AS place
        FROM c JOIN b ON b.size = c.size WHERE c.mean > (SELECT avg(mean) FROM b) ORDER BY c.mean + c.spread";
    let values = format!(
        "SELECT {} FROM t WHERE a > (SELECT avg(b * c * d * e * f * g) FROM u) AND b IN (SELECT c + d + e + f FROM v)",
        vec!["a + b + c"; 1000].join(", ")
    );
    let sums = (1..=12).fold(
        "WITH a0 AS (SELECT id, amount FROM orders)".to_owned(),
        |text, level: usize| {
            let below = level - 1;
            format!(
                "{text}, a{level} AS (SELECT a{below}.id, sum(CASE WHEN amount > 0 THEN amount ELSE -amount END) AS amount, \
                 round(avg(amount), 2) AS mean FROM a{below} GROUP BY a{below}.id)"
            )
        },
    ) + " SELECT id, amount - mean AS rest FROM a12";
    let counted = "WITH c AS (SELECT customers.id, (SELECT count(*) FROM orders o WHERE o.customer_id = customers.id) AS n,
            (SELECT max(o.at) FROM orders o WHERE o.customer_id = customers.id) AS last FROM customers),
        d AS (SELECT c.id, c.n, c.last, c.n > 3 AS often FROM c), e AS (SELECT d.*, d.n * 2 AS twice FROM d)
        SELECT e.id, e.n, e.often, e.twice - e.n FROM e JOIN c ON c.id = e.id WHERE e.n > (SELECT avg(n) FROM d)";
    for text in [
        union.as_str(),
        &unions,
        &wide,
        steps,
        &values,
        &sums,
        counted,
    ] {
        for engine in [Engine::Postgres, Engine::Sqlite] {
            let parts = count(engine, text);
            assert!(parts < 1000, "{parts} {text}");
        }
    }
}

/// Each of them is looked at once, however deep they lie in each other.
#[test]
fn values_in_values_take_no_time() {
    for around in [
        "SELECT * FROM (VALUES ((@))) t(x)",
        "SELECT * FROM abs((@)) AS x",
        "SELECT (@) + 1 AS x",
    ] {
        let text = (0..30).fold("SELECT 1".to_owned(), |text, _| around.replace('@', &text));
        for engine in [Engine::Postgres, Engine::Sqlite] {
            assert!(count(engine, &text) < PARTS_MAX, "{text}");
        }
    }
}
