//! What is done with all numbers of a list: `average of 12, 30 and 45`, `12, 30, 45의 합`.

use super::tokens::Token;

/// The calculation with a list; nothing where anything but its numbers and what to do with them is said.
pub(super) fn of_list(tokens: &[Token]) -> Option<String> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let (work, list) = match (work(first), work(last)) {
        (Some(work), None) => {
            let rest = &tokens[1..];
            (work, rest.strip_prefix(&[word("of")][..]).unwrap_or(rest))
        }
        (None, Some(work)) => {
            let rest = &tokens[..tokens.len() - 1];
            (work, rest.strip_suffix(&[word("의")][..]).unwrap_or(rest))
        }
        _ => return None,
    };
    let numbers = numbers(list, work)?;
    match work {
        "average" if numbers.len() > 1 => {
            Some(format!("({}) / {}", numbers.join(" + "), numbers.len()))
        }
        "+" | "*" if numbers.len() > 2 => Some(numbers.join(&format!(" {work} "))),
        _ => None,
    }
}

/// Whether a calculation, without its gaps, is the average of a list.
pub(super) fn is_average(plain: &str) -> bool {
    let parts = plain.strip_prefix('(').and_then(|it| it.split_once(")/"));
    parts.is_some_and(|(sum, count)| {
        let is_plain = |it: &str| it.chars().all(|c| c.is_ascii_digit() || c == '.');
        let numbers = sum.split('+');
        numbers.clone().all(is_plain) && count.parse() == Ok(numbers.count())
    })
}

fn work(token: &Token) -> Option<&'static str> {
    let Token::Word(word) = token else {
        return None;
    };
    match word.as_str() {
        "average" | "평균" => Some("average"),
        "sum" | "add" | "합" | "더하" => Some("+"),
        "product" | "multiply" | "곱하" => Some("*"),
        _ => None,
    }
}

/// The numbers of a list that has nothing else, each joined to the next by a comma, a word, or the sign of what is done.
fn numbers<'t>(list: &'t [Token], work: &str) -> Option<Vec<&'t str>> {
    let mut numbers = Vec::new();
    let mut is_joined = false;
    for token in list {
        match token {
            Token::Number(number) => {
                numbers.push(number.as_str());
                is_joined = false;
            }
            Token::Word(word)
                if matches!(word.as_str(), "and" | "와") && !is_joined && !numbers.is_empty() =>
            {
                is_joined = true;
            }
            Token::Sign('+') if work == "+" && !is_joined && !numbers.is_empty() => {
                is_joined = true;
            }
            _ => return None,
        }
    }
    (!is_joined).then_some(numbers)
}

fn word(word: &str) -> Token {
    Token::Word(word.to_owned())
}
