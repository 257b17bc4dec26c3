//! Functions of SQLite that take the square of their input in time, or gather without an end, in a single step that nothing
//! can stop. A caller's text that names one gets by with smaller values, and with an eye on the memory.

use crate::error::Error;
use crate::guard::at;
use crate::lex::{Placeholders, lex};
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;
use std::time::{Duration, Instant};

/// What a caller's text may make of one value where nothing heavy is done with it.
const VALUE_BYTES_MAX: f64 = 8_000_000.0;
/// What all values of a row may have together.
const ROW_BYTES_MAX: f64 = 32_000_000.0;
/// What all values may have together that a text makes, each of which SQLite may keep until the end.
const TOGETHER_BYTES_MAX: f64 = 48_000_000.0;
/// From this depth on each pair of parentheses may hold values of its own back: one for each kind of operator.
const DEPTH_FREE: usize = 8;
const VALUES_OF_DEPTH: usize = 6;
/// How far the process may grow while a query gathers. What it gathers becomes one value, which is refused for being too
/// long at far less; the rest is for whoever else uses memory meanwhile.
const GROWTH_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How far it may grow while any other query of a caller runs: more than all values that we know of.
const ANY_GROWTH_BYTES_MAX: u64 = 64 * 1024 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How many steps of its machine SQLite makes between two looks at the clock, where a caller wrote the text: each may be a
/// long one.
const STEPS: i32 = 10;

/// A function, from how many arguments on it is heavy, and how large values may be if it is called once. With these each
/// takes two seconds at most on a slow machine.
const HEAVY: &[(&str, usize, f64)] = &[
    // Each letter is looked for in a list of letters.
    ("ltrim", 2, 16_384.0),
    ("rtrim", 2, 16_384.0),
    ("trim", 2, 16_384.0),
    ("unhex", 2, 16_384.0),
    // What is nested a thousand deep gets four thousand spaces in front of each line.
    ("json_pretty", 1, 8192.0),
    // Each key is looked for among all others, each path from the beginning.
    ("json_patch", 2, 65_536.0),
    ("json_remove", 2, 65_536.0),
    ("jsonb_patch", 2, 65_536.0),
    ("jsonb_remove", 2, 65_536.0),
    // For each step of a path what lies below it is copied.
    ("json_array_insert", 3, 65_536.0),
    ("json_insert", 3, 65_536.0),
    ("json_set", 3, 65_536.0),
    ("jsonb_array_insert", 3, 65_536.0),
    ("jsonb_insert", 3, 65_536.0),
    ("jsonb_set", 3, 65_536.0),
    // At each place the whole is compared.
    ("glob", 2, MATCHED_VALUE_BYTES_MAX),
    ("instr", 2, 131_072.0),
    ("like", 2, MATCHED_VALUE_BYTES_MAX),
    ("replace", 3, 131_072.0),
    // A hundred values become one before anybody asks how long it is.
    ("concat", 3, 262_144.0),
    ("concat_ws", 3, 262_144.0),
    ("json_array", 3, 262_144.0),
    ("json_extract", 3, 262_144.0),
    ("json_object", 3, 262_144.0),
    ("json_replace", 3, 262_144.0),
    ("jsonb_array", 3, 262_144.0),
    ("jsonb_extract", 3, 262_144.0),
    ("jsonb_object", 3, 262_144.0),
    ("jsonb_replace", 3, 262_144.0),
];
/// Functions that make what a path leads through, and call themselves for each step of it. A step has two letters at least,
/// and took 260 to 500 bytes of stack: on a thread of the usual size 8,000 of them ended the process.
pub(super) const DEEP: &[&str] = &[
    "json_array_insert",
    "json_insert",
    "json_set",
    "jsonb_array_insert",
    "jsonb_insert",
    "jsonb_set",
];
/// So long may a path be that somebody else than a caller has written, and so deep the stack then gets at most.
pub(super) const DEEP_VALUE_BYTES_MAX: i32 = 512 * 1024;
pub(super) const DEEP_STACK_BYTES: usize = 256 * 1024 * 1024;
/// Functions that keep what they are given until the last row, whatever the limit of a value is.
const GATHERING: &[&str] = &[
    "json_group_array",
    "json_group_object",
    "jsonb_group_array",
    "jsonb_group_object",
    "median",
    "percentile",
    "percentile_cont",
    "percentile_disc",
];
const MATCHED_VALUE_BYTES_MAX: f64 = 262_144.0;

/// How a query is to be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Care {
    pub(super) value_bytes_max: i32,
    pub(super) steps: i32,
    /// How far the process may grow meanwhile.
    pub(super) growth_bytes_max: Option<u64>,
    /// A single step may take long.
    pub(super) is_heavy: bool,
    /// It needs more stack than a thread usually has.
    pub(super) is_deep: bool,
}

impl Care {
    /// The same, where the file itself goes deep.
    pub(super) fn deepened(self) -> Care {
        Care {
            value_bytes_max: self.value_bytes_max.min(DEEP_VALUE_BYTES_MAX),
            is_deep: true,
            ..self
        }
    }
}

/// What care a caller's text needs.
pub(super) fn care(text: &str) -> Result<Care, Error> {
    // What cannot be cut is refused by SQLite as well.
    let pieces = lex(text, Engine::Sqlite, Placeholders::Unknown).unwrap_or_default();
    let (mut value_bytes_max, mut heavy, mut watches_memory) = (VALUE_BYTES_MAX, 0u32, false);
    let mut deep = false;
    for (index, piece) in pieces.iter().enumerate() {
        // A pattern is tried at each place.
        if piece.is_word("LIKE") || piece.is_word("GLOB") {
            heavy += 1;
            value_bytes_max = value_bytes_max.min(MATCHED_VALUE_BYTES_MAX);
        }
        let called = pieces.get(index + 1).is_some_and(|next| next.is_mark("("));
        let Some(name) = piece.name(Engine::Sqlite).filter(|_| called) else {
            continue;
        };
        let name = name.to_ascii_lowercase();
        let arguments = arguments(&pieces[index + 2..]);
        // An indent of any size becomes gigabytes.
        if name == "json_pretty" && arguments > 1 {
            return Err(at(text, piece, "takes one argument here"));
        }
        deep |= is_deep(&name);
        if GATHERING.contains(&name.as_str()) {
            watches_memory = true;
        }
        let known = HEAVY
            .iter()
            .find(|(of, from, _)| *of == name && arguments >= *from);
        if let Some((_, _, most)) = known {
            heavy += u32::try_from(arguments / 4).unwrap_or(u32::MAX).max(1);
            value_bytes_max = value_bytes_max.min(*most);
        }
    }
    let several = f64::from(heavy.max(1)).sqrt();
    // As many values may be there at a time as there are commas between them.
    let values = (0..pieces.len())
        .filter(|index| is_comma(&pieces, *index))
        .count()
        + 1;
    let values = f64::from(u32::try_from(values).unwrap_or(u32::MAX));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a million at most, and the fraction does not matter"
    )]
    let value_bytes_max = (value_bytes_max / several)
        .min(ROW_BYTES_MAX / values)
        .min(TOGETHER_BYTES_MAX / made(&pieces)) as i32;
    Ok(Care {
        value_bytes_max,
        steps: STEPS,
        growth_bytes_max: Some(if watches_memory {
            GROWTH_BYTES_MAX
        } else {
            ANY_GROWTH_BYTES_MAX
        }),
        is_heavy: heavy > 0 || watches_memory,
        is_deep: deep,
    })
}

/// How long a caller's value may be that is bound in an author's text, where that text does something heavy with it.
pub(crate) fn bound_bytes_max(text: &str) -> Option<usize> {
    let care = care(text).ok()?;
    let most = usize::try_from(care.value_bytes_max).ok();
    most.filter(|_| care.is_heavy)
}

pub(super) fn is_deep(function: &str) -> bool {
    let mut all = DEEP.iter();
    all.any(|deep| deep.eq_ignore_ascii_case(function))
}

/// Whether an author's text needs more stack than a thread usually has.
pub(crate) fn goes_deep(text: &str) -> bool {
    care(text).is_ok_and(|care| care.is_deep)
}

/// Whether no single step of the query can take long.
pub(super) fn is_light(text: &str) -> bool {
    let pieces = lex(text, Engine::Sqlite, Placeholders::Unknown).unwrap_or_default();
    // Full-text search does all of its work in one.
    let searches = pieces.iter().any(|piece| piece.is_word("MATCH"));
    !searches && !pieces.is_empty() && care(text).is_ok_and(|care| !care.is_heavy)
}

/// How many values a text can have at a time, with a comma between them or not: SQLite keeps what does not change from row to
/// row, and what a sum waits for.
fn made(pieces: &[Lexeme<'_>]) -> f64 {
    // After these a parenthesis calls nothing.
    const WORDS: &[&str] = &[
        "AND", "AS", "BY", "ELSE", "EXISTS", "FILTER", "FROM", "IN", "JOIN", "NOT", "ON", "OR",
        "OVER", "SELECT", "THEN", "USING", "VALUES", "WHEN", "WHERE",
    ];
    let (mut count, mut depth, mut deepest) = (1usize, 0usize, 0usize);
    let mut before: Option<&Lexeme<'_>> = None;
    for (index, piece) in pieces.iter().enumerate() {
        let makes = match piece.kind {
            Kind::Operator => piece.text.contains("||") || piece.text.contains("->"),
            Kind::Mark if piece.text == "(" => {
                depth += 1;
                deepest = deepest.max(depth);
                let name = before.filter(|before| matches!(before.kind, Kind::Word | Kind::Quoted));
                name.is_some_and(|name| !WORDS.iter().any(|word| name.is_word(word)))
            }
            Kind::Mark if piece.text == ")" => {
                depth = depth.saturating_sub(1);
                false
            }
            Kind::Mark => is_comma(pieces, index),
            // The first SELECT is the one that the count begins with.
            Kind::Word => piece.is_word("CASE") || piece.is_word("SELECT") && before.is_some(),
            _ => false,
        };
        count += usize::from(makes);
        before = Some(piece);
    }
    count += deepest.saturating_sub(DEPTH_FREE) * VALUES_OF_DEPTH;
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Whether a value may follow a comma that is made by the query. What is written in a list, such as a thousand numbers, is no
/// longer than the text is.
fn is_comma(pieces: &[Lexeme<'_>], index: usize) -> bool {
    let is_written = match pieces.get(index + 1..).unwrap_or_default() {
        [one, end, ..] => {
            matches!(one.kind, Kind::Number | Kind::Text) && (end.is_mark(",") || end.is_mark(")"))
        }
        _ => false,
    };
    pieces[index].is_mark(",") && !is_written
}

/// How many arguments stand before the parenthesis that closes the call.
fn arguments(after: &[Lexeme<'_>]) -> usize {
    let (mut depth, mut count) = (0usize, 1);
    for piece in after {
        if piece.is_mark("(") {
            depth += 1;
        } else if piece.is_mark(")") {
            if depth == 0 {
                break;
            }
            depth -= 1;
        } else if piece.is_mark(",") && depth == 0 {
            count += 1;
        }
    }
    count
}

/// Tells when the process has grown too far since the query began.
#[derive(Debug)]
pub(super) struct Memory {
    most: u64,
    looked: Instant,
}

impl Memory {
    /// Nothing where the system does not say how large a process is.
    pub(super) fn watch(growth_bytes_max: u64) -> Option<Memory> {
        Some(Memory {
            most: resident_bytes()? + growth_bytes_max,
            looked: Instant::now(),
        })
    }

    pub(super) fn is_too_much(&mut self) -> bool {
        if self.looked.elapsed() < LOOK_EVERY {
            return false;
        }
        self.looked = Instant::now();
        resident_bytes().is_some_and(|now| now > self.most)
    }
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_heavy_calls_are_held_short() {
        let most = |text: &str| care(text).unwrap().value_bytes_max;
        assert_eq!(
            most("SELECT trim(name), lower(name), 'trim(a, b)' FROM t"),
            8_000_000
        );
        assert_eq!(most("SELECT trim(name, (1, 2)) FROM t"), 16_384);
        assert_eq!(most("SELECT \"RTRIM\" /* a */ (name, 'x') FROM t"), 16_384);
        assert_eq!(
            most("SELECT [trim](a, b), `trim`(a, b), trim(a, b), trim(a, b) FROM t"),
            8192
        );
        assert_eq!(most("SELECT a FROM t WHERE a LIKE 'b%'"), 262_144);
        assert_eq!(most("SELECT \"like\"('b%', a) FROM t"), 262_144);
        assert_eq!(most(&format!("SELECT a{}", ", a".repeat(319))), 100_000);
        assert_eq!(most("SELECT replace(a, 'b', 'c') FROM t"), 131_072);
        let listed = format!("SELECT a FROM t WHERE id IN (0{})", ", 1".repeat(3000));
        assert_eq!(most(&listed), 8_000_000);
        let growth = |text: &str| care(text).unwrap().growth_bytes_max;
        let (gathers, any) = (Some(GROWTH_BYTES_MAX), Some(ANY_GROWTH_BYTES_MAX));
        assert_eq!(growth("SELECT json_group_array(a) FROM t"), gathers);
        assert_eq!(growth("SELECT json_array(a) FROM t"), any);
        assert!(is_light("SELECT a, lower(b) FROM t WHERE id = ?1"));
        for text in [
            "SELECT a FROM t WHERE a LIKE ?1",
            "SELECT trim(a, ?1) FROM t",
            "SELECT json_group_array(a) FROM t",
            "SELECT a FROM t WHERE t MATCH ?1",
            "SELECT 'open",
        ] {
            assert!(!is_light(text), "{text}");
        }
        for (text, deep) in [
            ("SELECT JSON_SET(a, ?1, 1) FROM t", true),
            ("SELECT \"jsonb_insert\" (a, ?1, 1) FROM t", true),
            ("SELECT json_extract(a, ?1), json_set FROM t", false),
        ] {
            assert_eq!(goes_deep(text), deep, "{text}");
        }
        assert!(care("SELECT json_pretty(a) FROM t").is_ok());
        assert!(care("SELECT json_pretty(a, b) FROM t").is_err());
    }

    #[test]
    fn values_count_however_they_are_made() {
        let made = |text: &str| made(&lex(text, Engine::Sqlite, Placeholders::Unknown).unwrap());
        for (text, expected) in [
            ("SELECT a FROM t", 1.0),
            ("SELECT a, b FROM t WHERE a IN (1, 2) AND (a OR b)", 2.0),
            ("SELECT hex(a) + (lower(a || b)) + \"hex\"(c)", 5.0),
            (
                "SELECT CASE a WHEN 1 THEN b END, (SELECT c), a ->> 'b'",
                6.0,
            ),
            ("SELECT CAST(a AS TEXT)", 2.0),
        ] {
            assert!(
                (made(text) - expected).abs() < 0.5,
                "{text}: {}",
                made(text)
            );
        }
        let sum = vec!["(name || hex(zeroblob(1)) IS NULL)"; 60].join(" + ");
        assert!(made(&format!("SELECT {sum} FROM t")) > 180.0);
        let nested = format!("SELECT {}1{}", "a = (".repeat(90), ")".repeat(90));
        assert!(made(&nested) > 400.0);
        // What people write keeps what it had.
        let report =
            "SELECT id, upper(name), coalesce(a, b, c), round(avg(d), 2) FROM t GROUP BY 1, 2";
        assert!(care(report).unwrap().value_bytes_max > 3_000_000);
    }
}
