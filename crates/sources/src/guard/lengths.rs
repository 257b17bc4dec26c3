//! How long the values are that a query makes out of nothing. A few letters, repeated a thousand times, and that again, are a
//! gigabyte before the query has begun; and some functions take the square of a length in time, in a single step that
//! PostgreSQL does not stop.

use super::{at, growth};
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;

/// Functions whose answer is as long as a number says.
pub(super) const LENGTHENING: &[&str] = &["array_fill", "lpad", "repeat", "rpad"];
/// Types that are filled up to their length.
const FILLED: &[&str] = &["BIT", "BPCHAR", "CHAR", "CHARACTER", "NCHAR"];
/// Functions that look for each part of one value in each part of another, or put one into the other.
const HEAVY: &[&str] = &[
    "position",
    "replace",
    "split_part",
    "string_to_array",
    "string_to_table",
    "strpos",
    "translate",
    "xmlexists",
    "xmltable",
    "xpath",
    "xpath_exists",
];
/// Those that do if they are told which letters to look for.
const TRIMS: &[&str] = &["btrim", "ltrim", "rtrim", "trim"];
/// Operators that do with arrays.
const ARRAYS: &[&str] = &["&&", "<@", "@>"];
const NUMBERS: &[&str] = &["DEC", "DECIMAL", "NUMERIC"];
/// What all values may have together that a text makes out of nothing; and in one with something heavy in it.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
const HEAVY_BYTES_MAX: u64 = 2000;
const FILLED_MAX: u64 = 10_000;
const ELEMENT_BYTES: u64 = 8;

/// A length, as far as the text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Is(u64),
    /// The data say it; the largest number in what is written.
    Data(u64),
    /// It could have been written as one number, and was not.
    Hidden,
}

pub(super) fn check(text: &str, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    once(text, pieces)?;
    let calls: Vec<usize> = (0..pieces.len())
        .filter(|index| is_called(pieces, *index))
        .collect();
    let fills = |index: &usize| named(&pieces[*index]).is_some_and(|name| name == "array_fill");
    let heavy = heavy(pieces, calls.iter().any(fills));
    let numbers = pieces.iter().find(|piece| is_one_of(piece, NUMBERS));
    let most = match heavy.or(numbers) {
        Some(_) => HEAVY_BYTES_MAX,
        None => BYTES_MAX,
    };
    let mut sum = 0u64;
    for index in calls {
        let (piece, arguments) = (&pieces[index], arguments(&pieces[index + 2..]));
        if is_one_of(piece, FILLED) {
            filled(text, piece, &arguments)?;
            continue;
        }
        let length = length(piece, &arguments).or_else(|| widths(piece, &arguments));
        sum = match (length, heavy) {
            (None, _) => continue,
            (Some(Length::Hidden), _) => {
                return Err(at(
                    text,
                    piece,
                    "is given its length as something to compute; write it as one number",
                ));
            }
            (Some(Length::Data(_)), Some(heavy)) => {
                let heavy = heavy.text;
                return Err(at(
                    text,
                    piece,
                    format!(
                        "takes its length from the data, and beside `{heavy}` it has to be short; write least(…, 100) around \
                         the length"
                    ),
                ));
            }
            (Some(Length::Is(length) | Length::Data(length)), _) => sum.saturating_add(length),
        };
        if sum > most {
            let beside = heavy.or(numbers);
            let beside = beside.map_or(String::new(), |it| {
                format!(", which is the most beside `{}`", it.text)
            });
            return Err(at(
                text,
                piece,
                format!(
                    "makes more than {most} bytes out of nothing{beside}; write a smaller number"
                ),
            ));
        }
    }
    growth::check(text, pieces, sum)
}

/// Nothing that is lengthened is repeated: that would be the product of both.
fn once(text: &str, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    let mut open = Vec::new();
    let mut inside = 0usize;
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark("(") {
            let called = index.checked_sub(1).and_then(|at| pieces.get(at));
            let name = called.and_then(named);
            let fills = called.is_some_and(|called| {
                let widths = widths(called, &arguments(&pieces[index + 1..]));
                widths.is_some_and(|widths| widths != Length::Is(0))
            });
            let lengthens = fills
                || name
                    .as_deref()
                    .is_some_and(|name| LENGTHENING.contains(&name));
            if let (true, 1.., Some(called)) = (lengthens, inside, called) {
                return Err(at(
                    text,
                    called,
                    "lengthens what is repeated already; write it once",
                ));
            }
            let repeats = name.is_some_and(|name| name == "repeat");
            inside += usize::from(repeats);
            open.push(repeats);
        } else if piece.is_mark(")") {
            inside -= usize::from(open.pop().unwrap_or(false));
        }
    }
    Ok(())
}

/// What takes the square of a length, if anything does.
fn heavy<'p, 't>(pieces: &'p [Lexeme<'t>], fills: bool) -> Option<&'p Lexeme<'t>> {
    let is_heavy = |index: usize| {
        let piece = &pieces[index];
        if piece.kind == Kind::Operator {
            return fills && ARRAYS.contains(&piece.text);
        }
        let Some(name) = named(piece).filter(|_| is_called(pieces, index)) else {
            return false;
        };
        let trims = || {
            let arguments = arguments(&pieces[index + 2..]);
            let told = |argument: &&[Lexeme<'_>]| argument.iter().any(|it| it.is_word("FROM"));
            arguments.len() > 1 || arguments.iter().any(told)
        };
        HEAVY.contains(&name.as_str()) || TRIMS.contains(&name.as_str()) && trims()
    };
    (0..pieces.len())
        .find(|index| is_heavy(*index))
        .map(|index| &pieces[index])
}

/// How many bytes a call makes out of nothing; none if it is no such call.
fn length(piece: &Lexeme<'_>, arguments: &[&[Lexeme<'_>]]) -> Option<Length> {
    let name = named(piece)?;
    if !LENGTHENING.contains(&name.as_str()) {
        return None;
    }
    let [first, second, ..] = arguments else {
        return None;
    };
    Some(match name.as_str() {
        "array_fill" => elements(second),
        "repeat" => match *first {
            [one] if one.kind == Kind::Text => times(number(second), one.text.len()),
            _ => number(second),
        },
        _ => number(second),
    })
}

/// How far `format` fills up: `%40s`, `%*s`.
fn widths(piece: &Lexeme<'_>, arguments: &[&[Lexeme<'_>]]) -> Option<Length> {
    let format = arguments.first().filter(|_| {
        let name = named(piece);
        name.is_some_and(|name| name == "format")
    })?;
    let [one] = format else {
        let texts = format.iter().any(|piece| piece.kind == Kind::Text);
        return Some(if texts {
            Length::Hidden
        } else {
            Length::Data(0)
        });
    };
    if one.kind != Kind::Text {
        return Some(Length::Data(0));
    }
    // The place of an argument is a number as well, and a short one.
    let is_flag = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '$' | '*');
    let places = one.text.split('%').skip(1);
    let flags = places.map(|place| place.split(|letter| !is_flag(letter)).next().unwrap_or(""));
    let mut sum = 0u64;
    for flags in flags {
        if flags.contains('*') {
            return Some(Length::Hidden);
        }
        for digits in flags.split(['-', '$']).filter(|digits| !digits.is_empty()) {
            sum = sum.saturating_add(digits.parse().unwrap_or(u64::MAX));
        }
    }
    Some(Length::Is(sum))
}

/// `ARRAY[30, 40]`
fn elements(sizes: &[Lexeme<'_>]) -> Length {
    let [array, open, inner @ .., close] = sizes else {
        return number(sizes);
    };
    if !array.is_word("ARRAY") || !open.is_mark("[") || !close.is_mark("]") {
        return number(sizes);
    }
    let mut all = Length::Is(ELEMENT_BYTES);
    for size in arguments(inner) {
        all = match (all, number(size)) {
            (Length::Hidden, _) | (_, Length::Hidden) => Length::Hidden,
            (Length::Is(so_far), Length::Is(size)) => Length::Is(so_far.saturating_mul(size)),
            (Length::Is(so_far) | Length::Data(so_far), Length::Is(size) | Length::Data(size)) => {
                Length::Data(so_far.saturating_mul(size.max(1)))
            }
        };
    }
    all
}

fn times(length: Length, by: usize) -> Length {
    // The quotes are no letters.
    let by = u64::try_from(by)
        .unwrap_or(u64::MAX)
        .saturating_sub(2)
        .max(1);
    match length {
        Length::Is(length) => Length::Is(length.saturating_mul(by)),
        Length::Data(length) => Length::Data(length.saturating_mul(by)),
        Length::Hidden => Length::Hidden,
    }
}

fn number(written: &[Lexeme<'_>]) -> Length {
    let largest = written.iter().filter_map(value).max().unwrap_or(0);
    match written {
        [one] if one.kind == Kind::Number => return Length::Is(largest),
        [least, open, inner @ .., close]
            if least.is_word("LEAST") && open.is_mark("(") && close.is_mark(")") =>
        {
            let plain = arguments(inner).into_iter().filter_map(|it| match it {
                [one] => value(one),
                _ => None,
            });
            if let Some(smallest) = plain.min() {
                return Length::Is(smallest);
            }
        }
        _ => {}
    }
    let names = |piece: &Lexeme<'_>| matches!(piece.kind, Kind::Word | Kind::Quoted);
    let texts = |piece: &Lexeme<'_>| piece.kind == Kind::Text;
    match written.iter().any(names) && !written.iter().any(texts) {
        true => Length::Data(largest),
        false => Length::Hidden,
    }
}

/// `char(10)`, `bit(8)`: what is no length there is a value.
fn filled(text: &str, piece: &Lexeme<'_>, arguments: &[&[Lexeme<'_>]]) -> Result<(), Error> {
    let [written] = arguments else {
        return Ok(());
    };
    match number(written) {
        Length::Data(_) => Ok(()),
        Length::Is(length) if length <= FILLED_MAX => Ok(()),
        Length::Is(_) | Length::Hidden => Err(at(
            text,
            piece,
            format!("is filled up to its length; write one number up to {FILLED_MAX}, or use text"),
        )),
    }
}

/// The value of a number, in any spelling that PostgreSQL has.
fn value(piece: &Lexeme<'_>) -> Option<u64> {
    if piece.kind != Kind::Number {
        return None;
    }
    let digits = piece.text.replace('_', "").to_ascii_lowercase();
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
    Some(match digits.get(..2) {
        Some("0x") => radix(&digits[2..], 16),
        Some("0o") => radix(&digits[2..], 8),
        Some("0b") => radix(&digits[2..], 2),
        _ if digits.contains('e') => u64::MAX,
        _ => match digits.split_once('.') {
            Some(("", _)) => 0,
            Some((whole, _)) => radix(whole, 10),
            None => radix(&digits, 10),
        },
    })
}

/// What stands between the commas up to the end of the parenthesis.
pub(super) fn arguments<'p, 't>(pieces: &'p [Lexeme<'t>]) -> Vec<&'p [Lexeme<'t>]> {
    let (mut depth, mut from, mut found) = (0usize, 0, Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark("(") || piece.is_mark("[") {
            depth += 1;
        } else if depth == 0 && piece.is_mark(")") {
            found.push(&pieces[from..index]);
            return found;
        } else if piece.is_mark(")") || piece.is_mark("]") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && piece.is_mark(",") {
            found.push(&pieces[from..index]);
            from = index + 1;
        }
    }
    found.push(&pieces[from..]);
    found
}

fn is_called(pieces: &[Lexeme<'_>], index: usize) -> bool {
    let called = pieces.get(index + 1).is_some_and(|next| next.is_mark("("));
    called && named(&pieces[index]).is_some()
}

fn named(piece: &Lexeme<'_>) -> Option<String> {
    piece.name(Engine::Postgres)
}

fn is_one_of(piece: &Lexeme<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| piece.is_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn verdict(text: &str) -> Result<(), String> {
        let pieces = lex(text, Engine::Postgres, Placeholders::Unknown).unwrap();
        check(text, &pieces).map_err(|error| error.to_string())
    }

    #[test]
    fn short_values_are_open() {
        for text in [
            "SELECT repeat('x', 3), repeat('y', 3), repeat(chr(1), 15000000)",
            "SELECT rpad(repeat('#', (count(*) / 10)::int), 20, '.') FROM t",
            "SELECT repeat('#', n), lpad(id::text, 8, '0'), repeat('#', (n * 0.5)::int) FROM t",
            "SELECT replace(a, 'x', 'y'), lpad(id::text, 8, '0'), repeat('#', least(n, 100)) FROM t",
            "SELECT trim(a), repeat('#', n) FROM t",
            "SELECT amount::numeric(10, 2), repeat('#', n), rpad(a, 20) FROM t",
            "SELECT tags && ARRAY['a'], r @> 3, repeat('#', n) FROM t",
            "SELECT array_fill(0, ARRAY[2, 3]) && ARRAY[1]",
            "SELECT format('%-10s|%5s|%1$s, born 20240101', a, b), format(a, b), repeat(format('%s', a), 3) FROM t",
            "SELECT 5::bit(8), 'a'::char(3), 'b'::varchar(100000), a::character varying(50000), char(a) FROM t",
        ] {
            assert_eq!(verdict(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn long_values_are_refused() {
        for text in [
            "SELECT repeat('x', 1000000000)",
            "SELECT repeat('xyz', 10000000), repeat('x', 0xFFFFFFF), lpad('x', 50_000_000)",
            "SELECT repeat('x', 10000 * 10000)",
            "SELECT repeat('x', '100000000')",
            "SELECT repeat(rpad('x', 1000), 1000)",
            "SELECT position('b' || repeat('a', 200000) IN repeat('a', 400000))",
            "SELECT strpos(a, pg_catalog.\"repeat\"('a', n)) FROM t",
            "SELECT translate(repeat('a', 250000), repeat('b', 250000) || 'a', '')",
            "SELECT ltrim(repeat('a', 150000), repeat('b', 150000) || 'a')",
            "SELECT trim(BOTH repeat('b', 150000) FROM repeat('a', 150000))",
            "SELECT replace(repeat('x', 20000), 'x', repeat('y', 20000))",
            "SELECT x * x > 0 FROM (SELECT repeat('9', 65000)::numeric AS x) t",
            "SELECT xpath('count(//a)', ('<a>' || repeat('<a/>', 12000) || '</a>')::xml)",
            "SELECT array_fill(1, ARRAY[30000]) && array_fill(2, ARRAY[30000])",
            "SELECT array_fill(1, ARRAY[20000, 1000])",
            "SELECT array_fill(1, '{20000000}')",
            "SELECT '0'::char(10485760)",
            "SELECT format('%10000000s', 'x'), format('%1$-10000000s', 'x')",
            "SELECT format('%*s', 1000000000, 'x')",
            "SELECT format('%' || '1000000000s', 'x')",
            "SELECT repeat(format('%60s', 'x'), 15000000)",
            "SELECT B'1'::bit(80000000), B'1'::bit('80000000')",
        ] {
            let refused = verdict(text).expect_err(text);
            assert!(refused.contains("write"), "{refused}");
        }
    }
}
