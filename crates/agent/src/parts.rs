//! The parts of a request, as far as each may need a call of its own; and which of them cannot be left without a word.

use crate::contrary::is_order;
use crate::fill::{forbids, has_marks, several};
use crate::planner::is_korean;
use selection::speech::{begins_a_wish, clauses};

/// The parts of a request that may each need a call of their own.
#[must_use]
pub fn parts(request: &str) -> Vec<&str> {
    let steps = || Some(steps(request)).filter(|it| it.len() > clauses(request).len());
    let all = several(request).or_else(steps);
    let all = all.unwrap_or_else(|| clauses(request));
    // The comma that a part begins with belongs to none.
    let bare = all.into_iter().map(|it| it.trim_start_matches([',', ' ']));
    bare.collect()
}

/// What to do, one after the other, where each begins with its verb: `Read a.md, convert 5 km to miles and book a room`. None
/// where something stands in marks or behind a colon: that may be a text.
fn steps(request: &str) -> Vec<&str> {
    if is_korean(request) || has_marks(request) || request.contains([':', '\n']) {
        return Vec::new();
    }
    let small = request.to_ascii_lowercase();
    // A comma alone may stand in any list: `file formats, order histories`. The last of several steps says that it is one.
    let joins = |it: &&&str| **it != ", " || small.contains(" and ") || small.contains(" then ");
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for between in BETWEEN_STEPS.iter().filter(joins) {
        let found = small.match_indices(*between);
        cuts.extend(found.map(|(at, _)| (at, at + between.len())));
    }
    // The longest of those that begin at one place, and none within another.
    cuts.sort_unstable_by_key(|it| (it.0, std::cmp::Reverse(it.1)));
    let mut parts = Vec::new();
    let mut from = 0;
    for (end, next) in cuts {
        if end > from && is_step(&small[from..end]) && is_step(&small[next..]) {
            parts.push(&request[from..end]);
            from = next;
        }
    }
    parts.push(&request[from..]);
    match parts.len() {
        2..=STEPS_MAX => parts,
        _ => Vec::new(),
    }
}

/// What may stand between two steps.
const BETWEEN_STEPS: [&str; 8] = [
    ", and then ",
    ", then ",
    " and then ",
    " then ",
    ", and ",
    " and ",
    ", ",
    ". ",
];

/// More steps nobody says in one breath.
const STEPS_MAX: usize = 6;

/// What to do with numbers is a step as well.
const SUMS: [&str; 4] = ["multiply", "divide", "subtract", "square"];

/// Whether a part begins with what is to be done, and says with what.
fn is_step(small: &str) -> bool {
    let mut words = small.split_whitespace().skip_while(|it| LEADS.contains(it));
    let verb = words.next().unwrap_or_default();
    (begins_a_wish(verb) || SUMS.contains(&verb)) && words.next().is_some()
}

/// What may stand before the verb.
const LEADS: [&str; 10] = [
    "please", "first", "then", "and", "also", "now", "can", "could", "you", "finally",
];

/// Verbs that only say how to answer, or what to mind.
const TELLING: [&str; 16] = [
    "tell", "show", "give", "let", "list", "print", "return", "reply", "answer", "display", "note",
    "make", "please", "help", "see", "work",
];

/// Whether a part is an order to do something, so that who leaves it has to say so.
#[must_use]
pub fn is_wish(part: &str) -> bool {
    let small = part.to_lowercase();
    let mut words = small.split_whitespace().skip_while(|it| LEADS.contains(it));
    let verb = words.next().unwrap_or_default();
    is_order(&small) || (is_step(&small) && !TELLING.contains(&verb))
}

/// The same for so many tools, one for each; all of the request for each of them where it has not as many parts.
#[must_use]
pub fn parts_of(request: &str, tools: usize) -> Vec<&str> {
    let parts = clauses(request);
    match tools > 1 && parts.len() == tools {
        true => parts,
        false => vec![request; tools],
    }
}

/// How a part begins that says what is to be done instead of the one before it, or only if that fails.
const TURNING: [&str; 22] = [
    "otherwise",
    "or",
    "if",
    "unless",
    "else",
    "no",
    "not",
    "sorry",
    "instead",
    "rather",
    "actually",
    "wait",
    "but",
    "아니면",
    "안",
    "안되면",
    "아니",
    "혹은",
    "또는",
    "대신",
    "말고",
    "만약",
];

/// Whether a part of a request wants something of its own, whatever the others want: it turns none of them round, and is no order
/// to leave something.
#[must_use]
pub fn stands_alone(part: &str) -> bool {
    let small = part.to_lowercase();
    let mut words = small
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|it| !it.is_empty());
    let turns = words.next().is_none_or(|it| TURNING.contains(&it));
    let is_instead = words.any(|it| it == "instead");
    !turns && !is_instead && !forbids(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_turns_another_round_is_none_of_its_own() {
        for (part, expected) in [
            ("look up the limit of kim", true),
            ("kim의 한도를 알려줘", true),
            ("otherwise book the red room", false),
            ("or book the red room", false),
            ("No, book the red room instead", false),
            ("book the red one instead", false),
            ("안 되면 빨간 회의실 예약해줘", false),
            ("아니면 빨간 회의실", false),
            ("Do not book the small room, please", false),
            ("작은 회의실은 예약하지 마", false),
        ] {
            assert_eq!(stands_alone(part), expected, "{part}");
        }
    }

    #[test]
    fn steps_are_told_apart_by_their_verbs() {
        for (request, expected) in [
            (
                "Read notes.md, convert 5 km to miles and look up the daily limit of lee",
                &[
                    "Read notes.md",
                    "convert 5 km to miles",
                    "look up the daily limit of lee",
                ][..],
            ),
            (
                "multiply 3 by 4, then delete everything",
                &["multiply 3 by 4", "delete everything"],
            ),
            (
                "Read notes.md and tell me hong's limit",
                &["Read notes.md", "tell me hong's limit"],
            ),
            ("Book a room for Kim and Lee", &[]),
            ("Search the web for file formats, order histories", &[]),
            ("Remind me to buy milk, call mom", &[]),
            ("Send \"read a.md and book a room\" to lee", &[]),
            ("Write to lee: read a.md and book a room", &[]),
        ] {
            assert_eq!(steps(request), expected, "{request}");
        }
    }

    #[test]
    fn what_is_left_without_a_word_would_be_missed() {
        for (part, expected) in [
            ("and email it to lee", true),
            ("delete everything", true),
            ("then translate it to Korean", true),
            ("hong의 한도를 없애줘", true),
            ("and tell me the result", false),
            ("he is in sales", false),
            ("what is the capital of France", false),
        ] {
            assert_eq!(is_wish(part), expected, "{part}");
        }
    }
}
